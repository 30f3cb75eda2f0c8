"""Keeps torch's on-disk caches of compiled code apart when registrations differ.

Knows `torch.compiler.config.cache_key_tag`, and what of an operator is compiled into code: its
schema, its fake kernel, its backward. torch's own cache keys know an operator by its name only.
"""

from __future__ import annotations

import hashlib
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch.compiler import config

from opwright.ops.lock import lock
from opwright.schema.model import Schema

_compiled_in: dict[str, dict[str, tuple[Callable[..., Any], ...]]] = {}
_stamps: dict[str, int] = {}
_waiting: dict[str, Schema] = {}
_OURS = re.compile(r"\+opwright:[0-9a-f]{16}")
_total = 0
_compiling = False


def stamp(schema: Schema, role: str = "", *functions: Callable[..., Any]) -> None:
    """Note what compiled code would know of an operator: a new one, or what has a role in it.

    Until something is compiled the tag can wait; `settle` is called by the first fake kernel.
    """
    name = schema.qualname
    known = _compiled_in.setdefault(name, {})
    if not role:
        known.clear()
    known[role] = functions
    _waiting[name] = schema
    if _compiling:
        settle()


def settle() -> None:
    """Bring the tag up to date, now and from now on: compilation has begun."""
    global _compiling, _total
    with lock:
        _compiling = True
        for name, schema in _waiting.items():
            digest = _digest(schema)
            _total ^= _stamps.get(name, 0) ^ digest
            _stamps[name] = digest
        if _waiting:
            _waiting.clear()
            _tag()


def forget(name: str) -> None:
    """Note that an operator is no more."""
    global _total
    _compiled_in.pop(name, None)
    _waiting.pop(name, None)
    _total ^= _stamps.pop(name, 0)


def _digest(schema: Schema) -> int:
    parts = [str(schema)]
    for role, functions in sorted(_compiled_in[schema.qualname].items()):
        parts += [role, *(repr(list(_traits(function))) for function in functions)]
    return int.from_bytes(hashlib.blake2b("\n".join(parts).encode(), digest_size=8).digest(), "big")


def _tag() -> None:
    """Put our part behind what the user has set, if anything."""
    theirs = _OURS.sub("", config.cache_key_tag)
    config.cache_key_tag = f"{theirs}+opwright:{_total:016x}"


def _traits(function: Any, seen: frozenset[object] = frozenset()) -> Iterator[object]:
    """What tells two versions of a function apart, in every process alike.

    That is its code, and the values, and functions of the author, that it refers to.
    """
    code = getattr(function, "__code__", None)
    if code is None or code in seen or _is_torch(function):
        yield _name(function)
        return
    seen = seen | {code}
    yield from _code_traits(code)
    yield from (_value_trait(value, seen) for value in function.__defaults__ or ())
    yield from (_value_trait(cell.cell_contents, seen) for cell in function.__closure__ or ())
    for name in sorted(_global_names(code) & function.__globals__.keys()):
        yield name, _value_trait(function.__globals__[name], seen)


def _code_traits(code: types.CodeType) -> Iterator[object]:
    yield from (code.co_code, code.co_names)
    for constant in code.co_consts:
        yield _constant_trait(constant)


def _constant_trait(constant: object) -> object:
    if isinstance(constant, types.CodeType):
        return list(_code_traits(constant))
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _global_names(code: types.CodeType) -> frozenset[str]:
    """The names that a function may look up in its module, those of functions inside it, too."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(code.co_names).union(*map(_global_names, inner))


def _value_trait(value: object, seen: frozenset[object]) -> object:
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return value
    if isinstance(value, (tuple, list)):
        return [_value_trait(part, seen) for part in value]
    return list(_traits(value, seen))


def _name(value: Any) -> tuple[str, ...]:
    """What an object is called; no address, which would differ between two processes."""
    names = (getattr(value, name, "") for name in ("__module__", "__qualname__"))
    return (type(value).__qualname__, *(name if isinstance(name, str) else "" for name in names))


def _is_torch(function: Any) -> bool:
    """torch's version is part of its own cache keys."""
    return str(getattr(function, "__module__", "")).partition(".")[0] == "torch"
