"""How a function stands to the schema that it is registered for: each difference once.

Knows how the dispatcher calls a Python kernel: positional arguments by place, trailing ones that
equal the schema's default dropped, keyword-only ones by name. Rules say what a difference weighs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from opwright.frozen import frozen
from opwright.schema.kinds import Apply, Base, List, Maybe, Type, rebuilt
from opwright.schema.literal import Symbol
from opwright.schema.model import REQUIRED, Argument, Default, Schema
from opwright.survey.facts import UNKNOWN, Kind, Language, Parameter, ParameterDefault, Signature


class Sort(Enum):
    """In what way they differ."""

    LACKS = "lacks"  # the function has no such parameter
    EXTRA = "extra"  # the function requires what no one gives
    ORDER = "order"
    DEFAULT = "default"
    REQUIRES = "requires"  # the schema has a default, the function none
    KEYWORD = "keyword"  # keyword-only in the function, positional in the schema
    TYPE = "type"
    OPTIONAL = "optional"
    NAME = "name"
    HIDDEN = "hidden"  # `*args` takes what the schema names


@frozen
class Difference:
    """One difference: an argument of the schema, the parameter that it meets, or both."""

    sort: Sort
    argument: Argument | None = None
    parameter: Parameter | None = None


def differences(schema: Schema, signature: Signature) -> Iterator[Difference]:
    """Every difference between a schema and a function that is called for it."""
    if schema.varargs:
        return
    positional = [a for a in schema.arguments if not a.kw_only]
    keyword = [a for a in schema.arguments if a.kw_only]
    takes = [p for p in signature.parameters if p.kind is Kind.POSITIONAL]
    named = {p.name: p for p in signature.parameters if p.kind is Kind.KEYWORD}
    open_ends = {p.kind for p in signature.parameters}
    if signature.language is Language.CPP:
        positional, keyword = [*positional, *keyword], []
    yield from _positional(positional, takes, named, open_ends)
    yield from _keyword(keyword, takes[len(positional) :], named, open_ends)
    known = {a.name for a in schema.arguments}
    for parameter in named.values():
        if parameter.name not in known and parameter.default is REQUIRED:
            yield Difference(Sort.EXTRA, None, parameter)


def _positional(
    arguments: Sequence[Argument],
    parameters: Sequence[Parameter],
    named: dict[str, Parameter],
    ends: set[Kind],
) -> Iterator[Difference]:
    names = [a.name for a in arguments]
    own = [p.name for p in parameters]
    shared = [a for a in arguments if a.name in own]
    met = [p for p in parameters if p.name in names]
    for argument, parameter in zip(shared, met, strict=False):
        if argument.name != parameter.name:
            yield Difference(Sort.ORDER, argument, parameter)
            return
    pairs, lacking, extra = _aligned(arguments, parameters)
    for argument, parameter in pairs:
        yield from _pair(argument, parameter)
    for argument in lacking:
        if argument.name in named:
            yield Difference(Sort.KEYWORD, argument, named[argument.name])
        elif Kind.VARARGS in ends:
            yield Difference(Sort.HIDDEN, argument)
        else:
            yield Difference(Sort.LACKS, argument)
    yield from (Difference(Sort.EXTRA, None, p) for p in extra if p.default is REQUIRED)


def _aligned(
    arguments: Sequence[Argument], parameters: Sequence[Parameter]
) -> tuple[list[tuple[Argument, Parameter]], list[Argument], list[Parameter]]:
    """Pairs by place; where the names of one are among those of the other, by name."""
    names, own = [a.name for a in arguments], [p.name for p in parameters]
    if len(own) < len(names) and _within(own, names):
        by_name = {p.name: p for p in parameters}
        paired = [(a, by_name[a.name]) for a in arguments if a.name in by_name]
        return paired, [a for a in arguments if a.name not in by_name], []
    if len(names) < len(own) and _within(names, own):
        by_argument = {a.name: a for a in arguments}
        paired = [(by_argument[p.name], p) for p in parameters if p.name in by_argument]
        return paired, [], [p for p in parameters if p.name not in by_argument]
    size = min(len(names), len(own))
    return (
        list(zip(arguments[:size], parameters[:size], strict=True)),
        list(arguments[size:]),
        list(parameters[size:]),
    )


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether these names stand in that order among the others."""
    rest = iter(whole)
    return all(name in rest for name in part)


def _keyword(
    arguments: Sequence[Argument],
    spare: Sequence[Parameter],
    named: dict[str, Parameter],
    ends: set[Kind],
) -> Iterator[Difference]:
    by_name = {p.name: p for p in spare} | named
    for argument in arguments:
        parameter = by_name.get(argument.name)
        if parameter is not None:
            yield from _pair(argument, parameter)
        elif Kind.VARKEYWORDS not in ends:
            yield Difference(Sort.LACKS, argument)
    wanted = {argument.name for argument in arguments}
    for parameter in spare:
        if parameter.name not in wanted and parameter.default is REQUIRED:
            yield Difference(Sort.EXTRA, None, parameter)


def _pair(argument: Argument, parameter: Parameter) -> Iterator[Difference]:
    if parameter.name and argument.name != parameter.name:
        yield Difference(Sort.NAME, argument, parameter)
    if argument.default is not REQUIRED:
        if parameter.default is REQUIRED:
            yield Difference(Sort.REQUIRES, argument, parameter)
        elif not same_default(argument.default, parameter.default):
            yield Difference(Sort.DEFAULT, argument, parameter)
    if parameter.type is not None:
        wanted, given = plain(argument.type), plain(parameter.type)
        if not fits(bare(wanted), bare(given)):
            yield Difference(Sort.TYPE, argument, parameter)
        elif isinstance(wanted, Maybe) is not isinstance(given, Maybe):
            yield Difference(Sort.OPTIONAL, argument, parameter)


# Defaults

SAME = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
"""Other names of dtypes."""


def same_default(schema: Default, python: ParameterDefault) -> bool:
    """Whether two defaults are one value; what cannot be told counts as the same.

    >>> same_default(1.0, 1), same_default((1, 1), 1), same_default(True, None)
    (True, True, False)
    """
    if python is UNKNOWN or python is REQUIRED or schema is REQUIRED:
        return True
    match schema, python:
        case Symbol(one), Symbol(other):
            return SAME.get(one, one) == SAME.get(other, other)
        case (Symbol(), int() | float() | str()) | (int() | float() | str(), Symbol()):
            return True  # `Mean` and `float32` are numbers to torch
        case tuple(), tuple():
            return len(schema) == len(python) and all(map(same_default, schema, python))
        case tuple(), _ if python is not None:
            return all(same_default(part, python) for part in schema)
        case _:
            return schema == python


# Types


def plain(kind: Type) -> Type:
    """A type without alias marks and sizes, `SymInt` as `int`."""
    return rebuilt(kind, _loose)


def _loose(node: Type) -> Type:
    match node:
        case Base(name):
            return Base(SYMBOLIC.get(name, name))
        case List(of):
            return List(of)
        case Apply(name, of):
            return Apply(name, of)
        case Maybe():
            return node


SYMBOLIC = {"SymInt": "int", "SymBool": "bool", "SymFloat": "float"}
NUMBERS = {"int", "float", "bool", "complex", "Scalar"}


def bare(kind: Type) -> Type:
    return kind.of if isinstance(kind, Maybe) else kind


def fits(schema: Type, python: Type) -> bool:
    """Whether a kernel that is annotated so can take what the schema says.

    >>> fits(Base("Scalar"), Base("float")), fits(Base("Tensor"), List(Base("Tensor")))
    (True, False)
    """
    match schema, python:
        case Base("Scalar"), Base(name):
            return name in NUMBERS
        case Base(name), Base("Scalar"):
            return name in NUMBERS
        case (Base("Any"), _) | (_, Base("Any")):
            return True
        case List(of), List(other):
            return fits(bare(of), bare(other))
        case Apply(), List():
            return True
        case _:
            return schema == python
