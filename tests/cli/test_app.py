"""Every way the program can end, and that it starts fast."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cli.program import PROGRAM, run
from opwright import __version__
from opwright.cli import LOADED
from opwright.cli.app import COMMANDS, main
from opwright.cli.exits import Exit


def test_version() -> None:
    assert run("--version") == (Exit.CLEAN, f"opwright {__version__}\n", "")


def test_help_names_every_command() -> None:
    code, out, err = run("--help")
    assert (code, err) == (Exit.CLEAN, "")
    assert [name for name in COMMANDS if f"\n  {name} " not in out] == []


# These write for one reader only: files of stubs, and the protocol of editors.
WITHOUT_JSON = ("stubs", "lsp")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command: str) -> None:
    code, out, err = run(command, "-h")
    assert (code, err) == (Exit.CLEAN, "")
    assert "--json" in out or "--format" in out or command in WITHOUT_JSON


BAD = {
    "explane OW001": "there is no command 'explane'; did you mean `opwright explain`?",
    "frobnicate": "No such command 'frobnicate'.",
    "--frobnicate": "No such option",
    "explain --jsn": "No such option",
    "explain OW001 OW002": "unexpected extra argument (OW002)",
    "explain OW0019": "there is no code 'OW0019'; do you mean OW",
    "explain zzz": "there is no code 'zzz'; `opwright explain` lists all codes",
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_invocation_is_two_and_says_why(line: str) -> None:
    code, out, err = run(*line.split())
    assert (code, out) == (Exit.UNUSABLE, "")
    assert BAD[line] in err


_SHELL = f"{sys.executable} -c '{PROGRAM[2]}'"


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    line = f"{_SHELL} explain | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    first, *_, code = done.stdout.splitlines()
    assert first.startswith("OW001 ")
    assert int(code) in (Exit.CLEAN, Exit.CUT)


def test_a_closed_output_is_no_traceback() -> None:
    line = f"{_SHELL} explain | (exec <&-; sleep 1); echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (str(int(Exit.CUT)), "")


def test_interrupting_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("opwright.cli.show.print_json", interrupted)
    assert main(["explain", "--json"]) == Exit.INTERRUPTED


def test_the_exit_codes_are_a_promise() -> None:
    assert {each.name: int(each) for each in Exit} == {
        "CLEAN": 0,
        "FINDINGS": 1,
        "UNUSABLE": 2,
        "INTERRUPTED": 128 + signal.SIGINT,
        "CUT": 128 + signal.SIGPIPE,
    }


# What no command loads where nobody asks for it: most of a start is what is loaded.
HEAVY = (
    "torch pydantic rich typing_inspect typing_extensions dataclasses json multiprocessing"
    " concurrent.futures pickle opwright.hints.live opwright.exchange"
).split()
LINTER = "opwright.lint.engine opwright.lint.settings opwright.survey.sites"
# And what each does without besides.
WITHOUT = {
    "--version": "difflib opwright.findings opwright.frozen",
    "--help": "difflib opwright.findings opwright.frozen",
    "explain": "difflib opwright.schema opwright.lint",
    "explain OW501": f"{LINTER} opwright.lint.rules.no_fake opwright.hints opwright.survey.targets",
    "schema f()->()": "opwright.hints opwright.lint opwright.schema.compare opwright.schema.spell",
    "infer ops.py": f"{LINTER} opwright.survey.cpp",
    "lint ops.py --isolated --no-cache": (
        "opwright.cli.explain opwright.cli.show opwright.cli.progress opwright.lint.baseline"
        " opwright.lint.cache opwright.lint.fix opwright.lint.report.sarif opwright.survey.cpp"
    ),
    "lint empty.py --isolated": f"{LINTER.split()[-1]} opwright.lint.rules.no_fake",
}


def _loaded(*arguments: str, cwd: Path | None = None) -> set[str]:
    code = (
        "import sys; from opwright.cli import main; main(sys.argv[1:]);"
        "print(*sys.modules, file=sys.stderr)"
    )
    line = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=cwd)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("line", WITHOUT)
def test_a_command_in_a_pipe_loads_nothing_that_it_does_without(line: str, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "ops.py").write_text(
        "import torch\ntorch.library.define('a::f', '(Tensor x) -> Tensor')\n"
    )
    loaded = _loaded(*line.split(" ", 3), cwd=tmp_path)
    assert "opwright.cli.app" in loaded
    assert loaded.isdisjoint([*HEAVY, *WITHOUT[line].split()])


def test_there_are_such_modules() -> None:
    """A name that is misspelt would never be loaded."""
    names = {name for names in (HEAVY, *map(str.split, WITHOUT.values())) for name in names}
    assert [name for name in names if name != "torch" and find_spec(name) is None] == []


USES = {
    "explain --json": "json",
    "explain OW504": "opwright.lint.rules.no_fake",
    "lint . --format json": "json",
    "infer .": "opwright.survey.operators",
    "lint .": "opwright.survey.sites",
    "explan OW501": "difflib",
}


@pytest.mark.parametrize("line", USES)
def test_what_a_command_loads_is_seen(line: str, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("import torch\ntorch.library.define('a::f', '(int x) -> int')")
    assert USES[line] in _loaded(*line.split(), cwd=tmp_path)


def test_no_one_looks_for_garbage_while_loading_or_ending() -> None:
    code = (
        "import atexit, gc; from opwright.cli import main;"
        "seen = lambda: print(gc.isenabled(), gc.get_threshold()[0], gc.get_freeze_count());"
        "atexit.register(seen); seen(); main(['--version']); seen()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, _, after, ending = (line.split() for line in done.stdout.splitlines())
    assert before[1] != str(LOADED)
    assert after[:2] == ending[:2] == ["True", str(LOADED)]
    assert int(ending[2]) > int(after[2])  # Python 3.12 begins with some frozen
