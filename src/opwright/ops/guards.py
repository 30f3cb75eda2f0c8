"""Which tensors an operator may hand to its kernel directly: learned from calls that qualified.

Knows tensors, and the namespace in which generated functions look the guards up.

Each tensor argument has three guards. `a` and `b` hold for what was met last, and the time before,
without `requires_grad`; `c` holds for a tensor that requires grad, and counts only while gradients
are off. Tensors that are always there have a guard for all of them besides, of what was met last.
All guards of an operator hold for tensors of one device, for which one kernel was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import Tensor
from torch.nn import Parameter

from opwright.ops import private
from opwright.ops.writer import AGAIN, HELD, TOGETHER, TOGETHER_GRAD

_MOST_LEARNED = 64
_SLOTS = ("a", "b", "c")
EXACT = (Tensor, Parameter)


def _never(*_: object) -> bool:
    return False


class Guards:
    """The guards of one operator: `places` tells where in the schema its tensors are.

    `together` are the places of those that are always there.
    """

    __slots__ = (
        "_device", "_kernel_for", "_left", "_left_again", "_names", "_space", "_together"
    )  # fmt: skip

    def __init__(
        self,
        space: dict[str, Any],
        places: dict[int, str],
        together: list[int],
        kernel_for: Callable[[str], Callable[..., Any] | None],
    ) -> None:
        self._space = space
        self._names = places
        self._together = together
        self._kernel_for = kernel_for
        self._left = self._left_again = _MOST_LEARNED
        self.forget()

    def forget(self) -> None:
        """Trust no tensor; the kernel is chosen anew by the next one that qualifies."""
        self._device = ""
        self._space.pop(f"{HELD}kernel", None)
        for name in self._names.values():
            for slot in _SLOTS:
                self._space[f"{HELD}{slot}_{name}"] = _never
        self._space[TOGETHER] = self._space[TOGETHER_GRAD] = _never
        self._space[AGAIN] = self._again

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
        self._add_together(tuple(arguments[place] for place in self._together))
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

    def _again(self, *tensors: Tensor) -> bool:
        """Have one guard hold for tensors that have passed the guard of each; True always."""
        if self._left_again > 0 and len({*map(id, tensors)}) == len(tensors):
            self._left_again -= 1
            self._add_together(tensors)
        return True

    def _add_together(self, tensors: Sequence[Tensor]) -> None:
        guard = private.plain_guard(*tensors) if tensors else None
        if guard is not None:
            wanted = any(tensor.requires_grad for tensor in tensors)
            self._space[TOGETHER_GRAD if wanted else TOGETHER] = guard


def _qualifies(value: object) -> bool:
    """Whether nothing but the kernel would see a call with this tensor."""
    if type(value) not in EXACT or not isinstance(value, Tensor):
        return False
    return private.is_plain(value)
