"""Correct operators, broken one thing at a time: each break is found, at its line, by its code."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "recall.py"

OPS = '''import torch
from torch import Tensor
from torch.library import Library, custom_op, register_fake, triton_op

lib = Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, Tensor weight, float by=2.0, int times=3, bool clip=False) -> Tensor")
lib.define("parts(Tensor x, int size, str mode) -> (Tensor, Tensor, Tensor)")


def scale(
    x: Tensor, weight: Tensor, by: float = 2.0, times: int = 3, clip: bool = False
) -> Tensor:
    """Scale."""
    return x * weight * by


lib.impl("scale", scale, "CPU")


@register_fake("mylib::scale")
def _(x, weight, by=2.0, times=3, clip=False):
    return torch.empty_like(x)


@torch.library.impl(lib, "parts", "CPU")
def parts(x: Tensor, size: int, mode: str) -> tuple[Tensor, Tensor, Tensor]:
    return x[:1].clone(), x[1:2].clone(), x[2:].clone()


@register_fake("mylib::parts")
def parts_fake(x, size, mode):
    return x.new_empty(1), x.new_empty(1), x.new_empty(1)


@custom_op("mylib::norm", mutates_args=("out",))
def norm(out: Tensor, x: Tensor, eps: float = 1e-6) -> Tensor:
    out.copy_(x)
    return x.norm()


@norm.register_fake
def _(out, x, eps=1e-6):
    return x.new_empty(())


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, grad):
    return None, grad, None


@triton_op("mylib::triple", mutates_args=())
def triple(x: Tensor, by: float, bias: Tensor) -> Tensor:
    return x * by + bias


triple.register_autograd(backward, setup_context=setup_context)


def use(x: Tensor) -> Tensor:
    torch.ops.mylib.norm(x, x, eps=0.5)
    return torch.ops.mylib.scale(x, x, 1.0)
'''
CPP = """#include <torch/library.h>
at::Tensor turn(const at::Tensor& x, int64_t by, const std::optional<at::Tensor>& axis) {
  return x;
}
TORCH_LIBRARY(clib, m) {
  m.def("turn(Tensor x, int by, "
        "Tensor? axis=None) -> Tensor");
}
TORCH_LIBRARY_IMPL(clib, CPU, m) { m.impl("turn", &turn); }
TORCH_LIBRARY_IMPL(clib, Meta, m) { m.impl("turn", &turn); }
"""


@pytest.fixture(scope="module")
def recall() -> object:
    spec = importlib.util.spec_from_file_location("recall_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_break_is_found(recall: object, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OPS)
    (tmp_path / "ops.cpp").write_text(CPP)
    tree = recall.Tree.of(tmp_path)  # type: ignore[attr-defined]
    assert [str(found) for found in tree.found()] == []
    tried = list(recall.run(tmp_path))  # type: ignore[attr-defined]
    assert len({one.kind for one, _ in tried}) > 25
    assert len(tried) > 60
    assert [f"{one.kind}: {one.operator}" for one, good in tried if not good] == []


def test_without_a_break_nothing_is_found(recall: object, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OPS)
    tree = recall.Tree.of(tmp_path)  # type: ignore[attr-defined]
    nothing = recall.Break("none", ("OW301",), str(tmp_path / "ops.py"), (), (), "")  # type: ignore[attr-defined]
    assert not recall.is_found(nothing, set(), tree.broken(nothing))  # type: ignore[attr-defined]
