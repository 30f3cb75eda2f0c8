"""Mends files: the edits of findings, put into the texts that they speak of.

Knows texts and spans; keeps encoding, line ends and everything that no edit names.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator

from opwright.findings import Diagnostic, Edit, Fix, Span
from opwright.frozen import frozen


@frozen
class Mended:
    """One file: its text before and after, and how many findings were mended in it."""

    file: str
    before: str
    after: str
    count: int

    def diff(self) -> str:
        """The change as `diff -u` writes it."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            self.file,
            self.file,
        )
        return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines)


NO_NEWLINE = "\\ No newline at end of file\n"


def fixes(findings: Iterable[Diagnostic], *, unsafe: bool) -> Iterator[Fix]:
    """The fixes that may be applied."""
    for found in findings:
        if found.fix is not None and (found.fix.safe or unsafe):
            yield found.fix


def mend(chosen: Iterable[Fix], read: Callable[[str], str]) -> dict[str, Mended]:
    """The files that these fixes change; of two fixes that overlap, only the first counts."""
    taken: dict[str, list[tuple[int, int, str]]] = {}
    counts: dict[str, int] = {}
    texts: dict[str, str] = {}
    for fix in chosen:
        try:
            places = [_place(edit, texts, read) for edit in fix.edits]
        except (OSError, UnicodeDecodeError):
            continue  # a file that cannot be written back as it was
        if any(_clash(place, taken.get(file, ())) for file, place in places):
            continue
        for file, place in places:
            if place not in taken.setdefault(file, []):
                taken[file].append(place)
        for file in {file for file, _ in places}:
            counts[file] = counts.get(file, 0) + 1
    return {
        f: Mended(f, texts[f], edited(texts[f], edits), counts[f]) for f, edits in taken.items()
    }


def _place(
    edit: Edit, texts: dict[str, str], read: Callable[[str], str]
) -> tuple[str, tuple[int, int, str]]:
    file = edit.span.file
    if file not in texts:
        texts[file] = read(file)
    start, end = offsets(texts[file], edit.span)
    return file, (start, end, edit.text)


def _clash(place: tuple[int, int, str], taken: Iterable[tuple[int, int, str]]) -> bool:
    """Whether an edit meets another; the very same edit twice is one."""
    start, end, _ = place
    return any(other != place and start <= other[1] and other[0] <= end for other in taken)


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """A text with edits put in.

    >>> edited("abc", [(0, 1, "x"), (3, 3, "!")])
    'xbc!'
    """
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def offsets(text: str, span: Span) -> tuple[int, int]:
    """Where a span starts and ends in a text, whatever its line ends; a BOM is no character.

    >>> offsets("ab\\r\\ncd", Span("", 2, 2, 2, 3))
    (5, 6)
    """
    starts = [int(text.startswith("\ufeff")), *(match.end() for match in LINE_END.finditer(text))]
    first = starts[span.line - 1] + span.column - 1
    last = starts[(span.end_line or span.line) - 1] + (span.end_column or span.column) - 1
    return first, last


LINE_END = re.compile(r"\r\n?|\n")
