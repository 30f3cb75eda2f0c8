"""Five wrong calls are errors in every checker, by both kinds of stubs; right ones in none."""

from __future__ import annotations

from pathlib import Path

import pytest

import neutral
from cli.program import run
from stubs.sample import write_library

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

CALLS = """\
import torch
{extra}
x = torch.zeros(1)
y: torch.Tensor = {ops}.foo(x, 2, alpha=0.5).relu()
{ops}.foo(x=x)
{ops}.act(x, "relu", (1, 2))
{ops}.cfg_(x, 0.5, cfg__mode="down", axis=1)
{ops}.foo(1)  # wrong
{ops}.foo(x, m=3)  # wrong
{ops}.foo(x, 1, 2.0)  # wrong
{ops}.act(x, "relv")  # wrong
{ops}.misspelt(x)  # wrong
"""
WAYS = {
    "torch_ops.py": CALLS.format(extra="", ops="torch.ops.mylib"),
    "accessor.py": CALLS.format(extra="from client import typed", ops="typed"),
}
DAILY = ("basedpyright", "ty")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with both kinds of stubs and both ways to call."""
    folder = tmp_path_factory.mktemp("checked")
    write_library(folder)
    code = folder / "client"
    code.mkdir()
    (code / "__init__.py").write_text("", "utf-8")
    for name, text in WAYS.items():
        (code / name).write_text(text, "utf-8")
    neutral.prepare(code, folder / "project")
    for place in (
        ["--torch-ops", "--typings", str(folder / "project" / "typings")],
        ["--accessor", str(folder / "project" / "client" / "typed.py"), "--namespace", "mylib"],
    ):
        assert run("stubs", "mylib", *place, cwd=folder).code == 0
    return folder / "project"


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param(tool, marks=() if tool in DAILY else pytest.mark.nightly)
        for tool in neutral.TOOLS
    ],
)
def test_wrong_calls_are_errors(tool: str, folder: Path) -> None:
    found = neutral.check(tool, folder, "client")
    marked = {
        f"{name}:{number}"
        for name, text in WAYS.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith("# wrong")
    }
    assert len(marked) == 10
    assert {_line(finding.place) for finding in found} == marked


def _line(place: str) -> str:
    """`name.py:12` of a place."""
    file, line, *_ = place.split(":")
    return f"{Path(file).name}:{line}"
