"""What a live default is worth: a constant that the source reader could have read too.

Knows live objects; imports neither torch nor pydantic and compares by path.
"""

from __future__ import annotations

import dataclasses
import sys
from enum import Enum
from typing import Any

from opwright.hints.model import Constant, Default, Instance, Member, Symbol, Unknown, canonical

_SYMBOLS = frozenset({"torch.dtype", "torch.layout", "torch.memory_format"})
_DEEPEST = 16
_PLAIN = (bool, int, float, complex, str, bytes)
_SUBCLASSED: tuple[Any, ...] = _PLAIN[1:]


def path_of(cls: Any) -> str:
    """The canonical path of a class or function.

    >>> path_of(int), path_of(Member)
    ('int', 'opwright.hints.model.Member')
    """
    return canonical(f"{cls.__module__}.{cls.__qualname__}")


def value(live: object, depth: int = 0) -> Default:
    """Read a live default.

    >>> value([1, (2.5, None)]), value({"a": 1})
    ((1, (2.5, None)), Instance(path='dict', fields=(('a', 1),)))
    """
    if live is None or type(live) in _PLAIN:
        return live  # type: ignore[return-value]
    if isinstance(live, Enum):
        return member(live)
    for plain in _SUBCLASSED:
        if isinstance(live, plain):
            return plain(live)  # type: ignore[no-any-return]
    return unknown(live) if depth > _DEEPEST else _composed(live, depth + 1)


def member(live: Enum) -> Constant:
    """An enum member by the path of its class."""
    if not live.name:  # flags that have no name together
        combined: int = live.value
        return combined
    plain = next((kind(live.value) for kind in (str, int) if isinstance(live, kind)), None)
    return Member(path_of(type(live)), live.name, plain)


def unknown(live: object) -> Unknown:
    """What is no constant: its `repr`, if that fits a line."""
    text = repr(live)
    fits = len(text) <= 60 and "\n" not in text
    return Unknown(text if fits else f"{type(live).__name__}(...)")


def _composed(live: Any, depth: int) -> Default:
    fields = constructed(live)
    if fields is not None:
        return _instance(path_of(type(live)), fields, depth)
    if isinstance(live, dict) and all(type(key) is str for key in live):
        return _instance("dict", live, depth)
    if isinstance(live, (list, tuple)):
        return tuple(value(item, depth) for item in live)
    path = path_of(type(live))
    if path in _SYMBOLS:
        return Symbol(str(live))
    if path == "torch.device":
        return Instance(path, (("type", str(live)),))
    return unknown(live)


def _instance(path: str, fields: dict[str, Any], depth: int) -> Instance:
    return Instance(path, tuple((name, value(given, depth)) for name, given in fields.items()))


def constructed(live: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, `NamedTuple` or pydantic instance; None for anything else."""
    if isinstance(live, type):
        return None
    if dataclasses.is_dataclass(live):
        return {
            part.name: getattr(live, part.name) for part in dataclasses.fields(live) if part.init
        }
    if isinstance(live, tuple) and hasattr(live, "_fields"):
        return dict(zip(live._fields, live, strict=True))
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(live, pydantic.BaseModel):
        return {name: getattr(live, name) for name in type(live).model_fields}
    return None
