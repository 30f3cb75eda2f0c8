"""What a live class declares: which kind of structure it is, and its fields.

Knows the class forms of the standard library and pydantic; leaves annotations unread. Imports
nothing that the class's author has not imported.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from typing import Any

import typing_extensions

from opwright import _compat
from opwright.frozen import frozen
from opwright.hints.model import StructureKind


@frozen
class Declared:
    """A field as declared, and the class that declares it; without a factory the default is one."""

    name: str
    annotation: object
    owner: type
    required: bool = True
    default: object = None
    factory: Callable[[], object] | None = None


def structure_kind(cls: type) -> StructureKind | None:
    """What makes a class a structure, if it is one."""
    if dataclasses.is_dataclass(cls):
        return StructureKind.DATACLASS
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return StructureKind.NAMEDTUPLE
    if typing_extensions.is_typeddict(cls):
        return StructureKind.TYPEDDICT
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and issubclass(cls, pydantic.BaseModel):
        return StructureKind.PYDANTIC
    return None


def declared_fields(cls: Any) -> Iterator[Declared]:
    """The fields that the constructor takes, inherited ones included, in order.

    >>> from opwright.findings import Related
    >>> [field.name for field in declared_fields(Related)]
    ['span', 'message']
    """
    kind = structure_kind(cls)
    return iter(()) if kind is None else _FIELDS[kind](cls)


def _of_dataclass(cls: Any) -> Iterator[Declared]:
    for part in dataclasses.fields(cls):
        if not part.init:
            continue
        default = None if part.default is dataclasses.MISSING else part.default
        factory = None if part.default_factory is dataclasses.MISSING else part.default_factory
        required = part.default is dataclasses.MISSING and factory is None
        yield Declared(part.name, part.type, _owner(cls, part.name), required, default, factory)


def _of_namedtuple(cls: Any) -> Iterator[Declared]:
    for name in cls._fields:
        owner, given = _owner(cls, name), name in cls._field_defaults
        annotation = _compat.annotations_of(owner).get(name, Any)
        yield Declared(name, annotation, owner, not given, cls._field_defaults.get(name))


def _of_typeddict(cls: Any) -> Iterator[Declared]:
    for name, annotation in _compat.annotations_of(cls).items():
        yield Declared(name, annotation, cls, name in cls.__required_keys__)


def _of_pydantic(cls: Any) -> Iterator[Declared]:
    for name, info in cls.model_fields.items():
        owner = _owner(cls, name)
        annotation = _compat.annotations_of(owner).get(name, info.annotation)
        required, factory = info.is_required(), info.default_factory
        yield Declared(
            name, annotation, owner, required, None if required else info.default, factory
        )


def _owner(cls: type, name: str) -> type:
    """The class that annotates a field, whose names its annotation is written in."""
    return next((base for base in cls.__mro__ if name in _compat.annotations_of(base)), cls)


_FIELDS: dict[StructureKind, Callable[[Any], Iterator[Declared]]] = {
    StructureKind.DATACLASS: _of_dataclass,
    StructureKind.NAMEDTUPLE: _of_namedtuple,
    StructureKind.TYPEDDICT: _of_typeddict,
    StructureKind.PYDANTIC: _of_pydantic,
}
