"""How a row is measured: interleaved rounds, collector off, median with least and most."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from benches import Rounds, Row

ROUND = 0.02  # seconds that a round should last at least


@dataclass(frozen=True)
class Measured:
    """A row with its figures: seconds per item of each round, ours and the peer's."""

    row: Row
    rounds: Rounds

    @property
    def kept(self) -> bool:
        """Whether the budget is kept."""
        return self.row.budget.kept(self.rounds)

    @property
    def ours(self) -> float:
        return median(ours for ours, _ in self.rounds)

    @property
    def peer(self) -> float:
        return median(peer for _, peer in self.rounds)

    @property
    def ratios(self) -> list[float]:
        return [ours / peer for ours, peer in self.rounds]

    @property
    def ratio(self) -> str:
        low, middle, high = min(self.ratios), median(self.ratios), max(self.ratios)
        return f"{middle:.2f} ({low:.2f} to {high:.2f})"

    def __str__(self) -> str:
        verdict = "kept" if self.kept else "OVER"
        figures = f"{span(self.ours)} against {span(self.peer)}"
        return f"{verdict}  {self.row.name}: {figures}, {self.ratio} x ({self.row.budget})"


def span(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> span(0.0000012), span(0.0345), span(2.5)
    ('1.20 µs', '34.5 ms', '2.50 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            shown = seconds / size
            return f"{shown:.{(shown < 10) + (shown < 100)}f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def measure(row: Row, rounds: int) -> Measured:
    """Measure both sides of a row in turns; whoever goes first changes with each round."""
    sides = (row.ours, row.peer)
    counts = [_calls(side) for side in sides]
    times: tuple[list[float], list[float]] = ([], [])
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for which in (0, 1) if turn % 2 else (1, 0):
                times[which].append(_timed(sides[which], counts[which]) / row.each)
    finally:
        if collecting:
            gc.enable()
    return Measured(row, tuple(zip(*times, strict=True)))


def _calls(side: Callable[[], object]) -> int:
    """How many calls make a round; the first call, which may fill caches, does not count."""
    side()
    count = 1
    while (taken := _timed(side, count) * count) < ROUND:
        count = max(count * 2, int(count * ROUND / max(taken, 1e-9)))
    return count


def _timed(side: Callable[[], object], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        side()
    return (time.perf_counter() - begin) / count
