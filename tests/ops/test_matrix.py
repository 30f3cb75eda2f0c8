"""The table of what works where, held against what works where."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import matrix  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"


def written() -> dict[str, dict[str, str]]:
    """The cells of the page, by row and column."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    head, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {name: dict(zip(head[1:], cells, strict=True)) for name, *cells in rows}


@pytest.mark.parametrize("example", matrix.EXAMPLES, ids=lambda example: example.name)
def test_the_page_says_what_works(example: matrix.Example) -> None:
    cells = written()[example.name]
    assert list(cells) == [way.name for way in matrix.WAYS]
    ways = [way for way in matrix.WAYS if not way.slow]  # those need a C++ compiler, and minutes
    found = {way.name: matrix.outcome(example, way) for way in ways}
    assert found == {way.name: cells[way.name] for way in ways}


def test_a_wrong_result_is_told() -> None:
    """The control: without it every cell might say yes."""
    example = matrix.EXAMPLES[0]
    broken = matrix.Way("broken", lambda example: matrix.same(torch.ones(1), torch.zeros(1)))
    assert matrix.outcome(example, broken) == "other results than eager"
