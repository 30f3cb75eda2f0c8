"""How one value crosses the dispatcher: what packs it, what unpacks it, what needs neither.

Knows codecs; not functions or operators. A `Crossing` without `pack` passes values as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from opwright.hints.codec import (
    AsIs,
    By,
    Codec,
    Each,
    EnumMember,
    JsonText,
    Nullable,
    OneOf,
    OpaqueObject,
)
from opwright.never import assert_never

Change: TypeAlias = Callable[[Any], Any]

_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "torch.Size": torch.Size,
}


class BadCall(ValueError):
    """A value that the annotation of the operator does not allow."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """What happens to a value on its way to the dispatcher and from there to the kernel."""

    pack: Change | None = None
    unpack: Change | None = None
    facts: tuple[tuple[str, object], ...] = ()
    """What a condition on the value looks up: `choices`, `enum`."""


class Unsupported(Exception):
    """A codec that this version does not carry; the text says which."""


def crossing(codec: Codec, what: str) -> Crossing:
    """How values of this codec cross; `what` names the argument in errors.

    >>> pair = crossing(Each(AsIs(), "tuple", size=2), "'size' of mylib::f")
    >>> pair.unpack([3, 4])
    (3, 4)
    >>> pair.pack((3, 4, 5))
    Traceback (most recent call last):
    opwright.ops.crossing.BadCall: 'size' of mylib::f takes 2 values, not 3
    """
    match codec:
        case AsIs():
            return Crossing()
        case Nullable(of):
            inner = crossing(of, what)
            return Crossing(_unless_none(inner.pack), _unless_none(inner.unpack), inner.facts)
        case Each():
            return _sequence(codec, what)
        case OneOf(values):
            allowed = frozenset(values)
            return Crossing(_one_of(values, what), None, (("choices", allowed),))
        case EnumMember():
            return _enum(codec, what)
        case JsonText():
            raise Unsupported("`Json` arguments cannot be registered yet")
        case OpaqueObject():
            raise Unsupported("`Opaque` arguments cannot be registered yet")
        case _:
            assert_never(codec)


def _unless_none(change: Change | None) -> Change | None:
    if change is None:
        return None
    return lambda value: None if value is None else change(value)


def _sequence(each: Each, what: str) -> Crossing:
    item = crossing(each.of, what)
    whole = None if each.kind == "list" else _SEQUENCES[each.kind]
    return Crossing(_packed(item.pack, each, what), _unpacked(item.unpack, whole))


def _packed(item: Change | None, each: Each, what: str) -> Change | None:
    size, repeats = each.size, each.repeats
    if item is None and size is None:
        return None

    def pack(value: Any) -> Any:
        if repeats and not isinstance(value, (list, tuple)):
            value = [value] * (size or 1)
        if size is not None and len(value) != size:
            raise BadCall(f"{what} takes {size} values, not {len(value)}")
        return value if item is None else [item(one) for one in value]

    return pack


def _unpacked(item: Change | None, whole: Change | None) -> Change | None:
    if item is None:
        return whole
    if whole is None:
        return lambda value: [item(one) for one in value]
    return lambda value: whole([item(one) for one in value])


def _one_of(values: tuple[object, ...], what: str) -> Change:
    kinds = tuple({type(value) for value in values})

    def pack(value: Any) -> Any:
        if type(value) not in kinds or value not in values:  # Dynamo of 2.8 reads tuples only
            choices = ", ".join(map(repr, values))
            raise BadCall(f"{what} takes one of {choices}, not {value!r}")
        return value

    return pack


def _enum(codec: EnumMember, what: str) -> Crossing:
    enum: Any = codec.enum.object
    names = ", ".join(f"{codec.enum}.{member.name}" for member in enum)
    if codec.by is By.NAME:
        members = {member.name: member for member in enum}

        def name(value: Any) -> str:
            if not isinstance(value, enum):
                raise BadCall(f"{what} takes one of {names}, not {value!r}")
            return str(value.name)

        return Crossing(name, members.__getitem__, (("enum", enum),))

    def value_of(value: Any) -> Any:
        if isinstance(value, enum):  # Dynamo of 2.8 makes no members
            return value.value
        try:
            return enum(value).value
        except ValueError:
            raise BadCall(f"{what} takes one of {names}, not {value!r}") from None

    return Crossing(value_of, enum, (("enum", enum),))
