"""How soon the language server answers: on a file of 2,000 lines, right after an edit."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benches import Plus, Row
from opwright.editor import help as helping
from opwright.editor import operators, rename
from opwright.editor.code import Code
from opwright.lint.settings import Project

ANSWER = 0.05
LINES = 2000

HEAD = """\
import torch
from torch import Tensor
from torch.library import custom_op, register_fake, Library
lib = Library("mylib", "FRAGMENT")
lib.define("hand(Tensor x, int number=3) -> Tensor")
"""
OPERATOR = """

@custom_op("mylib::op{0}", mutates_args=())
def op{0}(x: Tensor, n: int = {0}, *, alpha: float = 1.0) -> Tensor:
    y = x * n
    return y + torch.ops.mylib.op{0}(x, n, alpha=alpha)


@register_fake("mylib::op{0}")
def op{0}_fake(x, n={0}, *, alpha=1.0):
    return torch.empty_like(x)
"""


def text() -> str:
    """A file of so many lines, full of operators."""
    count = (LINES - HEAD.count("\n")) // OPERATOR.count("\n")
    return HEAD + "".join(OPERATOR.format(number) for number in range(count))


def rows() -> Iterator[Row]:
    file = str(Path(tempfile.gettempdir()).resolve() / "opwright_bench.py")
    code, whole = Code(Project(Path(tempfile.gettempdir()))), text()
    code.edit(file, whole)
    code.catch_up()
    line = whole[: whole.index("torch.ops.mylib.op9(")].count("\n")
    column = whole.splitlines()[line].index("op9(") + 1
    head = whole[: whole.index("def op9(")].count("\n"), len("def op9(")
    kind = HEAD.splitlines()[4].index("Tensor") + 3
    typed: dict[str, Callable[[], object]] = {
        "hover": lambda: helping.hover(code, file, line, column),
        "completion of an operator": lambda: helping.complete(code, file, line, column),
        "completion in a schema": lambda: helping.complete(code, file, 4, kind),
        "signature help": lambda: helping.signatures(code, file, line, column + 5),
    }
    for name, ask in typed.items():
        assert ask()
        yield _row(f"{name}, right after an edit", after_edit(code, file, whole, ask))
    code.edit(file, whole)
    code.catch_up()
    asked: dict[str, Callable[[], object]] = {
        "inlay hints": lambda: list(helping.hints(code, file, 0, LINES)),
        "references": lambda: operators.references(code, "mylib::op9"),
        "rename of an argument": lambda: renamed(code, file, *head),
    }
    for name, ask in asked.items():
        assert ask()
        yield _row(name, ask)


def _row(name: str, ask: Callable[[], object]) -> Row:
    return Row(f"{name}, {LINES} lines", "nothing", ask, lambda: None, Plus(ANSWER))


def renamed(code: Code, file: str, line: int, column: int) -> object:
    """Every edit that the rename of an argument needs."""
    target = rename.target_at(code, file, line, column)
    return rename.edits(code, target, "other") if target else None


def after_edit(
    code: Code, file: str, whole: str, ask: Callable[[], object]
) -> Callable[[], object]:
    """An edit that changes the file, then the question."""
    turn = iter(range(sys.maxsize))
    return lambda: (code.edit(file, f"{whole}# {next(turn)}\n"), ask())
