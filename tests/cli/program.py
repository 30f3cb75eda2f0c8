"""Run the program as a user does: in a process of its own, with pipes or on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PROGRAM = (sys.executable, "-c", "import sys; from opwright.cli import main; sys.exit(main())")


class Ran(NamedTuple):
    """How a run ended and what it said."""

    code: int
    out: str
    err: str


def run(*arguments: str | Path, given: str = "", cwd: Path | None = None) -> Ran:
    """Run the program in a pipe."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def run_on_terminal(*arguments: str | Path, columns: int = 80, cwd: Path | None = None) -> str:
    """Run the program on a pseudo-terminal; everything that it wrote there."""
    import pty

    here, there = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    env.pop("NO_COLOR", None)
    line = [*PROGRAM, *map(str, arguments)]
    with subprocess.Popen(
        line, stdin=there, stdout=there, stderr=subprocess.PIPE, cwd=cwd, env=env
    ) as process:
        os.close(there)
        seen = b"".join(iter(lambda: _read(here), b""))
        process.wait()
    os.close(here)
    return seen.decode("utf-8").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side has closed
        return b""
