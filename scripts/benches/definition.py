"""What it costs to define an operator and its fake kernel, and whether the cost stays the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.library import Library, custom_op, register_fake

import opwright as ow
from benches import Row, Times

BATCH = 200
MANY = 10_000
SCHEMA = "(Tensor x, Tensor weight, float eps=1e-6) -> Tensor"
NUMBER = itertools.count()


def kernel(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    return x * weight


def fake(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    return torch.empty_like(x)


def ours(name: str) -> None:
    ow.op(f"bench_define::{name}")(kernel).fake(fake)


def raw(name: str, library: Library = Library("bench_define_raw", "FRAGMENT")) -> None:  # noqa: B008
    library.define(f"{name}{SCHEMA}")
    library.impl(name, kernel, "CPU")
    register_fake(f"bench_define_raw::{name}", fake, lib=library)


def custom(name: str) -> None:
    custom_op(f"bench_define_custom::{name}", kernel, mutates_args=()).register_fake(fake)


def rows() -> Iterator[Row]:
    first = _defining(ours)
    yield Row("define", "define + impl + fake", first, _defining(raw), Times(1.3), BATCH)
    yield Row("define", "custom_op", _defining(ours), _defining(custom), Times(1), BATCH)
    for _ in range(max(0, MANY // BATCH - next(NUMBER) // BATCH)):
        first()
    late = f"define, after {MANY:,} others"
    yield Row(late, "define + impl + fake", _defining(ours), _defining(raw), Times(1.3), BATCH)


def _defining(define: Callable[[str], Any]) -> Callable[[], object]:
    def batch() -> None:
        for _ in range(BATCH):
            define(f"f{next(NUMBER)}")

    return batch
