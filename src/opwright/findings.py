"""What a check says: a place, a code, one sentence and what to type instead.

Knows nothing of schemas.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from opwright.frozen import frozen


class Severity(str, Enum):
    """How much a finding weighs: an error stops a registration, a note is a guess or a habit."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@frozen
class Span:
    """A place in a text: lines count from 1, columns from 1 in characters, 0 where not known."""

    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)


@frozen
class Related:
    """A second place that a finding speaks of, and what stands there."""

    span: Span
    message: str


@frozen
class Edit:
    """Text to put in the place of a span; an empty span inserts."""

    span: Span
    text: str


@frozen
class Fix:
    """Edits that mend a finding: all or none. A safe one never changes what the code means."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


@frozen
class Diagnostic:
    """One finding: where, which rule, what is wrong, and what to write instead.

    >>> found = Diagnostic("OW102", "'scales': dict[str, float] has no schema type",
    ...                    "pass two lists", Span("ops.py", 12, 25))
    >>> print(found)
    ops.py:12:25: OW102 'scales': dict[str, float] has no schema type
      hint: pass two lists
    """

    code: str
    message: str
    hint: str = ""
    span: Span = Span()
    severity: Severity = Severity.ERROR
    related: tuple[Related, ...] = ()
    excerpt: str = ""
    fix: Fix | None = None

    def __str__(self) -> str:
        where = f"{self.span}: " if str(self.span) else ""
        lines = [f"{where}{self.code} {self.message}"]
        if self.excerpt:
            lines += _pointed(self.excerpt, self.span.column)
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


_WIDTH = 100


def _pointed(line: str, column: int) -> list[str]:
    """The line, or the piece of it around the column, with a caret under the column."""
    start = max(0, column - _WIDTH * 3 // 4) if len(line) > _WIDTH else 0
    shown = line[start : start + _WIDTH]
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in shown)
    before = "..." if start else ""
    after = "..." if start + _WIDTH < len(line) else ""
    return [f"  {before}{shown}{after}", f"  {' ' * (len(before) + column - 1 - start)}^"]


class SchemaError(ValueError):
    """Everything that is wrong with one schema or one function, at once.

    >>> raise SchemaError([Diagnostic("OW001", "a schema needs a name")])
    Traceback (most recent call last):
    opwright.findings.SchemaError: OW001 a schema needs a name
    """

    def __init__(self, findings: Iterable[Diagnostic]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(found) for found in self.findings))

    def __reduce__(self) -> tuple[type[SchemaError], tuple[tuple[Diagnostic, ...]]]:
        return (SchemaError, (self.findings,))
