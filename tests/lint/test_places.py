"""Where rules draw the line: code that differs in one thing, and what is said of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from opwright.lint.engine import lint
from opwright.lint.settings import Project, Settings

SCALE = """
import torch
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("scale_(Tensor(a!) x, {type} by, int n=1) -> ()")
def scaled(x):
    torch.ops.mylib.scale_({given})
"""
GIVEN = (
    ("float", "x, x.shape[0]", ["6:31"]),
    ("float", "x, by=x.size(0)", ["6:34"]),
    ("float?", "x, -x.shape[-1] ** -0.5", ["6:31"]),
    ("float", "x, 1 / math.sqrt(x.numel())", ["6:31"]),
    ("Scalar", "x, x.shape[0]", []),
    ("float", "x, 2.0, x.shape[0]", []),
    ("float", "x, by(x.shape[0])", []),
    ("float", "*x, x.shape[0]", []),
)

FAKE = """
import torch
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("pad(Tensor x, int left, int right) -> Tensor")
@torch.library.register_fake("mylib::pad")
def _({taken}):
    return torch.empty_like(x)
"""
TAKEN = (
    ("x, left, right", []),
    ("x, a, b", []),
    ("x, right, left", ["OW303"]),
    ("left, x, other", ["OW303"]),
    ("right, x", ["OW303"]),
    ("x, right", ["OW301"]),
)

CPP = """
#include <torch/library.h>
at::Tensor twice(const at::Tensor& x) { return x + x; }
TORCH_LIBRARY(mylib, m) { m.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("twice", &twice); }
"""
META = 'TORCH_LIBRARY_IMPL(mylib, Meta, m) { m.impl("twice", &twice); }\n'
PYTHON = """
import torch
@torch.library.register_fake("mylib::twice")
def _(x):
    return torch.empty_like(x)
"""
FAKES = (
    (CPP + META, PYTHON, ["OW506"]),
    (CPP, PYTHON, []),
    (CPP + META, "import torch\n", []),
    (CPP + f"#ifdef WITH_META\n{META}#endif\n", PYTHON, []),
)

KEYWORD = """
import torch
lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("add(Tensor x, {mark}Tensor y) -> Tensor")
lib.impl("add", lambda x, {mark}y: x + 1, "Meta")
def backward(ctx, grad):
    {gradients}
{registered}
"""
REGISTERED = 'torch.library.register_autograd("mylib::add", backward)'
KEYWORDS = (
    ("", "return grad, grad", REGISTERED, []),
    ("*, ", "return grad", REGISTERED, ["OW507"]),
    ("*, ", "return grad", "", []),
)


def said(folder: Path, select: str, **files: str) -> list[str]:
    """Code and place of each finding."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    found = lint([str(folder)], Project(folder, Settings(select=tuple(select.split())))).findings
    return [f"{one.code} {one.span.line}:{one.span.column}" for one in found]


def codes(folder: Path, select: str, **files: str) -> list[str]:
    return [one.partition(" ")[0] for one in said(folder, select, **files)]


@pytest.mark.parametrize(("type", "given", "places"), GIVEN)
def test_a_size_for_a_float(type: str, given: str, places: list[str], tmp_path: Path) -> None:
    text = SCALE.format(type=type, given=given)
    assert said(tmp_path, "OW605", ops_py=text) == [f"OW605 {place}" for place in places]


@pytest.mark.parametrize(("taken", "wanted"), TAKEN)
def test_the_order_of_names_that_both_have(taken: str, wanted: list[str], tmp_path: Path) -> None:
    assert codes(tmp_path, "OW301 OW303", ops_py=FAKE.format(taken=taken)) == wanted


@pytest.mark.parametrize(("cpp", "python", "wanted"), FAKES)
def test_two_fakes(cpp: str, python: str, wanted: list[str], tmp_path: Path) -> None:
    assert codes(tmp_path, "OW506", ops_cpp=cpp, ops_py=python) == wanted


@pytest.mark.parametrize(("mark", "gradients", "registered", "wanted"), KEYWORDS)
def test_a_backward_and_a_keyword_only_tensor(
    mark: str, gradients: str, registered: str, wanted: list[str], tmp_path: Path
) -> None:
    text = KEYWORD.format(mark=mark, gradients=gradients, registered=registered)
    assert codes(tmp_path, "OW507", ops_py=text) == wanted
