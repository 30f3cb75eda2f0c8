"""The verdicts on what the linter says of real packages: all read, none false."""

from __future__ import annotations

import json
from pathlib import Path

from opwright.codes import CODES

ROOT = Path(__file__).resolve().parents[2]


def test_every_finding_was_read_and_is_true() -> None:
    page = (ROOT / "docs" / "precision.md").read_text()
    rows = [line.strip("| ").split("|") for line in page.splitlines() if line.startswith("| ")]
    *rows, total = [[cell.strip() for cell in row] for row in rows if row[0].strip() != "package"]
    assert len(rows) > 15
    assert total[0] == "all"
    assert total[-2:] == ["0", "0"]
    assert sum(int(row[-3]) for row in rows) == int(total[-3]) > 150


def test_judgements_name_codes_and_give_reasons() -> None:
    known = json.loads((ROOT / "scripts" / "data" / "judgements.json").read_text())
    assert known
    assert all(one["code"] in CODES and one["words"] and one["why"] for one in known)
