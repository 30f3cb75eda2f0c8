"""What an author adds to an operator for gradients, `vmap` and autocast, held against its schema.

Knows the core of an operator; not how autograd records or functorch batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

import torch

from opwright.findings import Diagnostic, SchemaError
from opwright.ops import registry
from opwright.ops.autocast import autocast_key, casting
from opwright.ops.autograd import Recorder, Site
from opwright.ops.cache import stamp
from opwright.ops.cell import schema_defaults
from opwright.ops.core import Core
from opwright.ops.formula import Formula, check
from opwright.ops.functions import now
from opwright.ops.vmap import batched
from opwright.ops.writer import HELD, wraps, write_inputs, write_straight
from opwright.schema.model import Base, List

F = TypeVar("F", bound=Callable[..., Any])


def record_gradients(core: Core) -> None:
    """Have autograd record the operator, also while it has no formula: then it says so."""
    site = Site(core.plan, _rebuild(core), core.judge.wrap if wraps(core.plan) else None)
    recorder = core.differentiate = Recorder(site, core.below, lambda: _straight(core))
    core.cell[f"{HELD}record"] = recorder.straight


def batch_by_element(core: Core) -> None:
    """Have `torch.vmap` call the operator for each element, where torch has no loop of its own.

    torch's takes functional operators from tensors to tensors only.
    """
    schema = core.schema
    kinds = [part.type for part in schema.arguments] + [part.type for part in schema.returns]
    lists = any(isinstance(kind, List) and "Tensor" in str(kind) for kind in kinds)
    others = any(part.type != Base("Tensor") for part in schema.returns)
    if lists or others or schema.mutable:
        core.stand("FuncTorchBatched", batched(core.through, schema, None))


def _rebuild(core: Core) -> Callable[..., Any] | None:
    if core.plan.crosses_as_it_is:
        return None
    return now(core.local, write_inputs(core.plan), core.cell, schema_defaults(core.schema))


def _straight(core: Core) -> Callable[..., Any]:
    return now(core.local, write_straight(core.plan), core.cell, ((), {}))


class Transforms:
    """The part of an operator's handle that torch's transforms ask."""

    core: Core

    @overload
    def backward(self, function: F, /) -> F: ...

    @overload
    def backward(self, *, save: Iterable[str]) -> Callable[[F], F]: ...

    def backward(self, *functions: Any, save: Iterable[str] = ()) -> Any:
        """Register how gradients are computed: `backward(ctx, grad, ...)`, one for each result.

        It gives one gradient for each parameter, None where there is none: for a list a list, for a
        structure a structure. `save` names arguments and results to keep: tensors are then found in
        `ctx.saved_tensors`, in that order, and other values as attributes of `ctx`. Where that is
        not enough, write a `setup_context`.

        >>> import opwright as ow
        >>> from torch import Tensor
        >>> @ow.op("mylib::scaled_sine")
        ... def scaled_sine(x: Tensor, scale: float = 1.0) -> Tensor:
        ...     return x.sin() * scale
        >>> @scaled_sine.backward(save=("x", "scale"))
        ... def backward(ctx, grad):
        ...     (x,) = ctx.saved_tensors
        ...     return grad * x.cos() * ctx.scale, None
        >>> x = torch.zeros(1, requires_grad=True)
        >>> scaled_sine(x, 3.0).backward()
        >>> x.grad
        tensor([3.])
        """

        def register(function: F) -> F:
            self._set_formula(Formula(function, self._formula.setup_context, tuple(save)))
            return function

        return register(*functions) if functions else register

    def setup_context(self, function: F) -> F:
        """Register what is kept of a call for its backward: `setup_context(ctx, inputs, output)`.

        `inputs` holds every parameter, by place and by name: `inputs[0]`, `inputs.weight`. With a
        parameter `keyword_only_inputs` before `output` the keyword-only ones come in a dict.
        """
        self._set_formula(Formula(self._formula.backward, function, self._formula.save))
        return function

    @property
    def _recorder(self) -> Recorder:
        self.core.prepare()
        recorder = self.core.differentiate
        if not isinstance(recorder, Recorder):
            message = f"{self.core.qualname} is registered with differentiable=False"
            raise SchemaError([Diagnostic("OW526", message, "leave that out to give it a formula")])
        return recorder

    @property
    def _formula(self) -> Formula:
        return self._recorder.formula

    def _set_formula(self, formula: Formula) -> None:
        found = list(check(self.core.plan, formula))
        if found:
            raise SchemaError(found)
        with registry.lock:
            self._recorder.set_formula(formula)
            stamp(self.core.schema, "backward", *formula.functions())

    def vmap(self, function: F) -> F:
        """Register a batching rule: `rule(info, in_dims, *args, **kwargs) -> (output, out_dims)`.

        `in_dims` has one entry for each argument of the schema, keyword-only ones last, and a list
        of them for a list. Without a rule `torch.vmap` calls the operator once for each element.
        """
        core = self.core
        with registry.lock:
            core.stand("FuncTorchBatched", batched(core.through, core.schema, function))
        return function

    def autocast(self, device: str, dtype: torch.dtype) -> None:
        """Have `torch.autocast` on this device type cast floating inputs to `dtype`.

        Without it the operator computes in the precision that it is given, as under compilation.
        """
        key = autocast_key(device)
        with registry.lock:
            self._refuse_second_cast(f"{HELD}casts_{key}", device, dtype)
            self.core.stand(key, casting(self.core.through, device, dtype))

    def _refuse_second_cast(self, name: str, device: str, dtype: torch.dtype) -> None:
        if self.core.cell.setdefault(name, dtype) is not dtype:
            message = f"{self.core.qualname} casts to {self.core.cell[name]} on {device!r} already"
            raise SchemaError([Diagnostic("OW527", message, "register one dtype for each device")])
