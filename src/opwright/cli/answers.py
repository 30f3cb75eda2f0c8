"""What inference says of the functions that a target names: from source, or live on request."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from opwright.cli.target import Target
from opwright.findings import Diagnostic, SchemaError, Severity, Span
from opwright.frozen import frozen
from opwright.hints import examine
from opwright.hints.lower import Inferred, lower
from opwright.hints.model import Function
from opwright.hints.resolve import Definition, Sources
from opwright.hints.source import read_function, read_source
from opwright.schema.model import Schema
from opwright.survey.operators import Operator, Progress, operators, python_files


@frozen
class Answer:
    """One function: its schema or none, and what there is to say; without a name, a bad file."""

    name: str
    span: Span
    schema: Schema | None
    findings: tuple[Diagnostic, ...] = ()

    @property
    def unreadable(self) -> bool:
        """Whether a file could not be read at all."""
        return not self.name

    @property
    def wrong(self) -> bool:
        """Whether there is more to say than notes."""
        return any(finding.severity is not Severity.NOTE for finding in self.findings)


def registered(target: Target, progress: Progress) -> Iterator[Answer]:
    """Every operator that the target registers."""
    for found in operators(target.path, progress):
        if isinstance(found, Operator):
            yield Answer(found.name, found.span, found.schema, found.findings)
        else:
            yield Answer("", Span(str(found.path)), None, found.findings)


def annotated(target: Target, progress: Progress) -> Iterator[Answer]:
    """Every module-level function of the target with an annotation."""
    sources = Sources()
    files = [target.path] if target.path.is_file() else python_files(target.path)
    for done, file in enumerate(files, 1):
        progress(done, len(files))
        try:
            scope = sources.open(file)
        except SchemaError as error:
            yield Answer("", Span(str(file)), None, error.findings)
            continue
        for node in scope.module.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                function = read_function(Definition(node, scope))
                if function.returns or any(each.hint for each in function.parameters):
                    yield _meant(function)


def named(target: Target) -> Answer:
    """The one function that the target names."""
    path = target.path / "__init__.py" if target.path.is_dir() else target.path
    try:
        return _meant(read_source(path, target.function))
    except SchemaError as error:
        return Answer("", Span(str(path)), None, error.findings)


def _meant(function: Function) -> Answer:
    return _answer(function.name, function.span, lower(function))


def _answer(name: str, span: Span, meant: Inferred) -> Answer:
    refused = any(found.severity is Severity.ERROR for found in meant.findings)
    return Answer(name, span, None if refused else meant.schema, meant.findings)


# Live ------------------------------------------------------------------------------------------


def live(target: Target) -> Iterator[Answer]:
    """The functions of an imported module, as they are after import."""
    if not target.module:
        raise click.UsageError("--live wants the name of a module, `package.module[:function]`")
    module = imported(target.module)
    if target.function:
        yield _inferred(target.function, _attribute(module, target))
        return
    for name, value in vars(module).items():
        own = getattr(value, "__module__", None) == target.module
        if own and inspect.isfunction(value) and value.__annotations__:
            yield _inferred(name, value)


def imported(name: str) -> object:
    """The module of that name, found from the working directory as well."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except (
        Exception
    ) as error:  # whatever the user's module raises is the user's to see, in one line
        raise click.ClickException(f"importing {name} failed: {error!r}") from None


def _attribute(module: object, target: Target) -> Callable[..., object]:
    value = module
    for part in target.function.split("."):
        value = getattr(value, part, None)
    if not callable(value):
        raise click.ClickException(f"{target.module} has no function {target.function!r}")
    return value


def _inferred(name: str, function: Callable[..., object]) -> Answer:
    return _answer(name, Span(), examine(function))
