"""What a body does with its parameters: writes, returns, and what cannot be followed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from opwright.hints.resolve import Sources
from opwright.lint.engine import lint
from opwright.lint.settings import Project
from opwright.survey.body import is_stub
from opwright.survey.facts import Body, Definition
from opwright.survey.sites import read_sites

HEAD = """import torch
import torch.nn.functional as F
from torch.library import custom_op
@custom_op("ns::f", mutates_args=())
def f(x: torch.Tensor, xs: list[torch.Tensor], y: torch.Tensor | None, n: int) -> torch.Tensor:
"""


def body_of(statements: str) -> Body:
    lines = "".join(f"    {line}\n" for line in statements.split("; "))
    scope = Sources().open(Path("/nowhere/ops.py"), (HEAD + lines).encode())
    (found,) = [fact for fact in read_sites(scope) if isinstance(fact, Definition)]
    assert found.body is not None
    return found.body


WRITES = {
    "x.add_(1)": ["x"],
    "x.add(1)": [],
    "x[0] = 1": ["x"],
    "x[n] += 1": ["x"],
    "v = x[n]; v.zero_()": [],  # an index of unknown kind may copy
    "x += 1": ["x"],
    "x = x + 1; x += 1": [],
    "x.data = y": ["x"],
    "x.data.copy_(y)": ["x"],
    "x.grad = y": [],
    "torch.add(x, 1, out=y)": ["y"],
    "torch.add(x, 1, out=(y, x))": ["y", "x"],
    "F.relu(x, inplace=True)": ["x"],
    "F.relu_(x)": ["x"],
    "torch._foreach_add_(xs, 1)": ["xs"],
    "torch._foreach_add_([x, y], 1)": ["x", "y"],
    "torch.distributed.all_reduce(x)": ["x"],
    "v = x.view(-1); v[0] = 1": ["x"],
    "v = x.t().unsqueeze(0); v.zero_()": ["x"],
    "v = x.clone(); v.zero_()": [],
    "v = x.contiguous(); v.zero_()": [],  # x or a copy: not told
    "a, b = x, y; b.zero_()": ["y"],
    "v = x if n else y; v.zero_()": ["x", "y"],
    "xs[0].zero_()": ["xs"],
    "xs[0] = x": [],  # the list is the kernel's own
    "xs += [x]": [],
    "[t.zero_() for t in xs]": ["xs"],
    "for t in xs: t.zero_()": ["xs"],
    "for i, t in enumerate(xs): t.zero_()": ["xs"],
    "for a, b in zip(xs, [x]): b.zero_()": ["x"],
    "d = {'x': x}; d['y'] = y": [],
    "(z := x).zero_()": ["x"],
    "x.requires_grad_()": [],
    "x.__len__()": [],
    "n += 1": [],
    "g = lambda: x.zero_()": [],  # when it is called nobody knows
}


@pytest.mark.parametrize(("statements", "written"), WRITES.items(), ids=WRITES)
def test_writes(statements: str, written: list[str]) -> None:
    assert [write.parameter for write in body_of(statements).writes] == written


RETURNS = {
    "return x": [("x", 0, False)],
    "return x.t()": [("x", 0, True)],
    "return x.add_(1)": [("x", 0, False)],
    "return x + 1": [],
    "return x.contiguous()": [],
    "return x.clone(), y": [("y", 1, False)],
    "return x if n else y": [("x", 0, False), ("y", 0, False)],
    "v = x[1:]; return v": [("x", 0, True)],
    "return xs[0]": [("xs", 0, False)],
    "return n": [],
    "def g(): return x; ": [],
}


@pytest.mark.parametrize(("statements", "returned"), RETURNS.items(), ids=RETURNS)
def test_returns(statements: str, returned: list[tuple[str, int, bool]]) -> None:
    found = body_of(statements.rstrip("; ")).returned
    assert [(one.parameter, one.position, one.view) for one in found] == returned


ESCAPES = {
    "kernel[(1,)](x, y)": {"x", "y"},
    "helper(x)": {"x"},
    "torch.sum(x)": set(),
    "len(xs)": set(),
    "d = dict(a=x); helper(**d)": {"x"},
    "self.x = x": {"x"},
    "g = lambda: x": {"x"},
}


@pytest.mark.parametrize(("statements", "escapes"), ESCAPES.items(), ids=ESCAPES)
def test_what_may_be_written_elsewhere(statements: str, escapes: set[str]) -> None:
    assert body_of(statements).escapes == escapes


def test_stubs() -> None:
    assert is_stub(ast.parse("'''words'''\n...").body)
    assert not is_stub(ast.parse("x = 1").body)


def test_a_write_is_seen_through_an_operator_that_writes(tmp_path: Path) -> None:
    """Passing an argument on to an operator whose schema writes it is a write."""
    (tmp_path / "ops.cpp").write_text(
        'TORCH_LIBRARY(inner, m) { m.def("zero_(Tensor(a!) x) -> ()"); }'
    )
    (tmp_path / "ops.py").write_text(HEAD + "    torch.ops.inner.zero_(x)\n    return y + 1\n")
    found = lint([str(tmp_path)], Project(tmp_path)).findings
    (told,) = [one for one in found if one.code == "OW401"]
    assert "inner::zero_ writes it" in told.message
    assert [Path(place.span.file).name for place in told.related] == ["ops.py", "ops.cpp"]
