"""Every operator of a code base, joined over files and languages.

Knows facts and schemas; what is wrong with them is for rules to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from opwright.findings import Diagnostic, SchemaError
from opwright.frozen import field, frozen, replace
from opwright.schema.kinds import Alias, Type, holds_tensors, marked
from opwright.schema.model import REQUIRED, Argument, Schema
from opwright.schema.parse import parse
from opwright.survey.facts import (
    UNKNOWN,
    Call,
    Definition,
    Fact,
    Implementation,
    Kind,
    Language,
    Library,
    Role,
    Signature,
)

PREFIX = "f"
"""Stands for the name of a schema text that has none: `(Tensor x) -> Tensor`."""


@frozen
class Declared:
    """A definition with the schema that it gives its operator, if one can be made out."""

    definition: Definition
    schema: Schema | None
    faults: tuple[Diagnostic, ...] = ()
    offset: int = 0
    """Characters that were put before the text to read it."""

    @property
    def handwritten(self) -> bool:
        return self.definition.text is not None


@frozen
class Operator:
    """One operator: where it is declared, implemented and called."""

    name: str
    declared: tuple[Declared, ...]
    implementations: tuple[Implementation, ...]

    @cached_property
    def schema(self) -> Schema | None:
        """The schema, if all declarations that can be read agree on it."""
        found = [d.schema for d in self.declared if d.schema is not None]
        hidden = len(found) != len(self.declared)
        same = all(alike(one, found[0]) for one in found)
        return found[0] if found and same and not hidden else None

    @cached_property
    def home(self) -> Declared | None:
        """The declaration that findings point to as the schema."""
        return next((d for d in self.declared if d.schema is not None), None)

    def roles(self, *roles: Role) -> Iterator[Implementation]:
        return (one for one in self.implementations if one.role in roles)


def alike(one: Schema, other: Schema) -> bool:
    """Whether two schemas say the same, whatever the operator is called."""
    return (
        one.arguments == other.arguments
        and one.returns == other.returns
        and (one.varargs, one.varrets) == (other.varargs, other.varrets)
    )


@frozen
class Index:
    """All facts of a code base; what they say of each operator."""

    facts: tuple[Fact, ...]
    known: Mapping[str, Schema] = field(default_factory=dict)

    @cached_property
    def operators(self) -> Mapping[str, Operator]:
        """Operators by name, those whose namespace is not known left out."""
        definitions: dict[str, list[Declared]] = {}
        implementations: dict[str, list[Implementation]] = {}
        for one in self.declared:
            if one.definition.resolved:
                definitions.setdefault(one.definition.name, []).append(one)
        for fact in self.facts:
            if isinstance(fact, Implementation) and fact.resolved:
                implementations.setdefault(fact.name, []).append(fact)
        names = dict.fromkeys([*definitions, *implementations])
        return {
            name: Operator(
                name, tuple(definitions.get(name, ())), tuple(implementations.get(name, ()))
            )
            for name in names
        }

    @cached_property
    def declared(self) -> tuple[Declared, ...]:
        """Every definition with its schema."""
        return tuple(declare(fact) for fact in self.facts if isinstance(fact, Definition))

    @cached_property
    def defined(self) -> Mapping[str, Operator]:
        """The operators that are declared in this code base."""
        return {name: op for name, op in self.operators.items() if op.declared}

    @cached_property
    def overloads(self) -> Mapping[str, tuple[Operator, ...]]:
        """The declared overloads by the name without overload."""
        found: dict[str, list[Operator]] = {}
        for name, operator in self.defined.items():
            found.setdefault(name.partition(".")[0], []).append(operator)
        return {name: tuple(operators) for name, operators in found.items()}

    @property
    def calls(self) -> Iterator[Call]:
        return (fact for fact in self.facts if isinstance(fact, Call))

    @property
    def libraries(self) -> Iterator[Library]:
        return (fact for fact in self.facts if isinstance(fact, Library))

    def schema(self, name: str) -> Schema | None:
        """The one schema of an operator, by its name."""
        operator = self.defined.get(name)
        return operator.schema if operator else self.known.get(name)


def declare(definition: Definition) -> Declared:
    """The schema of a definition: its text, else its signature."""
    if definition.text is not None:
        return _written(definition, definition.text.value)
    if definition.signature is None:
        return Declared(definition, None)
    return Declared(definition, inferred(definition, definition.signature))


def _written(definition: Definition, text: str) -> Declared:
    offset = len(PREFIX) if text.lstrip().startswith("(") else 0
    file = definition.span.file
    try:
        schema = parse(PREFIX * (offset > 0) + text, file=file)
    except SchemaError as error:
        return Declared(definition, None, error.findings, offset)
    return Declared(definition, named(schema, definition.name), (), offset)


def named(schema: Schema, name: str) -> Schema:
    base, _, overload = name.partition(".")
    return replace(schema, name=base, overload=overload)


def inferred(definition: Definition, signature: Signature) -> Schema | None:
    """The schema that a function's head gives an operator; None where a part of it is not known."""
    names = frozenset(parameter.name for parameter in signature.parameters)
    writes = names if definition.mutates_all else definition.mutates
    if signature.returns is None or writes is UNKNOWN:
        return None
    arguments = tuple(_arguments(signature, frozenset(writes or ())))
    if len(arguments) != len(signature.parameters):
        return None
    base, _, overload = definition.name.partition(".")
    try:
        return Schema(base, overload, arguments, signature.returns)
    except SchemaError:  # told by who reads the annotations
        return None


def _arguments(signature: Signature, writes: frozenset[str]) -> Iterator[Argument]:
    for number, parameter in enumerate(signature.parameters):
        kind = parameter.type
        if kind is None or parameter.kind in (Kind.VARARGS, Kind.VARKEYWORDS):
            return
        if parameter.default is UNKNOWN and signature.language is Language.PYTHON:
            return
        default = REQUIRED if parameter.default is UNKNOWN else parameter.default
        if parameter.name in writes and holds_tensors(kind):
            kind = written(kind, f"a{number}")
        yield Argument(
            parameter.name or f"_{number}", kind, default, parameter.kind is Kind.KEYWORD
        )


def written(kind: Type, letter: str) -> Type:
    """A type whose tensors are written."""
    return marked(kind, Alias((letter,), writes=True))


def joined(facts: Iterable[Fact]) -> Index:
    """The index of some facts.

    >>> joined([]).operators
    {}
    """
    return Index(tuple(facts))
