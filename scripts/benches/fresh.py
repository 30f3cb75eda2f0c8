"""Runs of a fresh Python, which finds bytecode as an installation has it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

BARE = "python -c pass"
PROGRAM = "import sys; from opwright.cli import main; main({!r})"

# Whether or not this checkout may hold bytecode: the first run writes it, and that is not measured.
_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": tempfile.mkdtemp()}


def python(code: str) -> Callable[[], object]:
    """Run some code."""
    return run(sys.executable, "-c", code)


def opwright(*arguments: str) -> Callable[[], object]:
    """Run our program; linting may end with findings."""
    return python(PROGRAM.format(list(arguments)))


def run(*line: str) -> Callable[[], object]:
    """Run a command line, and wait for its end."""
    environment = os.environ | _BYTECODE
    return lambda: subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=environment)
