"""What an operator does under `torch.autocast`: the same in eager and compiled code.

Knows dtypes and autocast keys; knows nothing of kernels.

A kernel never sees the caller's autocast state. Torch shows it to the kernel in eager mode only,
so that one operator gives two dtypes; here the operator's own rule casts its inputs, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor

from opwright.ops import private

Call: TypeAlias = Callable[..., Any]


def autocast_key(device: str) -> str:
    """The dispatch key of a device's autocast; refuses a device that has none.

    >>> autocast_key("cpu")
    'AutocastCPU'
    """
    if private.backend_key(device) is None or not torch.amp.is_autocast_available(device):
        raise ValueError(f"{device!r} has no autocast: name a device such as 'cpu' or 'cuda'")
    return f"Autocast{private.backend_key(device)}"


def casting(operator: Call, device: str, dtype: torch.dtype) -> Call:
    """The kernel for an autocast key: cast the arguments, then leave autocast."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with private.without_autocast():
            named = {name: cast(value, device, dtype) for name, value in kwargs.items()}
            return operator(*(cast(value, device, dtype) for value in args), **named)

    return kernel


def cast(value: Any, device: str, dtype: torch.dtype) -> Any:
    """A floating tensor of the device in another precision, also inside lists; float64 stays.

    >>> [t.dtype for t in cast([torch.ones(1), torch.ones(1, dtype=int)], "cpu", torch.bfloat16)]
    [torch.bfloat16, torch.int64]
    """
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device
        return value.to(dtype) if fits and value.dtype != torch.float64 else value
    if isinstance(value, (list, tuple)):
        return [cast(part, device, dtype) for part in value]
    return value
