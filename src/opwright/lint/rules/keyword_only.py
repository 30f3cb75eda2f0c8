"""A parameter that is keyword-only in Python and positional in the schema."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.findings import Diagnostic
from opwright.lint.agree import Sort
from opwright.lint.rule import Rule
from opwright.lint.rules._functions import at_function, differing, named
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.KEYWORD):
        argument = difference.argument
        assert argument is not None
        message = (
            f"{argument.name!r} is keyword-only in {named(one, signature)} of {operator.name}, and "
            "positional in the schema: the dispatcher gives it by place, which fails"
        )
        hint = f"write `*` before `{argument.name}` in the schema, or take it out of the function"
        yield at_function("OW306", operator, one, difference, message, hint)


RULES = (
    Rule(
        "OW306",
        "What the schema has as positional reaches the function by place, even if the caller "
        "wrote the keyword.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, int n) -> Tensor")

def power(x: torch.Tensor, *, n: int) -> torch.Tensor:
    return x**n

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, *, int n) -> Tensor")

def power(x: torch.Tensor, *, n: int) -> torch.Tensor:
    return x**n

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        check=check,
    ),
)
