"""What an author holds of an operator: called like the function, and added to by its methods.

Knows cores; not how a function becomes one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from torch.compiler import is_dynamo_compiling

from opwright.findings import Diagnostic, SchemaError
from opwright.ops import agreement, cache, names, private, registry
from opwright.ops.core import DEFAULT_KEY, Core
from opwright.ops.keys import keys_of
from opwright.ops.transforms import Transforms
from opwright.schema.model import Schema

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
F = TypeVar("F", bound=Callable[..., Any])


class OpDef(Transforms, Generic[P, R]):
    """An operator, called like the function that it was made of.

    >>> import torch, opwright as ow
    >>> from torch import Tensor
    >>> @ow.op("mylib::twice")
    ... def twice(x: Tensor) -> Tensor:
    ...     return x + x
    >>> twice
    <operator mylib::twice(Tensor x) -> Tensor>
    >>> twice(torch.ones(1)), torch.ops.mylib.twice(torch.ones(1))
    (tensor([2.]), tensor([2.]))
    """

    def __init__(
        self,
        core: Core,
        signature: Callable[[], inspect.Signature],
        out: OpDef[..., Any] | None = None,
    ) -> None:
        self._become(None)
        self.core = core
        self._signature = signature
        self.out = out
        """The overload that writes its results into what it is given, if there is one."""
        self.__qualname__ = core.local
        self._through = core.packer if out is None else core.write_fork(signature(), out.core)
        self._call: Callable[..., Any] = self._first_call

    if TYPE_CHECKING:
        __call__: Callable[P, R]
    else:

        def __call__(self, /, *args, **kwargs):
            if is_dynamo_compiling():
                return self._through(*args, **kwargs)
            return self._call(*args, **kwargs)

        def __get__(self, instance, owner=None):
            """In a class an operator stays what it is; `help` shows its signature for this."""
            return self

    @property
    def __signature__(self) -> inspect.Signature:
        return self._signature()

    def _first_call(self, /, *args: Any, **kwargs: Any) -> Any:
        """Go on with a `__call__` of its own, unless compiled code knows the handle as it is."""
        if not any(core.is_settled for core in self._cores()):
            self._become(self._written_call())
        elif self.core.is_foreign or self.out is not None:
            self._call = self._through
        else:
            self._call = self.core.write_call()
        return self(*args, **kwargs)

    def _written_call(self) -> Callable[..., Any]:
        if self.out is None:
            return self.core.write_call(method=True)
        return self.core.write_fork(self.__signature__, self.out.core, method=True)

    def _become(self, call: Callable[..., Any] | None) -> None:
        """Have calls run in this function itself: that of a class has no second call to make."""
        made: Any = OpDef
        if call is not None:
            made = type("OpDef", (OpDef,), {"__call__": call, "__module__": OpDef.__module__})
        self.__class__ = made

    def __repr__(self) -> str:
        return f"<operator {self.schema}>"

    def _repr_html_(self) -> str:
        """A notebook shows schema, kernels, fake and gradients."""
        from opwright.ops.display import page  # which few programs need

        return page(self)

    def __reduce__(self) -> str:
        """Like a function: pickled by its name, copied as itself."""
        return self.__qualname__

    @property
    def name(self) -> str:
        """`ns::name`, with the overload if it has one."""
        return self.core.qualname

    @property
    def schema(self) -> Schema:
        """The schema that it is registered with."""
        return self.core.schema

    @property
    def overload(self) -> Any:
        """torch's object for it, `torch.ops.ns.name.default`."""
        return self.core.overload

    def kernel(self, *devices: str) -> Callable[[F], F]:
        """Register an implementation for device types (`"cuda"`) or dispatch keys (`"SparseCPU"`).

        Without a device it serves every device that has no kernel of its own. A kernel that was
        there before is replaced.

        >>> import opwright as ow
        >>> from torch import Tensor
        >>> @ow.op("mylib::thrice")
        ... def thrice(x: Tensor) -> Tensor:
        ...     return x * 3
        >>> @thrice.kernel("cuda", "xpu")
        ... def thrice_on_accelerators(x):
        ...     return x + x + x
        """

        def decorate(function: F) -> F:
            keys = keys_of(devices) if devices else (DEFAULT_KEY,)
            who = f"the kernel for {', '.join(devices)}" if devices else "the kernel"
            self._check(function, who)
            with registry.lock:
                for core in self._cores():
                    _add_kernel(core, keys, function)
            return function

        return decorate

    def fake(self, function: F) -> F:
        """Register the function that tells shape, dtype and device of the results.

        It is called with fake tensors wherever torch needs to know what the operator will give
        back without running it; one that was there before is replaced.
        """
        self._check(function, "the fake")
        with registry.lock:
            _refuse_foreign(self.core, "Meta", "fake kernel")
            self.core.set_fake(function)
            cache.stamp(self.core.schema, "fake", function)
        return function

    def _check(self, function: Callable[..., Any], who: str) -> None:
        if agreement.has_same_head(getattr(self, "__wrapped__", None), function):
            return
        if faults := list(names.unspeakable(self.schema)):
            raise SchemaError(faults)
        plan = self.core.plan
        outs = frozenset(self.__signature__.parameters) - frozenset(plan.signature.parameters)
        agreement.check(plan, function, who, ignored=outs)

    def _cores(self) -> Iterator[Core]:
        yield self.core
        if self.out is not None:
            yield self.out.core


def _add_kernel(core: Core, keys: tuple[str, ...], function: Callable[..., Any]) -> None:
    for key in keys:
        _refuse_foreign(core, key, f"kernel at {key}")
        core.add_kernel(key, function)


def _refuse_foreign(core: Core, key: str, what: str) -> None:
    """What others have registered is theirs; torch's own operators are never added to."""
    namespace = core.schema.namespace
    if namespace in private.TORCHS_OWN:
        message = f"{core.qualname} is torch's own: what it does is never overridden"
        raise SchemaError([Diagnostic("OW514", message, "register an operator of your own")])
    if core.is_foreign and not core.has_placed(key) and private.has_kernel(core.qualname, key):
        message = f"{core.qualname} has a {what} already, which Opwright did not register"
        raise SchemaError([Diagnostic("OW514", message, "take it away where it was registered")])


def name_like(handle: OpDef[..., Any], function: Callable[..., Any]) -> None:
    """Give a handle the name, module and documentation of a function."""
    functools.update_wrapper(handle, function, updated=())
