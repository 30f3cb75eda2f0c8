"""`opwright lint` as its users type it: exit codes, outputs, fixes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from opwright.cli import main

BAD = """import torch
lib = torch.library.Library("mylib", "DEF")
"""
NOTE = """import torch
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("f(Tensor(a!) x) -> ()")
lib.impl("f", lambda x: None, "CPU")
"""
UNUSED = "import torch.library  # noqa: OW304\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPWRIGHT_CACHE_DIR", str(tmp_path / ".cache"))
    return tmp_path


def lint(*arguments: str) -> int:
    return main(["lint", *arguments])


ENDINGS = [
    # file, arguments, exit code, output
    (BAD, ["--format", "concise", "ops.py"], 1, "ops.py:2:7: warning OW502 "),
    (BAD, ["--format", "concise", "ops.py", "--ignore", "OW502"], 0, ""),
    (BAD, ["--format", "concise", "ops.py", "--select", "OW3"], 0, ""),
    (BAD, ["--format", "concise", "ops.py", "--exit-zero"], 0, "ops.py:2:7: warning OW502 "),
    (NOTE, ["--format", "concise", "ops.py"], 0, "ops.py:4:22: note OW402 "),
    ("x = 1\n", ["ops.py"], 0, ""),
    (BAD, ["--statistics", "ops.py"], 1, "     1  OW502  the namespace is claimed whole\n"),
    (BAD, ["--format", "concise"], 1, "ops.py:2:7: warning OW502 "),
]


@pytest.mark.parametrize(("text", "arguments", "code", "output"), ENDINGS)
def test_endings(
    text: str,
    arguments: list[str],
    code: int,
    output: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "ops.py").write_text(text)
    assert lint(*arguments) == code
    shown = capsys.readouterr().out
    assert shown.startswith(output)
    assert output or not shown


REFUSED = [
    (["gone.py"], "there is no 'gone.py'"),
    (["--select", "XY1"], "no code starts with 'XY1'"),
    (["--format", "xml"], "'xml' is not one of"),
    (["--write-baseline"], "name the file: `--baseline FILE --write-baseline`"),
    (["--explain", "OW999"], "there is no code 'OW999'"),
    (["--baseline", "gone.json"], "the baseline cannot be read"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_bad_invocations_end_with_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint(*arguments) == 2
    assert said in capsys.readouterr().err


def test_bad_settings_end_with_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pyproject.toml").write_text("[tool.opwright.lint]\nselct = []\n")
    assert lint(".") == 2
    assert "has no setting 'selct'\n  hint: write `select`" in capsys.readouterr().err
    assert lint(".", "--isolated") == 0


def test_settings_of_the_project_hold(folder: Path) -> None:
    (folder / "ops.py").write_text(BAD)
    assert lint(".") == 1
    (folder / "pyproject.toml").write_text("[tool.opwright.lint]\nignore = ['OW502']\n")
    assert lint(".") == 0


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(BAD.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert lint("-", "--stdin-filename", "src/ops.py", "--format", "json") == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["file"], found["line"]) == ("src/ops.py", 2)


def test_standard_input_is_mended_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UNUSED.encode())))
    assert lint("-", "--fix") == 0
    assert capsys.readouterr().out == "import torch.library\n"


def test_fixes_are_shown_then_made_then_gone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "ops.py"
    file.write_text(UNUSED)
    assert lint("--diff", ".") == 1
    assert (
        "-import torch.library  # noqa: OW304\n+import torch.library\n" in capsys.readouterr().out
    )
    assert file.read_text() == UNUSED
    assert lint("--fix", ".") == 0
    assert file.read_text() == "import torch.library\n"
    assert lint("--fix", ".") == 0
    assert file.read_text() == "import torch.library\n"


def test_a_baseline_silences_what_it_knows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "ops.py"
    file.write_text(BAD)
    assert lint("--baseline", "known.json", "--write-baseline") == 0
    assert lint("--baseline", "known.json") == 0
    file.write_text("\n\n" + BAD + BAD.replace("mylib", "other"))
    capsys.readouterr()
    assert lint("--baseline", "known.json", "--format", "concise") == 1
    shown = capsys.readouterr().out
    assert shown.count("OW502") == 1
    assert "other" in shown


def test_a_rule_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("--explain", "ow304") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# OW304: ")
    assert "## Wrong" in shown
    assert lint("--explain", "OW900") == 0


def test_watching_lints_again_for_each_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "ops.py"
    file.write_text(BAD)

    def watch(*paths: str, **given: object) -> Iterator[set[object]]:
        assert paths == ("ops.py",)
        file.write_text(BAD.replace('"DEF"', '"FRAGMENT"'))
        yield set()

    monkeypatch.setitem(sys.modules, "watchfiles", SimpleNamespace(watch=watch))
    assert lint("--watch", "--format", "concise", "ops.py") == 0
    assert capsys.readouterr().out.count("OW502") == 1


def test_watching_names_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    assert lint("--watch") == 2
    assert "pip install opwright[watch]" in capsys.readouterr().err
