"""How the text of a default is read: the value that torch makes of it.

Knows one constant and the name of the type it stands for; nothing of arguments.
"""

from __future__ import annotations

import re

from opwright.schema.fit import DTYPE_ALIASES, DTYPES, Misfit
from opwright.schema.literal import ESCAPES, Symbol, Value

CONSTANTS: dict[str, Value] = {"True": True, "False": False, "None": None}

NUMBERED: dict[str, tuple[str, ...]] = {
    "ScalarType": DTYPES,
    "Layout": ("strided",),
    "MemoryFormat": ("contiguous_format",),
}
"""The types whose words torch stores as numbers, and the words in the order of their numbers."""

MOST_DIGITS = 400
"""Longer whole numbers are refused before they are read: they cannot fit."""


class Misread(Exception):
    """The text is no value that torch reads back; holds why."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.misfit = Misfit(code, message, hint)


def read_word(text: str, name: str) -> Value:
    """Read a bare word as a default of the type `name`.

    >>> read_word("long", "ScalarType"), read_word("True", "bool")
    (Symbol(name='int64'), True)
    """
    if text in CONSTANTS:
        return CONSTANTS[text]
    return Symbol(DTYPE_ALIASES.get(text, text) if name == "ScalarType" else text)


def read_number(text: str, name: str) -> Value:
    """Read a number, with its sign, as a default of the type `name`.

    >>> read_number("-3", "int"), read_number("1", "float"), read_number("6", "ScalarType")
    (-3, 1.0, Symbol(name='float32'))
    """
    if text.endswith("j"):
        return complex(0, _float(text[:-1]))
    if name == "float" or "." in text or "e" in text:
        return _float(text)
    if "E" in text:
        hint = f"write `{text.lower()}`"
        raise Misread("OW007", f"torch reads only the digits before the E of {text}", hint)
    if len(text) > MOST_DIGITS:
        message = f"a number of {len(text)} digits does not fit 64 bits"
        raise Misread("OW007", message, "write a smaller number")
    number = int(text)
    words = NUMBERED.get(name, ())
    return Symbol(words[number]) if 0 <= number < len(words) else number


def _float(text: str) -> float:
    value = float(text)
    if value == 0 and re.search(r"[1-9]", re.split("[eE]", text)[0]):
        hint = "write `0.0`, or make the argument optional, with `None` for this value"
        raise Misread("OW007", "the number is too small for torch to read it back", hint)
    return value


def read_string(text: str) -> str:
    r"""Read a text in quotes, one or three, single or double.

    >>> read_string(r"'say \"hi\"'"), read_string(r'"\303\251"')
    ('say "hi"', 'é')
    """
    width = 3 if text[:3] in ('"""', "'''") else 1
    inside = text[width:-width]
    if "\\" not in inside:
        return inside
    try:
        encoded = inside.encode()
        return _ESCAPED.sub(_unescape, encoded).decode()
    except UnicodeEncodeError:
        message = "the text holds half a character (a lone surrogate)"
        raise Misread("OW007", message, "remove it") from None
    except UnicodeDecodeError:
        message = "the octal escapes are no UTF-8"
        raise Misread("OW007", message, "write the characters themselves") from None


_ESCAPED = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))", re.DOTALL)
_MEANT = {code.encode(): char.encode() for char, code in ESCAPES.items()}
_MEANT |= {b"'": b"'", b"\n": b"\n"}


def _unescape(found: re.Match[bytes]) -> bytes:
    octal, char = found.groups()
    if octal is not None:
        return bytes([int(octal, 8)])
    if char not in _MEANT:
        shown = f"\\{char.decode(errors='replace')}"
        hint = "write the character itself, or three octal digits"
        raise Misread("OW007", f"torch does not read the escape {shown!a}", hint)
    return _MEANT[char]
