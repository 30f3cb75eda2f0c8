"""A kernel that gives back one of its inputs, or a view of it, without an alias in the schema."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.places import schema_place
from opwright.lint.rule import Rule
from opwright.lint.rules.written_undeclared import kernels
from opwright.schema.kinds import aliases
from opwright.schema.model import Schema
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for function in kernels(index):
        told: set[tuple[str, int]] = set()
        for returned in function.body.returned:
            argument = function.argument(returned.parameter)
            key = (returned.parameter, returned.position)
            if argument is None or key in told or _says(function.schema, returned.position):
                continue
            told.add(key)
            what = "a view of " if returned.view else ""
            message = (
                f"{function.operator.name} returns {what}its input {argument.name!r}, and the "
                "schema does not say so: writes to the result go astray under torch.compile"
            )
            yield finding(
                "OW403",
                message,
                span=returned.span,
                hint=f"return `{argument.name}.clone()`, or return nothing and declare the write",
                related=schema_place(function.operator, argument),
            )


def _says(schema: Schema, position: int) -> bool:
    """Whether the schema has no such result, or one that aliases something."""
    if position >= len(schema.returns):
        return True
    return any(True for _ in aliases(schema.returns[position].type))


RULES = (
    Rule(
        "OW403",
        "torch.compile takes the results of an operator for new tensors unless the schema says "
        "otherwise. One that is an input makes `y.add_(1)` on the result change the input in "
        "eager mode and not when compiled; `custom_op` refuses it when called.",
        bad="""
import torch

@torch.library.custom_op("mylib::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x

@same.register_fake
def _(x):
    return torch.empty_like(x)
""",
        good="""
import torch

@torch.library.custom_op("mylib::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x.clone()

@same.register_fake
def _(x):
    return torch.empty_like(x)
""",
        check=check,
    ),
)
