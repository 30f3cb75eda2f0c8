"""Every operator that the Python files of a folder register, with its schema or why it has none.

Reads text only; looks for a few words in the bytes of a file before it parses anything.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError, Severity, Span
from opwright.frozen import frozen, replace
from opwright.hints.files import no_collection
from opwright.hints.lower import Inferred, lower
from opwright.hints.model import Function
from opwright.hints.mutates import UNKNOWN, marked_by, unmatched
from opwright.hints.resolve import Definition, Scope, ScopeNode, Sources, statements
from opwright.schema.compare import compare
from opwright.schema.model import Schema
from opwright.schema.parse import parse
from opwright.survey.forms import WORDS, form_of
from opwright.survey.registering import (
    HINTS,
    Mutates,
    Registration,
    may_register,
    registering,
    registrations,
)

_DOUBTED = ("OW111",)
"""Errors of an operator whose schema is known all the same."""
_INNER = (*HINTS, "@")
_HOLE = re.compile(r"\{.*?\}")

Progress = Callable[[int, int], None]
"""Called with how many files are done, and of how many."""


@frozen
class Operator:
    """One operator: where and how it is registered, and what its annotations mean.

    `name` holds `{...}` where only running the code tells the rest.
    """

    name: str
    span: Span
    via: str
    function: Function | None
    mutates: Mutates
    written: str | None
    findings: tuple[Diagnostic, ...]
    inferred: Inferred | None

    @property
    def schema(self) -> Schema | None:
        """The inferred schema; None where the findings say why there is none."""
        return None if self.refused or self.inferred is None else self.inferred.schema

    @property
    def refused(self) -> bool:
        """Whether the annotations gave no schema."""
        found = self.findings if self.inferred is None else self.inferred.findings
        return any(f.severity is Severity.ERROR and f.code not in _DOUBTED for f in found)


@frozen
class Unreadable:
    """A file that could not be read, and why."""

    path: Path
    findings: tuple[Diagnostic, ...]


def operators(
    path: Path | str, progress: Progress | None = None
) -> Iterator[Operator | Unreadable]:
    """Every operator that a file, or any file in a folder, registers.

    Files come in the order of their names, operators in the order of their lines. Nothing of the
    code is imported or executed.
    """
    path = Path(path)
    sources = Sources()
    with no_collection():
        files = [path] if path.is_file() else _marked(python_files(path), sources, progress)
        for file in files:
            yield from _of_file(file, sources)


def _of_file(file: Path, sources: Sources) -> Iterator[Operator | Unreadable]:
    try:
        scope = sources.open(file)
        found = sorted(_registered(scope), key=lambda one: (one.span.line, one.span.column))
        declarations = [declared(registration) for registration in found]
    except SchemaError as error:
        yield Unreadable(file, error.findings)
    except RecursionError:
        message = "this file is nested too deeply to be read"
        yield Unreadable(file, (Diagnostic("OW901", message, span=Span(str(file))),))
    else:
        yield from declarations


# Files -----------------------------------------------------------------------------------------


def python_files(folder: Path) -> list[Path]:
    """The Python files of a folder, sorted; hidden folders are passed over, links not followed."""
    found = []
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(where, name) for name in names if name.endswith(".py")]
    return sorted(found)


def _marked(files: list[Path], sources: Sources, progress: Progress | None) -> list[Path]:
    """The files that may register an operator, by the words in them.

    Helpers have names of their own choosing: what the files with the known words define is looked
    at, and the names of helpers found there are searched for in turn.
    """
    words = {word.encode() for word in WORDS}
    marked: set[Path] = set()
    while words:
        fresh = list(_holding(words, files, marked, progress))
        marked.update(fresh)
        words = {name.encode() for name in _helpers(fresh, sources)} - words
        words = {word for word in words if not any(known.encode() in word for known in WORDS)}
    return sorted(marked)


def _holding(
    words: Iterable[bytes], files: list[Path], known: set[Path], progress: Progress | None
) -> Iterator[Path]:
    for done, file in enumerate(files, 1):
        if progress is not None:
            progress(done, len(files))
        if file not in known:
            data = _read(file)
            if any(word in data for word in words):
                yield file


def _read(file: Path) -> bytes:
    """What is in a file; one that cannot be opened holds no words, and no operators."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _helpers(files: Iterable[Path], sources: Sources) -> Iterator[str]:
    """The names of functions that register what they are given."""
    for file in files:
        scope = sources.scope_of(file)
        for statement in _statements(scope.module.tree.body) if scope else ():
            if not isinstance(statement, ast.FunctionDef) or scope is None:
                continue
            if registering(Definition(statement, scope)):
                yield statement.name


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under conditions included."""
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        yield statement
        if not isinstance(statement, ScopeNode):
            waiting += statements(statement)


# One file --------------------------------------------------------------------------------------


def _registered(scope: Scope) -> Iterator[Registration]:
    """What the decorators and calls of a scope, and of those inside it, register."""
    waiting: list[ast.AST] = list(scope.node.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            given = Definition(node, scope)
            for decorator in node.decorator_list:
                yield from registrations(decorator, scope, given)
            if scope.module.holds(node, _INNER) and form_of(given.path) is None:
                yield from _registered(scope.child(node))
            continue
        if isinstance(node, ast.Call) and may_register(node.func):
            yield from (one for one in registrations(node, scope) if not one.helper)
        waiting.extend(ast.iter_child_nodes(node))


def declared(registration: Registration) -> Operator:
    """Infer the schema of what is registered, and hold a handwritten one against it."""
    function, inferred, findings = registration.function, None, list(_unknowns(registration))
    if function is not None:
        mutates = () if registration.mutates is None else registration.mutates
        names = () if isinstance(mutates, str) and mutates != UNKNOWN else mutates
        inferred = lower(marked_by(function, names), _HOLE.sub("_", registration.name))
        inferred = replace(inferred, findings=(*inferred.findings, *unmatched(function, mutates)))
        findings += inferred.findings
    if registration.schema is not None:
        findings += _disagreements(registration, inferred)
    return Operator(
        name=registration.name,
        span=registration.span,
        via=registration.via,
        function=function,
        mutates=registration.mutates,
        written=registration.schema,
        findings=tuple(findings),
        inferred=inferred,
    )


def _unknowns(registration: Registration) -> Iterator[Diagnostic]:
    name, span = registration.name, registration.span
    if registration.elsewhere:
        message = f"{name} registers {registration.elsewhere}, which is not in these files"
        hint = "give its schema, or read it live: `opwright infer --live`"
        yield Diagnostic("OW903", message, hint, span)
    elif registration.function is None:
        message = f"{name}: which function this registers is known only when it runs"
        yield Diagnostic("OW903", message, "name a function of this code base", span)
    elif registration.mutates is None:
        message = f"{name}: mutates_args is known only when the code runs"
        hint = "write the names out: mutates_args=('x',)"
        yield Diagnostic("OW904", message, hint, span, Severity.WARNING)


def _disagreements(registration: Registration, inferred: Inferred | None) -> Iterator[Diagnostic]:
    """What a handwritten schema says otherwise; one with holes in it is left alone."""
    text = registration.schema or ""
    if "{" in text:
        return
    try:
        written = parse(text, name=registration.name)
    except SchemaError as error:
        yield from (_placed(finding, registration) for finding in error.findings)
        return
    refused = inferred is None or any(f.severity is Severity.ERROR for f in inferred.findings)
    if inferred is not None and not refused:
        for finding in compare(written, inferred.schema):
            yield replace(finding, span=registration.schema_span)


def _placed(finding: Diagnostic, registration: Registration) -> Diagnostic:
    """A fault of a handwritten schema where it stands in the file, as far as columns can be told.

    Escapes and joined literals move them; then the whole text is pointed at.
    """
    whole, inner = registration.schema_span, finding.span
    plain = whole.end_column - whole.column == len(registration.schema or "") + len("''")
    if plain and whole.line == whole.end_line:
        start = whole.column + inner.column
        whole = replace(whole, column=start, end_column=start + inner.end_column - inner.column)
    return replace(finding, span=whole, excerpt="")
