"""Operators as their sources declare them, Python and C++: schemas, docstrings, places, choices.

Reads files through the survey; imports and runs nothing of them.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from opwright.findings import Diagnostic, SchemaError, Span
from opwright.frozen import field, frozen
from opwright.hints.lower import Inferred
from opwright.hints.resolve import Sources
from opwright.never import assert_never
from opwright.stubs.choices import narrowed
from opwright.stubs.operators import Operator, Unread
from opwright.survey.cpp import MARKS, CppNames, read_cpp
from opwright.survey.facts import Definition, Fact
from opwright.survey.index import declare
from opwright.survey.operators import Unreadable, operators
from opwright.survey.sites import read_sites

CPP_SUFFIXES = (".cpp", ".cc", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".mm", ".hip")
DEFINES = b"define("

Found: TypeAlias = Operator | Unread | Diagnostic


def declared(paths: Iterable[Path], names: CppNames | None = None) -> Iterator[Found]:
    """Every operator that these files and folders declare, and findings of unreadable files.

    The annotations of a Python function say more than a schema, so they come first. Files are named
    as seen from the folder that holds the path: `mylib/ops.py` in `mylib`.
    """
    known: set[str] = set()
    for path in paths:
        survey = _Survey(path.resolve(), names or CppNames())
        for found in survey.declared():
            name = _name(found)
            if name not in known:
                known |= {name} - {""}
                yield found


@frozen
class _Survey:
    """What one file or folder declares."""

    path: Path
    names: CppNames
    docs: dict[str, dict[int, str]] = field(default_factory=dict)

    def declared(self) -> Iterator[Found]:
        yield from self._annotated()
        yield from self._handwritten()
        yield from self._cpp()

    def _annotated(self) -> Iterator[Found]:
        """Python functions, by their annotations."""
        for found in operators(self.path):
            if isinstance(found, Unreadable):
                yield from found.findings
            elif "{" in found.name:
                continue
            elif found.inferred is None or found.schema is None:
                yield Unread(found.name, found.findings)
            else:
                place = found.span if found.function is None else found.function.span
                yield from self._overloads(found.inferred, place)

    def _overloads(self, inferred: Inferred, place: Span) -> Iterator[Operator]:
        for each in filter(None, (inferred, inferred.out)):
            choices = dict(narrowed(each.bindings))
            yield Operator(each.schema, self._doc(place), *self._place(place), choices)

    def _handwritten(self) -> Iterator[Found]:
        """What `Library.define` and the like are given as text."""
        sources = Sources()
        for file in self._files((".py",), DEFINES):
            yield from self._handwritten_in(file, sources)

    def _handwritten_in(self, file: Path, sources: Sources) -> Iterator[Found]:
        try:
            facts = read_sites(sources.open(file))
        except SchemaError as unreadable:
            yield from unreadable.findings
        else:
            yield from self._defined(facts)

    def _cpp(self) -> Iterator[Found]:
        for file in self._files(CPP_SUFFIXES, *MARKS):
            text = file.read_text("utf-8", errors="replace")
            yield from self._defined(read_cpp(text, str(file), self.names))

    def _defined(self, facts: Iterable[Fact]) -> Iterator[Found]:
        for fact in facts:
            if not isinstance(fact, Definition) or not fact.resolved or "::" not in fact.name:
                continue
            found = declare(fact)
            if found.schema is None:
                yield Unread(fact.name, found.faults)
            else:
                file, line = self._place(fact.span)
                yield Operator(found.schema, file=file, line=line)

    def _place(self, place: Span) -> tuple[str, int]:
        file = Path(place.file)
        home = self.path.parent
        return (
            file.relative_to(home) if file.is_relative_to(home) else file
        ).as_posix(), place.line

    def _doc(self, place: Span) -> str:
        """The docstring of the function that is defined there, or nothing."""
        if place.file not in self.docs:
            self.docs[place.file] = dict(_docstrings(Path(place.file)))
        return self.docs[place.file].get(place.line, "")

    def _files(self, suffixes: tuple[str, ...], *marks: bytes) -> Iterator[Path]:
        """The files with a suffix that have one of the marks in them."""
        for file in [self.path] if self.path.is_file() else _below(self.path):
            if file.suffix not in suffixes:
                continue
            data = file.read_bytes()
            if any(mark in data for mark in marks):
                yield file


def _name(found: Found) -> str:
    """The full name of an operator; a finding has none."""
    match found:
        case Operator(schema):
            return schema.qualname
        case Unread(name):
            return name
        case Diagnostic():
            return ""
        case _:
            assert_never(found)


def _below(folder: Path) -> Iterator[Path]:
    """Every file in a folder; hidden folders are passed over."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(where, name) for name in sorted(names))


def _docstrings(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(Sources().open(file).module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, ast.get_docstring(node) or ""
