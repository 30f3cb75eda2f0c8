"""`op`: an annotated function becomes an operator that is called like the function.

Knows inference and the core; not torch's dispatcher.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import torch
from torch.compiler import is_dynamo_compiling
from torch.library import Library

from opwright.findings import Diagnostic, SchemaError, Severity
from opwright.hints import inferred
from opwright.hints.lower import Inferred
from opwright.ops import agreement, cache, names, registry
from opwright.ops.core import DEFAULT_KEY, Core
from opwright.ops.crossing import Unsupported
from opwright.ops.keys import keys_of
from opwright.ops.plan import Plan, plan
from opwright.ops.tags import tags_for
from opwright.ops.transforms import Transforms, record_gradients
from opwright.schema.compare import compare
from opwright.schema.model import Schema
from opwright.schema.parse import parse

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class OpwrightWarning(UserWarning):
    """A finding that does not stop a registration."""


class OpDef(Transforms, Generic[P, R]):
    """An operator, called like the function that it was made of.

    >>> import opwright as ow
    >>> from torch import Tensor
    >>> @ow.op("mylib::twice")
    ... def twice(x: Tensor) -> Tensor:
    ...     return x + x
    >>> twice
    <operator mylib::twice(Tensor x) -> Tensor>
    >>> twice(torch.ones(1)), torch.ops.mylib.twice(torch.ones(1))
    (tensor([2.]), tensor([2.]))
    """

    def __init__(self, core: Core, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._install(core)

    def _install(self, core: Core) -> None:
        self.core = core
        self.__signature__ = core.plan.signature
        self._through = core.packer
        self._call: Callable[..., Any] = self._first_call

    if TYPE_CHECKING:
        __call__: Callable[P, R]
    else:

        def __call__(self, *args, **kwargs):
            if is_dynamo_compiling():
                return self._through(*args, **kwargs)
            return self._call(*args, **kwargs)

    def _first_call(self, *args: Any, **kwargs: Any) -> Any:
        self._call = self.core.write_call()
        return self._call(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> OpDef[P, R]:
        """In a class an operator stays what it is; also has `help` show its signature."""
        return self

    def __repr__(self) -> str:
        return f"<operator {self.schema}>"

    @property
    def name(self) -> str:
        """`ns::name`, with the overload if it has one."""
        return self.core.qualname

    @property
    def schema(self) -> Schema:
        """The schema that it is registered with."""
        return self.core.plan.schema

    @property
    def overload(self) -> Any:
        """torch's object for it, `torch.ops.ns.name.default`."""
        return self.core.overload

    def kernel(self, *devices: str) -> Callable[[F], F]:
        """Register an implementation for device types (`"cuda"`) or dispatch keys (`"SparseCPU"`).

        Without a device it serves every device that has no kernel of its own. A kernel that was
        there before is replaced.
        """

        def decorate(function: F) -> F:
            placed = keys_of(devices) if devices else (DEFAULT_KEY,)
            agreement.check(self.core.plan, function, f"the kernel for {', '.join(devices)}")
            with registry.lock:
                for key in placed:
                    self.core.add_kernel(key, function)
            return function

        return decorate

    def fake(self, function: F) -> F:
        """Register the function that tells shape, dtype and device of the results."""
        agreement.check(self.core.plan, function, "the fake")
        with registry.lock:
            self.core.set_fake(function)
            cache.stamp(self.core, function)
        return function


def op(
    name: str,
    /,
    *,
    schema: str | Schema | None = None,
    device: str | Sequence[str] | None = None,
    tags: Sequence[torch.Tag] = (),
    library: Library | None = None,
    differentiable: bool = True,
) -> Callable[[Callable[P, R]], OpDef[P, R]]:
    """Make an operator of an annotated function: infer its schema, check it, register it.

    `name` is `namespace::name`, or `namespace::name.overload`. `schema` is a handwritten schema
    that the annotations have to agree with; it is the one that is registered. `device` says for
    which device types or dispatch keys the function is the kernel; without it, for all. `library`
    is a `torch.library.Library` to define it in; without it Opwright keeps one.

    Raises `SchemaError` with everything that is wrong, and then nothing is registered.
    """

    def decorate(function: Callable[P, R]) -> OpDef[P, R]:
        meant = _agreed(function, name, schema)
        core = Core(_planned(function, *meant), tags_for(meant[0], tags), library)
        if differentiable:
            record_gradients(core)
        placed = (
            (DEFAULT_KEY,)
            if device is None
            else keys_of((device,) if isinstance(device, str) else device)
        )
        registry.register(core, function, dict.fromkeys(placed, function))
        core.packer = core.write_packer()
        return _handle(core, function)

    return decorate


_handles: dict[str, OpDef[Any, Any]] = {}


def _handle(core: Core, function: Callable[P, R]) -> OpDef[P, R]:
    """The handle of an operator; one that was given out before goes on with the new version."""
    known = _handles.get(core.qualname)
    if known is None:
        known = _handles[core.qualname] = OpDef(core, function)
    else:
        known.__init__(core, function)  # type: ignore[misc]
    return known


def _agreed(
    function: Callable[..., Any], name: str, schema: str | Schema | None
) -> tuple[Schema, Inferred]:
    """The schema to register, and what the annotations mean."""
    names.check(name)
    meant = inferred(function, name=name)
    written = parse(schema) if isinstance(schema, str) else schema
    found = list(meant.findings) + (compare(written, meant.schema) if written else [])
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    if errors:
        raise SchemaError(errors)
    for finding in found:
        if finding.severity is Severity.WARNING:
            warnings.warn(str(finding), OpwrightWarning, stacklevel=4)
    return (written or meant.schema), meant


def _planned(function: Callable[..., Any], schema: Schema, meant: Inferred) -> Plan:
    try:
        return plan(
            schema, inspect.signature(function), meant.bindings, meant.results, meant.schema
        )
    except Unsupported as refusal:
        raise SchemaError([Diagnostic("OW512", f"{schema.qualname}: {refusal}")]) from None
