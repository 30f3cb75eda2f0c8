"""Every public name stands in the face exactly once, and importing the face costs nothing."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import opwright
from house.floors import SOURCE

NEEDS_TORCH = ("opwright.ops",)
PLAIN = [name for name, home in opwright._HOMES.items() if not home.startswith(NEEDS_TORCH)]
TORCH = [name for name in opwright._HOMES if name not in PLAIN]


def _for_checkers() -> list[tuple[str, str]]:
    """(name, home) of what type checkers see: `from home import name as name`."""
    tree = ast.parse((SOURCE / "opwright" / "__init__.py").read_text("utf-8"))
    return [
        (alias.asname or "", node.module or "")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name != "__version__"
    ]


def test_checkers_and_python_see_the_same_names_once() -> None:
    seen = _for_checkers()
    assert len(seen) == len(dict(seen)) > 3
    assert dict(seen) == opwright._HOMES
    assert list(opwright.__all__) == list(opwright._HOMES)
    assert {*dir(opwright)} == {*opwright.__all__, "__version__"}


@pytest.mark.parametrize("name", PLAIN)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(opwright, name)
    home = importlib.import_module(opwright._HOMES[name])
    # `lint` is the package itself, once something imported a module of it; it can be called.
    assert value is getattr(home, name) or (value is home and callable(home))
    assert getattr(value, "__doc__", None), f"{name} has no docstring"


@pytest.mark.parametrize("before", ["pass", "import opwright.lint.engine"])
def test_lint_is_called_whatever_was_imported_before(before: str, tmp_path: Path) -> None:
    """The package has the name of the function."""
    code = (
        f"{before}; import opwright; found = [*opwright.lint(['{tmp_path}'])]; print(found[0].code)"
    )
    (tmp_path / "ops.py").write_text(
        "import torch\ntorch.library.define('a::f', '(Tensr x) -> ()')\n"
    )
    done = _run(code)
    assert (done.stdout, done.stderr) == ("OW003\n", "")


def test_a_stranger_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"^module 'opwright' has no attribute 'ops_'$"):
        opwright.ops_  # noqa: B018


def _run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def _loaded(code: str) -> set[str]:
    """The modules that a fresh Python holds after running the code."""
    done = _run(f"{code}\nimport sys; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


# What may not be loaded by the time a program that only says `import opwright` runs.
HEAVY = ("torch", "pydantic", "rich", "click", "typing_inspect", "dataclasses", "inspect", "ast")


def test_importing_the_face_loads_nothing_heavy() -> None:
    before, after = _loaded("pass"), _loaded("import opwright")
    assert "opwright" in after - before
    assert (after - before).isdisjoint(HEAVY)


def test_using_every_plain_name_does_not_load_torch() -> None:
    uses = "; ".join(f"opwright.{name}" for name in PLAIN)
    assert "torch" not in _loaded(f"import opwright; {uses}")


@pytest.mark.parametrize("heavy", ["dataclasses", "pydantic", "rich", "click", "ast"])
def test_a_heavy_import_would_be_seen(heavy: str) -> None:
    assert heavy in _loaded(f"import opwright, {heavy}")


# A finder that hides torch, so that the sentence is tested where torch is installed too.
HIDE_TORCH = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name="torch")
sys.meta_path.insert(0, Hide())
import opwright
opwright._HOMES["borrowed"] = "torch.library"
"""


@pytest.mark.parametrize("name", [*TORCH, "borrowed"])
def test_one_sentence_says_what_to_install(name: str) -> None:
    done = _run(f"{HIDE_TORCH}from opwright import {name}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: opwright.{name} needs PyTorch: pip install 'opwright[torch]'"
    )
