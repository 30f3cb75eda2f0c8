"""Edits: what they keep, and which of them are put in."""

from __future__ import annotations

import pytest

from opwright.findings import Diagnostic, Edit, Fix, Span
from opwright.lint import fix


def edit(file: str, line: int, start: int, end: int, text: str) -> Edit:
    return Edit(Span(file, line, start, line, end), text)


TEXTS = [
    # before, line, start, end, new, after
    ("abc\ndef\n", 2, 1, 2, "D", "abc\nDef\n"),
    ("abc\r\ndef\r\n", 2, 3, 4, "F", "abc\r\ndeF\r\n"),
    ("abc\rdef\r", 2, 1, 1, "x", "abc\rxdef\r"),
    ("\ufeffabc", 1, 1, 2, "A", "\ufeffAbc"),
    ("aéc", 1, 3, 4, "C", "aéC"),
]


@pytest.mark.parametrize(("before", "line", "start", "end", "new", "after"), TEXTS)
def test_everything_else_is_kept(
    before: str, line: int, start: int, end: int, new: str, after: str
) -> None:
    chosen = [Fix("t", (edit("a", line, start, end, new),))]
    assert fix.mend(chosen, lambda file: before)["a"].after == after


def test_of_two_that_overlap_the_first_counts() -> None:
    first = Fix("t", (edit("a", 1, 1, 3, "X"), edit("b", 1, 1, 2, "Y")))
    second = Fix("t", (edit("a", 1, 2, 4, "Z"), edit("b", 1, 3, 4, "W")))
    mended = fix.mend([first, second], lambda file: "abcd")
    assert {name: one.after for name, one in mended.items()} == {"a": "Xcd", "b": "Ybcd"}


def test_the_same_edit_twice_is_one() -> None:
    once = Fix("t", (edit("a", 1, 1, 2, "X"),))
    assert fix.mend([once, once], lambda file: "abc")["a"].after == "Xbc"


def test_unsafe_fixes_wait_to_be_asked_for() -> None:
    unsafe = Diagnostic("OW304", "m", fix=Fix("t", (), safe=False))
    safe = Diagnostic("OW304", "m", fix=Fix("t", ()))
    assert list(fix.fixes([unsafe, safe], unsafe=False)) == [safe.fix]
    assert list(fix.fixes([unsafe, safe], unsafe=True)) == [unsafe.fix, safe.fix]


def test_a_file_that_cannot_be_decoded_is_left_alone() -> None:
    def read(file: str) -> str:
        return b"\xff".decode()

    assert fix.mend([Fix("t", (edit("a", 1, 1, 2, "X"),))], read) == {}


def test_a_diff_is_a_diff() -> None:
    mended = fix.mend([Fix("t", (edit("a", 1, 1, 2, "X"),))], lambda file: "abc")["a"]
    assert mended.diff() == (
        "--- a\n+++ a\n@@ -1 +1 @@\n-abc\n\\ No newline at end of file\n+Xbc\n"
        "\\ No newline at end of file\n"
    )
