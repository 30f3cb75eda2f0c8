"""`opwright schema`."""

from __future__ import annotations

import json

from cli.program import run, run_on_terminal
from opwright.cli.exits import Exit
from opwright.exchange import load

GOOD = "mylib::scale_(Tensor(x!) out,Tensor t, *, float s=1)->(Tensor(x!))"
CANONICAL = "mylib::scale_(Tensor(a!) out, Tensor t, *, float s=1.0) -> Tensor(a!)"
BAD = "f(Tensr x, bool x=7) -> Tesor"
FAULTS = """\
1:3: OW003 torch has no type 'Tensr'; write `Tensor`
1:17: OW008 two arguments have the name 'x'; rename one of them
1:19: OW006 x: bool cannot hold 7; write `True` or `False`
1:25: OW003 torch has no type 'Tesor'; write `Tensor`
"""


def test_a_schema_is_printed_as_it_should_be_written() -> None:
    assert run("schema", GOOD) == (Exit.CLEAN, f"{CANONICAL}\n", "")


def test_all_faults_are_told_at_once_and_others_still_printed() -> None:
    assert run("schema", BAD, GOOD) == (Exit.FINDINGS, f"{FAULTS}{CANONICAL}\n", "")


def test_a_dash_reads_lines() -> None:
    given = f"{GOOD}\n\n{GOOD}\n"
    assert run("schema", "-", given=given) == (Exit.CLEAN, f"{CANONICAL}\n" * 2, "")


def test_json_holds_the_good_and_the_bad() -> None:
    code, out, _ = run("schema", "--json", GOOD, BAD)
    good, bad = json.loads(out)
    assert code == Exit.FINDINGS
    assert good["canonical"] == CANONICAL
    assert str(load(good["schema"])) == CANONICAL
    assert bad["text"] == BAD
    assert bad["findings"][0] == {
        "code": "OW003",
        "severity": "error",
        "message": "torch has no type 'Tensr'",
        "hint": "write `Tensor`",
        "excerpt": BAD,
        "line": 1,
        "column": 3,
        "end_line": 1,
        "end_column": 8,
    }


MODULE = """\
from __future__ import annotations

from opwright import Mutable
from torch import Tensor


def scale_(out: Mutable[Tensor], t: Tensor, *, s: float = 1.0) -> Mutable[Tensor]: ...
"""


def test_python_is_a_module() -> None:
    assert run("schema", "--python", GOOD, BAD) == (Exit.FINDINGS, MODULE, FAULTS)


def test_a_terminal_shows_the_caret_under_the_fault() -> None:
    lines = run_on_terminal("schema", "f(Tensr x) -> ()").splitlines()
    seen = [_without_colour(line) for line in lines]
    assert seen == [
        "OW003 torch has no type 'Tensr'",
        "  f(Tensr x) -> ()",
        "    ^",
        "  hint: write `Tensor`",
    ]
    assert lines != seen


def _without_colour(line: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def test_strange_input_is_a_finding() -> None:
    for text in ("", "\x01", "é(Tensor x) -> ()", "(" * 5000, "f(Tensor x) -> ()" * 2000):
        code, out, _ = run("schema", text)
        assert code == Exit.FINDINGS
        assert "OW0" in out


def test_input_that_is_no_text_is_unusable() -> None:
    import subprocess

    from cli.program import PROGRAM

    done = subprocess.run([*PROGRAM, "schema", "-"], input=b"\xff\xfe\x00", capture_output=True)
    assert done.returncode == Exit.UNUSABLE
    assert b"Traceback" not in done.stderr
