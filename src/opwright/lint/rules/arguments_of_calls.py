"""Calls through `torch.ops` that the schema does not allow."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Related
from opwright.lint.places import in_schema
from opwright.lint.rule import Rule
from opwright.schema.model import REQUIRED, Schema
from opwright.survey.facts import Call
from opwright.survey.index import Index, Operator

Fault = Callable[[Call, Schema], "tuple[str, str] | None"]


def _checked(index: Index, code: str, fault: Fault) -> Iterator[Diagnostic]:
    """A finding where no overload takes the call, told by the one that is meant."""
    for call in index.calls:
        operators = meant(index, call)
        schemas = [(op, op.schema) for op in operators if op.schema is not None]
        if not schemas or len(schemas) != len(operators):
            continue
        if any(all(each(call, schema) is None for each in FAULTS) for _, schema in schemas):
            continue
        operator, schema = schemas[0]
        said = fault(call, schema)
        home = operator.home
        if said is not None and home is not None:
            related = (Related(in_schema(home), f"the schema: `{schema}`"),)
            yield finding(code, said[0], span=call.span, hint=said[1], related=related)


def meant(index: Index, call: Call) -> tuple[Operator, ...]:
    """The overloads that a call may mean."""
    if "." in call.name:
        one = index.defined.get(call.name)
        return (one,) if one is not None else ()
    return index.overloads.get(call.name, ())


def _too_many(call: Call, schema: Schema) -> tuple[str, str] | None:
    places = [a for a in schema.arguments if not a.kw_only]
    if schema.varargs or call.positional <= len(places):
        return None
    return (
        f"the call gives {call.positional} arguments by place, {call.name} takes {len(places)}",
        "",
    )


def _unknown_keyword(call: Call, schema: Schema) -> tuple[str, str] | None:
    names = [a.name for a in schema.arguments]
    taken = [a.name for a in schema.arguments if not a.kw_only][: call.positional]
    for keyword in call.keywords:
        if keyword not in names:
            near = difflib.get_close_matches(keyword, names, n=1)
            hint = f"write `{near[0]}=`" if near else f"the arguments are {', '.join(names)}"
            return f"{call.name} takes no keyword {keyword!r}", hint
        if keyword in taken:
            return f"the call gives {keyword!r} of {call.name} twice", "take one out"
    return None


def _missing(call: Call, schema: Schema) -> tuple[str, str] | None:
    if call.open:
        return None
    places = [a.name for a in schema.arguments if not a.kw_only]
    given = {*places[: call.positional], *call.keywords}
    lacking = [a for a in schema.arguments if a.default is REQUIRED and a.name not in given]
    if not lacking or _too_many(call, schema) or _unknown_keyword(call, schema):
        return None
    names = ", ".join(repr(a.name) for a in lacking)
    return f"the call of {call.name} lacks {names}", f"give `{lacking[0]}`"


FAULTS: tuple[Fault, ...] = (_too_many, _unknown_keyword, _missing)


def too_many(index: Index) -> Iterator[Diagnostic]:
    yield from _checked(index, "OW602", _too_many)


def unknown_keyword(index: Index) -> Iterator[Diagnostic]:
    yield from _checked(index, "OW603", _unknown_keyword)


def missing(index: Index) -> Iterator[Diagnostic]:
    yield from _checked(index, "OW604", _missing)


_DEFINE = """
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale_(Tensor(a!) x, float by, *, bool clip=False) -> ()")

x = torch.ones(3)
torch.ops.mylib.scale_({arguments})
"""

RULES = (
    Rule(
        "OW602",
        "A call with more positional arguments than the schema has raises when it is reached.",
        bad=_DEFINE.format(arguments="x, 2.0, True"),
        good=_DEFINE.format(arguments="x, 2.0, clip=True"),
        check=too_many,
    ),
    Rule(
        "OW603",
        "A keyword that the schema does not have raises when the call is reached.",
        bad=_DEFINE.format(arguments="x, factor=2.0"),
        good=_DEFINE.format(arguments="x, by=2.0"),
        check=unknown_keyword,
    ),
    Rule(
        "OW604",
        "A call without a required argument raises when it is reached.",
        bad=_DEFINE.format(arguments="x, clip=True"),
        good=_DEFINE.format(arguments="x, 2.0, clip=True"),
        check=missing,
    ),
)
