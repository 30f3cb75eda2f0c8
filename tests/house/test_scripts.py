"""The scripts do what they say: Pythons are found and named, figures are fair, tables are whole."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import setting_up
from benches import GROUPS, Plus, Row, Times, kept
from benches.measure import Measured, measure, span
from house.floors import SOURCE

ROOT = SOURCE.parent
THIS = f"{sys.version_info[0]}.{sys.version_info[1]}"


def test_this_python_is_found() -> None:
    found = setting_up.python(THIS)
    assert found is not None
    asked = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    assert asked.stdout.startswith(f"Python {THIS}.")


@pytest.mark.parametrize("version", ["2.0", "9.9"])
def test_a_python_that_is_not_here_is_not_found(version: str) -> None:
    assert setting_up.python(version) is None


def test_a_file_that_only_looks_like_a_python_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "python9.9"
    shim.write_text("#!/bin/sh\necho not installed >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert setting_up.python("9.9") is None
    shim.write_text("#!/bin/sh\necho 9.9\n")
    assert setting_up.python("9.9") == shim


def test_continuous_integration_runs_what_a_developer_runs() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands == ['cd "$(dirname "$0")/.." && exec scripts/test']


def _row(ours: int, peer: int, budget: Times | Plus) -> Measured:
    """A row whose sides work that much, each for itself."""

    def work(size: int) -> int:
        return sum(range(size * 1000))

    return measure(Row("x", "y", lambda: work(ours), lambda: work(peer), budget), rounds=5)


def test_a_row_is_measured() -> None:
    dear, cheap = _row(8, 1, Times(2)), _row(1, 8, Times(1))
    assert (dear.kept, cheap.kept) == (False, True)
    assert dear.ours > dear.peer
    assert len(dear.ratios) == 5
    assert min(dear.ratios) > 1 > max(cheap.ratios)


def test_figures_of_two_torches_stand_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "FIGURES", tmp_path / "benchmarks")
    dear, cheap = _row(8, 1, Times(2)), _row(1, 8, Times(1))
    kept.keep("2.13.0+cpu", "a machine", [dear])
    kept.keep("2.13.0+cpu", "a machine", [dear])  # measured again: one row
    kept.keep("2.14.1", "a machine", [cheap])
    rows = [line for line in kept.page().splitlines() if line.startswith("| x | y |")]
    (row,) = rows
    first, second = row.split(" | ")[3:]
    assert first.endswith("**over**")
    assert "over" not in second


def test_the_page_shows_the_kept_figures() -> None:
    assert kept.PAGE.read_text("utf-8") == kept.page()


def test_budgets_are_judged_round_by_round() -> None:
    """A slow round slows both sides: medians of the sides alone would be misled."""
    noisy = [(1.0, 2.0), (10.0, 21.0), (1.1, 2.0)]
    assert Times(0.5).kept(noisy)
    assert not Times(0.49).kept(noisy)
    assert Plus(0.1).kept([(0.15, 0.06), (0.9, 0.85), (0.5, 0.1)])
    assert not Plus(0.08).kept([(0.15, 0.06), (0.9, 0.85), (0.5, 0.1)])


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (2.5, "2.50 s"),
        (0.0345, "34.5 ms"),
        (1.2e-6, "1.20 µs"),
        (4.2e-8, "42 ns"),
        (12.0, "12.0 s"),
    ],
)
def test_times_are_readable(seconds: float, shown: str) -> None:
    assert span(seconds) == shown


@pytest.mark.torch
@pytest.mark.parametrize("group", GROUPS)
def test_every_group_gives_rows_that_run(group: str) -> None:
    pytest.importorskip("torch")
    rows = list(importlib.import_module(f"benches.{group}").rows())
    assert rows
    for row in rows:
        row.ours()
        row.peer()
        assert row.each > 0
