"""From a function to its schema, against torch's own inference, on hints that torch supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

import opwright
from benches import Row, Times


def plain(x: Tensor, n: int = 3) -> Tensor:
    return x * n


def norm(
    x: Tensor, weight: Tensor | None = None, eps: float = 1e-6, training: bool = False
) -> Tensor:
    return x


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    sizes: Sequence[int],
    scale: float | None = None,
    causal: bool = False,
    mode: str = "fast",
    *,
    window: int | None = None,
    dtype: torch.dtype | None = None,
) -> tuple[Tensor, Tensor]:
    return q, k


FUNCTIONS = (plain, norm, attention)


def rows() -> Iterator[Row]:
    for function in FUNCTIONS:
        yield Row(
            f"infer {function.__name__} ({function.__code__.co_argcount} arguments)",
            "torch.library.infer_schema",
            _calling(opwright.infer, function),
            _calling(partial(torch.library.infer_schema, mutates_args=()), function),
            Times(0.5),
        )


def _calling(infer: Callable[..., object], function: Callable[..., object]) -> Callable[[], object]:
    return lambda: infer(function)
