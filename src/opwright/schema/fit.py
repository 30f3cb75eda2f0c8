"""Which default a type can hold, so that torch reads it back and can use it.

Knows values and types; nothing of texts or places.
"""

from __future__ import annotations

import math
import re
import sys
from typing import NamedTuple

from opwright.schema.kinds import INTEGERS, Base, List, Maybe, Type
from opwright.schema.literal import Symbol, Value, literal

DTYPES = (
    *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("complex32", "complex64", "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16"),
    *("quint4x2", "quint2x4", "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16"),
    *("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz"),
    *("uint16", "uint32", "uint64"),
)
"""The names of torch's scalar types; the place of a name is the number that torch stores."""

DTYPE_ALIASES = {
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

WORDS: dict[str, frozenset[str]] = {
    "ScalarType": frozenset(DTYPES),
    "Layout": frozenset({"strided"}),
    "MemoryFormat": frozenset({"contiguous_format"}),
    "int": frozenset({"Mean"}),
    "SymInt": frozenset({"Mean"}),
}
"""The bare words that a type takes as a default."""

VALUES: dict[str, tuple[type, ...]] = {
    "ConstQuantizerPtr": (int,),
    "Device": (str,),
    "DeviceIndex": (int,),
    "Layout": (int,),
    "MemoryFormat": (int,),
    "Scalar": (int, float, complex, bool),
    "ScalarType": (int,),
    "SymInt": (int,),
    "bool": (bool,),
    "complex": (complex,),
    "float": (float,),
    "int": (int,),
    "str": (str,),
}
"""The Python types of the defaults that a type takes; `bool` is no `int` here."""

LISTS = INTEGERS | {"bool", "complex", "float"}
"""The types whose lists can have a default in a schema."""

NONE_ALONE = frozenset({"Tensor", "Generator"})
"""The types that take `None` without a `?`."""


class Misfit(NamedTuple):
    """Why a default is refused: code, sentence, and what to write instead."""

    code: str
    message: str
    hint: str


def misfit(kind: Type, value: Value) -> Misfit | None:
    """Why `kind` cannot have `value` as its default; None where it can.

    >>> misfit(Base("int"), 3)
    >>> misfit(Base("int"), "a").message
    'int cannot hold "a"'
    """
    return _unreadable(value) or _unheld(kind, value)


def _unheld(kind: Type, value: Value) -> Misfit | None:
    match kind:
        case Maybe(of):
            return None if value is None else _unheld_in_maybe(of, value)
        case List(of):
            return _unheld_in_list(kind, of, value)
        case Base(name) if value is None:
            if name in NONE_ALONE:
                return None
            return Misfit("OW006", f"{kind} cannot hold None", f"write `{kind}?`")
        case Base(name) if holds(name, value):
            return None
        case _:
            return Misfit("OW006", f"{kind} cannot hold {_brief(value)}", _remedy(kind))


def _unheld_in_maybe(of: Type, value: Value) -> Misfit | None:
    if isinstance(of, List):
        message = f"torch reads no default for {of}? but None"
        return Misfit("OW006", message, "write `None`, and fill the value in the kernel")
    if of == Base("float") and type(value) is int:
        return None
    return _unheld(of, value)


def _unheld_in_list(kind: Type, of: Type, value: Value) -> Misfit | None:
    if value is None:
        return Misfit("OW006", f"{kind} cannot hold None", f"write `{kind}?`")
    if not isinstance(of, Base) or of.name not in LISTS:
        hint = f"write `{kind}?` with `None`, and fill the value in the kernel"
        return Misfit("OW006", f"torch reads no default for {kind}", hint)
    if not isinstance(value, tuple):
        return Misfit("OW006", f"{kind} cannot hold {_brief(value)}", "write a list: `[...]`")
    return next((found for part in value if (found := _unheld(of, part))), None)


def holds(name: str, value: Value) -> bool:
    """Whether the type of that name can hold the value.

    >>> holds("int", 3), holds("int", True), holds("ScalarType", Symbol("float32"))
    (True, False, True)
    """
    if isinstance(value, Symbol):
        return value.name in WORDS.get(name, ())
    if name == "Device":
        return isinstance(value, str) and _DEVICE.match(value) is not None
    return type(value) in VALUES.get(name, ())


_DEVICE = re.compile(r"[A-Za-z_]+(?::(?:0|[1-9][0-9]{0,2}))?\Z", re.ASCII)


def _remedy(kind: Type) -> str:
    """What a default of this type looks like."""
    name = kind.name if isinstance(kind, Base) else ""
    shown = {
        "Device": '`"cpu"`',
        "Scalar": "a number",
        "SymInt": "a whole number",
        "bool": "`True` or `False`",
        "complex": "an imaginary number such as `1j`",
        "float": "a number such as `1.5`",
        "int": "a whole number",
        "str": 'a text in quotes, `"..."`',
        "ScalarType": "a dtype without `torch.`, such as `float32`",
        "Layout": "`strided`, the only layout that torch reads here",
        "MemoryFormat": "`contiguous_format`, the only one that torch reads here",
    }.get(name)
    if shown:
        return f"write {shown}"
    return f"write `{kind}?` with `None`, and fill the value in the kernel"


def _unreadable(value: Value) -> Misfit | None:
    """Why torch could not read the literal back, whatever the type."""
    match value:
        case tuple():
            return next((found for part in value if (found := _unreadable(part))), None)
        case bool():
            return None
        case int() if not -(2**63) <= value < 2**63:
            return Misfit(
                "OW007", f"{_shown(value)} does not fit 64 bits", "write a smaller number"
            )
        case float():
            return _unreadable_float(value)
        case complex():
            if value.real != 0:
                hint = "write the imaginary part alone, `1j`, or make it optional, with `None`"
                return Misfit("OW007", "torch reads no complex default with a real part", hint)
            return _unreadable_float(value.imag)
        case str():
            return _unreadable_text(value)
        case _:
            return None


def _brief(value: Value) -> str:
    """The literal, cut where it would not fit a line."""
    text = literal(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shown(value: int) -> str:
    """The digits of a number, or how many bits it has where they would not fit the line."""
    return str(value) if value.bit_length() < 200 else f"a number of {value.bit_length()} bits"


def _unreadable_float(value: float) -> Misfit | None:
    if math.isfinite(value) and (value == 0 or abs(value) >= sys.float_info.min):
        return None
    message = f"a schema cannot hold {value!r}: torch fails to read it back"
    return Misfit("OW007", message, "make the argument optional, with `None` for this value")


def _unreadable_text(value: str) -> Misfit | None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return Misfit("OW007", "the text holds half a character (a lone surrogate)", "remove it")
    return None
