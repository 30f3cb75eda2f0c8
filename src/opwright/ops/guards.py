"""Which tensors an operator may hand to its kernel directly: learned from calls that qualified.

Knows tensors, and the namespace in which generated functions look the guards up.

Each tensor argument has three guards. `a` and `b` hold for what was met last, and the time before,
without `requires_grad`; `c` holds for a tensor that requires grad, and counts only while gradients
are off. All guards of an operator hold for tensors of one device, for which one kernel was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor
from torch.nn import Parameter

from opwright.ops import private
from opwright.ops.writer import HELD

_NEVER: private.Guard = ().__contains__
_MOST_LEARNED = 64
_SLOTS = ("a", "b", "c")
EXACT = (Tensor, Parameter)


class Guards:
    """The guards of one operator: `places` tells where in the schema its tensors are."""

    __slots__ = ("_device", "_kernel_for", "_left", "_names", "_space")

    def __init__(
        self,
        space: dict[str, Any],
        places: dict[int, str],
        kernel_for: Callable[[str], Callable[..., Any] | None],
    ) -> None:
        self._space = space
        self._names = places
        self._kernel_for = kernel_for
        self._left = _MOST_LEARNED
        self.forget()

    def forget(self) -> None:
        """Trust no tensor; the kernel is chosen anew by the next one that qualifies."""
        self._device = ""
        self._space.pop(f"{HELD}kernel", None)
        for name in self._names.values():
            for slot in _SLOTS:
                self._space[f"{HELD}{slot}_{name}"] = _NEVER

    def learn(self, arguments: tuple[Any, ...]) -> bool:
        """Take in the tensors of a call, if nothing but the kernel would see it.

        Whether there was something to learn: then this call deserves a closer look.
        """
        if self._left <= 0 or private.function_modes() or private.profiling():
            return False
        met = list(self._met(arguments))
        if all(self._known(*each) for each in met) or not all(_qualifies(t) for _, t in met):
            return False
        if not self._settle([tensor for _, tensor in met]):
            return False
        self._left -= 1
        for name, tensor in met:
            if not self._known(name, tensor):
                self._add(name, tensor)
        return True

    def _met(self, arguments: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
        for place, name in self._names.items():
            value = arguments[place]
            if isinstance(value, (list, tuple)):
                yield from ((name, item) for item in value if item is not None)
            elif value is not None:
                yield name, value

    def _known(self, name: str, value: object) -> bool:
        return any(self._space[f"{HELD}{slot}_{name}"](value) for slot in _SLOTS)

    def _settle(self, tensors: list[Tensor]) -> bool:
        """Whether one kernel serves all of them; it is put in place."""
        devices = {tensor.device.type for tensor in tensors}
        if len(devices) != 1:
            return False
        (device,) = devices
        if device != self._device:
            kernel = self._kernel_for(device)
            if kernel is None:
                return False
            self.forget()
            self._space[f"{HELD}kernel"] = kernel
            self._device = device
        return True

    def _add(self, name: str, tensor: Tensor) -> None:
        guard = private.plain_guard(tensor)
        if guard is None:
            self._left = 0
            return
        first, second = f"{HELD}a_{name}", f"{HELD}b_{name}"
        if tensor.requires_grad:
            self._space[f"{HELD}c_{name}"] = guard
        else:
            self._space[second] = self._space[first]
            self._space[first] = guard


def _qualifies(value: object) -> bool:
    """Whether nothing but the kernel would see a call with this tensor."""
    if type(value) not in EXACT or not isinstance(value, Tensor):
        return False
    return private.is_plain(value)
