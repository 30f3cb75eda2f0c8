"""What linting costs: the corpora against ruff on the same tree, one file against a bare Python."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benches import Plus, Row, Times

CORPORA = Path(__file__).resolve().parents[2] / ".corpora"
PROGRAM = "import sys; from opwright.cli import main; main({!r})"
ONE_FILE = """import torch
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("zero_(Tensor(a!) x) -> ()")
lib.impl("zero_", lambda x: x.zero_(), "CPU")
"""


def rows() -> Iterator[Row]:
    file = Path(tempfile.mkdtemp()) / "ops.py"
    file.write_text(ONE_FILE)
    lint = ["lint", str(file), "--isolated", "--no-cache"]
    bare = _run([sys.executable, "-c", "pass"])
    yield Row("lint of one file", "python -c pass", _opwright(*lint), bare, Plus(0.120))
    if CORPORA.is_dir():
        tree = str(CORPORA)
        ours = _opwright("lint", tree, "--isolated", "--no-cache", "--format", "concise")
        ruff = _run([sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "-q", tree])
        yield Row("lint of all corpora", "ruff check --no-cache", ours, ruff, Times(1.0))


def _opwright(*arguments: str) -> Callable[[], object]:
    return _run([sys.executable, "-c", PROGRAM.format(list(arguments))])


def _run(line: list[str]) -> Callable[[], object]:
    return lambda: subprocess.run(line, check=False, stdout=subprocess.DEVNULL)
