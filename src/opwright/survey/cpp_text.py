"""C++ text with comments and strings masked out: where code is, in linear time.

Knows how C++ is spelled (comments, raw strings, brackets, `#if`), not what it means.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from opwright.frozen import frozen

TOKEN = re.compile(
    r"""
    (?P<comment> //[^\n\\]*(?:\\[\s\S][^\n\\]*)* | /\*[\s\S]*?(?:\*/|\Z) )
  | (?P<raw> \b(?:u8|[uUL])?R"(?P<mark>[^\s()\\"]{0,16})\( )
  | (?P<string> "[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"? )
  | (?P<char> (?<![0-9A-Za-z_])'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'? )
    """,
    re.VERBOSE,
)
ESCAPE = re.compile(r"\\(\n|x[0-9A-Fa-f]+|[0-7]{1,3}|.)", re.DOTALL)
DEPTH = 16  # nested `#if`s that are told apart: deeper ones are not written by people
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)([^\n\\]*(?:\\\n?[^\n\\]*)*)", re.MULTILINE)
BRACKET = re.compile(r"[][(){}]")
HEAD = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
CLOSERS = {"(": ")", "[": "]", "{": "}"}
NOT_NEWLINE = re.compile(r"[^\n]")


@frozen
class Literal:
    """A string literal: where it starts and ends with its quotes, and the text between them."""

    start: int
    end: int
    inside: int
    value: str
    exact: bool


@frozen
class Macro:
    """`#define name body`, with or without parameters."""

    name: str
    parameters: tuple[str, ...] | None
    body: str


@frozen
class Source:
    """One C++ file, masked.

    >>> source = Source.of('f("a)"); // g(')
    >>> source.code, [literal.value for literal in source.literals]
    ('f("  ");     ', ['a)'])
    """

    text: str
    code: str
    """The text, blank where comments, strings and directives stand; same length, same lines."""
    literals: tuple[Literal, ...]
    comments: tuple[tuple[int, int], ...]
    directives: tuple[tuple[int, str, str], ...]

    @classmethod
    def of(cls, text: str) -> Source:
        """Mask a text in one pass."""
        out: list[str] = []
        literals: list[Literal] = []
        comments: list[tuple[int, int]] = []
        last = 0
        for start, end, literal in _tokens(text):
            out.append(text[last:start])
            if literal is None:
                out.append(_blank(text[start:end]))
                comments.append((start, end))
            else:
                out.append(f'"{_blank(text[start + 1 : end - 1])}"' if end - start > 1 else " ")
                literals.append(literal)
            last = end
        out.append(text[last:])
        masked = "".join(out)
        directives = tuple(_directives(masked, text))
        return cls(text, _without_directives(masked), tuple(literals), tuple(comments), directives)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    @cached_property
    def partners(self) -> dict[int, int]:
        """For each opening bracket, where it closes; those that never close are left out.

        A bracket of the wrong kind closes everything opened after its own partner.
        """
        found: dict[int, int] = {}
        open_at: list[tuple[str, int]] = []
        depth = dict.fromkeys(CLOSERS.values(), 0)
        for match in BRACKET.finditer(self.code):
            char = match.group()
            if char in CLOSERS:
                open_at.append((CLOSERS[char], match.start()))
                depth[CLOSERS[char]] += 1
            elif depth[char]:
                closer = ""
                while closer != char:
                    closer, start = open_at.pop()
                    depth[closer] -= 1
                found[start] = match.start()
        return found

    @cached_property
    def _guard_changes(self) -> tuple[list[int], list[tuple[str, ...]]]:
        offsets, states = [0], [()]  # type: tuple[list[int], list[tuple[str, ...]]]
        stack: list[str] = []
        for offset, word, rest in self.directives:
            _guard(stack, word, rest.strip())
            offsets.append(offset)
            states.append(tuple(stack[:DEPTH]))
        return offsets, states

    def guards(self, offset: int) -> tuple[str, ...]:
        """The `#if` conditions that hold at an offset, from the outside in."""
        offsets, states = self._guard_changes
        return states[bisect_right(offsets, offset) - 1]

    @cached_property
    def macros(self) -> dict[str, Macro]:
        """What this file itself defines; the last definition of a name counts."""
        return {macro.name: macro for macro in map(_macro, self._defines()) if macro}

    def _defines(self) -> Iterator[str]:
        return (rest for _, word, rest in self.directives if word == "define")

    @cached_property
    def _literal_starts(self) -> list[int]:
        return [literal.start for literal in self.literals]

    def literals_in(self, start: int, end: int) -> tuple[Literal, ...]:
        """The string literals that start in `[start, end)`."""
        first = bisect_right(self._literal_starts, start - 1)
        return self.literals[first : bisect_right(self._literal_starts, end - 1)]

    @cached_property
    def heads(self) -> dict[str, list[tuple[int, int]]]:
        """For each word before a bracket, where word and bracket stand: calls and functions."""
        found: dict[str, list[tuple[int, int]]] = {}
        for match in HEAD.finditer(self.code):
            found.setdefault(match.group(1), []).append((match.start(), match.end() - 1))
        return found

    def arguments(self, opening: int) -> list[tuple[int, int]] | None:
        """The spans between the top-level commas of a bracket; None where it never closes.

        Angle brackets do not nest here: `f(a < b, c > d)` and `f(T<a, b>)` look the same.
        """
        closing = self.partners.get(opening)
        if closing is None:
            return None
        if not self.code[opening + 1 : closing].strip():
            return []
        return list(self._split(opening + 1, closing))

    def _split(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        at = start
        while at < end:
            at = self._next_comma(at, end)
            yield start, at
            at = start = at + 1

    def _next_comma(self, at: int, end: int) -> int:
        while at < end and self.code[at] != ",":
            match = STOP.search(self.code, at, end)
            if match is None:
                return end
            at = match.start()
            if self.code[at] != ",":
                at = self.partners.get(at, at) + 1
        return at


STOP = re.compile(r"[,(\[{]")


def _blank(text: str) -> str:
    return NOT_NEWLINE.sub(" ", text)


def _tokens(text: str) -> Iterator[tuple[int, int, Literal | None]]:
    """Comments (None) and literals of a text, in order."""
    at = 0
    while match := TOKEN.search(text, at):
        start, at = match.span()
        match match.lastgroup:
            case "comment":
                yield start, at, None
            case "string":
                yield start, at, _string(text, start, at)
            case "char":
                yield start, at, Literal(start, at, start + 1, "", exact=False)
            case _:
                closing = f'){match["mark"]}"'
                found = text.find(closing, at)
                stop = len(text) if found < 0 else found
                literal = Literal(start, stop + len(closing), at, text[at:stop], exact=True)
                at = min(literal.end, len(text))
                yield start, at, literal


def _string(text: str, start: int, end: int) -> Literal:
    closed = end - start > 1 and text[end - 1] == '"'
    inside = text[start + 1 : end - closed]
    value = ESCAPE.sub(_unescaped, inside) if "\\" in inside else inside
    return Literal(start, end, start + 1, value, exact=value == inside)


def _unescaped(match: re.Match[str]) -> str:
    word = match.group(1)
    if word[0] == "x" and len(word) > 1:
        return chr(int(word[1:], 16) % 0x110000)
    if word[0] in "01234567":
        return chr(int(word, 8))
    return SIMPLE.get(word, word)


def _directives(masked: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Offset, word and rest of each preprocessor line, with its strings as they stand."""
    for match in DIRECTIVE.finditer(masked):
        rest = masked[match.start(2) : match.end(2)]
        if '"' in rest:
            rest = text[match.start(2) : match.end(2)]
        yield match.start(), match.group(1), rest.replace("\\\n", " ")


def _without_directives(masked: str) -> str:
    return DIRECTIVE.sub(lambda match: _blank(match.group()), masked)


def _guard(stack: list[str], word: str, rest: str) -> None:
    """Follow one `#if ... #elif ... #else ... #endif` line."""
    match word:
        case "if":
            stack.append(rest)
        case "ifdef":
            stack.append(f"defined({rest})")
        case "ifndef":
            stack.append(f"!defined({rest})")
        case "elif" if stack:
            stack[-1] = rest
        case "else" if stack:
            stack[-1] = f"not ({stack[-1]})"
        case "endif" if stack:
            stack.pop()


DEFINE = re.compile(r"\s*(\w+)(?:\(([^)]*)\))?(.*)", re.DOTALL)


def _macro(rest: str) -> Macro | None:
    match = DEFINE.match(rest)
    if match is None:
        return None
    name, parameters, body = match.groups()
    names = None if parameters is None else tuple(p.strip() for p in parameters.split(","))
    return Macro(name, names, body.strip())
