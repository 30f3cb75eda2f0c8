"""Findings for people: the place, the sentence, the line with a caret, the remedy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from opwright.findings import Diagnostic, Severity, Span

WIDTH = 100
"""Characters of a source line that are shown."""
MARKS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def text(findings: Sequence[Diagnostic], paths: Callable[[str], str]) -> str:
    """Each finding with the lines that it speaks of, those of other places too."""
    return "\n".join(line for found in findings for line in [*_full(found, paths), ""])


def concise(findings: Sequence[Diagnostic], paths: Callable[[str], str]) -> str:
    """One line a finding, for grep and editors."""
    return "".join(f"{_head(found, paths)}\n" for found in findings)


def _head(found: Diagnostic, paths: Callable[[str], str]) -> str:
    where = place(found.span, paths)
    return f"{where}: {MARKS[found.severity]} {found.code} {found.message}"


def place(span: Span, paths: Callable[[str], str]) -> str:
    """`file:line:column`, as far as it is known."""
    return ":".join(str(part) for part in (paths(span.file), span.line, span.column) if part)


def _full(found: Diagnostic, paths: Callable[[str], str]) -> Iterator[str]:
    yield _head(found, paths)
    yield from excerpt(found.span)
    for other in found.related:
        yield f"  {place(other.span, paths)}: {other.message}"
        yield from excerpt(other.span)
    if found.hint:
        yield f"  hint: {found.hint}"


def excerpt(span: Span) -> Iterator[str]:
    """The line of a span with carets under what it covers; nothing where it cannot be read."""
    lines = lines_of(span.file)
    if not 0 < span.line <= len(lines):
        return
    line = lines[span.line - 1]
    start = min(max(span.column - 1, 0), len(line))
    first = max(0, start - WIDTH // 2) if start > WIDTH - 20 else 0
    shown = line[first : first + WIDTH]
    end = span.end_column - 1 if span.end_line in (0, span.line) else len(line)
    count = max(1, min(end, first + len(shown)) - start)
    number = f"{span.line:>5} | "
    yield f"{number}{_flat(shown)}"
    yield f"{' ' * (len(number) - 2)}| {_flat(shown[: start - first], ' ')}{'^' * count}"


def _flat(shown: str, instead: str = "") -> str:
    """Tabs and unprintable characters as one blank, so that carets stand right."""
    if instead:
        return instead * len(shown)
    return "".join(char if char.isprintable() else " " for char in shown)


def lines_of(file: str) -> list[str]:
    """The lines of a file; none where it cannot be read."""
    try:
        found = os.stat(file)
        return _lines(file, found.st_mtime_ns, found.st_size)
    except (OSError, ValueError):
        return []


@lru_cache(maxsize=32)
def _lines(file: str, changed: int, size: int) -> list[str]:
    """Read once, and again when it changed."""
    return Path(file).read_bytes().decode("utf-8", "replace").split("\n")
