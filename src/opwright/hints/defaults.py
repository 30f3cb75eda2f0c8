"""Which value a schema gives an argument for a Python default, or why it can give none.

Knows types and codecs; which values torch reads back is known to `schema.fit`.
"""

from __future__ import annotations

import math

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
from opwright.hints.meaning import Meaning, Refusal
from opwright.hints.model import (
    Default,
    Hint,
    Instance,
    Member,
    Symbol,
    Unknown,
    written,
)
from opwright.never import assert_never
from opwright.schema.fit import DTYPE_ALIASES, NONE_ALONE, misfit
from opwright.schema.kinds import Base, List, Maybe, Type
from opwright.schema.literal import Symbol as Word
from opwright.schema.literal import Value

_UNFIT = Refusal("OW106", "")


def held(default: Default, hint: Hint, meaning: Meaning) -> Value | Refusal:
    """The schema's default for a Python default.

    >>> from opwright.hints.model import Name
    >>> held(1, Name("float"), Meaning(Base("float")))
    1.0
    >>> held(1.5, Name("int"), Meaning(Base("SymInt"))).message
    'the default 1.5 does not fit int'
    """
    value = _value(default, meaning.type, meaning.codec)
    if value == _UNFIT:
        return _unfit(default, hint)
    if not isinstance(value, Refusal) and (found := misfit(meaning.type, value)):
        message = f"no schema can hold the {hint} default {written(default)}"
        return Refusal("OW107", message, _remedy(meaning.type, found.hint))
    return value


def _unfit(default: Default, hint: Hint) -> Refusal:
    if isinstance(default, Unknown):
        message = f"the default {default.text} is no constant"
        return Refusal("OW106", message, "write a constant, or None and fill it in the body")
    message = f"the default {written(default)} does not fit {hint}"
    return Refusal("OW106", message, f"write `{hint} | None`" if default is None else "")


def _remedy(kind: Type, hint: str) -> str:
    optional = "give it `| None` with `None`, and put the value into the body"
    return hint if isinstance(kind, Base) and kind.name in ("str", "SymInt", "int") else optional


def _value(default: Default, kind: Type, codec: Codec) -> Value | Refusal:
    match codec:
        case AsIs():
            return _plain(default, kind)
        case Nullable(of):
            assert isinstance(kind, Maybe)
            return None if default is None else _value(default, kind.of, of)
        case Each():
            return _items(default, kind, codec)
        case OneOf(values):
            same = [v for v in values if v == default and type(v) is type(default)]
            return _plain(default, kind) if same else _UNFIT
        case EnumMember():
            return _member(default, codec)
        case JsonText():
            return _json(default)
        case OpaqueObject():
            hint = "give it `| None` with `None`, and make the object in the body"
            return Refusal("OW107", f"no schema can hold the default {written(default)}", hint)
        case _:
            assert_never(codec)


def _plain(default: Default, kind: Type) -> Value | Refusal:
    match kind:
        case Maybe(of):
            return None if default is None else _plain(default, of)
        case List(of, None):
            return _all(default, of) if isinstance(default, tuple) else _UNFIT
        case Base(name):
            return _one(default, name)
        case _:
            return _UNFIT


def _all(defaults: tuple[Default, ...], kind: Type) -> Value | Refusal:
    values: list[Value] = []
    for default in defaults:
        value = _plain(default, kind)
        if isinstance(value, Refusal):
            return value
        values.append(value)
    return tuple(values)


def _items(default: Default, kind: Type, each: Each) -> Value | Refusal:
    assert isinstance(kind, List)
    if each.repeats and each.size is not None and not isinstance(default, tuple):
        default = (default,) * each.size
    if not isinstance(default, tuple):
        return _UNFIT
    if each.size is not None and len(default) != each.size:
        hint = f"give it {each.size}"
        return Refusal("OW106", f"the default {written(default)} has {len(default)} items", hint)
    values: list[Value] = []
    for item in default:
        value = _value(item, kind.of, each.of)
        if isinstance(value, Refusal):
            return value
        values.append(value)
    return tuple(values)


def _one(default: Default, name: str) -> Value | Refusal:
    """The value of one item: numbers take the type's form, torch's constants lose their module."""
    if isinstance(default, Member) and default.plain is not None:
        default = default.plain
    match name, default:
        case name, None if name in NONE_ALONE:
            return None
        case (("SymInt" | "int"), int()):
            return int(default)
        case "float", bool():
            return _UNFIT
        case "float", int() | float():
            return float(default)
        case "complex", int() | float() | complex() if not isinstance(default, bool):
            return complex(default)
        case "Scalar", (bool() | int() | float() | complex()) as number:
            return number
        case ("bool", bool() as flag):
            return flag
        case (("str" | "Device"), str(text)):
            return text
        case "Device", Instance("torch.device", ((_, str(text)),)):
            return text
        case (("ScalarType" | "Layout" | "MemoryFormat"), Symbol(path)):
            return _word(name, path, default)
        case _:
            return _UNFIT


_LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
_FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")


def _word(name: str, path: str, default: Default) -> Value | Refusal:
    word = path.removeprefix("torch.")
    word = DTYPE_ALIASES.get(word, word)
    families = {"Layout": word in (*_LAYOUTS, "jagged"), "MemoryFormat": word in _FORMATS}
    if families.get(name, word not in (*_LAYOUTS, *_FORMATS)):
        return Word(word)
    return _UNFIT


def _member(default: Default, codec: EnumMember) -> Value | Refusal:
    members = dict(codec.enum.members)
    match default:
        case Member(path, name) if path == codec.enum.path and name in members:
            value = members[name] if codec.by is By.VALUE else name
            return value if isinstance(value, str | int) else _UNFIT
        case _:
            return _UNFIT


def _json(default: Default) -> Value | Refusal:
    try:
        plain = _jsonable(default)
    except TypeError:
        hint = "give it `| None` with `None`, and make the object in the body"
        return Refusal("OW107", f"no schema can hold the default {written(default)}", hint)
    import json  # a default of `Json` is rare

    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False)


def _jsonable(default: Default) -> object:
    """A default as the standard library's JSON takes it, which is also how pydantic writes it."""
    match default:
        case None | bool() | int() | str():
            return default
        case float() if math.isfinite(default):
            return default
        case tuple():
            return [_jsonable(item) for item in default]
        case Instance(path, fields) if path != "torch.device":
            return {name: _jsonable(value) for name, value in fields}
        case _:
            raise TypeError(written(default))
