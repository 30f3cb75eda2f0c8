"""Figures that are kept, one file a version of torch, and the page that shows them side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benches.measure import Measured, span

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "data" / "benchmarks"
PAGE = ROOT.parent / "docs" / "benchmarks.md"

INTRODUCTION = """# Benchmarks

Each row is Opwright against a peer that was measured in the same run, round by round, whoever goes
first changing with each round; the collector is off. A ratio is the median of the rounds, with the
least and the most. Times differ between machines and between runs; ratios less so. Written by
`scripts/bench.py --keep`, once with each torch.

A budget is what a row may cost. **Over** marks the rows that cost more, here as measured.
"""


def keep(torch: str, machine: str, table: Sequence[Measured]) -> None:
    """Put figures beside those that are kept for this torch; a row measured again is replaced."""
    path = FIGURES / f"torch-{torch.partition('+')[0]}.json"
    kept = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else []
    found = {(row["name"], row["against"]): row for row in (*kept, *map(_row, table))}
    path.parent.mkdir(exist_ok=True)
    content = {"machine": machine, "rows": [*found.values()]}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _row(measured: Measured) -> dict[str, Any]:
    row = measured.row
    return {
        "name": row.name,
        "against": row.against,
        "budget": str(row.budget),
        "ours": span(measured.ours),
        "peer": span(measured.peer),
        "ratio": measured.ratio,
        "kept": measured.kept,
    }


def page() -> str:
    """Every row, with a column for each torch that it was measured on."""
    runs = {path.stem.partition("-")[2]: json.loads(path.read_text("utf-8")) for path in _files()}
    machines = [f"- torch {torch}: {run['machine']}" for torch, run in runs.items()]
    return "\n".join([INTRODUCTION, *machines, "", *_table(runs), ""])


def _files() -> Iterable[Path]:
    return sorted(FIGURES.glob("torch-*.json"))


def _table(runs: dict[str, Any]) -> Iterator[str]:
    heads = [f"torch {torch}: Opwright, peer, ratio" for torch in runs]
    yield f"| what | against | budget | {' | '.join(heads)} |"
    yield f"|---|---|---|{'---|' * len(heads)}"
    found = {
        torch: {(row["name"], row["against"]): row for row in run["rows"]}
        for torch, run in runs.items()
    }
    for key in dict.fromkeys(key for rows in found.values() for key in rows):
        budget = next(rows[key]["budget"] for rows in found.values() if key in rows)
        cells = [_cell(rows.get(key)) for rows in found.values()]
        yield f"| {' | '.join([*key, budget, *cells])} |"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    over = "" if row["kept"] else " **over**"
    return f"{row['ours']}, {row['peer']}, {row['ratio']}{over}"
