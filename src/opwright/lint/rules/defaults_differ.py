"""A default in Python that is not the one of the schema, or none where the schema has one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opwright.findings import Diagnostic, Edit, Fix, Span
from opwright.lint.agree import Difference, Sort
from opwright.lint.rule import Rule
from opwright.lint.rules._functions import at_function, differing, named, told
from opwright.schema.literal import literal
from opwright.schema.model import REQUIRED, Argument
from opwright.schema.signature import spelled
from opwright.survey.facts import UNKNOWN, Kind, Parameter, ParameterDefault, Signature
from opwright.survey.index import Index


def differs(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.DEFAULT):
        argument, parameter = difference.argument, difference.parameter
        assert argument is not None
        assert parameter is not None
        message = (
            f"{parameter.name!r} of {named(one, signature)} of {operator.name} is "
            f"{shown(parameter.default)} by default, {shown(argument.default)} in the schema: "
            f"a call with {shown(argument.default)} computes with {shown(parameter.default)}"
        )
        hint = f"write `{parameter.name}={python(argument)}`"
        fix = _change(parameter, argument)
        yield at_function("OW304", operator, one, difference, message, hint, fix)


def requires(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, difference in differing(index, Sort.REQUIRES):
        argument, parameter = difference.argument, difference.parameter
        assert argument is not None
        assert parameter is not None
        assert operator.schema is not None
        message = (
            f"{named(one, signature)} of {operator.name} requires {parameter.name!r}, which is "
            f"{shown(argument.default)} in the schema by default: a call with that value fails"
        )
        hint = f"write `{parameter.name}={python(argument)}`"
        fix = _give(parameter, told(operator.schema, signature), signature)
        yield at_function("OW305", operator, one, difference, message, hint, fix)


def _change(parameter: Parameter, argument: Argument) -> Fix | None:
    """The schema's default in the place of the function's: it may be the schema that is wrong."""
    if not parameter.default_span.line:
        return None
    edit = Edit(parameter.default_span, python(argument))
    return Fix("Write the schema's default", (edit,), safe=False)


def _give(
    parameter: Parameter, all_differences: Iterable[Difference], signature: Signature
) -> Fix | None:
    """Defaults for this parameter and those after it, which Python would want too."""
    wanted = {
        d.parameter.name: d.argument
        for d in all_differences
        if d.sort is Sort.REQUIRES and d.parameter is not None and d.argument is not None
    }
    names = [p.name for p in signature.parameters]
    after = signature.parameters[names.index(parameter.name) :]
    lacking = [p for p in after if p.default is REQUIRED and p.kind is Kind.POSITIONAL]
    if any(p.name not in wanted for p in lacking) or not parameter.span.end_line:
        return None
    edits = tuple(_give_one(p, wanted[p.name]) for p in lacking)
    return Fix("Give the schema's default", edits)


def _give_one(parameter: Parameter, argument: Argument) -> Edit:
    span = parameter.span
    end = Span(span.file, span.end_line, span.end_column, span.end_line, span.end_column)
    equals = " = " if parameter.shown else "="
    return Edit(end, f"{equals}{python(argument)}")


def shown(value: ParameterDefault) -> str:
    """A default as the schema would write it."""
    return "not constant" if value is REQUIRED or value is UNKNOWN else literal(value)


def python(argument: Argument) -> str:
    """The default as Python writes it; these rules are about arguments that have one."""
    assert argument.default is not REQUIRED
    return spelled(argument.default)


RULES = (
    Rule(
        "OW304",
        "The dispatcher drops trailing arguments that equal the schema's default, by design. The "
        "function then uses its own default: with `n=7` in the schema and `n=3` in Python, even "
        "`op(x, 7)` computes with 3. Nothing fails; the numbers are wrong.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, int n=7) -> Tensor")

def power(x: torch.Tensor, n: int = 3) -> torch.Tensor:
    return x**n

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, int n=7) -> Tensor")

def power(x: torch.Tensor, n: int = 7) -> torch.Tensor:
    return x**n

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        check=differs,
        fixes="writes the schema's default (unsafe)",
    ),
    Rule(
        "OW305",
        "The dispatcher drops trailing arguments that equal the schema's default. A function "
        "without a default of its own then lacks an argument, and raises.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, int n=7) -> Tensor")

def power(x: torch.Tensor, n: int) -> torch.Tensor:
    return x**n

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("power(Tensor x, int n=7) -> Tensor")

def power(x: torch.Tensor, n: int = 7) -> torch.Tensor:
    return x**n

lib.impl("power", power, "CompositeImplicitAutograd")
""",
        check=requires,
        fixes="gives the schema's default",
    ),
)
