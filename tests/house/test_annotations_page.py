"""The table of annotations in the docs is what inference does, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from house.floors import SOURCE
from opwright import Severity
from opwright.hints.lower import lower
from opwright.hints.source import read_source

PAGE = (SOURCE.parent / "docs" / "annotations.md").read_text("utf-8")
HEAD = """
import numbers
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal, Optional
import torch
from jaxtyping import Float
from torch import Tensor
from opwright import Const, Json, Mutable, Opaque, Out, Scalar
"""


def rows(section: str) -> list[tuple[str, str]]:
    """(annotation, schema type) of every row of the table under that heading."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found = []
    for line in text.splitlines():
        if line.startswith("| `"):
            left, right = re.split(r"(?<!\\)\|", line)[1:3]
            (kind,) = re.findall(r"`([^`]+)`", right)
            spans = re.findall(r"`([^`]+)`", left)
            found += [(span.replace(r"\|", "|"), kind) for span in spans]
    return found


def inferred(text: str, folder: Path) -> str:
    """What a function of that text means, or what is wrong with it."""
    path = folder / "page.py"
    path.write_text(HEAD + text, "utf-8")
    meant = lower(read_source(path, "f"))
    wrong = [found for found in meant.findings if found.severity is Severity.ERROR]
    return "\n".join(map(str, wrong)) or str(meant.schema)


@pytest.mark.parametrize(("annotation", "kind"), rows("Parameters"))
def test_parameters(annotation: str, kind: str, tmp_path: Path) -> None:
    text = f"def f(x: {annotation}) -> Tensor: ...\n"
    assert inferred(text, tmp_path) == f"f({kind} x) -> Tensor"


@pytest.mark.parametrize(("annotation", "kind"), rows("Returns"))
def test_returns(annotation: str, kind: str, tmp_path: Path) -> None:
    text = f"def f(x: Mutable[Tensor]) -> {annotation}: ...\n"
    assert inferred(text, tmp_path) == f"f(Tensor(a!) x) -> {kind}"


def test_the_tables_are_read() -> None:
    assert len(rows("Parameters")) > 40
    assert len(rows("Returns")) > 4
    assert ("Tensor | None", "Tensor?") in rows("Parameters")
