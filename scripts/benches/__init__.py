"""The rows of the benchmark: one module a group, each with a function `rows()`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

# A new group is a module beside this file and its name here.
GROUPS = ("start", "schema", "infer")


@dataclass(frozen=True)
class Times:
    """At most so many times the peer."""

    limit: float

    def kept(self, ours: float, peer: float) -> bool:
        return ours <= self.limit * peer

    def __str__(self) -> str:
        return f"≤ {self.limit:g} x"


@dataclass(frozen=True)
class Plus:
    """At most so many seconds more than the peer."""

    seconds: float

    def kept(self, ours: float, peer: float) -> bool:
        return ours <= peer + self.seconds

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
