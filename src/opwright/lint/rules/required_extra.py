"""A kernel or fake that requires what the dispatcher never gives."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.findings import Diagnostic
from opwright.lint.agree import Sort
from opwright.lint.rule import Rule
from opwright.lint.rules._functions import at_function, differing, named
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.EXTRA):
        parameter = difference.parameter
        assert parameter is not None
        message = (
            f"{named(one, signature)} requires {parameter.name!r}, which the schema of "
            f"{operator.name} does not have: every call fails"
        )
        hint = f"take `{parameter.name}` out, or write it in the schema"
        yield at_function("OW302", operator, one, difference, message, hint)


RULES = (
    Rule(
        "OW302",
        "The dispatcher gives a function what the schema names and nothing else; a required "
        "parameter more is a `TypeError` in every call, in fakes only under `torch.compile`.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x) -> Tensor")

@torch.library.register_fake("mylib::scale")
def _(x, by):
    return torch.empty_like(x)
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, float by) -> Tensor")

@torch.library.register_fake("mylib::scale")
def _(x, by):
    return torch.empty_like(x)
""",
        check=check,
    ),
)
