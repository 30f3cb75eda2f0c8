"""What linting costs: the corpora against ruff on the same tree, one file against a bare Python."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benches import Plus, Row, Times
from benches.fresh import BARE, opwright, python, run

CORPORA = Path(__file__).resolve().parents[2] / ".corpora"
RUFF = "check --isolated --no-cache --exit-zero --quiet"
ONE_FILE = """import torch
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("zero_(Tensor(a!) x) -> ()")
lib.impl("zero_", lambda x: x.zero_(), "CPU")
"""


def rows() -> Iterator[Row]:
    file = Path(tempfile.mkdtemp()) / "ops.py"
    file.write_text(ONE_FILE)
    ours = opwright("lint", str(file), "--isolated", "--no-cache")
    yield Row("lint of one file", BARE, ours, python("pass"), Plus(0.120))
    if CORPORA.is_dir() and find_spec("ruff"):
        tree = str(CORPORA)
        ours = opwright("lint", tree, "--isolated", "--no-cache", "--format", "concise")
        ruff = run(sys.executable, "-m", "ruff", *RUFF.split(), tree)
        yield Row("lint of all corpora", "ruff check --no-cache", ours, ruff, Times(1.0))
