"""A stub read back by Opwright's own readers: the schemas that its annotations mean.

Docstrings say nothing here. An annotation is read like any author's; where the schema's words stand
beside it, these count.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from opwright.hints.lower import lower
from opwright.hints.model import NONE, Function, Kind, Role
from opwright.hints.resolve import Definition, Scope, Sources
from opwright.hints.source import read_function
from opwright.schema.model import Schema
from opwright.schema.parse import parse

REMARKS = ("OW111", "OW112", "OW113", "OW114", "OW117")
"""Advice to authors that the plain part of a head may call for."""


@dataclass(frozen=True)
class Stub:
    """What a stub says of one packet: a schema per overload, and those of the packet's call."""

    overloads: tuple[Schema, ...]
    calls: tuple[Schema, ...]


def read(text: str) -> Iterator[Stub]:
    """Every packet of a stub."""
    scope = Sources().open(Path("stub.pyi"), text.encode())
    classes = {node.name: node for node in scope.node.body if isinstance(node, ast.ClassDef)}
    for name, node in classes.items():
        if _base(node) == "_Namespace":
            for member, packet in _members(node):
                if packet != "OpOverloadPacket":
                    stub = _Reader(scope, classes).stub
                    yield stub(f"{name[1:-4]}::{member}", classes[packet])


@dataclass(frozen=True)
class _Reader:
    scope: Scope
    classes: dict[str, ast.ClassDef]

    def stub(self, name: str, packet: ast.ClassDef) -> Stub:
        overloads = [
            schema
            for member, class_ in _members(packet)
            for schema in self._calls(_overload(name, member), self.classes[class_])
        ]
        called = self.classes.get(_base(packet), packet)
        return Stub(tuple(overloads), tuple(self._calls(name, called)))

    def _calls(self, name: str, class_: ast.ClassDef) -> Iterator[Schema]:
        for node in class_.body:
            if isinstance(node, ast.FunctionDef):
                yield self._schema(name, node, self.scope.child(class_))

    def _schema(self, name: str, node: ast.FunctionDef, scope: Scope) -> Schema:
        function = read_function(Definition(node, scope))
        words = {arg.arg: _words(arg.annotation) for arg in _arguments(node)}
        returns = _words(node.returns)
        plain = replace(
            function,
            role=Role.FUNCTION,
            parameters=tuple(p for p in function.parameters[1:] if not words.get(p.name, "*")),
            returns=NONE if returns else function.returns,
        )
        meant = lower(plain, "f")
        assert not [f for f in meant.findings if f.code not in REMARKS], (name, meant.findings)
        words |= {argument.name: str(argument) for argument in meant.schema.arguments}
        inside = ", ".join(_texts(function, words))
        return parse(f"{name}({inside}) -> {returns or str(meant.schema).partition(' -> ')[2]}")


def _texts(function: Function, words: dict[str, str]) -> Iterator[str]:
    dots, starred = "", False
    for parameter in function.parameters[1:]:
        if parameter.kind is Kind.VAR_POSITIONAL:
            dots = "..."
            continue
        if parameter.kind is Kind.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield words[parameter.name]
    yield from filter(None, [dots])


def _base(node: ast.ClassDef) -> str:
    return ast.unparse(node.bases[0]) if node.bases else ""


def _members(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """(attribute, class) of the annotated attributes."""
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            assert isinstance(part.target, ast.Name)
            assert isinstance(part.annotation, ast.Name)
            if part.annotation.id != "str":
                yield _name(part.target.id), part.annotation.id


def _name(attribute: str) -> str:
    return attribute[:-1] if keyword.iskeyword(attribute.rstrip("_")) else attribute


def _overload(name: str, member: str) -> str:
    return name if member == "default" else f"{name}.{member}"


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _words(annotation: ast.expr | None) -> str:
    """The schema's words in `Annotated[T, "words"]`."""
    match annotation:
        case ast.Subscript(ast.Name("Annotated"), ast.Tuple([_, ast.Constant(str(words))])):
            return words
        case _:
            return ""
