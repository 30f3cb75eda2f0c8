"""`opwright infer`: which functions it finds, how it says so, and how it ends."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from cli.program import run, run_on_terminal
from opwright.cli.exits import Exit

OPERATORS = """\
import torch
from torch import Tensor
from opwright import Mutable


@torch.library.custom_op("mylib::scale", mutates_args=())
def scale(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by


@torch.library.custom_op("mylib::fill_", mutates_args=("out",))
def fill_(out: Tensor, value: dict[str, float]) -> None: ...


def plain(x: Tensor, n: int | None = None) -> Tensor: ...


def bare(x): ...
"""
SCALE = "mylib::scale(Tensor x, float by=2.0) -> Tensor"
PLAIN = "plain(Tensor x, SymInt? n=None) -> Tensor"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a package `mylib`: one file of operators, one that is no Python."""
    folder = tmp_path / "mylib"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "ops.py").write_text(OPERATORS)
    return tmp_path


def test_a_pipe_gets_one_line_a_result(package: Path) -> None:
    code, out, err = run("infer", "mylib/ops.py", cwd=package)
    schema, fault = out.splitlines()
    assert (code, err) == (Exit.FINDINGS, "")
    assert schema == f"mylib/ops.py:6:2: {SCALE}"
    assert fault.startswith(
        "mylib/ops.py:12:31: OW102 'value' of mylib::fill_: dict[str, float] has no schema type; "
    )


@pytest.mark.parametrize("target", ["mylib", "mylib/ops.py", "mylib.ops", "./mylib"])
def test_every_way_to_name_the_code(package: Path, target: str) -> None:
    assert SCALE in run("infer", target, cwd=package).out


def test_all_reads_every_annotated_function(package: Path) -> None:
    code, out, _ = run("infer", "--all", "mylib/ops.py", cwd=package)
    assert code == Exit.FINDINGS
    assert f"mylib/ops.py:15:5: {PLAIN}\n" in out
    assert "bare" not in out


@pytest.mark.parametrize("target", ["mylib.ops:plain", "mylib/ops.py:plain"])
def test_one_function_by_name(package: Path, target: str) -> None:
    code, out, err = run("infer", target, cwd=package)
    assert (code, err) == (Exit.CLEAN, "")
    assert out == f"mylib/ops.py:15:5: {PLAIN}\n"


def test_json(package: Path) -> None:
    code, out, _ = run("infer", "--json", "mylib/ops.py", cwd=package)
    good, bad = json.loads(out)
    assert code == Exit.FINDINGS
    assert good == {
        "name": "mylib::scale",
        "file": "mylib/ops.py",
        "line": 6,
        "column": 2,
        "schema": SCALE,
        "findings": [],
    }
    assert bad["schema"] is None
    assert [finding["code"] for finding in bad["findings"]] == ["OW102"]


@pytest.mark.parametrize("columns", [80, 200])
def test_a_terminal_gets_a_table_that_fits(package: Path, columns: int) -> None:
    seen = run_on_terminal("infer", "mylib", columns=columns, cwd=package)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in seen.splitlines()]
    assert lines[:2] == ["mylib/ops.py", f"     6  {SCALE}"]
    assert lines[2] == "    11  mylib::fill_"
    assert lines[3].startswith("    12  OW102 'value' of mylib::fill_: dict[str, float] has")
    assert lines[-1] == "1 inferred, 1 refused"
    assert max(map(len, lines)) <= columns


def test_nothing_found_says_what_would_find_more(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("def f(x: int) -> None: ...\n")
    assert run("infer", tmp_path) == (
        Exit.CLEAN,
        "",
        "nothing found; --all reads every annotated function\n",
    )


NO_TARGET = {
    "nowhere.py": "there is no file, folder or installed module 'nowhere.py'",
    "no.such.module": "there is no file, folder or installed module 'no.such.module'",
    "no such": "there is no file, folder or installed module 'no such'",
    "": "there is no file, folder or installed module ''",
    "sys": "there is no file, folder or installed module 'sys'",
}


@pytest.mark.parametrize("target", NO_TARGET)
def test_a_target_that_is_not_there_is_unusable(target: str) -> None:
    code, out, err = run("infer", target)
    assert (code, out) == (Exit.UNUSABLE, "")
    assert NO_TARGET[target] in err


BAD_FILES = {
    "binary": b"\x00\x01\xff\xfe" * 99,
    "no Python": b"def f(:\n",
    "not UTF-8": b"x = '\xff'\n",
    "nested": b"x = " + b"(" * 5000 + b")" * 5000,
}


@pytest.mark.parametrize("kind", BAD_FILES)
@pytest.mark.parametrize("every", [[], ["--all"]], ids=["operators", "all"])
def test_a_file_that_cannot_be_read_is_unusable_and_the_rest_is_read(
    package: Path, kind: str, every: list[str]
) -> None:
    bad = package / "mylib" / "bad.py"
    bad.write_bytes(b"# custom_op\n" + BAD_FILES[kind])
    code, out, _ = run("infer", *every, "mylib", cwd=package)
    assert code == Exit.UNUSABLE
    assert "mylib/bad.py" in out
    assert "OW90" in out
    assert "plain(" in out if every else SCALE in out


def test_a_function_that_is_not_there_is_unusable(package: Path) -> None:
    code, out, _ = run("infer", "mylib.ops:nope", cwd=package)
    assert code == Exit.UNUSABLE
    assert "has no function 'nope'" in out


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_folder_loop_ends(package: Path) -> None:
    (package / "mylib" / "loop").symlink_to(package / "mylib")
    assert run("infer", "mylib", cwd=package).out.count(SCALE) == 1


def test_nothing_is_imported(package: Path) -> None:
    (package / "mylib" / "__init__.py").write_text("raise SystemExit('imported')\n")
    code, out, err = run("infer", "mylib.ops", cwd=package)
    assert (code, err) == (Exit.FINDINGS, "")
    assert SCALE in out


def test_live_imports_and_reads_the_functions(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def f(x: int, y: 'float' = 1.0) -> bool: ...\n")
    plain = "f(SymInt x, float y=1.0) -> bool\n"
    assert run("infer", "--live", "mine", cwd=tmp_path) == (Exit.CLEAN, plain, "")
    assert run("infer", "--live", "mine:f", cwd=tmp_path) == (Exit.CLEAN, plain, "")


def test_what_goes_wrong_live_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    code, out, err = run("infer", "--live", "broken", cwd=tmp_path)
    assert (code, out) == (Exit.UNUSABLE, "")
    assert err == "Error: importing broken failed: ZeroDivisionError('division by zero')\n"
    (tmp_path / "mine.py").write_text("f = 1\n")
    assert "mine has no function 'f'" in run("infer", "--live", "mine:f", cwd=tmp_path).err
    assert "--live wants the name of a module" in run("infer", "--live", tmp_path).err


def test_a_large_folder_shows_no_progress_in_a_pipe() -> None:
    folder = Path(sys.modules["json"].__file__ or "").parent
    code, _, err = run("infer", "--all", folder)
    assert code in (Exit.CLEAN, Exit.FINDINGS)
    assert "reading" not in err
