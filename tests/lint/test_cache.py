"""The cache: the second run reads nothing that has not changed, and never says the old thing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opwright.lint import cache as caching
from opwright.lint.engine import Report, lint
from opwright.lint.home import default_folder
from opwright.lint.settings import Project, Settings
from opwright.lint.surveying import Surveyor

OPS = """import torch
from kinds import Kind
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("f(Tensor x, int n=1) -> ()")
def f(x: torch.Tensor, n: Kind = 1) -> None: x.add_(n)
lib.impl("f", f, "CPU")
"""
CPP = """#include "ops.h"
TORCH_LIBRARY(clib, m) { m.def("g(Tensor(a!) x) -> ()", &g); }
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """More files than are read without a cache, all of them at rest."""
    monkeypatch.setattr(caching, "COARSE", -(10**15))
    folder = tmp_path / "package"
    folder.mkdir()
    for number in range(60):
        (folder / f"empty{number}.py").write_text("x = 1\n")
    (folder / "ops.py").write_text(OPS)
    (folder / "kinds.py").write_text("Kind = int\n")
    (folder / "ops.h").write_text("void g(at::Tensor x);\n")
    (folder / "ops.cpp").write_text(CPP)
    (folder / "call.py").write_text("import torch\ntorch.ops.mylib.f(1, 2)\n")
    return folder


def run(folder: Path, **given: object) -> Report:
    settings = Settings(**given)  # type: ignore[arg-type]
    return lint([str(folder)], Project(folder, settings), cache=folder.parent / "cache")


def codes(report: Report) -> list[str]:
    return [found.code for found in report.findings]


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read from now on."""
    read: list[str] = []
    survey, parse = Surveyor.survey, Surveyor.parse_calls

    def surveying(self: Surveyor, file: str, data: bytes | None = None) -> object:
        read.append(Path(file).name)
        return survey(self, file, data)

    def parsing(self: Surveyor, file: str) -> object:
        read.append(Path(file).name)
        return parse(self, file)

    monkeypatch.setattr(Surveyor, "survey", surveying)
    monkeypatch.setattr(Surveyor, "parse_calls", parsing)
    return read


def test_the_second_run_reads_nothing(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(package)
    assert codes(first) == ["OW406", "OW401"]
    read = watched(monkeypatch)
    assert run(package).findings == first.findings
    assert read == []


CHANGES = [
    # file, text, read again, codes
    ("ops.py", OPS.replace("n: Kind = 1", "n: Kind = 2"), {"ops.py"}, ["OW406", "OW304", "OW401"]),
    ("kinds.py", "Kind = float\n", {"ops.py", "kinds.py"}, ["OW406", "OW307", "OW401"]),
    ("call.py", "import torch\ntorch.ops.mylib.f()\n", {"call.py"}, ["OW604", "OW406", "OW401"]),
    ("ops.h", "void g(int64_t x);\n", {"ops.h", "ops.cpp"}, ["OW702", "OW406", "OW401"]),
    ("empty3.py", "import torch\ntorch.ops.mylib.f()\n", {"empty3.py"}, None),
]


@pytest.mark.parametrize(("name", "text", "again", "found"), CHANGES, ids=[c[0] for c in CHANGES])
def test_a_change_is_seen_wherever_it_matters(
    name: str,
    text: str,
    again: set[str],
    found: list[str] | None,
    package: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(package)
    (package / name).write_text(text)
    read = watched(monkeypatch)
    report = run(package)
    assert set(read) == again
    assert sorted(codes(report)) == sorted(found or ["OW604", "OW406", "OW401"])
    assert report.findings == lint([str(package)], Project(package)).findings


def test_the_same_size_and_time_do_not_fool_it(package: Path) -> None:
    run(package)
    file = package / "ops.py"
    before = file.stat()
    file.write_text(OPS.replace("n: Kind = 1", "n: Kind = 2"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert "OW304" in codes(run(package))


def test_a_new_file_that_takes_an_import_over_is_seen(package: Path) -> None:
    (package / "kinds.py").unlink()
    assert "OW307" not in codes(run(package))
    (package / "kinds").mkdir()
    (package / "kinds" / "__init__.py").write_text("Kind = float\n")
    assert "OW307" in codes(run(package))


def test_other_settings_are_another_cache(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(package)
    read = watched(monkeypatch)
    run(package, macros={"A": "1"})
    assert "ops.cpp" in read


def test_a_broken_cache_is_none(package: Path) -> None:
    first = run(package)
    for path in (package.parent / "cache").iterdir():
        path.write_bytes(b"\x80\x05broken")
    assert run(package).findings == first.findings


def test_what_may_still_change_is_not_kept(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "COARSE", 10**15)
    run(package)
    read = watched(monkeypatch)
    run(package)
    assert len(read) > 60


def test_a_folder_that_cannot_be_written_is_no_cache(package: Path) -> None:
    file = package.parent / "cache"
    file.write_text("in the way")
    assert codes(run(package)) == ["OW406", "OW401"]


def test_the_cache_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPWRIGHT_CACHE_DIR", "/somewhere")
    assert default_folder() == Path("/somewhere")
    monkeypatch.delenv("OPWRIGHT_CACHE_DIR")
    assert default_folder().is_absolute()
