"""A backward that returns or takes a wrong number of gradients."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.places import function_place, schema_place
from opwright.lint.rule import Rule
from opwright.lint.rules.returns_of_function import words
from opwright.schema.model import REQUIRED, Schema
from opwright.survey.facts import Implementation, Kind, Role
from opwright.survey.index import Index, Operator


def _backwards(index: Index) -> Iterator[tuple[Operator, Implementation, Schema]]:
    for operator in index.operators.values():
        schema = operator.schema
        if schema is not None:
            for one in operator.roles(Role.BACKWARD):
                yield operator, one, schema


def returned(index: Index) -> Iterator[Diagnostic]:
    """One gradient for each positional argument."""
    for operator, one, schema in _backwards(index):
        wanted = sum(not argument.kw_only for argument in schema.arguments)
        counts = one.body.counts if one.body is not None else ()
        for count, span in counts:
            if count != wanted:
                message = (
                    f"this backward of {operator.name} returns {words(count)} for "
                    f"{words(wanted).replace('value', 'argument')}"
                )
                hint = "return one gradient for each positional argument, None where there is none"
                yield finding(
                    "OW321", message, span=span, hint=hint, related=schema_place(operator)
                )


def taken(index: Index) -> Iterator[Diagnostic]:
    """`ctx` and one gradient for each result."""
    for operator, one, schema in _backwards(index):
        if one.signature is None or schema.varrets:
            continue
        parameters = [p for p in one.signature.parameters if p.kind is Kind.POSITIONAL]
        least = sum(p.default is REQUIRED for p in parameters)
        most = (
            99 if any(p.kind is Kind.VARARGS for p in one.signature.parameters) else len(parameters)
        )
        wanted = 1 + len(schema.returns)
        if not least <= wanted <= most:
            message = (
                f"this backward of {operator.name} takes {len(parameters) - 1} gradients, the "
                f"schema has {words(len(schema.returns)).replace('value', 'result')}"
            )
            hint = "take ctx and one gradient for each result"
            place = function_place(one)
            yield finding("OW322", message, span=place, hint=hint, related=schema_place(operator))


_HEAD = """
import torch

@torch.library.custom_op("mylib::scale", mutates_args=())
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    return x * by

@scale.register_fake
def _(x, by):
    return torch.empty_like(x)
"""

RULES = (
    Rule(
        "OW321",
        "backward returns one gradient for each positional argument of the schema, None for those "
        "that have none. torch's own message counts wrongly, and one too many is accepted.",
        bad=_HEAD
        + """
def backward(ctx, grad):
    return grad

def backward_of_two(ctx, grad):
    return grad, None, None

scale.register_autograd(backward_of_two)
""",
        good=_HEAD
        + """
def backward(ctx, grad):
    return grad, None

scale.register_autograd(backward)
""",
        check=returned,
    ),
    Rule(
        "OW322",
        "backward is called with the context and one gradient for each result of the operator.",
        bad=_HEAD
        + """
def backward(ctx, grad, other):
    return grad, None

scale.register_autograd(backward)
""",
        good=_HEAD
        + """
def backward(ctx, grad):
    return grad, None

scale.register_autograd(backward)
""",
        check=taken,
    ),
)
