"""The marks are plain types to mypy (strict), pyright and jedi: the checkers are run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jedi
import pytest

MARKS = (Path(__file__).parent / "marks.py").read_text()
REVEALED = re.findall(r"#: (.+)", MARKS)
WRONG = MARKS.count("\n")  # the last line: each of its arguments is of a wrong type
# The control: marks that are types of their own, as a first design might have them.
OPAQUE_MARKS = """
from typing import Generic, TypeVar
T = TypeVar("T")
class Mutable(Generic[T]): ...
"""


class Checked(NamedTuple):
    """What a checker says: the types it reveals, and how many errors on which lines."""

    revealed: list[str]
    errors: dict[int, int]


def _run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def _counted(lines: list[int]) -> dict[int, int]:
    return {line: lines.count(line) for line in lines}


def mypy(file: Path) -> Checked:
    cache = f"--cache-dir={file.parent.parent / 'mypy'}"  # one for all runs of a session
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", cache]
    text = _run(*command, "--no-error-summary", file.name, folder=file.parent)
    revealed = re.findall(r'Revealed type is "(.+)"', text)
    errors = [int(line) for line in re.findall(r"^checked\.py:(\d+): error", text, re.MULTILINE)]
    kinds = [re.sub(r"(?:\w+\.)+(?=[A-Z])", "", kind) for kind in revealed]
    return Checked(kinds, _counted(errors))


def pyright(file: Path) -> Checked:
    command = [sys.executable, "-m", "basedpyright", "--outputjson"]
    (file.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    text = _run(*command, "--pythonpath", sys.executable, file.name, folder=file.parent)
    found = json.loads(text)["generalDiagnostics"]
    revealed = [re.search(r' is "(.+)"$', one["message"]) for one in found]
    errors = [one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"]
    return Checked([match[1] for match in revealed if match], _counted(errors))


CHECKERS = {"mypy": mypy, "pyright": pyright}


@pytest.mark.parametrize("checker", CHECKERS.values(), ids=CHECKERS)
def test_each_mark_is_the_type_behind_it(
    checker: Callable[[Path], Checked], tmp_path: Path
) -> None:
    file = tmp_path / "checked.py"
    file.write_text(MARKS)
    checked = checker(file)
    assert checked.revealed == REVEALED
    assert checked.errors == {WRONG: 7}


@pytest.mark.parametrize("checker", CHECKERS.values(), ids=CHECKERS)
def test_the_checker_sees_a_mark_that_is_a_type_of_its_own(
    checker: Callable[[Path], Checked], tmp_path: Path
) -> None:
    file = tmp_path / "checked.py"
    text = MARKS.replace("Mutable, ", "")
    file.write_text(text.replace("\n\nclass Tensor", f"{OPAQUE_MARKS}\n\nclass Tensor"))
    assert checker(file).revealed != REVEALED


def _completed(name: str) -> set[str]:
    """What jedi offers after `name.` inside the operator."""
    body, _, _ = MARKS.rpartition("\noperator(")
    text = body.replace("    return written\n", f"    {name}.\n    return written\n")
    line = text.splitlines().index(f"    {name}.") + 1
    found = jedi.Script(text).complete(line, len(name) + 5)
    return {one.name for one in found if not one.name.startswith("_")}


COMPLETED = {
    "written": {"add_"},
    "many[0]": {"add_"},
    "cfg": {"scale"},
    "state": {"scale"},
}


@pytest.mark.parametrize("name", COMPLETED)
def test_jedi_completes_the_type_behind_a_mark(name: str) -> None:
    assert _completed(name) == COMPLETED[name]


def test_jedi_completes_numbers() -> None:
    assert {"bit_length", "conjugate"} <= _completed("n")
    assert "conjugate" in _completed("factor")


def test_jedi_shows_the_marks_in_the_signature() -> None:
    body, _, _ = MARKS.rpartition("\noperator(")
    text = f"{body}\noperator("
    (signature,) = jedi.Script(text).get_signatures(text.count("\n") + 1, len("operator("))
    assert signature.to_string() == (
        "operator(written: Mutable[Tensor], many: Mutable[list[Tensor]],"
        " out: Out[Tensor | None], n: Const[int], cfg: Json[Cfg], state: Opaque[Cfg],"
        ' factor: Scalar) -> Annotated[Tensor, Aliases("written")]'
    )
