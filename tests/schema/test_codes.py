"""Codes are unique, and each has a title."""

from __future__ import annotations

import re
from pathlib import Path

import opwright
from opwright.codes import CODES, ROWS


def test_each_code_stands_once_in_order_with_a_title() -> None:
    codes = [row.code for row in ROWS]
    assert len(codes) == len(CODES) > 30
    assert all(re.fullmatch(r"OW\d{3}", code) for code in codes)
    assert all(row.title and not row.title.endswith(".") for row in ROWS)
    assert {row.code: row for row in ROWS} == CODES


def test_every_code_of_the_schema_floor_is_in_the_table_and_in_use() -> None:
    assert opwright.__file__ is not None
    sources = [*Path(opwright.__file__).parent.joinpath("schema").glob("*.py")]
    sources.append(Path(opwright.__file__).parent / "exchange.py")
    used = {
        code for path in sources for code in re.findall(r"\bOW\d{3}\b", path.read_text("utf-8"))
    }
    assert used <= {*CODES}
    assert {code for code in CODES if code[:3] in ("OW0", "OW2")} <= used
