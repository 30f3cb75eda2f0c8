"""A float argument that is given a size: compiled again for each."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Related
from opwright.lint.places import in_schema
from opwright.lint.rule import Rule
from opwright.lint.rules.arguments_of_calls import meant
from opwright.schema.kinds import Base, Maybe
from opwright.schema.model import Argument, Schema
from opwright.survey.facts import Call
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for call in index.calls:
        operators = meant(index, call) if call.sizes else ()
        if len(operators) != 1 or operators[0].schema is None or operators[0].home is None:
            continue  # of several overloads another may take it
        schema, home = operators[0].schema, operators[0].home
        for place, span in call.sizes:
            argument = _argument(schema, call, place)
            if argument is not None and _is_float(argument):
                message = (
                    f"{argument.name!r} of {call.name} is a float and is given a size: "
                    "torch.compile compiles again for each size"
                )
                related = (Related(in_schema(home, argument), f"the schema: `{argument}`"),)
                hint = "declare it `Scalar`, which compiles once"
                yield finding("OW605", message, span=span, hint=hint, related=related)


def _argument(schema: Schema, call: Call, place: int | str) -> Argument | None:
    """The argument of the schema that is given by position or by keyword."""
    if isinstance(place, str):
        return next((a for a in schema.arguments if a.name == place), None)
    positional = [a for a in schema.arguments if not a.kw_only]
    return positional[place] if place < len(positional) and not call.open else None


def _is_float(argument: Argument) -> bool:
    kind = argument.type
    return (kind.of if isinstance(kind, Maybe) else kind) == Base("float")


_CALL = """
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale_(Tensor(a!) x, {type} by) -> ()")

def scaled(x):
    torch.ops.mylib.scale_(x, 1 / x.shape[0])
"""

RULES = (
    Rule(
        "OW605",
        "A size is a symbol while torch.compile traces dynamic shapes. A `float` argument forces "
        "its value, and the program is compiled again for each size; a `Scalar` keeps the symbol.",
        bad=_CALL.format(type="float"),
        good=_CALL.format(type="Scalar"),
        check=check,
    ),
)
