"""The class form of an operator: everything about it in one place.

Knows which names in a class body mean what; registering is left to `op`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, ClassVar

from opwright.findings import Diagnostic, SchemaError
from opwright.hints import inferred
from opwright.ops import agreement, private
from opwright.ops.core import DEFAULT_KEY
from opwright.ops.formula import Formula
from opwright.ops.formula import check as check_formula
from opwright.ops.handle import OpDef
from opwright.ops.keys import keys_of
from opwright.ops.op import Wanted, agreed, planned, register

ROLES = ("signature", "kernel", "fake", "setup_context", "backward", "vmap")
"""What a function of a class body may be, besides the kernel of a device; `kernel` is for all."""


class Operator:
    """An operator written as a class: calling the class calls the operator.

    The functions take no `self`. Each is called for what it is: a device type or dispatch key for a
    kernel, `kernel` for one that serves all devices, `fake`, `setup_context`, `backward`, `vmap`.
    `signature` says what the operator takes and gives; without it, every annotated kernel and fake
    must say the same. What begins with an underscore is left alone. Besides `name` there may be
    `schema`, `tags`, `library`, `differentiable`, and `autocast`, a dtype for each device type.

    >>> import torch
    >>> from torch import Tensor
    >>> class Scaled(Operator):
    ...     name = "mylib::scaled"
    ...     def signature(x: Tensor, by: float = 2.0) -> Tensor: ...
    ...     def cpu(x, by):
    ...         return x * by
    ...     def fake(x, by):
    ...         return torch.empty_like(x)
    >>> Scaled.handle
    <operator mylib::scaled(Tensor x, float by=2.0) -> Tensor>
    >>> Scaled(torch.ones(1), by=3.0)
    tensor([3.])
    """

    handle: ClassVar[OpDef[..., Any]]
    """The operator itself, as the decorator gives it."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        body = _body(cls)
        if "name" in body:
            cls.handle = _registered(cls, body)

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.handle(*args, **kwargs)


def _body(cls: type) -> dict[str, Any]:
    """What the class and the ones that it extends, `Operator` aside, define."""
    own = [base for base in reversed(cls.__mro__) if issubclass(base, Operator)][1:]
    found = {name: value for base in own for name, value in vars(base).items()}
    return {
        name: value.__func__ if isinstance(value, staticmethod) else value
        for name, value in found.items()
        if not name.startswith("_") and name != "handle"
    }


def _registered(cls: type, body: dict[str, Any]) -> OpDef[..., Any]:
    functions = {name: f for name, f in body.items() if isinstance(f, FunctionType)}
    kernels = _kernels(cls, functions)
    source = _source(cls, functions, kernels)
    found = agreed(source, body["name"], body.get("schema"))
    _check(source, found, functions, kernels)
    wanted = Wanted(
        tuple(body.get("tags", ())), body.get("library"), body.get("differentiable", True)
    )
    handle = register(source, found, {k: f for _, k, f in _placed(kernels)}, wanted)
    _add(handle, functions, body.get("autocast", {}))
    return handle


def _kernels(cls: type, functions: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """The kernels by the names that the class gives them; a name that means nothing is refused."""
    known = {*private.dispatch_keys(), *private.DEVICE_TYPES, *ROLES}
    kernels: dict[str, Callable[..., Any]] = {}
    for name, function in functions.items():
        if name == "kernel" or (name not in ROLES and private.is_device(name)):
            kernels[name] = function
        elif name not in ROLES:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"write `{near[0]}`, or " if near else ""
            message = f"{name!r} in {cls.__qualname__} is no device, dispatch key or role"
            raise SchemaError([Diagnostic("OW515", message, f"{hint}begin it with an underscore")])
    if not kernels:
        message = f"{cls.__qualname__} has no kernel"
        raise SchemaError(
            [Diagnostic("OW515", message, "write `def cpu(...)`, or `def kernel(...)`")]
        )
    return kernels


def _placed(
    kernels: dict[str, Callable[..., Any]],
) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Each kernel with its name in the class and its dispatch key."""
    for name, function in kernels.items():
        key = DEFAULT_KEY if name == "kernel" else keys_of((name,))[0]
        yield name, key, function


def _source(
    cls: type, functions: dict[str, Any], kernels: dict[str, Callable[..., Any]]
) -> Callable[..., Any]:
    """The function whose annotations say what the operator is."""
    if "signature" in functions:
        return _named(functions["signature"], cls)
    annotated = {n: f for n, f in (*kernels.items(), *functions.items()) if _is_annotated(n, f)}
    if not annotated:
        message = f"nothing in {cls.__qualname__} is annotated"
        raise SchemaError(
            [Diagnostic("OW101", message, "write `def signature(x: Tensor, ...): ...`")]
        )
    first, *others = annotated
    for other in others:
        _compare(cls, (first, annotated[first]), (other, annotated[other]))
    return annotated[first]


def _named(function: Callable[..., Any], cls: type) -> Callable[..., Any]:
    function.__qualname__ = f"{cls.__qualname__}.signature"
    return function


def _is_annotated(name: str, function: FunctionType) -> bool:
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    if name in ROLES and name not in ("kernel", "fake"):
        return False
    return {*code.co_varnames[:count], "return"} <= {*function.__annotations__}


def _compare(cls: type, one: tuple[str, Any], other: tuple[str, Any]) -> None:
    """Refuse two implementations that are annotated differently, with both sides shown."""
    (first, f), (second, g) = one, other
    name = vars(cls)["name"]
    left, right = (str(inferred(each, name=name).schema) for each in (f, g))
    if left != right:
        message = (
            f"{first!r} and {second!r} of {cls.__qualname__} are annotated differently\n"
            f"  - {first}: {left}\n  + {second}: {right}"
        )
        raise SchemaError([Diagnostic("OW516", message, "annotate them alike, or a `signature`")])


def _check(
    source: Callable[..., Any],
    found: Any,
    functions: dict[str, Any],
    kernels: dict[str, Callable[..., Any]],
) -> None:
    """Everything that could be refused later is refused before anything is registered."""
    plan = planned(source, *found)
    for name, function in kernels.items():
        if function is not source:
            agreement.check(plan, function, f"the kernel {name!r}")
    if "fake" in functions and functions["fake"] is not source:
        agreement.check(plan, functions["fake"], "the fake")
    formula = Formula(functions.get("backward"), functions.get("setup_context"), ())
    if faults := list(check_formula(plan, formula)):
        raise SchemaError(faults)


def _add(handle: OpDef[..., Any], functions: dict[str, Any], autocast: dict[str, Any]) -> None:
    for role in ("fake", "setup_context", "backward", "vmap"):
        if role in functions:
            getattr(handle, role)(functions[role])
    for device, dtype in autocast.items():
        handle.autocast(device, dtype)
