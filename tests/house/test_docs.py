"""What the README, the site and the docstrings show is true: every example runs."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

import opwright
from house.floors import SOURCE, modules

ROOT = SOURCE.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
CHECKS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def needs_torch(text: str) -> bool:
    """Whether the examples of a page import torch, or a name of ours that does."""
    return bool(re.search(r"^(>>> )?(import|from) torch\b|\.ops\b", text, re.MULTILINE))


def _marked(path: Path) -> object:
    marks = [pytest.mark.torch] if needs_torch(path.read_text("utf-8")) else []
    return pytest.param(path, marks=marks, id=str(path.relative_to(ROOT)))


def run_console(example: Example) -> str | None:
    """Run each `$ command` of a console block and compare what it says with what stands below."""
    scripts = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    for command, shown in commands(str(example.parsed)):
        done = subprocess.run(
            ["bash", "-c", command],
            env={**os.environ, "PATH": scripts, "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            cwd=example.namespace.get("cwd", ROOT),
            check=False,
        )
        if done.stdout.rstrip() != shown.rstrip():
            return f"$ {command}\n{done.stdout}\nbut the page shows:\n{shown}"
    return None


def commands(block: str) -> list[tuple[str, str]]:
    """(command, expected output) of a console block."""
    parts = re.split(r"^\$ (.*)\n?", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


SYBIL = Sybil(
    [
        PythonCodeBlockParser(doctest_optionflags=CHECKS),
        CodeBlockParser("console", run_console),
    ]
)


@pytest.mark.parametrize("page", [_marked(page) for page in PAGES])
def test_every_example_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    document = SYBIL.parse(page)
    for example in document.examples():
        example.evaluate()
    shown = len(re.findall(r"^ *```(?:python|console)$", page.read_text("utf-8"), re.MULTILINE))
    assert len(list(document.examples())) >= shown


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_opcheck_passes_on_the_operators_of_the_pages() -> None:
    pytest.importorskip("torch")
    from opchecks import first_calls, opcheck, passes

    checked = 0
    with first_calls() as calls:
        for page in filter(lambda page: needs_torch(page.read_text("utf-8")), PAGES):
            for example in SYBIL.parse(page).examples():
                example.evaluate()
        for core, args, kwargs in calls:  # what was replaced since is in no library any more
            if core._fake is not None and core._library is not None:
                assert passes(opcheck(core, args, kwargs)), core.schema
                checked += 1
    assert checked >= 4


@pytest.mark.parametrize(
    "wrong",
    [
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\nassert False\n```\n",
        "```console\n$ echo yes\nno\n```\n",
    ],
    ids=["doctest", "code", "console"],
)
def test_a_wrong_example_is_found(wrong: str, tmp_path: Path) -> None:
    page = tmp_path / "wrong.md"
    page.write_text(wrong)
    (example,) = SYBIL.parse(page).examples()
    with pytest.raises(Exception, match=r"Expected|^$|but the page shows"):
        example.evaluate()


def _modules() -> list[object]:
    return [
        pytest.param(name, marks=[pytest.mark.torch] if ".ops" in name else [])
        for name, _ in modules()
    ]


@pytest.mark.parametrize("name", _modules())
def test_every_example_of_a_docstring_runs(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), optionflags=CHECKS)
    assert outcome.failed == 0


def test_there_are_docstring_examples() -> None:
    tried = [
        doctest.testmod(importlib.import_module(f"opwright.{n}")) for n in ("findings", "marks")
    ]
    assert sum(outcome.attempted for outcome in tried) > 2


def test_every_public_name_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference.md").read_text("utf-8")
    assert [name for name in opwright.__all__ if f"`{name}`" not in text] == []


def test_every_command_has_its_section() -> None:
    from opwright.cli.app import COMMANDS

    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"\n## opwright {name}\n" not in text] == []


def test_every_page_is_in_the_contents() -> None:
    contents = (ROOT / "docs" / "index.md").read_text("utf-8")
    names = [page.stem for page in PAGES if page.parent.name == "docs" and page.stem != "index"]
    assert len(names) > 3
    assert [name for name in names if f"\n{name}\n" not in contents] == []


def test_the_changelog_has_this_version_and_says_something() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    _, _, entries = text.partition(f"\n## {opwright.__version__}")
    assert "\n- " in entries
