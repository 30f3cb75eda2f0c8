"""A kernel or fake that takes the arguments of the schema in another order."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.findings import Diagnostic
from opwright.lint.agree import Sort
from opwright.lint.rule import Rule
from opwright.lint.rules._functions import at_function, differing, named
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.ORDER):
        argument, parameter = difference.argument, difference.parameter
        assert argument is not None
        assert parameter is not None
        message = (
            f"{named(one, signature)} of {operator.name} takes {parameter.name!r} where the schema "
            f"has {argument.name!r}: it receives the wrong values"
        )
        names = ", ".join(a.name for a in operator.schema.arguments) if operator.schema else ""
        yield at_function("OW303", operator, one, difference, message, f"take `{names}`")


RULES = (
    Rule(
        "OW303",
        "Positional arguments are bound by place. A fake in another order computes shapes and "
        "dtypes from the wrong values, and nothing says so.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("pad(Tensor x, int left, int right) -> Tensor")

@torch.library.register_fake("mylib::pad")
def _(x, right, left):
    return x.new_empty(x.shape[0] + left + right)
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("pad(Tensor x, int left, int right) -> Tensor")

@torch.library.register_fake("mylib::pad")
def _(x, left, right):
    return x.new_empty(x.shape[0] + left + right)
""",
        check=check,
    ),
)
