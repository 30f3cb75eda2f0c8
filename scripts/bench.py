#!/usr/bin/env python3
"""Measure every budget: each row is Opwright against a peer, both in this run, round by round.

    scripts/bench.py                        every row
    scripts/bench.py --only start infer     these groups (a group is a module of benches/)
    scripts/bench.py --keep                 keep the figures, and write docs/benchmarks.md of all
                                            that are kept: one file a version of torch

Exit code 1 if a budget is exceeded.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from benches import GROUPS, Row, kept
from benches.measure import Measured, measure


def main(arguments: Sequence[str] | None = None) -> int:
    wanted = _wanted(arguments)
    table = [*_measured(wanted.only, wanted.rounds)]
    if wanted.keep:
        kept.keep(version("torch"), machine(), table)
        kept.PAGE.write_text(kept.page(), "utf-8")
    exceeded = [each.row.name for each in table if not each.kept]
    print(f"{len(table)} rows, {len(exceeded)} over budget{': ' * bool(exceeded)}", end="")
    print(", ".join(exceeded))
    return 1 if exceeded else 0


def _wanted(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure every budget.")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, metavar="GROUP")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args(arguments)


def _measured(groups: Sequence[str], rounds: int) -> Iterator[Measured]:
    for group in groups:
        for row in importlib.import_module(f"benches.{group}").rows():
            assert isinstance(row, Row)
            measured = measure(row, rounds)
            print(measured, flush=True)
            yield measured


def machine() -> str:
    """What the figures were measured on."""
    names = ("opwright", "torch")
    installed = ", ".join(f"{name} {version(name)}" for name in names)
    return f"{os.cpu_count()} cores, CPython {platform.python_version()}, {installed}"


if __name__ == "__main__":
    sys.exit(main())
