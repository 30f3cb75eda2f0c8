"""The operators that importing a package registers, as facts, like a survey of source.

Imports what it is told to, on the user's word; watches `torch.library` while it does.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from torch.library import Library

from opwright.findings import Span
from opwright.hints.live import read
from opwright.ops import private
from opwright.survey.facts import (
    Definition,
    Fact,
    Implementation,
    Language,
    Piece,
    Role,
    Signature,
    Text,
)
from opwright.survey.signatures import signature_of


@dataclass(frozen=True)
class Registered:
    """One function that was handed to torch for an operator."""

    name: str
    role: Role
    key: str
    function: FunctionType


@dataclass
class Record:
    """What was registered while a package was imported."""

    functions: list[Registered] = field(default_factory=list)


def facts_of(package: str) -> list[Fact]:
    """Import a package; every operator that this registered, with its kernels and fakes."""
    before = {_qualname(schema) for schema in private.all_schemas()}
    with recording() as record:
        importlib.import_module(package)
    fresh = [s for s in private.all_schemas() if _qualname(s) not in before]
    known = {_qualname(schema) for schema in fresh}
    functions = [*record.functions, *_of_custom_ops(known)]
    places = {one.name: _place(one.function) for one in reversed(functions)}
    definitions = [_definition(schema, places.get(_qualname(schema), Span())) for schema in fresh]
    return [*definitions, *(_implementation(one) for one in functions if one.name in known)]


@contextmanager
def recording() -> Iterator[Record]:
    """Watch what is handed to `Library` objects; torch gets everything all the same."""
    record = Record()
    impl, fake = Library.impl, getattr(Library, private.FAKE_METHOD)

    def implementing(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **rest: Any) -> Any:
        key = dispatch_key or str(self.dispatch_key)
        record.functions += _registered(self.ns, op_name, fn, Role.KERNEL, key)
        return impl(self, op_name, fn, dispatch_key, **rest)

    def faking(self: Any, op_name: Any, fn: Any, *rest: Any, **more: Any) -> Any:
        record.functions += _registered(self.ns, op_name, fn, Role.FAKE, "")
        return fake(self, op_name, fn, *rest, **more)

    Library.impl = implementing
    setattr(Library, private.FAKE_METHOD, faking)
    try:
        yield record
    finally:
        Library.impl = impl
        setattr(Library, private.FAKE_METHOD, fake)


def _registered(
    namespace: str, op_name: Any, fn: Any, role: Role, key: str
) -> Iterator[Registered]:
    function = _users(fn)
    if function is not None:
        name = op_name if isinstance(op_name, str) else str(op_name.name())
        whole = name if "::" in name else f"{namespace}::{name}"
        yield Registered(whole, Role.FAKE if key == "Meta" else role, key, function)


def _of_custom_ops(names: set[str]) -> Iterator[Registered]:
    """What `torch.library.custom_op` keeps of its own."""
    for name in names & set(private.CUSTOM_OPS):
        made = private.CUSTOM_OPS[name]
        wanted = [(Role.KERNEL, key or "default", fn) for key, fn in made._backend_fns.items()]
        wanted.append((Role.FAKE, "", made._abstract_fn))
        for role, key, fn in wanted:
            function = _users(fn)
            if function is not None:
                yield Registered(name, role, key, function)


def _users(fn: Any) -> FunctionType | None:
    """The function that a user wrote, behind the wrappers that torch puts around it."""
    waiting, seen = [fn], set()
    while waiting:
        one = waiting.pop(0)
        if not isinstance(one, FunctionType) or id(one) in seen:
            continue
        if not (one.__module__ or "").startswith(("torch.", "opwright.")):
            return one
        seen.add(id(one))
        waiting += [cell.cell_contents for cell in one.__closure__ or ()]
    return None


def _qualname(schema: Any) -> str:
    """`ns::name.overload`, as everything here is called."""
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _definition(schema: Any, place: Span) -> Definition:
    name = _qualname(schema)
    text = Text(str(schema), place.file, (Piece(0, place.line, 1, exact=False),))
    return Definition(name, place, Language.PYTHON, "registered", text)


def _implementation(one: Registered) -> Implementation:
    place = _place(one.function)
    return Implementation(
        one.name, one.role, place, Language.PYTHON, one.key, _signature(one.function, place)
    )


def _signature(function: FunctionType, place: Span) -> Signature:
    found = signature_of(read(inspect.unwrap(function)))
    parameters = tuple(replace(parameter, span=place) for parameter in found.parameters)
    return replace(found, parameters=parameters, span=place)


def _place(function: FunctionType) -> Span:
    """The line of the `def`, below its decorators."""
    code = inspect.unwrap(function).__code__
    line = code.co_firstlineno
    for number in range(line, line + 50):
        if linecache.getline(code.co_filename, number).lstrip().startswith(("def ", "async def ")):
            return Span(code.co_filename, number, 1)
    return Span(code.co_filename, line, 1)
