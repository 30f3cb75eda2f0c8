"""When a value may go to the kernel as it is, because the dispatcher would hand over an equal one.

Knows schema types and codecs; writes conditions, as text. What has no condition never takes the
shortcut. `{guard}` stands for the tensor guards of the argument.
"""

from __future__ import annotations

from typing import NamedTuple

from opwright.hints.codec import (
    AsIs,
    Codec,
    Each,
    EnumMember,
    Nullable,
    OneOf,
)
from opwright.schema.kinds import Apply, Base, List, Maybe, Type

_INT = "_ow_type({0}) is _ow_int and -0x8000000000000000 <= {0} < 0x8000000000000000"
SCALARS = {
    "int": _INT,
    "SymInt": _INT,
    "float": "_ow_type({0}) is _ow_float",
    "bool": "_ow_type({0}) is _ow_bool",
    "str": "_ow_type({0}) is _ow_str and {0}.isascii()",
    "complex": "_ow_type({0}) is _ow_complex",
    "Scalar": f"_ow_type({{0}}) in _ow_numbers or {_INT}",
    "ScalarType": "_ow_type({0}) is _ow_dtype",
    "Device": "_ow_type({0}) is _ow_device",
    "Layout": "_ow_type({0}) is _ow_layout",
    "MemoryFormat": "_ow_type({0}) is _ow_memory_format",
}
"""The condition on a value of a base type; longer integers and odd strings are torch's to judge."""

OR_OFF = " and not _ow_grad_on()"
"""What a tensor that requires grad needs besides; without it the call has to be recorded."""

ITEMS = {
    "int": "_ow_ints({0})",
    "SymInt": "_ow_ints({0})",
    "float": "{{*_ow_map(_ow_type, {0})}} <= _ow_floats",
    "bool": "{{*_ow_map(_ow_type, {0})}} <= _ow_bools",
}
_COPIES = {"list": "[*{0}]", "tuple": "(*{0},)"}


class Direct(NamedTuple):
    """The condition on a value, and what the kernel is given when it holds."""

    condition: str
    value: str


def direct(kind: Type, codec: Codec, path: str, guard: str) -> Direct | None:
    """When the value of `path` may go straight to the kernel; None for never.

    >>> from opwright.hints.codec import AS_IS
    >>> direct(Maybe(Base("float")), AS_IS, "eps", "").condition
    '(eps is None or (_ow_type(eps) is _ow_float))'
    >>> print(*direct(List(Base("SymInt"), 2), Each(AS_IS, "tuple", 2), "size", ""), sep="; ")
    (_ow_type(size) in _ow_rows and _ow_len(size) == 2 and _ow_ints(size)); (*size,)
    """
    match kind, codec:
        case Maybe(of), (AsIs() | Nullable()):
            inner = direct(of, codec.of if isinstance(codec, Nullable) else codec, path, guard)
            return inner and _optional(inner, path)
        case List(of, size), (AsIs() | Each()):
            return _sequence(of, codec, path, guard, size)
        case Base(name), AsIs():
            return _base(name, path, guard)
        case Base(name), OneOf():
            base = _base(name, path, guard)
            return base and Direct(f"({base.condition} and {path} in _ow_choices_{guard})", path)
        case Base(), EnumMember():
            return Direct(f"_ow_type({path}) is _ow_enum_{guard}", path)
        case ((Base() | Maybe() | List() | Apply()), _):
            return None


def _base(name: str, path: str, guard: str) -> Direct | None:
    if name == "Tensor":
        tests = f"_ow_a_{guard}({path}) or _ow_b_{guard}({path})"
        return Direct(f"({tests} or (_ow_c_{guard}({path}){OR_OFF}))", path)
    return Direct(f"({SCALARS[name].format(path)})", path) if name in SCALARS else None


def _optional(inner: Direct, path: str) -> Direct:
    value = path if inner.value == path else f"None if {path} is None else {inner.value}"
    return Direct(f"({path} is None or {inner.condition})", value)


def _sequence(of: Type, codec: Codec, path: str, guard: str, size: int | None) -> Direct | None:
    kind = codec.kind if isinstance(codec, Each) else "list"
    if kind not in _COPIES or (isinstance(codec, Each) and codec.of != AsIs()):
        return None
    match of:
        case Base("Tensor"):
            items = f"{path} and _ow_all(_ow_map(_ow_a_{guard}, {path}))"
        case Base(name) if name in ITEMS:
            items = ITEMS[name].format(path)
        case _:
            return None
    sized = isinstance(codec, Each) and codec.size is not None
    length = f" and _ow_len({path}) == {size}" if sized else ""
    return Direct(f"(_ow_type({path}) in _ow_rows{length} and {items})", _COPIES[kind].format(path))
