"""Settings: what the table may say, what it may not, and which codes it chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from opwright.findings import SchemaError
from opwright.lint.settings import Settings, find_project, matches, read_settings

CHOICES = [
    # select, extend, ignore, code, default, chosen
    ((), (), (), "OW304", True, True),
    ((), (), (), "OW310", False, False),
    (("OW3",), (), (), "OW304", True, True),
    (("OW3",), (), (), "OW504", True, False),
    (("OW3",), (), (), "OW310", False, True),
    (("ALL",), (), (), "OW310", False, True),
    ((), ("OW310",), (), "OW310", False, True),
    ((), ("OW310",), (), "OW504", True, True),
    ((), (), ("OW3",), "OW304", True, False),
    ((), (), ("ALL",), "OW304", True, False),
    (("OW304",), (), ("OW3",), "OW304", True, True),
    (("OW3",), (), ("OW304",), "OW304", True, False),
    (("OW304",), (), ("OW304",), "OW304", True, False),
    (("OW3",), ("OW504",), (), "OW504", True, True),
]  # fmt: skip


@pytest.mark.parametrize(("select", "extend", "ignore", "code", "default", "chosen"), CHOICES)
def test_the_longer_prefix_wins(
    select: tuple[str, ...],
    extend: tuple[str, ...],
    ignore: tuple[str, ...],
    code: str,
    default: bool,
    chosen: bool,
) -> None:
    settings = Settings(select=select, extend_select=extend, ignore=ignore)
    assert settings.chosen(code, default=default) is chosen


REFUSED = {
    "selct = ['OW3']": "OW911 [tool.opwright.lint] has no setting 'selct'\n  hint: write `select`",
    "namespace_map = {}": "OW911 [tool.opwright.lint] has no setting 'namespace_map'\n"
    "  hint: write `namespace-map`",
    "select = 3": "OW911 [tool.opwright.lint] select: input should be a valid tuple",
    "macros = {A = 1}": "OW911 [tool.opwright.lint] macros.A: input should be a valid string",
}


@pytest.mark.parametrize(("table", "message"), REFUSED.items(), ids=REFUSED)
def test_what_is_refused(table: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.opwright.lint]\n{table}\n")
    with pytest.raises(SchemaError) as refused:
        find_project(tmp_path)
    assert str(refused.value) == f"{file}: {message}"


MISPLACED = {
    "[tool.opwright]\nselekt = ['OW3']\n": ("selekt", "write `select` in [tool.opwright.lint]"),
    "[tool.opwright]\nper_file_ignores = {}\n": (
        "per_file_ignores",
        "write `per-file-ignores` in [tool.opwright.lint]",
    ),
    "[tool.opwright.lnt]\n": ("lnt", "settings stand in [tool.opwright.lint]"),
}


@pytest.mark.parametrize(("text", "told"), MISPLACED.items(), ids=MISPLACED)
def test_settings_in_another_table_are_refused(
    text: str, told: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(text)
    with pytest.raises(SchemaError) as refused:
        find_project(tmp_path)
    name, hint = told
    message = f"{file}: OW911 [tool.opwright] has no setting {name!r}\n  hint: {hint}"
    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["tool = 3", "[tool]\nopwright = 3", "[tool.other]\nx = 1"])
def test_what_is_no_table_of_ours_holds_no_settings(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"# opwright\n{text}\n")
    assert find_project(tmp_path).settings == Settings()


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(SchemaError) as refused:
        read_settings({"selct": [], "ignor": [], "macros": 3})
    assert len(refused.value.findings) == 3


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.opwright\n")
    with pytest.raises(SchemaError, match="OW911 this file cannot be read"):
        find_project(tmp_path)


def test_the_nearest_table_holds(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.opwright.lint]\nignore = ['OW3']\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.ruff]\n")
    project = find_project(inner)
    assert project.root == tmp_path.resolve()
    assert project.settings == Settings(ignore=("OW3",))


def test_without_a_table_the_folder_is_the_root(tmp_path: Path) -> None:
    assert find_project(tmp_path).settings == Settings()


GLOBS = [
    ("csrc/moe/a.cu", "csrc/moe/**", True),
    ("lib/csrc/moe/a.cu", "csrc/moe/**", True),
    ("csrc/moe.cu", "csrc/moe/**", False),
    ("tests/test_a.py", "tests/*", True),
    ("tests/test_a.py", "*.py", True),
    ("a.py", "*.cpp", False),
]


@pytest.mark.parametrize(("path", "glob", "fits"), GLOBS)
def test_globs(path: str, glob: str, fits: bool) -> None:
    assert matches(path, glob) is fits


def test_namespaces_by_path() -> None:
    settings = Settings(namespace_map={"csrc/**": "_C", "csrc/moe/**": "_moe_C"})
    assert [settings.namespace(p) for p in ("csrc/a.cu", "csrc/moe/a.cu", "x.cu")] == [
        "_C",
        "_moe_C",
        None,
    ]
