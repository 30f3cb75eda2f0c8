"""A kernel or fake that is annotated with another type, or calls an argument something else."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.findings import Diagnostic
from opwright.lint.agree import Sort
from opwright.lint.rule import Rule
from opwright.lint.rules._functions import at_function, differing, named
from opwright.survey.index import Index


def types(index: Index) -> Iterator[Diagnostic]:
    yield from _annotated(index, Sort.TYPE, "OW307")


def optional(index: Index) -> Iterator[Diagnostic]:
    yield from _annotated(index, Sort.OPTIONAL, "OW309")


def _annotated(index: Index, sort: Sort, code: str) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, sort):
        argument, parameter = difference.argument, difference.parameter
        assert argument is not None
        assert parameter is not None
        message = (
            f"{parameter.name!r} of {named(one, signature)} of {operator.name} is annotated "
            f"`{parameter.shown}`, the schema says `{argument}`"
        )
        yield at_function(code, operator, one, difference, message)


def names(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.NAME):
        argument, parameter = difference.argument, difference.parameter
        assert argument is not None
        assert parameter is not None
        message = (
            f"{named(one, signature)} of {operator.name} calls {argument.name!r} of the schema "
            f"{parameter.name!r}"
        )
        yield at_function("OW310", operator, one, difference, message)


RULES = (
    Rule(
        "OW307",
        "The value that arrives is of the schema's type, whatever the annotation says: one of the "
        "two is wrong, and who reads the function is misled.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("pick(Tensor x, int[] dims) -> Tensor")

def pick(x: torch.Tensor, dims: int) -> torch.Tensor:
    return x.sum(dims)

lib.impl("pick", pick, "CompositeImplicitAutograd")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("pick(Tensor x, int[] dims) -> Tensor")

def pick(x: torch.Tensor, dims: list[int]) -> torch.Tensor:
    return x.sum(dims)

lib.impl("pick", pick, "CompositeImplicitAutograd")
""",
        check=types,
    ),
    Rule(
        "OW309",
        "An argument may be None in the schema alone, or in the annotation alone. Harmless at the "
        "call, but one of the two is not what is meant.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("add(Tensor x, Tensor? y) -> Tensor")

def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y

lib.impl("add", add, "CompositeImplicitAutograd")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("add(Tensor x, Tensor y) -> Tensor")

def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y

lib.impl("add", add, "CompositeImplicitAutograd")
""",
        check=optional,
        default=False,
    ),
    Rule(
        "OW310",
        "Positional arguments are bound by place, so another name is harmless: the dispatcher "
        "turns keywords into places first. Off by default.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, int n) -> Tensor")

def power(x: torch.Tensor, exponent: int) -> torch.Tensor:
    return x**exponent

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, int n) -> Tensor")

def power(x: torch.Tensor, n: int) -> torch.Tensor:
    return x**n

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        check=names,
        default=False,
    ),
)
