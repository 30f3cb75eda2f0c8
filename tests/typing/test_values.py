"""Public values are dataclasses to mypy (strict) and pyright: the checkers are run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .test_marks import CHECKERS, Checked

VALUES = (Path(__file__).parent / "values.py").read_text()
REVEALED = re.findall(r"#: (.+)", VALUES)
WRONG = {number: 1 for number, line in enumerate(VALUES.splitlines(), 1) if "  #! " in line}


@pytest.mark.parametrize("checker", CHECKERS.values(), ids=CHECKERS)
def test_checkers_know_the_fields_of_values(
    checker: Callable[[Path], Checked], tmp_path: Path
) -> None:
    file = tmp_path / "checked.py"
    file.write_text(VALUES)
    checked = checker(file)
    assert len(WRONG) == 4
    assert (checked.revealed, checked.errors) == (REVEALED, WRONG)
