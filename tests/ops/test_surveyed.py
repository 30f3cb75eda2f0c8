"""What is registered is judged by the same rules as what is written, and they agree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

MODULE = """import torch
from torch import Tensor

lib = torch.library.Library("{space}", "FRAGMENT")
lib.define("power(Tensor x, int n=7) -> Tensor")
lib.define("pad(Tensor x, int left, int right) -> Tensor")
lib.define("fine(Tensor x, *, float s=0.5) -> Tensor")


def power(x: Tensor, n: int = 3) -> Tensor:
    return x**n


def pad(x, right, left):
    return x.clone()


def fine(x, *, s=0.5):
    return x * s


lib.impl("power", power, "CPU")
lib.impl("pad", pad, "CPU")
lib.impl("fine", fine, "CPU")


@torch.library.register_fake("{space}::power")
def _(x):
    return torch.empty_like(x)


@torch.library.register_fake("{space}::pad")
def _(x, left, right, more):
    return torch.empty_like(x)


@torch.library.register_fake("{space}::fine")
def _(x, *, s=0.5):
    return torch.empty_like(x)


@torch.library.custom_op("{space}::double", mutates_args=())
def double(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by


@double.register_kernel("cuda")
def _(x, by=3.0):
    return x * by


@double.register_fake
def _(x, by):
    return torch.empty_like(x)


@torch.library.custom_op("{space}::bare", mutates_args=())
def bare(x: Tensor) -> Tensor:
    return x.clone()
"""

EXPECTED = {
    ("OW304", 10),  # power, n=3
    ("OW301", 28),  # its fake lacks n
    ("OW303", 14),  # pad, right and left
    ("OW302", 33),  # its fake wants more
    ("OW304", 48),  # double on cuda
    ("OW305", 53),  # its fake requires by
}


def _lint(folder: Path, *arguments: str) -> set[tuple[str, int]]:
    """(code, line) of every finding that both modes can see."""
    line = ["lint", "--isolated", "--format", "concise"]
    program = f"import sys; from opwright.cli import main; sys.exit(main({[*line, *arguments]}))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    rows = [row.split(": ", 1) for row in done.stdout.splitlines()]
    return {(message.split()[1], int(place.split(":")[1])) for place, message in rows}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "surveyed_ops.py").write_text(MODULE.replace("{space}", "surveyed"))
    return tmp_path


def test_both_modes_agree_on_what_both_see(folder: Path) -> None:
    static = _lint(folder, "--select", "OW3", "--ignore", "OW310", "surveyed_ops.py")
    live = _lint(folder, "--select", "OW3", "--ignore", "OW310", "--import", "surveyed_ops")
    assert static == EXPECTED
    assert live == EXPECTED


def test_an_operator_without_a_fake_is_seen_live(folder: Path) -> None:
    assert {code for code, _ in _lint(folder, "--select", "OW504", "--import", "surveyed_ops")} == {
        "OW504"
    }


def test_torch_keeps_its_own_methods() -> None:
    from opwright.ops.surveyed import recording

    before = torch.library.Library.impl, torch.library.Library._register_fake
    with recording() as record:
        assert torch.library.Library.impl is not before[0]
    assert (torch.library.Library.impl, torch.library.Library._register_fake) == before
    assert record.functions == []


def test_a_module_that_fails_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "failing_ops.py").write_text("raise RuntimeError('no GPU')\n")
    program = (
        "import sys; from opwright.cli import main;"
        " sys.exit(main(['lint', '--isolated', '--import', 'failing_ops']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert "importing failing_ops fails: RuntimeError: no GPU" in done.stderr
    assert "Traceback" not in done.stderr
