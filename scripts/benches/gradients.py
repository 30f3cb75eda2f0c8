"""Forward and backward, against an `autograd.Function` written by hand around the kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

import opwright as ow
from benches import Row, Times
from benches.calls import ATTENTION, ROUND, X


def sine(x: Tensor) -> Tensor:
    return x.sin()


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor | None,
    lengths: Tensor | None,
    table: Tensor | None,
    dropout: float,
    scale: float,
    causal: bool,
    left: int,
    right: int,
    softcap: float,
    splits: int,
    margin: int,
) -> Tensor:
    return q * k + v


class Sine(torch.autograd.Function):
    """What an author writes by hand for one argument."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return sine(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * x.cos()


class Attention(torch.autograd.Function):
    """What an author writes by hand for fourteen arguments."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:
        ctx.save_for_backward(args[0], args[1])
        return attention(*args)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k = ctx.saved_tensors
        return grad * k, grad * q, grad, *[None] * 11


NONE = (None,) * 11


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0], inputs[1])


def attention_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    q, k = ctx.saved_tensors
    return grad * k, grad * q, grad, *NONE


def rows() -> Iterator[Row]:
    x = X.clone().requires_grad_()
    one = ow.op("bench_gradients::sine")(sine)
    one.setup_context(lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
    one.backward(lambda ctx, grad: grad * ctx.saved_tensors[0].cos())
    by_name = ow.op("bench_gradients::sine_by_name")(sine)
    by_name.backward(lambda ctx, grad: grad * ctx.saved_tensors[0].cos(), save=("x",))
    many = ow.op("bench_gradients::attention")(attention)
    many.setup_context(keep)
    many.backward(attention_backward)
    fourteen = (x, *ATTENTION[1:])
    for name, ours, peer, args in (
        ("1 argument", one, Sine.apply, (x,)),
        ("1 argument, saved by name", by_name, Sine.apply, (x,)),
        ("14 arguments", many, Attention.apply, fourteen),
    ):
        yield Row(
            f"forward + backward: {name}",
            "autograd.Function by hand",
            _both_ways(ours, args),
            _both_ways(peer, args),
            Times(1.15),
        )

    bare = ow.op("bench_gradients::bare")(sine)
    yield Row(
        "handle with a formula, no gradient wanted",
        "handle without one",
        *(functools.partial(_many, call, X) for call in (one, bare)),
        Times(1.05),
        ROUND,
    )


def _many(call: Callable[..., Any], x: Tensor) -> None:
    for _ in range(ROUND):
        call(x)


def _both_ways(call: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], object]:
    grad, leaf = torch.ones(4), args[0]

    def both() -> None:
        leaf.grad = None
        call(*args).backward(grad)

    return both
