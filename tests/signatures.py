"""Operators of random signatures, registered through Opwright, and random calls of them.

Every kernel computes the same thing, so that a test knows the gradient without knowing the op: the
sum of all floating tensors, the i-th `i + 1` times, times the numbers given.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

import modes
import opwright as ow

NUMBER = itertools.count()
NS = "opwright_modes"


@dataclass
class Config:
    """A structure with a tensor in it."""

    bias: Tensor
    scale: float = 1.5
    causal: bool = False


@dataclass(frozen=True)
class Kind:
    """One sort of parameter: its annotation, its default, and values for a call."""

    annotation: str
    default: str = ""
    values: Callable[[], st.SearchStrategy[Any]] = lambda: st.none()


def tensor() -> st.SearchStrategy[Tensor]:
    """A small tensor of whole numbers, on which sums are exact in every order."""
    numbers = st.lists(st.integers(-4, 4), min_size=6, max_size=6)
    return numbers.map(lambda n: torch.tensor(n, dtype=torch.float32).reshape(2, 3))


def structure() -> st.SearchStrategy[Config]:
    return st.builds(Config, tensor(), st.sampled_from([0.5, 1.5]), st.booleans())


def listed(item: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(item, min_size=1, max_size=3)


KINDS = {
    "tensor": Kind("Tensor", "", tensor),
    "optional": Kind("Tensor | None", "None", lambda: st.none() | tensor()),
    "list": Kind("list[Tensor]", "", lambda: listed(tensor())),
    "list of optionals": Kind("list[Tensor | None]", "", lambda: listed(st.none() | tensor())),
    "int": Kind("int", "3", lambda: st.integers(-3, 3)),
    "float": Kind("float", "2.0", lambda: st.sampled_from([0.5, 2.0, -1.0])),
    "bool": Kind("bool", "False", st.booleans),
    "str": Kind("str", "'sum'", lambda: st.sampled_from(["sum", "mean"])),
    "ints": Kind("list[int]", "", lambda: listed(st.integers(-3, 3))),
    "pair": Kind("tuple[int, int]", "(1, 2)", lambda: st.tuples(*[st.integers(-3, 3)] * 2)),
    "choice": Kind("Literal['a', 'b']", "'a'", lambda: st.sampled_from(["a", "b"])),
    "dtype": Kind("torch.dtype", "torch.float32", lambda: st.just(torch.float32)),
    "structure": Kind("Config", "", structure),
    "written": Kind("Mutable[Tensor]", "", tensor),
    "written list": Kind("Mutable[list[Tensor]]", "", lambda: listed(tensor())),
}
READ = [name for name in KINDS if not name.startswith("written")]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a generated operator."""

    name: str
    kind: str
    kw_only: bool
    has_default: bool

    def __str__(self) -> str:
        row = KINDS[self.kind]
        return f"{self.name}: {row.annotation}{f' = {row.default}' * self.has_default}"


@dataclass(frozen=True)
class Signature:
    """A generated operator: its parameters and what it gives back."""

    parameters: tuple[Parameter, ...]
    returns: str

    @property
    def writes(self) -> bool:
        return any(p.kind.startswith("written") for p in self.parameters)

    def __str__(self) -> str:
        parts: list[str] = []
        for parameter in self.parameters:
            if parameter.kw_only and "*" not in parts:
                parts.append("*")
            parts.append(str(parameter))
        return f"({', '.join(parts)}) -> {self.returns}"


RETURNS = {
    "Tensor": lambda total: total,
    "tuple[Tensor, Tensor]": lambda total: (total, total * 2),
    "list[Tensor]": lambda total: [total, total * 2],
    "None": lambda total: None,
}


def _defaulted(kind: str) -> st.SearchStrategy[bool]:
    return st.booleans() if KINDS[kind].default else st.just(False)


@st.composite
def signatures(draw: st.DrawFn, kinds: Sequence[str] = READ) -> Signature:
    """A signature whose first parameter is a tensor; required parameters come first."""
    chosen = ["tensor", *draw(st.lists(st.sampled_from(kinds), max_size=4))]
    split = draw(st.integers(1, len(chosen)))
    made = [
        Parameter(
            f"p{place}", kind, place >= split, bool(KINDS[kind].default and draw(st.booleans()))
        )
        for place, kind in enumerate(chosen)
    ]
    positional = sorted((p for p in made if not p.kw_only), key=lambda p: p.has_default)
    parameters = (*positional, *(p for p in made if p.kw_only))
    writes = any(p.kind.startswith("written") for p in parameters)
    returns = ["None", "Tensor"] if writes else [name for name in RETURNS if name != "None"]
    return Signature(parameters, draw(st.sampled_from(returns)))


# The kernel ---------------------------------------------------------------------------------------


def floating(value: object) -> list[Tensor]:
    """The floating tensors of a value, in order."""
    if isinstance(value, Config):
        return floating(value.bias)
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in floating(part)]
    wanted = isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())
    return [value] if wanted else []  # type: ignore[list-item]


def factor(values: Sequence[object]) -> float:
    """The product of what numbers there are, so that each argument matters."""
    product = 1.0
    for value in values:
        if isinstance(value, Config):
            product *= factor([value.scale, value.causal])
        elif isinstance(value, (list, tuple)):
            product *= factor([part for part in value if not isinstance(part, Tensor)])
        elif isinstance(value, (bool, int, float)):
            product *= value + 5
        elif isinstance(value, str):
            product *= len(value)
    return product


def compute(returns: str, written: Sequence[str], values: dict[str, Any]) -> Any:
    """What each generated kernel does."""
    modes.look(torch.mm(torch.ones(1, 1), torch.ones(1, 1)).dtype)  # is autocast on?
    for value in values.values():
        modes.look([value.bias, value.scale, value.causal] if isinstance(value, Config) else value)
    by = factor([*values.values()])
    read = floating([value for name, value in values.items() if name not in written])
    total = sum((place + 1) * by * tensor for place, tensor in enumerate(read))
    for tensor in floating([values[name] for name in written]):
        tensor.add_(total)
    return RETURNS[returns](total)


FORMULA_FACTOR = 10  # the formula is not the kernel's own gradient, so that a bypass shows


def backward(signature: Signature, ctx: Any, *grads: Any) -> Any:
    """The gradient of `compute` by the product rule of nothing: place times numbers, times ten."""
    grad = sum(g * (1 + p) for p, g in enumerate(_flat(grads)))
    places = itertools.count(1)
    make = lambda: grad * next(places) * ctx.by * FORMULA_FACTOR  # noqa: E731
    return tuple(_gradient(value, make) for value in ctx.values)


def _flat(grads: Sequence[Any]) -> list[Tensor]:
    return [g for part in grads for g in (part if isinstance(part, (list, tuple)) else [part])]


def _gradient(value: Any, make: Callable[[], Tensor]) -> Any:
    if value == "tensor":
        return make()
    if isinstance(value, list):
        return [_gradient(part, make) for part in value]
    return Config(make(), 0.0, False) if value == "structure" else None


def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.by = factor(inputs)
    ctx.values = [_shape(value) for value in inputs]


def _shape(value: Any) -> Any:
    if isinstance(value, Config):
        return "structure"
    if isinstance(value, (list, tuple)):
        return [_shape(part) for part in value] if floating(value) else None
    return "tensor" if floating(value) else None


TEMPLATE = """
def kernel{signature}:
    return compute({returns!r}, {written!r}, dict({values}))
"""


def kernel(signature: Signature) -> Callable[..., Any]:
    """The Python function of this signature, as an author would write it."""
    from typing import Literal

    names = [p.name for p in signature.parameters]
    text = TEMPLATE.format(
        signature=signature,
        returns=signature.returns,
        written=[p.name for p in signature.parameters if p.kind.startswith("written")],
        values=", ".join(f"{name}={name}" for name in names),
    )
    scope: dict[str, Any] = {
        "torch": torch, "Tensor": Tensor, "Mutable": ow.Mutable, "Config": Config,
        "Literal": Literal, "compute": compute, "__name__": __name__,
    }  # fmt: skip
    exec(text, scope)
    made: Callable[..., Any] = scope["kernel"]
    return made


def registered(signature: Signature) -> Any:
    """The handle of a new operator of this signature, with its fake kernel and its formula."""
    function = kernel(signature)
    handle = ow.op(f"{NS}::f{next(NUMBER)}")(function)

    @handle.fake
    @functools.wraps(function)
    def fake(*args: Any, **kwargs: Any) -> Any:
        modes.look("fake")
        return function(*args, **kwargs)

    if not signature.writes:
        handle.setup_context(setup_context)
        handle.backward(lambda ctx, *grads: backward(signature, ctx, *grads))
    return handle


# The call -----------------------------------------------------------------------------------------


@st.composite
def calls(draw: st.DrawFn, signature: Signature) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for one call: by position or by keyword, with defaults left out or given."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter in signature.parameters:
        if parameter.has_default and draw(st.booleans()):
            continue
        value = draw(KINDS[parameter.kind].values())
        by_place = (
            not parameter.kw_only and not kwargs and len(args) == _place(signature, parameter)
        )
        if by_place and draw(st.booleans() | st.just(True)):
            args.append(value)
        else:
            kwargs[parameter.name] = value
    return args, kwargs


def _place(signature: Signature, parameter: Parameter) -> int:
    return signature.parameters.index(parameter)
