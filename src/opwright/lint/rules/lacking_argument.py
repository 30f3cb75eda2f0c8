"""A kernel or fake without a parameter for an argument of the schema."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.findings import Diagnostic
from opwright.lint.agree import Sort
from opwright.lint.rule import Rule
from opwright.lint.rules._functions import at_function, differing, named
from opwright.schema.model import REQUIRED
from opwright.survey.index import Index


def lacks(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.LACKS):
        argument = difference.argument
        assert argument is not None
        when = "" if argument.default is REQUIRED else " other than the default"
        message = (
            f"{named(one, signature)} of {operator.name} has no parameter {argument.name!r}: "
            f"a call that gives a value{when} fails"
        )
        yield at_function("OW301", operator, one, difference, message, f"add `{argument.name}`")


def hides(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.HIDDEN):
        argument = difference.argument
        assert argument is not None
        message = f"`*args` of {named(one, signature)} of {operator.name} hides {argument.name!r}"
        yield at_function("OW311", operator, one, difference, message, "name each parameter")


RULES = (
    Rule(
        "OW301",
        "The dispatcher gives a kernel every argument that differs from the schema's default. One "
        "without a parameter for it raises a `TypeError`: at once where the argument is required, "
        "and on the first call with another value where it has a default. Fakes often lack one, "
        "which shows under `torch.compile` alone.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, float by=2.0) -> Tensor")

@torch.library.register_fake("mylib::scale")
def _(x):
    return torch.empty_like(x)
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, float by=2.0) -> Tensor")

@torch.library.register_fake("mylib::scale")
def _(x, by=2.0):
    return torch.empty_like(x)
""",
        check=lacks,
    ),
    Rule(
        "OW311",
        "`*args` takes anything, so nobody can see whether the function knows its schema.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, float by) -> Tensor")

@torch.library.register_fake("mylib::scale")
def _(*args):
    return torch.empty_like(args[0])
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, float by) -> Tensor")

@torch.library.register_fake("mylib::scale")
def _(x, by):
    return torch.empty_like(x)
""",
        check=hides,
        default=False,
    ),
)
