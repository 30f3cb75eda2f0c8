"""A library with operators in Python and in C++, as its author would write it."""

from __future__ import annotations

from pathlib import Path

PYTHON = '''\
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import opwright as ow
import torch
from opwright import Const, Mutable
from torch import Tensor


class Act(str, Enum):
    RELU = "relu"
    GELU = "gelu"


@dataclass
class Config:
    scale: float
    mode: Literal["up", "down"] = "up"


@ow.op("mylib::foo")
def foo(x: Tensor, n: int = 1, *, alpha: float = 1.0) -> Tensor:
    """Scale x.

    The text has "quotes" and a \\\\ in it.
    """
    return x * n * alpha


@ow.op("mylib::act")
def act(x: Tensor, act: Act, sizes: list[Literal[1, 2]] | None = None) -> Tensor:
    return x.clone()


@ow.op("mylib::cfg_")
def cfg_(out: Mutable[Tensor], cfg: Config, axis: Const[int] = 0) -> None:
    out.zero_()


@torch.library.custom_op("other::pair", mutates_args=())
def pair(x: Tensor, ys: list[Tensor]) -> tuple[Tensor, Tensor]:
    return x.clone(), x.clone()


@torch.library.custom_op("other::odd", mutates_args=())
def odd(x: Tensor, table: dict[str, int]) -> Tensor:
    return x.clone()


lib = torch.library.Library("other", "FRAGMENT")
lib.define("written(Tensor x, int n) -> Tensor")
'''

CPP = """\
#include <torch/library.h>
TORCH_LIBRARY(cpplib, m) {
  m.def("g(Tensor x, int dim=-1) -> Tensor");
  m.def("g.out(Tensor x, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)");
}
"""


def write_library(folder: Path) -> Path:
    """Write the library into a folder; the folder of its sources."""
    source = folder / "mylib"
    source.mkdir()
    (source / "__init__.py").write_text(PYTHON, "utf-8")
    (source / "g.cpp").write_text(CPP, "utf-8")
    return source
