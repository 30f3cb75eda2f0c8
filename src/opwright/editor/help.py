"""What an editor shows and offers at a place: hovers, completions, signatures, hints.

Plain values in lines and columns from 0, in characters; nothing of protocols.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from opwright.editor import aten, operators
from opwright.editor.around import Calling, calling_at, named_at, typed_before
from opwright.editor.code import Code
from opwright.editor.schema_text import (
    TYPES,
    Inside,
    inside_schema,
    names_left,
    wants_name,
    wants_type,
)
from opwright.schema.model import Schema
from opwright.survey.facts import Definition, Implementation
from opwright.survey.index import Operator


class Sort(Enum):
    """What an offered word is."""

    NAMESPACE = "namespace"
    OPERATOR = "operator"
    OVERLOAD = "overload"
    ARGUMENT = "argument"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Offer:
    """A word that can be typed here, and what is to say of it."""

    word: str
    sort: Sort
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Help:
    """A signature for a call that is being typed: its text, its arguments, the current one."""

    text: str
    arguments: tuple[str, ...]
    current: int | None


@dataclass(frozen=True, slots=True)
class Hint:
    """Text shown at the end of a line that is not in the file."""

    line: int
    column: int
    text: str


# Hover -----------------------------------------------------------------------------------------


def hover(code: Code, file: str, line: int, column: int) -> str:
    """What is known of the operator under the cursor, in Markdown; empty where there is none."""
    name = name_at(code, file, line, column)
    found = operators.overloads(code, name) if name else []
    known = "\n".join(map(str, aten.schemas(name))) if name else ""
    own = [f"```\n{known}\n```"] if known else []
    return "\n\n---\n\n".join([*(_described(code, each) for each in found), *own])


def name_at(code: Code, file: str, line: int, column: int) -> str:
    """The operator that a place speaks of: a call, a schema, a registration, a function's head."""
    if (named := named_at(line_of(code, file, line), column)) is not None:
        return named.operator
    if (inside := inside_schema(code.facts_near(file, line), line, column)) is not None:
        return inside.definition.name
    for fact in operators.operators_at(code, file, line):
        if isinstance(fact, (Definition, Implementation)):
            return fact.name
    return ""


def line_of(code: Code, file: str, line: int) -> str:
    """One line of a file, without its end."""
    lines = code.text(file).splitlines()
    return lines[line] if line < len(lines) else ""


def _described(code: Code, operator: Operator) -> str:
    schemas = "\n".join(map(str, operators.schemas(code, operator)))
    block = f"```\n{schemas}\n```\n" if schemas else f"`{operator.name}`: no schema found\n"
    rows = [f"- defined in `{operators.shown(each.definition.span)}`" for each in operator.declared]
    rows += [_implementation(each) for each in operator.implementations]
    return "\n".join([block, *rows])


def _implementation(each: Implementation) -> str:
    key = f" for {each.key}" if each.key else ""
    name = f" `{each.signature.name}`" if each.signature else ""
    return f"- {each.role.value}{key}:{name} in `{operators.shown(each.span)}`"


# Completion ------------------------------------------------------------------------------------


def complete(code: Code, file: str, line: int, column: int) -> list[Offer]:
    """What can be typed at a place, if it is one of ours."""
    before = line_of(code, file, line)[:column]
    typed = typed_before(before, column)
    if typed is not None:
        return [*_path_offers(code, typed[0])]
    if (inside := inside_schema(code.facts_near(file, line), line, column)) is not None:
        return [*_schema_offers(code, inside)]
    if (calling := calling_at(text_before(code, file, line, column))) is not None:
        return [*_keyword_offers(code, calling)]
    return []


def text_before(code: Code, file: str, line: int, column: int) -> str:
    """The text of a file up to a place."""
    lines = code.text(file).splitlines(keepends=True)
    return "".join(
        [*lines[max(line - 100, 0) : line], *(part[:column] for part in lines[line : line + 1])]
    )


def _path_offers(code: Code, parts: tuple[str, ...]) -> Iterator[Offer]:
    match parts:
        case ():
            torchs = [aten.NAMESPACE] if aten.texts() else []
            for name in sorted({*operators.namespaces(code), *torchs}):
                yield Offer(name, Sort.NAMESPACE)
        case (namespace,):
            yield from _operator_offers(code, namespace)
        case (namespace, name):
            yield from _overload_offers(code, f"{namespace}::{name}")


def _operator_offers(code: Code, namespace: str) -> Iterator[Offer]:
    for name in operators.members(code, namespace):
        yield Offer(name, Sort.OPERATOR, _first_schema(code, f"{namespace}::{name}"))
    if namespace == aten.NAMESPACE:
        for full, texts in aten.texts().items():
            yield Offer(full.partition("::")[2], Sort.OPERATOR, texts[0])


def _overload_offers(code: Code, name: str) -> Iterator[Offer]:
    for operator in operators.overloads(code, name):
        word = operator.name.partition(".")[2] or "default"
        yield Offer(word, Sort.OVERLOAD, _first_schema(code, operator.name))
    for schema in aten.schemas(name):
        yield Offer(schema.overload or "default", Sort.OVERLOAD, str(schema))


def _first_schema(code: Code, name: str) -> str:
    found = operators.overloads(code, name)
    return next((str(s) for each in found for s in operators.schemas(code, each)), "")


def _schema_offers(code: Code, inside: Inside) -> Iterator[Offer]:
    if wants_type(inside.before):
        yield from (Offer(word, Sort.TYPE) for word in TYPES)
    elif wants_name(inside.before):
        names = operators.parameter_names(code, inside.definition.name)
        yield from (Offer(name, Sort.ARGUMENT) for name in names_left(inside.before, names))


def _keyword_offers(code: Code, calling: Calling) -> Iterator[Offer]:
    offered: set[str] = set(calling.keywords)
    for schema in called(code, calling.operator):
        for position, argument in enumerate(schema.arguments):
            taken = position < calling.position - len(calling.keywords) and not argument.kw_only
            if argument.name not in offered and not taken:
                offered.add(argument.name)
                yield Offer(f"{argument.name}=", Sort.ARGUMENT, str(argument))


def called(code: Code, name: str) -> list[Schema]:
    """The schemas that a call of a name may mean."""
    found = operators.overloads(code, name)
    own = [schema for each in found for schema in operators.schemas(code, each)]
    return [*own, *aten.schemas(name)]


# Signature help and hints ----------------------------------------------------------------------


def signatures(code: Code, file: str, line: int, column: int) -> list[Help]:
    """The signatures of the call that the cursor stands in."""
    calling = calling_at(text_before(code, file, line, column))
    if calling is None:
        return []
    return [
        Help(str(schema), tuple(map(str, schema.arguments)), _current(schema, calling))
        for schema in called(code, calling.operator)
    ]


def _current(schema: Schema, calling: Calling) -> int | None:
    names = [argument.name for argument in schema.arguments]
    if calling.keyword:
        return names.index(calling.keyword) if calling.keyword in names else None
    positional = [argument for argument in schema.arguments if not argument.kw_only]
    return calling.position if calling.position < len(positional) else None


def hints(code: Code, file: str, first: int, last: int) -> Iterator[Hint]:
    """The inferred schema behind the decorator of each operator whose schema nobody wrote.

    In a file that is being edited the hints wait: their places would be those of before.
    """
    for declared in () if file in code.stale else code.declared.get(file, ()):
        definition = declared.definition
        line = definition.span.end_line - 1
        if definition.text is None and first <= line <= last:
            schema = operators.schema_of(code, declared)
            if schema is not None:
                yield Hint(line, definition.span.end_column - 1, str(schema))
