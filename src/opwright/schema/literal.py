"""How a default is written in a schema: the shortest text that torch reads back as that value."""

from __future__ import annotations

from typing import TypeAlias

from opwright.frozen import frozen
from opwright.never import assert_never


@frozen
class Symbol:
    """A default that is a bare word: `bfloat16`, `contiguous_format`, `Mean`."""

    name: str


Value: TypeAlias = "bool | int | float | complex | str | Symbol | tuple[Value, ...] | None"

ESCAPES = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\t": "t", "\v": "v", '"': '"', "\\": "\\"}
"""The characters that torch reads after a backslash, beside three octal digits."""


def quoted(text: str) -> str:
    r"""Write a string default; torch reads `'...'` as well, one spelling keeps schemas comparable.

    >>> print(quoted('say "hi"'), quoted("\r"))
    "say \"hi\"" "\015"
    """
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in ESCAPES:
        return f"\\{ESCAPES[char]}"
    return char if ord(char) >= 32 and ord(char) != 127 else f"\\{ord(char):03o}"


def literal(value: Value) -> str:
    """Write one default value.

    >>> literal((1, 2)), literal(1e-6), literal(Symbol("bfloat16")), literal("cpu"), literal(None)
    ('[1, 2]', '1e-06', 'bfloat16', '"cpu"', 'None')
    """
    match value:
        case None | bool() | int() | float():
            return repr(value)
        case complex():
            return f"{value.imag!r}j"
        case str():
            return quoted(value)
        case Symbol():
            return value.name
        case tuple():
            return f"[{', '.join(map(literal, value))}]"
        case _:
            assert_never(value)
