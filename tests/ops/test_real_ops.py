"""The operators of a real package, registered through Opwright in place of its own decorator."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def test_every_operator_of_a_real_package_has_the_same_schema() -> None:
    """Kernels that need Warp are not run here: `scripts/real_ops.py` runs them where it is."""
    fetch = [sys.executable, str(SCRIPTS / "corpora.py"), "nvidia-physicsnemo"]
    assert subprocess.run(fetch, check=False, capture_output=True).returncode == 0
    compare = [sys.executable, str(SCRIPTS / "real_ops.py"), "--list"]
    done = subprocess.run(compare, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    operators, same = (int(word) for word in done.stdout.split() if word.isdigit())
    assert operators == same
    assert operators >= 60
