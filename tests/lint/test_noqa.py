"""Comments that silence, and those that silence nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from opwright.findings import Diagnostic, Span
from opwright.lint import fix, noqa
from opwright.lint.engine import lint
from opwright.lint.noqa import silences
from opwright.lint.settings import Project, Settings

TEXTS = [
    # text, python, (line, codes)
    ("x = 1  # noqa: OW304", True, [(1, ("OW304",))]),
    ("x = 1  # NOQA:OW304,E501", True, [(1, ("OW304", "E501"))]),
    ("x = 1  # noqa: OW304 E501 because", True, [(1, ("OW304", "E501"))]),
    ("x = 1  # noqa", True, [(1, ())]),
    ("x = 1  # type: ignore  # noqa: OW304", True, [(1, ("OW304",))]),
    ("x = '# noqa: OW304'", True, []),
    ("'''\n# noqa: OW304\n'''\ny = 2  # noqa: OW504", True, [(4, ("OW504",))]),
    ("x = 1  # a comment", True, []),
    ("int x;  // noqa: OW701", False, [(1, ("OW701",))]),
    ('auto s = "// noqa: OW701";', False, []),
    ("int x;  // noqa", False, [(1, ())]),
]


@pytest.mark.parametrize(("text", "python", "found"), TEXTS, ids=[row[0] for row in TEXTS])
def test_comments_are_read(
    text: str, python: bool, found: list[tuple[int, tuple[str, ...]]]
) -> None:
    read = silences(text, "a.py", python=python)
    assert [(silence.part.line, silence.codes) for silence in read] == found


def test_a_comment_on_any_line_of_a_finding_silences() -> None:
    comments = silences("f(\n  1,\n)  # noqa: OW304", "a.py", python=True)
    found = Diagnostic("OW304", "m", span=Span("a.py", 1, 1, 3, 2))
    used: noqa.Used = set()
    assert list(noqa.kept([found], comments, used)) == []
    assert len(used) == 1


BAD = """import torch
lib = torch.library.Library("mylib", "DEF"){comment}
"""
UNUSED = [
    # comment, codes found, after --fix
    ("  # noqa: OW502", [], "  # noqa: OW502"),
    ("  # noqa", [], "  # noqa"),
    ("  # noqa: OW502, OW304", ["OW910"], "  # noqa: OW502"),
    ("  # noqa: OW304", ["OW502", "OW910"], ""),
    ("  # noqa: OW304, E501", ["OW502", "OW910"], "  # noqa: E501"),
    ("  # noqa: OW304 why", ["OW502", "OW910"], "  # why"),
    ("  # noqa: E501", ["OW502"], "  # noqa: E501"),
    ("  # noqa: OW310", ["OW502"], "  # noqa: OW310"),  # a rule that did not run
]


@pytest.mark.parametrize(("comment", "codes", "after"), UNUSED, ids=[row[0] for row in UNUSED])
def test_unused_codes_are_reported_and_taken_out(
    comment: str, codes: list[str], after: str, tmp_path: Path
) -> None:
    file = tmp_path / "ops.py"
    file.write_text(BAD.format(comment=comment))
    project = Project(tmp_path, Settings())
    report = lint([str(file)], project)
    assert [found.code for found in report.findings] == codes
    wanted = (f for f in report.findings if f.code == "OW910")
    mended = fix.mend(fix.fixes(wanted, unsafe=False), lambda name: Path(name).read_text())
    text = mended[str(file)].after if mended else file.read_text()
    assert text == BAD.format(comment=after)


def test_unused_in_cpp(tmp_path: Path) -> None:
    file = tmp_path / "ops.cpp"
    file.write_text('TORCH_LIBRARY(a, m) { m.def("f(int x) -> int"); }  // noqa: OW701\n')
    (found,) = lint([str(file)], Project(tmp_path)).findings
    assert found.code == "OW910"
    mended = fix.mend(fix.fixes([found], unsafe=False), lambda name: Path(name).read_text())
    assert mended[str(file)].after.endswith("}\n")
