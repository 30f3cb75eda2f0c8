"""What can be typed at a place inside a schema string: a type, or the name of an argument.

Reads the text before the cursor; knows the types of schemas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opwright.schema.kinds import APPLIED, BASES
from opwright.survey.facts import Definition, Fact, Piece, Text

TYPES = tuple(sorted({*BASES, *filter(None, APPLIED)}))


@dataclass(frozen=True, slots=True)
class Inside:
    """A place in a schema string: the definition, and how many characters stand before it."""

    definition: Definition
    text: Text
    offset: int

    @property
    def before(self) -> str:
        """The schema up to the place."""
        return self.text.value[: self.offset]


def inside_schema(facts: Sequence[Fact], line: int, column: int) -> Inside | None:
    """The schema string of a file that holds a place; lines and columns count from 0."""
    for fact in facts:
        if isinstance(fact, Definition) and fact.text is not None:
            for piece, end in _pieces(fact.text):
                at = column + 1 - piece.column
                if piece.line == line + 1 and piece.exact and 0 <= at <= end - piece.start:
                    return Inside(fact, fact.text, piece.start + at)
    return None


def _pieces(text: Text) -> Iterator[tuple[Piece, int]]:
    """Each literal of a text, and where it ends in the text."""
    ends = [*(piece.start for piece in text.pieces[1:]), len(text.value)]
    return zip(text.pieces, ends, strict=True)


_NAME_NEXT = re.compile(r"[\w\]?)!]\s+\w*\Z")
_TYPE_NEXT = re.compile(r"(?:[(,*]|->)\s*[\w]*\Z")


def wants_type(before: str) -> bool:
    """Whether a type comes next.

    >>> wants_type("f(Tensor x, Te"), wants_type("f(Tensor "), wants_type("f(Tensor x) -> ")
    (True, False, True)
    """
    return _TYPE_NEXT.search(before) is not None


def wants_name(before: str) -> bool:
    """Whether the name of an argument comes next.

    >>> wants_name("f(Tensor "), wants_name("f(Tensor(a!)[]? x"), wants_name("f(Tensor x, Te")
    (True, True, False)
    """
    return "->" not in re.sub(r"\([^()]*\)\s*[^-]", "", before) and bool(_NAME_NEXT.search(before))


def names_left(before: str, names: Sequence[str]) -> list[str]:
    """The names of a function that the schema does not have yet.

    >>> names_left("f(Tensor x, int ", ["x", "n"])
    ['n']
    """
    used = set(re.findall(r"(\w+)\s*(?:=[^,]*)?,", before))
    return [name for name in names if name not in used]
