"""The rows of the benchmark: one module a group, each with a function `rows()`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

# A new group is a module beside this file and its name here.
GROUPS = ("start", "schema", "infer", "lint", "stubs", "editor", "calls", "gradients", "definition")


# What each round took: seconds per item, ours and the peer's.
Rounds: TypeAlias = "Sequence[tuple[float, float]]"


@dataclass(frozen=True)
class Times:
    """At most so many times the peer."""

    limit: float

    def kept(self, rounds: Rounds) -> bool:
        return median(ours / peer for ours, peer in rounds) <= self.limit

    def __str__(self) -> str:
        return f"≤ {self.limit:g} x"


@dataclass(frozen=True)
class Plus:
    """At most so many seconds more than the peer."""

    seconds: float

    def kept(self, rounds: Rounds) -> bool:
        return median(ours - peer for ours, peer in rounds) <= self.seconds

    def __str__(self) -> str:
        return f"+ {self.seconds * 1e3:g} ms"


Budget: TypeAlias = "Times | Plus"


@dataclass(frozen=True)
class Row:
    """One promise: what is measured, against which peer, and how much it may cost.

    `ours` and `peer` are called many times; `each` says how many items one call handles, so that
    figures are per item.
    """

    name: str
    against: str
    ours: Callable[[], object]
    peer: Callable[[], object]
    budget: Budget
    each: int = 1
