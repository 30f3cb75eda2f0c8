"""Our stubs change nothing about the rest of torch: every checker finds what it found before."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

import neutral

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

# A corner of torch, read as if it were its user's: it leans on what the stubs of torch say.
CODE = Path(torch.__file__).parent / "_library"
DAILY = ("basedpyright", "ty", "pyrefly")


def tools() -> list[object]:
    late = pytest.mark.nightly
    return [pytest.param(t, marks=() if t in DAILY else late) for t in neutral.TOOLS]


@pytest.mark.parametrize("tool", tools())
def test_a_checker_finds_the_same_with_and_without_stubs(tool: str, tmp_path: Path) -> None:
    source = neutral.prepare(CODE, tmp_path)
    before = neutral.check(tool, tmp_path, source)
    neutral.add_stubs(tmp_path, neutral.FOREIGN)
    after = neutral.check(tool, tmp_path, source)
    assert before, f"{tool} found nothing in {CODE}: it may not have read it"
    assert neutral.appeared(before, after) == []
    assert neutral.appeared(after, before) == []


@pytest.mark.parametrize(
    "tool", [pytest.param("basedpyright", marks=pytest.mark.nightly), "ty", "pyrefly"]
)
def test_a_partial_package_without_the_stubs_of_torch_would_be_seen(
    tool: str, tmp_path: Path
) -> None:
    """The control: pyright forgets what torch says of itself; the others do not."""
    source = neutral.prepare(CODE, tmp_path)
    before = neutral.check(tool, tmp_path, source)
    neutral.add_stubs(tmp_path, neutral.FOREIGN)
    for stub in (tmp_path / "typings" / "torch-stubs").rglob("*.pyi"):
        if stub.name != "_ops.pyi":
            stub.unlink()
    new = neutral.appeared(before, neutral.check(tool, tmp_path, source))
    assert bool(new) == (tool == "basedpyright")


def test_every_tool_is_there() -> None:
    for command, *_ in neutral.TOOLS.values():
        path = Path(sysconfig.get_path("scripts"), command)
        assert subprocess.run([path, "--version"], capture_output=True).returncode == 0
