"""The pages of the rules are what the rules say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from opwright.lint.catalog import RULES
from opwright.lint.document import explained, overview

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "rules.py"


def test_the_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_every_rule_is_on_the_overview_once() -> None:
    page = overview(RULES.values())
    assert RULES
    assert all(page.count(f"(rules/{code}.md)") == 1 for code in RULES)


def test_examples_are_not_run_by_the_docs() -> None:
    for rule in RULES.values():
        assert "```python" not in explained(rule)


def test_the_hook_names_the_command() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert "entry: opwright lint\n" in hooks
    assert "pass_filenames: false\n" in hooks
