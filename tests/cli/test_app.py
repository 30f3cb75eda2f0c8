"""Every way the program can end, and that it starts fast."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys

import pytest

from cli.program import PROGRAM, run
from opwright import __version__
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


HEAVY = ("torch", "pydantic", "rich", "typing_inspect")


def _loaded(*arguments: str) -> set[str]:
    code = (
        "import sys; from opwright.cli import main; main(sys.argv[1:]);"
        "print(*sys.modules, file=sys.stderr)"
    )
    line = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["explain"]], ids=" ".join)
def test_starting_in_a_pipe_loads_nothing_heavy(arguments: list[str]) -> None:
    loaded = _loaded(*arguments)
    assert "opwright.cli.app" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_a_heavy_module_would_be_seen() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import rich, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(done.stdout.split()).isdisjoint(HEAVY)


def _cost(*line: str) -> float:
    """Processor time of a run, in seconds: what others do meanwhile hardly counts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_starting_is_quick() -> None:
    """Budget: 100 ms more than Python itself; the best of some tries, as others may be busy."""
    bare = min(_cost(sys.executable, "-c", "pass") for _ in range(8))
    ours = min(_cost(*PROGRAM, "--version") for _ in range(8))
    assert bare < ours < bare + 0.100
