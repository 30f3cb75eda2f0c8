#!/usr/bin/env python3
"""Register the operators of a real package through Opwright in place of its own decorator.

    scripts/real_ops.py             compare schemas, numbers, gradients, opcheck and call cost
    scripts/real_ops.py --list      the schemas of both sides only

The package is `nvidia-physicsnemo`, its source unchanged (`scripts/corpora.py nvidia-physicsnemo`
fetches it); its kernels run on the CPU with `pip install warp-lang scipy`. Every file that
registers operators is loaded twice: as it is, and with `torch.library.custom_op` exchanged for
Opwright's decorator, into a namespace of its own.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import timeit
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import opwright as ow
from corpora import CORPORA

PACKAGE, THEIRS, OURS = "physicsnemo", "physicsnemo", "ow_physicsnemo"
HOME = next(corpus.folder for corpus in CORPORA if corpus.name == "nvidia-physicsnemo")


# In place of their decorator -----------------------------------------------------------------


class Adapted:
    """An operator of ours under the methods of torch's `CustomOpDef`."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.handle(*args, **kwargs)

    def register_fake(self, function: Callable[..., Any]) -> Callable[..., Any]:
        fake: Callable[..., Any] = self.handle.fake(function)
        return fake

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Any = None
    ) -> None:
        if setup_context is not None:
            self.handle.setup_context(setup_context)
        self.handle.backward(backward)


def custom_op(name: str, function: Any = None, /, *, mutates_args: Any = (), **options: Any) -> Any:
    """`torch.library.custom_op`, by Opwright."""

    def decorate(function: Callable[..., Any]) -> Adapted:
        for written in mutates_args:
            hint = function.__annotations__[written]
            function.__annotations__[written] = ow.Mutable[hint]
        local = name.partition("::")[2]
        schema = f"{local}{options['schema']}" if options.get("schema") else None
        return Adapted(ow.op(f"{OURS}::{local}", schema=schema)(function))

    return decorate if function is None else decorate(function)


# Loading the package twice -------------------------------------------------------------------


class Bare(importlib.abc.MetaPathFinder):
    """Packages without their `__init__`, which imports what is not needed here."""

    needed = ("launch", "_warp", "_scipy", "_torch", "kernels", "_kernels")

    def __init__(self, home: Path) -> None:
        self.home = home

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        folder = self.home.joinpath(*name.split("."))
        last = name.rpartition(".")[2]
        if name.split(".")[0] != PACKAGE or not folder.is_dir() or last.startswith(self.needed):
            return None
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec


@contextmanager
def importable(home: Path) -> Iterator[None]:
    """The package's files can be imported, and are forgotten afterwards."""
    finder = Bare(home)
    sys.meta_path.insert(0, finder)
    sys.path.insert(0, str(home))
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.path.remove(str(home))
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[name]


def loaded(home: Path, decorator: Callable[..., Any]) -> dict[str, Any]:
    """Every operator of the package, registered by `decorator`."""
    found: dict[str, Any] = {}

    def noting(name: str, function: Any = None, /, **options: Any) -> Any:
        def decorate(function: Callable[..., Any]) -> Any:
            namespace, _, local = name.partition("::")
            if namespace != THEIRS:
                return before(name, function, **options)
            found[local] = decorator(name, function, **options)
            return found[local]

        return decorate if function is None else decorate(function)

    before = torch.library.custom_op
    torch.library.custom_op = noting  # type: ignore[assignment]
    try:
        with importable(home):
            for name in registering(home):
                _load(name)
    finally:
        torch.library.custom_op = before
    return found


def registering(home: Path) -> list[str]:
    """The modules in which operators are registered."""
    return [
        ".".join(path.relative_to(home).with_suffix("").parts)
        for path in sorted((home / PACKAGE).rglob("*.py"))
        if "custom_op(" in path.read_text("utf-8")
    ]


def _load(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError as missing:
        print(f"left out: {name} ({str(missing).splitlines()[0]})", file=sys.stderr)


class Absent(types.ModuleType):
    """What stands for Warp where it is not installed: the files can be loaded, not run."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else self

    def __getitem__(self, item: Any) -> Any:
        return self

    def __or__(self, other: object) -> Any:
        return self


def without_warp() -> bool:
    """Put the stand-in in its place, if it is needed."""
    if importlib.util.find_spec("warp") is None:
        sys.modules["warp"] = Absent("warp")
    return isinstance(sys.modules.get("warp"), Absent)


# Calls ---------------------------------------------------------------------------------------


def _random(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(7))


POINTS, OTHERS = _random(64, 3), _random(32, 3)
FIELD, VECTORS = _random(8, 8), _random(2, 8, 8)
SPACING = torch.tensor([0.5, 0.25])
AXIS = torch.linspace(0, 1, 8)
CORNERS = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = torch.tensor([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=torch.int32)

CALLS: Mapping[str, tuple[Any, ...]] = {
    "knn_scipy": (POINTS, OTHERS, 4),
    "radius_search_warp": (POINTS, OTHERS, 0.5, 8, True, True),
    "signed_distance_field": (CORNERS, FACES.flatten(), OTHERS),
    "uniform_grid_gradient_warp_impl": (FIELD, SPACING, 2, 1, False),
    "uniform_grid_laplacian_warp_impl": (FIELD, SPACING, 2),
    "uniform_grid_divergence_warp_impl": (VECTORS, SPACING, 2),
    "rectilinear_grid_gradient_1d_warp_impl": (FIELD[0].clone(), AXIS, 1.2, 1, False),
    "rectilinear_grid_gradient_2d_warp_impl": (FIELD, AXIS, AXIS, 1.2, 1.2, 1, False),
    "rectilinear_grid_laplacian_2d_warp_impl": (FIELD, AXIS, AXIS, 1.2, 1.2),
    "rectilinear_grid_divergence_2d_warp_impl": (VECTORS, AXIS, AXIS, 1.2, 1.2),
    "scalar_field_to_rgba_warp": (_random(4, 4, 4), 0.0, 1.0),
}
DIFFERENTIABLE = frozenset(name for name in CALLS if "grid" in name)


@dataclass(frozen=True)
class Compared:
    """One operator on both sides; times in microseconds a call, with a kernel that does nothing."""

    name: str
    numbers: bool
    gradients: bool | None
    checked: bool
    kernel: float
    theirs: float
    ours: float

    @property
    def right(self) -> bool:
        return self.numbers and self.gradients is not False and self.checked

    def __str__(self) -> str:
        gradient = {True: "same", False: "**other**", None: "n/a"}[self.gradients]
        figures = f"{self.kernel:.2f} | {self.theirs:.2f} | {self.ours:.2f}"
        numbers, check = "same" if self.numbers else "**other**", "passes" * self.checked
        return f"| `{self.name}` | {numbers} | {gradient} | {check} | {figures} |"


def compared(name: str, theirs: Any, ours: Any) -> Compared:
    args = CALLS[name]
    wanted, found = theirs(*args), ours(*args)
    gradients = same(_grads(theirs, args), _grads(ours, args)) if name in DIFFERENTIABLE else None
    torch.library.opcheck(ours.handle.overload, args)
    costs = _costs(name, theirs, args, found)
    return Compared(name, same(wanted, found), gradients, True, *costs)


def schema(overload: Any) -> ow.Schema:
    """What torch holds, without the namespace."""
    return ow.parse(str(overload._schema).partition("::")[2])


def same(one: Any, other: Any) -> bool:
    one, other = (x if isinstance(x, tuple) else (x,) for x in (one, other))
    return len(one) == len(other) and all(map(torch.equal, one, other))


def _grads(call: Callable[..., Any], args: Sequence[Any]) -> tuple[Tensor, ...]:
    field = args[0].clone().requires_grad_()
    result = call(field, *args[1:])
    return torch.autograd.grad((result * result).sum(), field)


def _time(call: Callable[..., Any], args: Sequence[Any]) -> float:
    timer = timeit.Timer(lambda: call(*args))
    count, _ = timer.autorange()
    return min(timer.repeat(5, max(count // 2, 1))) / max(count // 2, 1) * 1e6


def _costs(name: str, theirs: Any, args: Any, result: Any) -> tuple[float, float, float]:
    """What a call costs beside the kernel: the same schema, and a kernel that does nothing."""

    def nothing(*args: Any, **kwargs: Any) -> Any:
        return result

    text = str(ow.parse(str(theirs._opoverload._schema)))
    inner = text.partition("::")[2].removeprefix(name)
    before = torch.library.custom_op(f"bare_theirs::{name}", nothing, mutates_args=(), schema=inner)
    after = ow.op(f"bare_ours::{name}", schema=f"{name}{inner}")(_typed(nothing, inner))
    return _time(nothing, args), _time(before, args), _time(after, args)


def _typed(function: Any, inner: str) -> Any:
    """The function with annotations from its schema, where the package has its own."""
    function.__signature__ = ow.signature(ow.parse(f"f{inner}"))
    function.__annotations__ = {
        p.name: p.annotation for p in function.__signature__.parameters.values()
    } | {"return": function.__signature__.return_annotation}
    return function


HEAD = """| operator | result | gradient | `opcheck` | kernel | `custom_op` | Opwright |
|---|---|---|---|---:|---:|---:|"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Register a real package's operators.")
    parser.add_argument("--list", action="store_true", help="compare schemas only")
    wanted = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if not HOME.is_dir():
        print("first run: scripts/corpora.py nvidia-physicsnemo", file=sys.stderr)
        return 2
    listing = without_warp() or wanted.list
    theirs, ours = loaded(HOME, torch.library.custom_op), loaded(HOME, custom_op)
    other = sorted(different(theirs, ours))
    print(f"{len(theirs)} operators, {len(theirs) - len(other)} with the same schema")
    for name in other:
        print(f"  {theirs[name]._opoverload._schema}\n  {ours[name].handle.schema}")
    rows = [] if listing else [compared(name, theirs[name], ours[name]) for name in CALLS]
    print("\n".join([HEAD, *map(str, rows)]) if rows else "not run: `pip install warp-lang scipy`")
    return 1 if other or not all(row.right for row in rows) else 0


def different(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> set[str]:
    """The operators that are missing on one side, or have another schema there."""
    both = theirs.keys() & ours.keys()
    equal = {n for n in both if schema(theirs[n]._opoverload) == schema(ours[n].handle.overload)}
    return (theirs.keys() | ours.keys()) - equal


if __name__ == "__main__":
    sys.exit(main())
