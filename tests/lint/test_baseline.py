"""The baseline: what is known is not told again, whatever moves around it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opwright.findings import Diagnostic, SchemaError, Span
from opwright.lint import baseline


def found(line: int, message: str = "m", file: str = "a.py") -> Diagnostic:
    return Diagnostic("OW304", message, span=Span(file, line, 1))


def test_lines_may_move(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    assert baseline.write(path, [found(3), found(9, "other")], str) == 2
    known = baseline.read(path)
    assert list(baseline.unknown([found(5), found(1, "other")], known, str)) == []
    assert list(baseline.unknown([found(5, "new")], known, str)) == [found(5, "new")]
    assert list(baseline.unknown([found(3, file="b.py")], known, str)) == [found(3, file="b.py")]


def test_one_more_of_the_same_is_new(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    baseline.write(path, [found(1), found(2)], str)
    three = [found(1), found(2), found(3)]
    assert list(baseline.unknown(three, baseline.read(path), str)) == [found(3)]


BROKEN = {
    "{": "Expecting property name",
    "[]": "list indices must be integers",
    '{"version": 2, "findings": []}': "its version is 2, not 1",
    '{"version": 1}': "'findings'",
}


@pytest.mark.parametrize(("text", "why"), BROKEN.items(), ids=BROKEN)
def test_a_broken_file_is_refused(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(SchemaError) as refused:
        baseline.read(path)
    assert refused.value.findings[0].code == "OW911"
    assert why in refused.value.findings[0].message


def test_the_file_is_sorted_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    baseline.write(path, [found(1, "z"), found(2, "é")], str)
    assert [row["message"] for row in json.loads(path.read_text())["findings"]] == ["z", "é"]
