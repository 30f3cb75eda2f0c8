"""Every rule: its bad example triggers exactly its code, its good example nothing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from opwright.codes import CODES
from opwright.lint import rules
from opwright.lint.catalog import MODULES, RULES
from opwright.lint.engine import lint
from opwright.lint.settings import Project, Settings


def codes(example: str | Mapping[str, str], folder: Path, *, only: str = "") -> list[str]:
    files = {"ops.py": example} if isinstance(example, str) else example
    for name, text in files.items():
        (folder / name).write_text(text)
    settings = Settings(extend_select=(only,) if only else ())
    return [found.code for found in lint([str(folder)], Project(folder, settings)).findings]


@pytest.mark.parametrize("code", RULES)
def test_the_bad_example_triggers_exactly_its_code(code: str, tmp_path: Path) -> None:
    found = codes(RULES[code].bad, tmp_path, only=code)
    assert found
    assert set(found) == {code}


@pytest.mark.parametrize("code", RULES)
def test_the_good_example_triggers_nothing(code: str, tmp_path: Path) -> None:
    assert codes(RULES[code].good, tmp_path, only=code) == []


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if not rule.default])
def test_a_rule_that_is_off_says_nothing_unasked(code: str, tmp_path: Path) -> None:
    assert codes(RULES[code].bad, tmp_path) == []


def test_every_rule_is_in_the_table_of_codes() -> None:
    assert RULES
    assert set(RULES) <= set(CODES)


def test_the_catalog_names_every_module_and_the_codes_of_its_rules() -> None:
    names = {file.stem for file in Path(rules.__path__[0]).glob("[a-z]*.py")}
    assert names == {*MODULES}
    modules = {name: importlib.import_module(f"{rules.__name__}.{name}") for name in names}
    codes = {name: " ".join(rule.code for rule in m.RULES) for name, m in modules.items()}
    assert codes == MODULES


def test_a_rule_is_loaded_when_it_is_asked_for() -> None:
    modules = [f"{rules.__name__}.{name}" for name in MODULES]
    code = (
        "import sys; from opwright.lint.catalog import RULES; list(RULES), RULES.get('OW900');"
        f"loaded = lambda: [name for name in {modules} if name in sys.modules];"
        "print(loaded(), RULES['OW501'].code, loaded())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"[] OW501 ['{rules.__name__}.library_dropped']\n"


@pytest.mark.parametrize("code", RULES)
def test_findings_name_a_place_and_remedies_are_sentences(code: str, tmp_path: Path) -> None:
    files = RULES[code].bad
    files = {"ops.py": files} if isinstance(files, str) else files
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    report = lint([str(tmp_path)], Project(tmp_path, Settings(select=(code,))))
    assert report.findings
    for found in report.findings:
        assert found.span.line > 0
        assert found.span.column > 0
        assert found.message[-1] not in ".,;"
        assert all(place.span.line > 0 for place in found.related)
