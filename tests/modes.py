"""Calls of one operator in every mode of torch, and everything that can be seen of them.

`observe` runs a call and writes down values, dtypes, aliases, versions, gradients, what the kernel
saw and what the mode saw; two ways to call an operator are equal when their observations are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

Call = Callable[..., Any]

SEEN: list[object] = []
"""What kernels saw of their arguments since the list was cleared."""


def look(value: object) -> None:
    """A kernel calls this on each of its arguments."""
    if isinstance(value, Tensor):
        wrapped = torch._is_functional_tensor(value)
        SEEN.append((type(value).__name__, value.dtype, value.is_conj(), value.is_neg(), wrapped))
    elif isinstance(value, (list, tuple)):
        SEEN.append(type(value).__name__)
        for part in value:
            look(part)
    else:
        SEEN.append(value)


# What can be seen of tensors ----------------------------------------------------------------------


def described(tensor: Tensor) -> tuple[object, ...]:
    plain = type(tensor) is Tensor or type(tensor) is torch.nn.Parameter
    real = plain and tensor.device.type != "meta" and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)  # noqa: E501  # fmt: skip
    values = tensor.detach().resolve_conj().resolve_neg().tolist() if real else None
    return (
        type(tensor).__name__, tuple(tensor.shape), tensor.dtype, tensor.device.type,
        tensor.requires_grad, tensor.is_inference(), values,
    )  # fmt: skip


def tensors(value: object) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]


def shared(results: Sequence[Tensor], inputs: Sequence[Tensor]) -> tuple[object, ...]:
    """For each result, which inputs it is and which it shares memory with."""
    return tuple(
        ([r is i for i in inputs], [torch._C._is_alias_of(r, i) for i in inputs]) for r in results
    )


@dataclass(frozen=True)
class Observation:
    """What one call did; `outcome` is the structure of the result or the type of the exception."""

    outcome: object
    results: tuple[object, ...] = ()
    inputs: tuple[object, ...] = ()
    versions: tuple[int, ...] = ()
    aliases: tuple[object, ...] = ()
    gradients: tuple[object, ...] = ()
    seen: tuple[object, ...] = ()
    events: tuple[object, ...] = ()


@dataclass
class Trial:
    """One call about to be made: fresh arguments, and a place for what the mode sees."""

    call: Call
    args: list[Any]
    kwargs: dict[str, Any]
    events: list[object] = field(default_factory=list)

    def __call__(self) -> Any:
        return self.call(*self.args, **self.kwargs)

    def change(self, f: Callable[[Tensor], Tensor]) -> None:
        """Put another tensor in the place of each."""
        only = lambda leaf: f(leaf) if isinstance(leaf, Tensor) else leaf  # noqa: E731
        self.args, self.kwargs = pytree.tree_map(only, (self.args, self.kwargs))


Mode = Callable[[Trial], Any]


def observe(mode: Mode, trial: Trial) -> Observation:
    """Make the call in this mode and write everything down."""
    SEEN.clear()
    given = tensors((trial.args, trial.kwargs))
    before = [version(tensor) for tensor in given]
    try:
        result = mode(trial)
    except Exception as error:
        return Observation(type(error).__name__, events=tuple(trial.events))
    kernel_saw = tuple(SEEN)
    now = tensors((trial.args, trial.kwargs))
    made = tensors(result)
    versions = tuple(version(a) - b for a, b in zip(given, before, strict=True))
    return Observation(
        outcome=str(pytree.tree_structure(result)),
        results=tuple(map(described, made)),
        inputs=tuple(map(described, now)),
        versions=versions,
        aliases=shared(made, now),
        gradients=gradients(made, now),
        seen=kernel_saw,
        events=tuple(trial.events),
    )


def version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def gradients(results: Sequence[Tensor], inputs: Sequence[Tensor]) -> tuple[object, ...]:
    """The gradients of a sum over the results, or the type of the exception."""
    leaves = [tensor for tensor in inputs if tensor.requires_grad]
    ends = [r for r in results if r.requires_grad and not any(r is leaf for leaf in leaves)]
    if not leaves or not ends:
        return ()
    try:
        found = torch.autograd.grad(
            ends, leaves, [torch.ones_like(end) for end in ends], allow_unused=True
        )
    except Exception as error:
        return (type(error).__name__,)
    return tuple(None if g is None else described(g) for g in found)


# The modes ---------------------------------------------------------------------------------------


class Watching(TorchDispatchMode):
    """Notes every operator that passes."""

    def __init__(self, events: list[object]) -> None:
        super().__init__()
        self.events = events

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace != "aten":
            self.events.append(str(func))
        return func(*args, **(kwargs or {}))


class Listening(TorchFunctionMode):
    """Notes every function that passes, whether by its overload or by its packet."""

    def __init__(self, events: list[object]) -> None:
        super().__init__()
        self.events = events

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            self.events.append(str(func).removesuffix(".default"))
        return func(*args, **(kwargs or {}))


class Wrapped(Tensor):
    """A subclass with a `__torch_dispatch__` that notes the operators it meets."""

    EVENTS: list[object] = []  # noqa: RUF012

    @staticmethod
    def __new__(cls, inner: Tensor) -> Wrapped:
        made: Wrapped = Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=inner.device,
            requires_grad=inner.requires_grad,
        )  # fmt: skip
        return made

    def __init__(self, inner: Tensor) -> None:
        self.inner = inner.detach()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace != "aten":
            cls.EVENTS.append(str(func))
        inner = pytree.tree_map_only(Wrapped, lambda w: w.inner, (args, kwargs or {}))
        return pytree.tree_map_only(Tensor, Wrapped, func(*inner[0], **inner[1]))


class Named(Tensor):
    """A subclass with a `__torch_function__` that notes what it meets."""

    EVENTS: list[object] = []  # noqa: RUF012

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            cls.EVENTS.append(str(func).removesuffix(".default"))
        return super().__torch_function__(func, types, args, kwargs or {})


def eager(trial: Trial) -> Any:
    return trial()


def within(context: Callable[[], contextlib.AbstractContextManager[Any]]) -> Mode:
    def mode(trial: Trial) -> Any:
        with context():
            return trial()

    return mode


def on(change: Callable[[Tensor], Tensor]) -> Mode:
    def mode(trial: Trial) -> Any:
        trial.change(change)
        return trial()

    return mode


def requiring_grad(tensor: Tensor) -> Tensor:
    floating = tensor.is_floating_point() or tensor.is_complex()
    return tensor.detach().clone().requires_grad_(floating)


def dispatch_mode(trial: Trial) -> Any:
    with Watching(trial.events):
        return trial()


def function_mode(trial: Trial) -> Any:
    with Listening(trial.events):
        return trial()


def profiler(trial: Trial) -> Any:
    with torch.autograd.profiler.profile() as record:
        result = trial()
    trial.events += sorted({e.name for e in record.function_events if "::" in e.name})
    return result


def saved_tensors_hooks(trial: Trial) -> Any:
    trial.change(requiring_grad)

    def pack(tensor: Tensor) -> Tensor:
        trial.events.append(tuple(tensor.shape))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        return trial()


def subclass(kind: Any) -> Mode:
    def mode(trial: Trial) -> Any:
        kind.EVENTS.clear()
        make = (lambda t: t.as_subclass(kind)) if kind is Named else kind
        trial.change(make)
        try:
            return trial()
        finally:
            trial.events += kind.EVENTS

    return mode


def fake(trial: Trial) -> Any:
    with FakeTensorMode() as mode:
        trial.change(mode.from_tensor)
        return trial()


def fake_outside_its_mode(trial: Trial) -> Any:
    trial.change(FakeTensorMode().from_tensor)
    return trial()


def mixed_devices(trial: Trial) -> Any:
    """Every second tensor is on another device."""
    turns = iter(range(1000))
    trial.change(lambda tensor: tensor.to("meta") if next(turns) % 2 else tensor)
    return trial()


def negated(tensor: Tensor) -> Tensor:
    return torch._neg_view(tensor.detach()) if tensor.is_floating_point() else tensor


def conjugated(tensor: Tensor) -> Tensor:
    return tensor.detach().to(torch.complex64).conj() if tensor.is_floating_point() else tensor


def leaves_of(trial: Trial) -> tuple[list[Tensor], Callable[[Sequence[Tensor]], Any]]:
    """The tensors of a call, and the call as a function of them."""
    flat, spec = pytree.tree_flatten((trial.args, trial.kwargs))
    places = [place for place, leaf in enumerate(flat) if isinstance(leaf, Tensor)]

    def call(given: Sequence[Tensor]) -> Any:
        filled = list(flat)
        for place, tensor in zip(places, given, strict=True):
            filled[place] = tensor
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return trial.call(*args, **kwargs)

    return [flat[place] for place in places], call


def scalar(result: Any) -> Tensor:
    parts = [t.abs().sum() for t in tensors(result) if t.is_floating_point() or t.is_complex()]
    return torch.stack(parts).sum()


def vmap(trial: Trial) -> Any:
    leaves, call = leaves_of(trial)
    return torch.vmap(lambda *given: tuple(tensors(call(given))))(*[torch.stack([t, t + 1]) for t in leaves])  # noqa: E501  # fmt: skip


def functorch_grad(trial: Trial) -> Any:
    leaves, call = leaves_of(trial)
    return torch.func.grad(lambda *given: scalar(call(given)))(*leaves)


def functorch_grad_of_grad(trial: Trial) -> Any:
    leaves, call = leaves_of(trial)
    inner = torch.func.grad(lambda *given: scalar(call(given)) ** 2)
    return torch.func.grad(lambda *given: inner(*given).sum())(*leaves)


def functorch_jvp(trial: Trial) -> Any:
    leaves, call = leaves_of(trial)
    tangents = tuple(torch.ones_like(t) for t in leaves)
    return torch.func.jvp(lambda *given: scalar(call(given)), tuple(leaves), tangents)


def functionalized(trial: Trial) -> Any:
    leaves, call = leaves_of(trial)
    return torch.func.functionalize(lambda *given: tuple(tensors(call(given))))(*leaves)


def dual(trial: Trial) -> Any:
    with torch.autograd.forward_ad.dual_level():
        trial.change(lambda t: torch.autograd.forward_ad.make_dual(t.detach(), torch.ones_like(t)))
        return trial()


def compiled(trial: Trial) -> Any:
    torch._dynamo.reset()
    call = trial.call
    run = torch.compile(
        lambda args, kwargs: call(*args, **kwargs), backend="aot_eager", fullgraph=True
    )
    return run(trial.args, trial.kwargs)


def compiled_with_grad(trial: Trial) -> Any:
    trial.change(requiring_grad)
    return compiled(trial)


class Holding(torch.nn.Module):
    """What `torch.export` takes a function in."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)


def exported(trial: Trial) -> Any:
    program = torch.export.export(Holding(trial.call), tuple(trial.args), trial.kwargs)
    return program.module()(*trial.args, **trial.kwargs)


def default_device(trial: Trial) -> Any:
    with torch.device("meta"):
        return trial()


def with_grad_under(context: Callable[[], contextlib.AbstractContextManager[Any]]) -> Mode:
    def mode(trial: Trial) -> Any:
        trial.change(requiring_grad)
        with context():
            return trial()

    return mode


def cpu_autocast() -> contextlib.AbstractContextManager[Any]:
    return torch.autocast("cpu", torch.bfloat16)


@contextlib.contextmanager
def inference_tensors() -> Iterator[None]:
    with torch.inference_mode():
        yield


def made_in_inference(trial: Trial) -> Any:
    with torch.inference_mode():
        trial.change(torch.clone)
    return trial()


MODES: dict[str, Mode] = {
    "eager": eager,
    "grad": on(requiring_grad),
    "non-leaf": on(lambda t: requiring_grad(t) * 1),
    "no_grad": with_grad_under(torch.no_grad),
    "inference mode": within(torch.inference_mode),
    "inference mode with grad": with_grad_under(torch.inference_mode),
    "inference tensors": made_in_inference,
    "autocast": within(cpu_autocast),
    "autocast with grad": with_grad_under(cpu_autocast),
    "vmap": vmap,
    "func.grad": functorch_grad,
    "func.grad of grad": functorch_grad_of_grad,
    "func.jvp": functorch_jvp,
    "functionalize": functionalized,
    "dual": dual,
    "FakeTensorMode": fake,
    "fake tensors": fake_outside_its_mode,
    "compile": compiled,
    "compile with grad": compiled_with_grad,
    "export": exported,
    "dispatch mode": dispatch_mode,
    "function mode": function_mode,
    "default device": default_device,
    "profiler": profiler,
    "saved_tensors_hooks": saved_tensors_hooks,
    "dispatch subclass": subclass(Wrapped),
    "function subclass": subclass(Named),
    "meta": on(lambda t: t.to("meta")),
    "mixed devices": mixed_devices,
    "conj view": on(conjugated),
    "neg view": on(negated),
    "transposed": on(lambda t: t.t().contiguous().t()),
    "parameter": on(lambda t: torch.nn.Parameter(t.detach()) if t.is_floating_point() else t),
    "sparse": on(lambda t: t.to_sparse()),
    "float64": on(lambda t: t.double()),
    "empty": on(lambda t: t[:0]),
}
