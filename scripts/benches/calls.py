"""What a call costs when no gradient is needed, against raw `define`/`impl` and `custom_op`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.library import Library, custom_op

import opwright as ow
from benches import Row, Times

ROUND = 100  # calls in one measured function, so that a context around them costs nothing
RESULT = torch.empty(4)
RAW = Library("bench_raw", "FRAGMENT")


def one(x: Tensor) -> Tensor:
    return RESULT


def six(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    axis: int = -1,
    training: bool = False,
) -> Tensor:
    return RESULT


def fourteen(
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
    return RESULT


def listed(xs: list[Tensor], axis: int = 0) -> Tensor:
    return RESULT


def written(out: ow.Mutable[Tensor], x: Tensor) -> None:
    return None


@dataclass(frozen=True)
class Attention:
    """A structure of five fields."""

    causal: bool
    left: int
    right: int
    softcap: float
    splits: int


def structured(x: Tensor, weight: Tensor, config: Attention) -> Tensor:
    return RESULT


def flat(
    x: Tensor, weight: Tensor, causal: bool, left: int, right: int, softcap: float, splits: int
) -> Tensor:
    return RESULT


X, Y, Z, TABLE = torch.ones(4, 4).unbind()  # a call seldom gives one tensor twice
ATTENTION = (X, Y, Z, None, None, TABLE, 0.0, 0.125, True, -1, -1, 0.0, 1, 0)


@dataclass(frozen=True)
class Case:
    """One operator and one call of it; `handle` and `path` are the budgets of DESIGN."""

    kernel: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    handle: float = 0.5
    path: float = 1.5

    @property
    def name(self) -> str:
        return f"{self.kernel.__name__} by keyword" if self.kwargs else self.kernel.__name__


CASES = (
    Case(one, (X,)),
    Case(six, (X, Y, None, 1e-6, 1, True)),
    Case(six, (X,), {"weight": Y, "eps": 1e-6, "training": True}),
    Case(fourteen, ATTENTION, handle=0.3),
    Case(fourteen, (), dict(zip(fourteen.__annotations__, ATTENTION, strict=False)), 0.3),
    Case(listed, ([X, Y], 1)),
    Case(written, (X, Y), handle=1.1, path=2.0),
)

CONTEXTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "": nullcontext,
    "no_grad": torch.no_grad,
    "inference mode": torch.inference_mode,
}


def rows() -> Iterator[Row]:
    kernels = {case.kernel for case in CASES}
    operators = {kernel: _registered(kernel) for kernel in kernels}
    for case in CASES:
        for context, entered in CONTEXTS.items():
            yield from _rows(case, context, entered, operators[case.kernel])
    for context, entered in CONTEXTS.items():
        yield _structured(context, entered)


@dataclass(frozen=True)
class Operators:
    """The same kernel registered in each way."""

    handle: Callable[..., Any]
    path: Callable[..., Any]
    raw: Callable[..., Any]
    custom: Callable[..., Any]


def _registered(kernel: Callable[..., Any]) -> Operators:
    name = kernel.__name__
    handle = ow.op(f"bench_ours::{name}")(kernel)
    schema = str(handle.schema).partition("::")[2]
    RAW.define(schema)
    RAW.impl(name, kernel, "CPU")
    writes = ("out",) if kernel is written else ()
    custom = custom_op(
        f"bench_custom::{name}", kernel, mutates_args=writes, schema=schema.removeprefix(name)
    )
    path = getattr(torch.ops.bench_ours, name).default
    return Operators(handle, path, getattr(torch.ops.bench_raw, name).default, custom)


def _rows(
    case: Case,
    context: str,
    entered: Callable[[], AbstractContextManager[Any]],
    operators: Operators,
) -> Iterator[Row]:
    name = f"{case.name}, {context}" if context else case.name
    path = 1.05 if context == "inference mode" and case.kernel is not written else case.path
    handle, direct, raw, custom = (
        _called(call, case, entered)
        for call in (operators.handle, operators.path, operators.raw, operators.custom)
    )
    yield Row(f"handle: {name}", "raw define/impl", handle, raw, Times(case.handle), ROUND)
    yield Row(f"torch.ops: {name}", "raw define/impl", direct, raw, Times(path), ROUND)
    yield Row(f"handle: {name}", "custom_op", handle, custom, Times(1), ROUND)
    yield Row(f"torch.ops: {name}", "custom_op", direct, custom, Times(1), ROUND)


def _called(
    call: Callable[..., Any], case: Case, entered: Callable[[], AbstractContextManager[Any]]
) -> Callable[[], object]:
    args: Sequence[Any] = case.args
    kwargs = case.kwargs

    def by_place() -> None:
        with entered():
            for _ in range(ROUND):
                call(*args)

    def by_keyword() -> None:
        with entered():
            for _ in range(ROUND):
                call(*args, **kwargs)

    return by_keyword if kwargs else by_place


FIELDS = (True, -1, -1, 0.0, 1)


def _structured(context: str, entered: Callable[[], AbstractContextManager[Any]]) -> Row:
    """A structure against its fields as arguments of their own."""
    whole, parts = (ow.op(f"bench_ours::{f.__name__}")(f) for f in (structured, flat))
    ours = _called(whole, Case(structured, (X, Y, Attention(*FIELDS))), entered)
    peer = _called(parts, Case(flat, (X, Y, *FIELDS)), entered)
    name = f"handle: structured, {context}" if context else "handle: structured"
    return Row(name, "the same arguments, flat", ours, peer, Times(1.25), ROUND)
