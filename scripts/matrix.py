#!/usr/bin/env python3
"""Try every kind of operator in every way that torch runs one, and write down what works.

    scripts/matrix.py                       print the table
    scripts/matrix.py --quick               without Inductor
    scripts/matrix.py --write docs/compatibility.md

A cell is right when the results equal those of the eager call.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

import opwright as ow
from opwright import Mutable, Out

NS = "matrix"


# The operators -------------------------------------------------------------------------------


class Act(str, Enum):
    """An enum that travels by value."""

    SINE = "sine"
    COSINE = "cosine"


@dataclass
class Config:
    """A structure with a tensor, a number and a flag."""

    weight: Tensor
    scale: float = 2.0
    negate: bool = False


class Moments(NamedTuple):
    """Named results."""

    mean: Tensor
    total: Tensor


@ow.op(f"{NS}::scale")
def scale(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by


@ow.op(f"{NS}::affine")
def affine(x: Tensor, weight: Tensor | None = None, *, bias: Tensor | None = None) -> Tensor:
    x = x.clone() if weight is None else x * weight
    return x if bias is None else x + bias


@ow.op(f"{NS}::total")
def total(xs: list[Tensor]) -> Tensor:
    return torch.stack(xs).sum(0)


@ow.op(f"{NS}::total_given")
def total_given(xs: list[Tensor | None]) -> Tensor:
    return torch.stack([x for x in xs if x is not None]).sum(0)


@ow.op(f"{NS}::parts")
def parts(x: Tensor) -> list[Tensor]:
    return [x + 1, x * 2]


@ow.op(f"{NS}::moments")
def moments(x: Tensor) -> Moments:
    return Moments(x.mean(), x.sum())


@ow.op(f"{NS}::configured")
def configured(x: Tensor, config: Config) -> Tensor:
    return x * config.weight * (-config.scale if config.negate else config.scale)


@ow.op(f"{NS}::activated")
def activated(x: Tensor, act: Act = Act.SINE) -> Tensor:
    return x.sin() if act is Act.SINE else x.cos()


@ow.op(f"{NS}::rounded")
def rounded(x: Tensor, mode: Literal["floor", "ceil"] = "floor") -> Tensor:
    return x.floor() if mode == "floor" else x.ceil()


@ow.op(f"{NS}::tiled")
def tiled(x: Tensor, times: tuple[int, int] = (1, 2)) -> Tensor:
    return x.repeat(times)


@ow.op(f"{NS}::resized")
def resized(x: Tensor, rows: int) -> Tensor:
    return x.new_ones(rows, 3)


@ow.op(f"{NS}::cast")
def cast(x: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
    return x.to(dtype, copy=True)


@ow.op(f"{NS}::square")
def square(x: Tensor) -> Tensor:
    return (x * x.conj()).real.clone()


@ow.op(f"{NS}::accumulate", differentiable=False)
def accumulate(out: Mutable[Tensor], x: Tensor) -> None:
    out.add_(x)


@ow.op(f"{NS}::accumulate_all", differentiable=False)
def accumulate_all(outs: Mutable[list[Tensor]], x: Tensor) -> None:
    for out in outs:
        out.add_(x)


@ow.op(f"{NS}::double_", differentiable=False)
def double_(x: Mutable[Tensor]) -> Mutable[Tensor]:
    return x.mul_(2)


@ow.op(f"{NS}::halve")
def halve(x: Tensor, *, out: Out[Tensor] | None = None) -> Tensor:
    return torch.div(x, 2, out=out)


FUNCTIONAL = (
    *(scale, affine, total, total_given, parts, moments, configured, activated, rounded),
    *(tiled, resized, cast, square, halve),
)
for each in FUNCTIONAL:
    each.fake(each.__wrapped__)  # these kernels tell shapes as well as values


@scale.backward(save=("by",))
def scale_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
    return grad * ctx.by, None


@affine.setup_context
def affine_context(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.save_for_backward(inputs.x, inputs.weight)


@affine.backward
def affine_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
    x, weight = ctx.saved_tensors
    bias = grad if ctx.needs_input_grad[2] else None
    return (grad, None, bias) if weight is None else (grad * weight, grad * x, bias)


@total.setup_context
def total_context(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.count = len(inputs.xs)


@total.backward
def total_backward(ctx: Any, grad: Tensor) -> list[Tensor]:
    return [grad] * ctx.count


@total_given.setup_context
def total_given_context(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.given = [x is not None for x in inputs.xs]


@total_given.backward
def total_given_backward(ctx: Any, grad: Tensor) -> list[Tensor | None]:
    return [grad if given else None for given in ctx.given]


@configured.setup_context
def configured_context(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.save_for_backward(inputs.x, inputs.config.weight)
    ctx.by = -inputs.config.scale if inputs.config.negate else inputs.config.scale


@configured.backward
def configured_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Config]:
    x, weight = ctx.saved_tensors
    return grad * weight * ctx.by, Config(grad * x * ctx.by)


@parts.backward
def parts_backward(ctx: Any, grads: list[Tensor]) -> Tensor:
    return grads[0] + grads[1] * 2


# The examples --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """One operator inside a small function of tensors; `calls` are what opcheck is given."""

    name: str
    operator: Any
    function: Callable[..., Any]
    inputs: tuple[Tensor, ...]
    check: tuple[tuple[Any, ...], dict[str, Any]]
    grows: bool = True


def _written(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    accumulate(out, x)
    return out + 1


def _all_written(x: Tensor) -> Tensor:
    outs = [torch.zeros_like(x), torch.ones_like(x)]
    accumulate_all(outs, x)
    return outs[0] + outs[1]


def _in_place(x: Tensor) -> Tensor:
    y = x + 1
    return double_(y) * 3


def _into(x: Tensor) -> Tensor:
    return halve(x, out=torch.empty_like(x))


X = torch.arange(6.0).reshape(2, 3)
W = torch.full((2, 3), 3.0)
C = torch.tensor([[1 + 2j, 3 - 1j]])


def grad(tensor: Tensor) -> Tensor:
    return tensor.clone().requires_grad_()


EXAMPLES = (
    Example("a tensor and a number", scale, lambda x: scale(x, 3.0), (X,), ((grad(X), 3.0), {})),
    Example(
        "optional and keyword-only tensors", affine, lambda x, w: affine(x, w, bias=x),
        (X, W), ((grad(X), grad(W)), {"bias": grad(W)}),
    ),
    Example("a list", total, lambda x, w: total([x, w]), (X, W), (([grad(X), grad(W)],), {})),
    Example(
        "a list of optionals", total_given, lambda x, w: total_given([x, None, w]),
        (X, W), (([X, None, W],), {}),
    ),
    Example("a list as result", parts, lambda x: parts(x), (X,), ((grad(X),), {})),
    Example("named results", moments, lambda x: tuple(moments(x)), (X,), ((X,), {})),
    Example(
        "a dataclass", configured, lambda x, w: configured(x, Config(w, 3.0, True)),
        (X, W), ((grad(X), grad(W), 3.0, True), {}),
    ),
    Example("an enum", activated, lambda x: activated(x, Act.COSINE), (X,), ((X, "cosine"), {})),
    Example("a Literal", rounded, lambda x: rounded(x / 2, "ceil"), (X,), ((X, "ceil"), {})),
    Example("a tuple of two", tiled, lambda x: tiled(x, (2, 1)), (X,), ((X, (2, 1)), {})),
    Example(
        "an int from a size", resized, lambda x: resized(x, x.shape[0] + 1), (X,), ((X, 5), {})
    ),
    Example("a dtype", cast, lambda x: cast(x, torch.float16), (X,), ((X, torch.float16), {})),
    Example("complex and conj", square, lambda x: square(x.conj()), (C,), ((C,), {})),
    Example("a written tensor", accumulate, _written, (X,), ((W.clone(), X), {})),
    Example("a written list", accumulate_all, _all_written, (X,), (([W.clone()], X), {})),
    Example("in place", double_, _in_place, (X,), ((W.clone(),), {})),
    Example("optional out=, without", halve, lambda x: halve(x), (X,), ((X,), {})),
    Example("optional out=, given", halve.out, _into, (X,), ((X,), {"out": W.clone()})),
)  # fmt: skip


# The ways ------------------------------------------------------------------------------------


class Module(torch.nn.Module):
    """An example as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


class Wrong(Exception):
    """A way that runs, with other results."""


def same(found: Any, wanted: Any) -> None:
    ours, theirs = pytree.tree_leaves(found), pytree.tree_leaves(wanted)
    if len(ours) != len(theirs) or not all(map(_equal, ours, theirs)):
        raise Wrong("other results than eager")


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return bool(one == other)
    return one.dtype == other.dtype and torch.equal(one, other)


class Passing(TorchDispatchMode):
    """A mode that only passes on: under it the handle takes no shortcut."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def eager(example: Example) -> None:
    """The handle's shortcut against the dispatcher."""
    with Passing():
        wanted = example.function(*example.inputs)
    for _ in range(2):
        same(example.function(*example.inputs), wanted)


def compiled(backend: str) -> Callable[[Example], None]:
    def way(example: Example) -> None:
        f = torch.compile(example.function, backend=backend, fullgraph=True)
        for _ in range(2):
            same(f(*example.inputs), example.function(*example.inputs))

    return way


def compiled_gradient(example: Example) -> None:
    """Only where the operator has a formula."""
    f = torch.compile(example.function, backend="aot_eager", fullgraph=True)
    same(_gradients(f, example), _gradients(example.function, example))


def _gradients(function: Callable[..., Any], example: Example) -> Sequence[Tensor]:
    inputs = [grad(x) for x in example.inputs]
    leaves = [leaf for leaf in pytree.tree_leaves(function(*inputs)) if leaf.requires_grad]
    return torch.autograd.grad([leaf.sum() for leaf in leaves], inputs, allow_unused=True)


def four_sizes(example: Example) -> None:
    """One compilation for all sizes."""
    count = 0

    def counting(graph: Any, inputs: Any) -> Any:
        nonlocal count
        count += 1
        return graph.forward

    f = torch.compile(example.function, backend=counting, fullgraph=True, dynamic=True)
    for rows in (2, 3, 5, 7):
        inputs = [x[:1].repeat(rows, 1) for x in example.inputs]
        same(f(*inputs), example.function(*inputs))
    if count != 1:
        raise Wrong(f"{count} compilations for four sizes")


def traced(example: Example) -> None:
    graph = make_fx(example.function)(*example.inputs)
    same(graph(*example.inputs), example.function(*example.inputs))


def exported(strict: bool) -> Callable[[Example], None]:
    """Exported, saved, loaded, and run."""

    def way(example: Example) -> None:
        program = torch.export.export(Module(example.function), example.inputs, strict=strict)
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        loaded = torch.export.load(file).module()
        same(loaded(*example.inputs), example.function(*example.inputs))

    return way


def packaged(example: Example) -> None:
    """Compiled ahead of time into a package, loaded, and run."""
    program = torch.export.export(Module(example.function), example.inputs)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.pt2")
        torch._inductor.aoti_compile_and_package(program, package_path=path)
        loaded = torch._inductor.aoti_load_package(path)
        same(loaded(*example.inputs), example.function(*example.inputs))


def checked(example: Example) -> None:
    args, kwargs = example.check
    torch.library.opcheck(example.operator.overload, args, kwargs)


def mapped(example: Example) -> None:
    batch = [torch.stack([x, x + 1]) for x in example.inputs]
    rows = [example.function(*row) for row in zip(*batch, strict=True)]
    stacked = pytree.tree_map(lambda *leaves: torch.stack(leaves), *rows)
    same(torch.vmap(example.function)(*batch), stacked)


@dataclass(frozen=True)
class Way:
    """One column."""

    name: str
    run: Callable[[Example], None]
    slow: bool = False
    applies: Callable[[Example], bool] = field(default=lambda example: True)


def _has_formula(example: Example) -> bool:
    recorder = example.operator.core.differentiate
    return recorder is not None and recorder.formula.backward is not None


def _has_sizes(example: Example) -> bool:
    return example.inputs[0].dtype is torch.float32


WAYS = (
    Way("eager", eager),
    Way("opcheck", checked),
    Way("compile: eager", compiled("eager")),
    Way("compile: aot_eager", compiled("aot_eager")),
    Way("compile: inductor", compiled("inductor"), slow=True),
    Way("compiled gradient", compiled_gradient, applies=_has_formula),
    Way("one compilation for four sizes", four_sizes, applies=_has_sizes),
    Way("make_fx", traced),
    Way("vmap", mapped),
    Way("export, saved, loaded", exported(strict=False)),
    Way("strict export, saved, loaded", exported(strict=True)),
    Way("AOTInductor package", packaged, slow=True),
)


# The table -----------------------------------------------------------------------------------

YES, NONE = "yes", "n/a"


def outcome(example: Example, way: Way) -> str:
    """`yes`, or why not, in one line."""
    if not way.applies(example):
        return NONE
    torch._dynamo.reset()
    try:
        with _quiet():
            way.run(example)
    except Exception as error:
        return _reason(error)
    return YES


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """torch tells in the log what it raises anyway."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _reason(error: Exception) -> str:
    """The first line of a message that says something, without addresses and paths."""
    lines = [line.strip() for line in str(error).splitlines() if len(line.strip()) > 10]
    text = lines[0] if lines else type(error).__name__
    return re.sub(r"(/[^ :]+/)|( at 0x[0-9a-f]+)", "", text)[:160]


def tried(ways: Sequence[Way], show: Callable[[str], None]) -> dict[str, list[str]]:
    """Every example in every way."""
    table = {}
    for example in EXAMPLES:
        table[example.name] = [outcome(example, way) for way in ways]
        show(f"{example.name}: {', '.join(table[example.name])}")
    return table


def page(ways: Sequence[Way], table: dict[str, list[str]]) -> str:
    """The table in Markdown, the reasons below it."""
    reasons: dict[str, int] = {}
    rows = [
        f"| {name} | {' | '.join(_cell(cell, reasons) for cell in cells)} |"
        for name, cells in table.items()
    ]
    head = f"| an operator with | {' | '.join(way.name for way in ways)} |"
    notes = [f"{number}. {reason}" for reason, number in reasons.items()]
    return "\n".join([head, "|---" * (len(ways) + 1) + "|", *rows, "", *notes, ""])


def _cell(cell: str, reasons: dict[str, int]) -> str:
    if cell in (YES, NONE):
        return cell
    return f"no ({reasons.setdefault(cell, len(reasons) + 1)})"


INTRODUCTION = """# What works where

Each row is an operator registered through Opwright, each column a way in which torch {torch} runs
it; `scripts/matrix.py` made this table by running every one of them and comparing the results
with those of the eager call. `n/a` stands where there is nothing to try: no formula, no size.

"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Try every kind of operator in every way.")
    parser.add_argument("--quick", action="store_true", help="leave out what needs a C++ compiler")
    parser.add_argument("--write", type=Path, help="the page to write the table to")
    wanted = parser.parse_args(arguments)
    ways = [way for way in WAYS if not (wanted.quick and way.slow)]
    table = tried(ways, lambda line: print(line, flush=True))
    if wanted.write:
        version = torch.__version__.partition("+")[0]
        text = INTRODUCTION.format(torch=version) + page(ways, table)
        wanted.write.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
