"""`opwright explain`."""

from __future__ import annotations

import json

import pytest

from cli.program import run, run_on_terminal
from opwright.cli.app import main
from opwright.cli.exits import Exit
from opwright.codes import CODES
from opwright.lint.catalog import RULES
from opwright.lint.document import explained


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    row, rule = CODES[code], RULES.get(code)
    assert main(["explain", code.lower()]) == Exit.CLEAN
    out, err = capsys.readouterr()
    assert err == ""
    assert out == (explained(rule) if rule else f"{code} {row.severity.value:8} {row.title}\n")


def test_codes_have_rules_and_some_have_none() -> None:
    assert {bool(RULES.get(code)) for code in CODES} == {True, False}


def test_a_terminal_shows_the_page_laid_out() -> None:
    seen = run_on_terminal("explain", "OW301")
    assert "OW301: the function lacks an argument of the schema" in seen
    assert "# OW301" not in seen
    assert "\x1b[" in seen


def test_json_holds_why() -> None:
    (record,) = json.loads(run("explain", "OW301", "--json").out)
    assert record["why"] == RULES["OW301"].why


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--json"]) == Exit.CLEAN
    assert [row["code"] for row in json.loads(capsys.readouterr().out)] == [*CODES]
