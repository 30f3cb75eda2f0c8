"""A `setup_context` that torch cannot call."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.places import function_place, schema_place
from opwright.lint.rule import Rule
from opwright.survey.facts import Kind, Role, Signature
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for operator in index.operators.values():
        schema = operator.schema
        if schema is None:
            continue
        keyword = any(argument.kw_only for argument in schema.arguments)
        for one in operator.roles(Role.SETUP_CONTEXT):
            wanted = ("ctx", "inputs", *(("keyword_only_inputs",) if keyword else ()), "output")
            if one.signature is not None and not fits(one.signature, wanted):
                message = (
                    f"setup_context of {operator.name} does not take {', '.join(wanted)}: torch "
                    "calls it with these keywords"
                )
                yield finding(
                    "OW320",
                    message,
                    span=function_place(one),
                    hint=f"write `({', '.join(wanted)})`",
                    related=schema_place(operator),
                )


def fits(signature: Signature, wanted: tuple[str, ...]) -> bool:
    """Whether a function can be called as `f(ctx=..., inputs=..., output=...)`, the first by place.

    The context is given by place, so it may have any name.
    """
    plain = [p for p in signature.parameters if p.kind in (Kind.POSITIONAL, Kind.KEYWORD)]
    if any(p.kind is Kind.VARKEYWORDS for p in signature.parameters):
        return True
    names = [p.name for p in plain]
    return len(names) == len(wanted) and set(names[1:]) == set(wanted[1:])


RULES = (
    Rule(
        "OW320",
        "torch calls `setup_context(ctx, inputs, output)` by these very keywords, and with "
        "`keyword_only_inputs` where the schema has keyword-only arguments. Any other name is a "
        "`TypeError` on the first call that needs a gradient.",
        bad="""
import torch

@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@double.register_fake
def _(x):
    return torch.empty_like(x)

def backward(ctx, grad):
    return grad * 2

def setup_context(ctx, args, result):
    pass

double.register_autograd(backward, setup_context=setup_context)
""",
        good="""
import torch

@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@double.register_fake
def _(x):
    return torch.empty_like(x)

def backward(ctx, grad):
    return grad * 2

def setup_context(ctx, inputs, output):
    pass

double.register_autograd(backward, setup_context=setup_context)
""",
        check=check,
    ),
)
