"""What rules mend: the fixed file lints clean, mending again changes nothing, the rest is kept."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from opwright.lint import fix
from opwright.lint.catalog import RULES
from opwright.lint.engine import lint
from opwright.lint.settings import Project, Settings

MENDING = [code for code, rule in RULES.items() if rule.fixes]


def mended(text: str, folder: Path, code: str, *, unsafe: bool = True) -> str:
    """A text after its findings of one code are mended."""
    file = folder / "ops.py"
    file.write_text(text)
    report = lint([str(file)], Project(folder, Settings(select=(code,))))
    chosen = fix.fixes(report.findings, unsafe=unsafe)
    changes = fix.mend(chosen, lambda name: Path(name).read_text())
    return changes[str(file)].after if changes else text


@pytest.mark.parametrize("code", MENDING)
def test_the_bad_example_is_mended_for_good(code: str, tmp_path: Path) -> None:
    bad = RULES[code].bad
    assert isinstance(bad, str)
    before = "# kept\n" + bad.replace("\n    return", "\n    # kept too\n    return")
    after = mended(before, tmp_path, code)
    assert after != before
    assert mended(after, tmp_path, code) == after
    (tmp_path / "ops.py").write_text(after)
    assert lint([str(tmp_path)], Project(tmp_path, Settings(select=(code,)))).findings == ()
    assert after.count("# kept") == before.count("# kept")
    ast.parse(after)


HEAD = """import torch
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("f(Tensor x, int n=7, float s=0.5, int? k=None) -> Tensor")
"""
FIXES = [
    # code, before, after
    (
        "OW304",
        HEAD + "lib.impl('f', lambda x, n=3, s=0.5, k=None: x + n, 'CPU')\n",
        HEAD + "lib.impl('f', lambda x, n=3, s=0.5, k=None: x + n, 'CPU')\n",  # a lambda is left
    ),
    (
        "OW304",
        HEAD + "def f(x, n=3, s = 1, k=None):  # why\n    return x + n\nlib.impl('f', f, 'CPU')\n",
        HEAD
        + "def f(x, n=7, s = 0.5, k=None):  # why\n    return x + n\nlib.impl('f', f, 'CPU')\n",
    ),
    (
        "OW305",  # Python has no `Mean`
        HEAD.replace("n=7", "n=Mean") + "def f(x, n, s, k): ...\nlib.impl('f', f, 'CPU')\n",
        HEAD.replace("n=7", "n=Mean")
        + "def f(x, n=1, s=0.5, k=None): ...\nlib.impl('f', f, 'CPU')\n",
    ),
    (
        "OW305",
        HEAD + "def f(x, n, s: float, k = None):\n    return x + n\nlib.impl('f', f, 'CPU')\n",
        HEAD
        + "def f(x, n=7, s: float = 0.5, k = None):\n    return x + n\nlib.impl('f', f, 'CPU')\n",
    ),
    (
        "OW401",
        HEAD + "def f(x, n=7, s=0.5, k=None):\n    return x.add_(n) + s\nlib.impl('f', f, 'CPU')\n",
        HEAD.replace("Tensor x", "Tensor(a!) x")
        + "def f(x, n=7, s=0.5, k=None):\n    return x.add_(n) + s\nlib.impl('f', f, 'CPU')\n",
    ),
    (
        "OW502",
        "import torch.library\nLIB = torch.library.Library( 'a', 'DEF' )  # ours\n",
        "import torch.library\nLIB = torch.library.Library( 'a', \"FRAGMENT\" )  # ours\n",
    ),
]


@pytest.mark.parametrize(("code", "before", "after"), FIXES)
def test_only_what_is_wrong_changes(code: str, before: str, after: str, tmp_path: Path) -> None:
    assert mended(before, tmp_path, code) == after


def test_what_may_change_meaning_waits_to_be_asked_for(tmp_path: Path) -> None:
    for code in ("OW304", "OW401", "OW405"):
        bad = RULES[code].bad
        assert isinstance(bad, str)
        assert mended(bad, tmp_path, code, unsafe=False) == bad
