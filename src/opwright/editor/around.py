"""What stands around a cursor, half typed or not: an operator's name, a call of one.

Reads text alone, so that it answers while the file is no Python. Lines and columns count from 0, in
characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from opwright.findings import Span

REACH = 5000
"""Characters before a cursor in which the call is looked for that it stands in."""

_PATH = r"\btorch\s*\.\s*ops((?:\s*\.\s*\w+){0,3})"
_WHOLE = re.compile(_PATH)
_TYPED = re.compile(_PATH + r"\s*\.\s*(\w*)\Z")
_CALLED = re.compile(_PATH + r"\s*\Z")
_KEYWORD = re.compile(r"\s*(\w+)\s*=(?!=)")
_CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Named:
    """A path `torch.ops...` up to the word under the cursor, and where that word stands."""

    parts: tuple[str, ...]
    start: int
    end: int

    @property
    def operator(self) -> str:
        """`ns::name` or `ns::name.overload`; empty for a namespace alone."""
        return operator_name(self.parts)


def operator_name(parts: tuple[str, ...]) -> str:
    """The name of the operator that the parts of a path make.

    >>> operator_name(("mylib", "f", "out")), operator_name(("mylib",))
    ('mylib::f.out', '')
    """
    if len(parts) < 2:
        return ""
    overload = f".{parts[2]}" if len(parts) > 2 and parts[2] != "default" else ""
    return f"{parts[0]}::{parts[1]}{overload}"


def named_at(line: str, column: int) -> Named | None:
    """The word under the cursor, if it is part of `torch.ops...`.

    >>> named_at("y = torch.ops.mylib.foo(x)", 21)
    Named(parts=('mylib', 'foo'), start=20, end=23)
    """
    for path in _WHOLE.finditer(line):
        words = [*re.finditer(r"\w+", path[1])]
        for number, word in enumerate(words):
            start, end = path.start(1) + word.start(), path.start(1) + word.end()
            if start <= column <= end:
                return Named(tuple(each[0] for each in words[: number + 1]), start, end)
    return None


def typed_before(line: str, column: int) -> tuple[tuple[str, ...], str] | None:
    """The path that is being typed: its parts before the last dot, and what follows the dot.

    >>> typed_before("torch.ops.mylib.fo", 18)
    (('mylib',), 'fo')
    """
    found = _TYPED.search(line[:column])
    return None if found is None else (tuple(re.findall(r"\w+", found[1])), found[2])


@dataclass(frozen=True, slots=True)
class Calling:
    """A call that the cursor stands in: of which operator, at which argument."""

    operator: str
    position: int
    keyword: str = ""
    keywords: tuple[str, ...] = ()
    """Those that were given before the cursor."""


def calling_at(text: str) -> Calling | None:
    """The innermost call around the end of a text, if it is one of an operator.

    >>> calling_at("y = torch.ops.mylib.foo(g(1, 2), n=")
    Calling(operator='mylib::foo', position=1, keyword='n', keywords=('n',))
    """
    text = _without_strings(text[-REACH:])
    opening, commas = _opening(text)
    if opening < 0:
        return None
    path = _CALLED.search(text[:opening])
    if path is None:
        return None
    edges = [opening, *commas, len(text)]
    parts = [text[start + 1 : end] for start, end in pairwise(edges)]
    words = [found[1] if (found := _KEYWORD.match(part)) else "" for part in parts]
    name = operator_name(tuple(re.findall(r"\w+", path[1])))
    return Calling(name, len(commas), words[-1], tuple(filter(None, words))) if name else None


def _opening(text: str) -> tuple[int, list[int]]:
    """The bracket that is open at the end, and the commas between."""
    waiting: list[str] = []
    commas: list[int] = []
    for place in range(len(text) - 1, -1, -1):
        char = text[place]
        if char in _CLOSING:
            waiting.append(_CLOSING[char])
        elif char in "([{":
            if not waiting:
                return (place if char == "(" else -1), commas[::-1]
            waiting.pop()
        elif char == "," and not waiting:
            commas.append(place)
    return -1, []


_STRING = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*", re.S
)


def _without_strings(text: str) -> str:
    """The text with strings and comments blanked: brackets in them open nothing."""
    return _STRING.sub(lambda found: " " * len(found[0]), text)


def holds(span: Span, line: int, column: int) -> bool:
    """Whether a place, counted from 0, lies in a span, its end included.

    >>> holds(Span("x.py", 3, 5, 3, 8), 2, 7)
    True
    """
    start = (span.line - 1, span.column - 1)
    end = (span.end_line - 1, span.end_column - 1) if span.end_line else start
    return start <= (line, column) <= end
