"""The words of a schema text, one at a time, with their places and the faults found there.

Knows no grammar. Every character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from opwright.codes import finding
from opwright.findings import Diagnostic, Span

MOST_FAULTS = 20
"""How many faults of one text are reported."""

_WORDS = re.compile(
    r"""(?:\s+|\\\n|\#(?!\ type:)[^\n]*)*
    (?: (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark>->|\.\.\.|[()\[\],=!?*|:-]|\.(?!\d))
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?)
      | (?P<string>\"{3}(?:[^\\"]|\\.|\"(?!\"\"))*\"{3} | \"(?!\"\")(?:[^"\\\n]|\\.)*\"
                 | '{3}(?:[^\\']|\\.|'(?!''))*'{3} | '(?!'')(?:[^'\\\n]|\\.)*')
      | (?P<end>\Z)
      | (?P<open>["'])
      | (?P<bad>[^\sA-Za-z0-9_"'#()\[\],=!?*|.:-]+|.)
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


class Word(NamedTuple):
    """A word: its kind (a group of the pattern above), its text, where it starts and ends."""

    kind: str
    text: str
    start: int
    end: int

    def __str__(self) -> str:
        if self.kind == "end":
            return "the text ends"
        shown = self.text if len(self.text) <= 30 else f"{self.text[:27]}..."
        return f"found {shown!a}" if not shown.isprintable() else f"found `{shown}`"


def word_at(text: str, start: int) -> Word:
    """The first word at or after `start`; past the last one, a word of kind `end`.

    >>> word_at("f(Tensor x)", 2)
    Word(kind='name', text='Tensor', start=2, end=8)
    """
    found = _WORDS.match(text, start)
    assert found is not None, "the pattern matches anything"
    kind = found.lastgroup
    assert kind is not None, "every branch of the pattern is named"
    return Word(kind, found[kind], found.start(kind), found.end())


class Misplaced(Exception):
    """The text does not go on as the grammar wants; that is already among the findings."""


class Enough(Exception):
    """So many faults that the rest is not looked at."""


class Reader:
    """A text, the word that is looked at, and the findings so far; the first `take` starts it."""

    def __init__(self, text: str, file: str = "") -> None:
        self.text, self.file = text, file
        self.findings: dict[int, Diagnostic] = {}
        self.nesting = 0
        self.spoilt = -1
        self.word = Word("mark", "", 0, 0)

    def take(self) -> Word:
        """Give the current word and look at the next one."""
        taken = self.word
        if taken.text in _BRACKETS:
            self.nesting += _BRACKETS[taken.text]
        self.word = self._next(taken.end)
        return taken

    def accept(self, mark: str) -> bool:
        """Take the word if it is that mark."""
        if self.word.text != mark:
            return False
        self.take()
        return True

    def expect(self, mark: str, hint: str = "") -> None:
        """Take that mark; a finding where something else stands."""
        if not self.accept(mark):
            self.misplaced(f"`{mark}`", hint)

    def second(self) -> Word:
        """The word after the current one."""
        return word_at(self.text, self.word.end)

    def items(self, item: Callable[[], None]) -> None:
        """Read `(item, item)`; after a fault, go on with the next item."""
        self.expect("(")
        level = self.nesting
        if self.accept(")"):
            return
        while True:
            try:
                item()
                if self.word.text not in (",", ")"):
                    self.misplaced("`,` or `)`")
            except Misplaced:
                self._skip(level)
            if self.accept(")"):
                return
            if not self.accept(","):
                self.misplaced("`)`")

    def skip_to(self, mark: str) -> None:
        """Go to the next such mark, or to the end of the text."""
        while self.word.kind != "end" and self.word.text != mark:
            self.take()

    def misplaced(self, wanted: str, hint: str = "") -> NoReturn:
        """Record that something else was wanted here, and give up the construct."""
        if self.word.start != self.spoilt:
            self.fault("OW002", f"expected {wanted} but {self.word}", hint)
        raise Misplaced

    def fault(self, code: str, message: str, hint: str = "", word: Word | None = None) -> None:
        """Record a finding at a word, the current one by default; the first at a place stays."""
        at = word or self.word
        if at.start in self.findings:
            return
        if len(self.findings) == MOST_FAULTS:
            message = f"more than {MOST_FAULTS} faults; the rest is not shown"
            self.findings[at.start] = self._finding("OW013", message, "", at)
            raise Enough
        self.findings[at.start] = self._finding(code, message, hint, at)

    def _finding(self, code: str, message: str, hint: str, word: Word) -> Diagnostic:
        before = self.text.rfind("\n", 0, word.start) + 1
        after = self.text.find("\n", word.start)
        line = 1 + self.text.count("\n", 0, word.start)
        end_line = line + word.text.count("\n")
        end_column = 1 + word.end - (self.text.rfind("\n", 0, word.end) + 1)
        span = Span(self.file, line, 1 + word.start - before, end_line, end_column)
        excerpt = self.text[before:] if after < 0 else self.text[before:after]
        return finding(code, message, hint, span, excerpt=excerpt)

    def _next(self, start: int) -> Word:
        """The next readable word; what is not readable becomes a finding."""
        word = word_at(self.text, start)
        while word.kind == "bad":
            self.fault("OW001", f"{str(word).removeprefix('found ')} is unreadable here", "", word)
            word = word_at(self.text, word.end)
            self.spoilt = word.start  # what is missing here may be what was unreadable
        if word.kind == "open":
            self.fault("OW001", "this text in quotes is not closed", "close it", word)
            return Word("end", "", word.start, len(self.text))
        if self._broken_line(start, word):
            hint = "join the lines, or break them inside brackets"
            self.fault("OW002", "a line may not break outside the brackets", hint, word)
        return word

    def _broken_line(self, start: int, word: Word) -> bool:
        inside = start > 0 and self.nesting == 0 and word.kind != "end"
        return inside and "\n" in self.text[start : word.start].replace("\\\n", "")

    def _skip(self, level: int) -> None:
        """Go to the next comma or closing bracket of that level."""
        while self.word.kind != "end":
            if self.nesting <= level and self.word.text in (",", ")"):
                return
            self.take()


_BRACKETS = {"(": 1, "[": 1, ")": -1, "]": -1}
