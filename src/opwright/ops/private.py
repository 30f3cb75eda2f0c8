"""torch's private names that registration stands on: each once, with what it is for.

Knows torch's insides; must not know ours. `NAMES` lists what this file reaches for, so that a test
says at once what a new torch has moved. Where a name is missing the core stays right and only loses
a shortcut, or the registration says which torch it needs.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, TypeAlias, cast

import torch
import torch._functorch.autograd_function as _autograd_function
import torch._functorch.pyfunctorch as _pyfunctorch
import torch._functorch.utils as functorch
import torch._library.custom_ops as _custom_ops
import torch._library.simple_registry as _registry
import torch.utils._python_dispatch as _modes
from torch import Tensor
from torch.autograd import forward_ad

Guard: TypeAlias = Callable[..., bool]

NAMES = (
    "torch._C.DispatchKey",
    "torch._C.DispatchKeySet",
    "torch._C._AutoDispatchBelowAutograd",
    "torch._C._DisableAutocast",
    "torch._C._ExcludeDispatchKeyGuard",
    "torch._C._ForceDispatchKeyGuard",
    "torch._C._any_output_is_alias_to_input_or_output",
    "torch._C._are_functorch_transforms_active",
    "torch._C._autograd._profiler_enabled",
    "torch._C._dispatch_dump",
    "torch._C._dispatch_find_schema_or_throw",
    "torch._C._dispatch_get_all_op_names",
    "torch._C._dispatch_has_kernel_for_dispatch_key",
    "torch._C._dispatch_key_for_device",
    "torch._C._dispatch_keys",
    "torch._C._dispatch_tls_is_dispatch_key_excluded",
    "torch._C._dispatch_tls_local_exclude_set",
    "torch._C._dispatch_tls_local_include_set",
    "torch._C._dynamo.guards.TensorGuards",
    "torch._C._functorch._add_batch_dim",
    "torch._C._functorch._unwrap_batched",
    "torch._C._increment_version",
    "torch._C._is_torch_function_mode_enabled",
    "torch._C._jit_get_all_schemas",
    "torch._C._jit_get_schemas_for_operator",
    "torch._functorch.autograd_function.VmapInfo",
    "torch._functorch.pyfunctorch.VmapInterpreter",
    "torch._functorch.pyfunctorch.retrieve_current_functorch_interpreter",
    "torch._functorch.utils.enable_single_level_autograd_function",
    "torch.autograd.forward_ad._current_level",
    "torch.autograd.function._SingleLevelFunction",
    "torch._library.custom_ops.OPDEFS",
    "torch._library.simple_registry.singleton",
    "torch.fx.operator_schemas._SCHEMA_TO_SIGNATURE_CACHE",
    "torch.library.Library._destroy",
    "torch.library.Library._register_fake",
    "torch.library.Library._registration_handles",
    "torch.library._defs",
    "torch.utils._python_dispatch._is_in_torch_dispatch_mode",
)
"""Every private name used below, by its path."""

_C: Any = torch._C

below_autograd = _C._AutoDispatchBelowAutograd
"""Context: the dispatcher starts below the autograd keys."""

without_autocast = _C._DisableAutocast
"""Context: no autocast on any device."""

function_modes: Callable[[], bool] = _C._is_torch_function_mode_enabled
"""Whether a `TorchFunctionMode` wants to see calls; `set_default_device` is one."""

transforms_are_on: Callable[[], bool] = _C._are_functorch_transforms_active
"""Whether `torch.func` runs a function at one of its levels."""

one_level: Callable[[], contextlib.AbstractContextManager[None]] = (
    functorch.enable_single_level_autograd_function
)
"""Context: an `autograd.Function` may record at the level that functorch is at."""

LevelFunction: Any = torch.autograd.function._SingleLevelFunction
"""An `autograd.Function` that records where it is called and leaves functorch's levels alone."""

add_batch_dimension: Callable[[Tensor, int, int], Tensor] = _C._functorch._add_batch_dim
"""Put a tensor at a level of `torch.vmap`."""

unwrap_batched: Callable[[Tensor, int], tuple[Tensor, int | None]] = _C._functorch._unwrap_batched
"""Take a tensor from a level of `torch.vmap`, with its batch dimension there."""

VmapInfo: Any = _autograd_function.VmapInfo
"""What a batching rule is told of its level."""

VmapInterpreter: Any = _pyfunctorch.VmapInterpreter
current_interpreter: Callable[[], Any] = _pyfunctorch.retrieve_current_functorch_interpreter
"""What runs the level of `torch.func` that a call is at; for `vmap` a `VmapInterpreter`."""

without_keys: Any = _C._ExcludeDispatchKeyGuard
"""Context: the dispatcher leaves these keys out."""

profiling: Callable[[], bool] = _C._autograd._profiler_enabled
"""Whether a profiler records calls."""

bump_versions: Callable[[tuple[Tensor, ...]], None] = _C._increment_version
"""Tell autograd that these tensors were written."""


def version(tensor: Tensor) -> int | None:
    """How often a tensor was written, as far as autograd knows; None where nobody counts."""
    return None if tensor.is_inference() else tensor._version


FAKE_METHOD = "_register_fake"
"""The method of `Library` through which every fake is registered."""

modes: ModuleType = _modes
"""Where torch notes that a dispatch mode is on, under the name `MODE_FLAG`.

The note is one for all threads and not set for tensor subclasses, so it is a hint, never a proof.
"""
MODE_FLAG = "_is_in_torch_dispatch_mode"


def mode_is_on() -> bool:
    """Whether torch has noted that a dispatch mode is on."""
    return bool(getattr(modes, MODE_FLAG))


has_kernel: Callable[[str, str], bool] = _C._dispatch_has_kernel_for_dispatch_key
"""Whether an operator has a kernel of its own at a dispatch key."""


def tangents_are_on() -> bool:
    """Whether forward-mode gradients are being computed."""
    return forward_ad._current_level >= 0


# Key sets --------------------------------------------------------------------------------------

_ABOVE_BACKENDS = ("BackendSelect", "ADInplaceOrView", "AutogradOther")


def effective_keys(tensor: Tensor) -> Any:
    """The dispatch keys that a call with this tensor meets now, in this thread."""
    included, excluded = _C._dispatch_tls_local_include_set(), _C._dispatch_tls_local_exclude_set()
    return (_C._dispatch_keys(tensor) | included) - excluded


def is_plain(tensor: Tensor) -> bool:
    """Whether nothing but a dense backend (and autograd) would see a call with this tensor.

    >>> is_plain(torch.ones(1)), is_plain(torch.ones(1, dtype=torch.complex64).conj())
    (True, False)
    """
    allowed = _plain_keys(tensor.device.type)
    return (
        allowed is not None and (effective_keys(tensor) | allowed).raw_repr() == allowed.raw_repr()
    )


@functools.cache
def _plain_keys(device: str) -> Any:
    key = backend_key(device)
    if key is None or key == "Meta":
        return None
    keys = key_set(key)
    for name in (*_ABOVE_BACKENDS, f"Autograd{key}"):
        keys = keys | key_set(name)
    return keys


def key_set(name: str) -> Any:
    """The set of one dispatch key."""
    return _C.DispatchKeySet(_key(name))


def _key(name: str) -> Any:
    return getattr(_C.DispatchKey, name)


@functools.cache
def backend_key(device: str) -> str | None:
    """The dispatch key of a device type: `CUDA` for `cuda`; None where torch knows none."""
    try:
        return cast(str, _C._dispatch_key_for_device(device))
    except RuntimeError:
        return None


DEVICE_TYPES = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "maia", "ipu", "xla", "meta")
"""The device types of torch itself; a back end of its own registers one more."""


def interposes(key: str, backend: str) -> bool:
    """Whether a kernel at `key` would see plain calls before one at `backend`."""
    return key in _ABOVE_BACKENDS or key in ("Autograd", f"Autograd{backend}")


def _autocast_keys() -> tuple[str, ...]:
    """The autocast of the CPU, and of the accelerator that this torch is built for."""
    accelerator = torch.accelerator.current_accelerator()
    devices = ["cpu"] if accelerator is None else ["cpu", accelerator.type]
    return tuple(f"Autocast{backend_key(device)}" for device in devices)


AUTOCAST_KEYS = _autocast_keys()
"""Where an operator meets the `torch.autocast` of a caller."""


def is_device(name: str) -> bool:
    """Whether a name is a device type or a dispatch key."""
    return name in dispatch_keys() or backend_key(name) is not None


def dispatch_keys() -> frozenset[str]:
    """The names of all dispatch keys."""
    return frozenset(_C.DispatchKey.__members__)


def plain_guard(*examples: Tensor) -> Guard | None:
    """A check, in C, that tensors are to the dispatcher what `examples` are now.

    It holds for tensors of the same class, dtype, rank, device, `requires_grad`, and dispatch keys
    under the modes of the calling thread; anything else, tensor or not, fails it. None where this
    torch has no such check: then every call goes through the dispatcher.
    """
    free = [[None] * example.dim() for example in examples]
    try:
        guards = _C._dynamo.guards.TensorGuards(
            *examples, dynamic_dims_sizes=free, dynamic_dims_strides=free
        )
    except (AttributeError, TypeError):
        return None
    return cast(Guard, guards.check)


_PLAIN_INCLUDED = _C._dispatch_tls_local_include_set()
_PLAIN_EXCLUDED = _C._dispatch_tls_local_exclude_set()


def keys_are_hidden() -> bool:
    """Whether this thread runs inside a `__torch_dispatch__`, with keys shut off that ops need."""
    return bool(_C._dispatch_tls_is_dispatch_key_excluded(_key("Conjugate")))


@contextlib.contextmanager
def plain_keys() -> Iterator[None]:
    """Run with the dispatch keys of an ordinary thread, gradients and autocast off.

    A kernel that is reached through a `__torch_dispatch__` would otherwise run without the keys
    that make `x.conj()` and version counters work.
    """
    with _C._ForceDispatchKeyGuard(_PLAIN_INCLUDED, _PLAIN_EXCLUDED), torch.no_grad():
        yield


# Results ---------------------------------------------------------------------------------------


def shares_memory(
    args: tuple[object, ...], kwargs: dict[str, object], results: tuple[object, ...]
) -> bool:
    """Whether a result is, or is a view of, an input or another result."""
    return bool(_C._any_output_is_alias_to_input_or_output(args, kwargs, results))


TORCHS_OWN = frozenset({"aten", "prim", "prims"})
"""The namespaces whose operators are torch's."""


# What is registered ----------------------------------------------------------------------------


def registered_at(qualname: str) -> str | None:
    """Where an operator was defined, `file:line`, as the dispatcher remembers; None if it is not.

    >>> registered_at("mylib::surely_not_there") is None
    True
    """
    dump = _C._dispatch_dump(qualname)
    _, found, rest = dump.partition("\ndebug: ")
    place = rest.partition("\n")[0].removeprefix("registered at ") if found else ""
    return place if place and not place.startswith("/dev/null") else None  # torch 2.8 keeps none


def says_taken(error: BaseException) -> bool:
    """Whether a definition failed because the operator is defined already."""
    return isinstance(error, RuntimeError) and "multiple times" in str(error)


def place_fake(library: torch.library.Library, qualname: str, fake: Callable[..., Any]) -> None:
    """`torch.library.register_fake`, without its search for the caller's module.

    That search is most of the cost of defining an operator.
    """
    holder = _registry.singleton.find(qualname).fake_impl
    handle = holder.register(fake, "opwright", lib=library, allow_override=True)
    library._registration_handles.append(handle)


def operator_names() -> list[str]:
    """The names of everything that has a definition or a kernel."""
    return cast("list[str]", _C._dispatch_get_all_op_names())


def all_schemas() -> list[Any]:
    """The schemas of every operator, as torch holds them."""
    return cast("list[Any]", _C._jit_get_all_schemas())


CUSTOM_OPS: Mapping[str, Any] = _custom_ops.OPDEFS
"""What `torch.library.custom_op` has made, by name."""


def exists(qualname: str) -> bool:
    """Whether the dispatcher knows an operator: `ns::name` or `ns::name.overload`."""
    name, _, overload = qualname.partition(".")
    try:
        _C._dispatch_find_schema_or_throw(name, overload)
    except RuntimeError:
        return False
    return True


def schema_text(qualname: str) -> str:
    """The schema of a registered operator, as torch prints it."""
    name, _, overload = qualname.partition(".")
    (found,) = [s for s in _C._jit_get_schemas_for_operator(name) if s.overload_name == overload]
    return str(found)


def forget(qualname: str) -> None:
    """Drop what torch keeps of an operator that was taken away."""
    from torch.fx.operator_schemas import _SCHEMA_TO_SIGNATURE_CACHE

    name, _, overload = qualname.partition(".")
    _SCHEMA_TO_SIGNATURE_CACHE.pop((name, overload), None)
    torch.library._defs.discard(qualname)
