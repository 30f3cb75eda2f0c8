"""`opwright explain`."""

from __future__ import annotations

import json

import pytest

from opwright.cli.app import main
from opwright.cli.exits import Exit
from opwright.codes import CODES


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    row = CODES[code]
    assert main(["explain", code.lower()]) == Exit.CLEAN
    assert capsys.readouterr() == (f"{code} {row.severity.value:8} {row.title}\n", "")


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--json"]) == Exit.CLEAN
    assert [row["code"] for row in json.loads(capsys.readouterr().out)] == [*CODES]
