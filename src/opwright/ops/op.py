"""`op` makes an operator of an annotated function; `existing` finds one that others registered.

Knows inference and handles; not torch's dispatcher.
"""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.library import Library

from opwright.findings import Diagnostic, SchemaError, Severity
from opwright.hints import inferred
from opwright.hints.codec import AS_IS, Gives, Single
from opwright.hints.lower import Inferred
from opwright.ops import names, private, registry
from opwright.ops.core import DEFAULT_KEY, Core
from opwright.ops.crossing import Unsupported
from opwright.ops.handle import OpDef, P, R, name_like
from opwright.ops.keys import keys_of
from opwright.ops.limits import limits
from opwright.ops.plan import Plan, plain_plan, plan
from opwright.ops.tags import compiled_form, tags_for
from opwright.ops.transforms import batch_by_element, record_gradients
from opwright.schema.compare import compare
from opwright.schema.model import Schema
from opwright.schema.parse import parse
from opwright.schema.signature import signature as signature_of


class OpwrightWarning(UserWarning):
    """A finding that does not stop a registration."""


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

    A function whose `Out` parameters may be left out becomes two operators, `f` and `f.out`, behind
    one handle. Registering a function again replaces the earlier operator with all that was added
    to it. Raises `SchemaError` with everything that is wrong, and then nothing has changed.

    >>> import torch
    >>> from torch import Tensor
    >>> from opwright import Out
    >>> @op("mylib::halve")
    ... def halve(x: Tensor, *, out: Out[Tensor] | None = None) -> Tensor:
    ...     return torch.div(x, 2, out=out)
    >>> print(halve.schema, halve.out.schema, sep="; ")
    mylib::halve(Tensor x) -> Tensor; mylib::halve.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
    """

    def decorate(function: Callable[P, R]) -> OpDef[P, R]:
        found = agreed(function, name, schema)
        devices = (device,) if isinstance(device, str) else device
        keys = (DEFAULT_KEY,) if devices is None else keys_of(devices)
        wanted = Wanted(tuple(tags), library, differentiable)
        return register(function, found, dict.fromkeys(keys, function), wanted)

    return decorate


def existing(name: str, /) -> OpDef[..., Any]:
    """The handle of an operator that is registered already, in C++ or by others.

    Kernels, a fake and rules can be added to it where it has none; operators of torch itself are
    only looked at.

    >>> existing("aten::relu").schema
    Schema(name='aten::relu', ...)
    >>> existing("mylib::nowhere_to_be_found")
    Traceback (most recent call last):
    LookupError: nothing registered ...
    """
    known = _handles.get(name)
    if known is not None and registry.entry(name) is not None:
        return known
    if not private.exists(name):
        raise LookupError(names.missing(name))
    schema = parse(private.schema_text(name))
    signature = functools.partial(signature_of, schema)
    core = Core(schema, lambda: plain_plan(schema, signature()))
    core.adopt()
    return OpDef(core, signature)


# How a function becomes an operator ------------------------------------------------------------


class Wanted:
    """What an author asks for besides the function."""

    __slots__ = ("differentiable", "library", "tags")

    def __init__(
        self, tags: tuple[torch.Tag, ...], library: Library | None, differentiable: bool
    ) -> None:
        self.tags = tags
        self.library = library
        self.differentiable = differentiable


def agreed(
    function: Callable[..., Any], name: str, schema: str | Schema | None = None
) -> tuple[Schema, Inferred]:
    """The schema to register, and what the annotations mean; raises what stops a registration."""
    names.check(name)
    meant = inferred(function, name=name)
    written = parse(schema) if isinstance(schema, str) else schema
    whole = _qualified(written, meant.schema)
    found = [*meant.findings, *limits(meant.schema), *names.unspeakable(whole)]
    found += compare(written, meant.schema) if written else []
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    if errors:
        raise SchemaError(errors)
    for finding in found:
        if finding.severity is Severity.WARNING:
            warnings.warn(str(finding), OpwrightWarning, stacklevel=4)
    return whole, meant


def _qualified(written: Schema | None, meant: Schema) -> Schema:
    """A handwritten schema may leave the namespace out."""
    if written is None:
        return meant
    return Schema(
        meant.name, meant.overload, written.arguments, written.returns, written.varargs,
        written.varrets,
    )  # fmt: skip


def register(
    function: Callable[P, R],
    found: tuple[Schema, Inferred],
    kernels: dict[str, Callable[..., Any]],
    wanted: Wanted,
) -> OpDef[P, R]:
    """Register what was agreed upon, and give out its handle."""
    cores = [*_cores(function, found, wanted)]
    registry.register(cores, function, kernels)
    for core in cores:
        batch_by_element(core)
    return _handle(cores, functools.partial(inspect.signature, function), function)


def _cores(
    function: Callable[..., Any], found: tuple[Schema, Inferred], wanted: Wanted
) -> Iterator[Core]:
    """The operators of a function, not yet registered."""
    schema, meant = found
    yield _core(planned, (function, schema, meant), compiled_form(schema), meant, wanted)
    if meant.out is not None:
        written = compiled_form(meant.out.schema, schema)
        yield _core(_planned_out, (function, written, meant), written, meant.out, wanted)


def _core(
    lined_up: Callable[..., Plan],
    of: tuple[Any, ...],
    schema: Schema,
    meant: Inferred,
    wanted: Wanted,
) -> Core:
    core = Core(
        schema, functools.partial(lined_up, *of), tags_for(schema, wanted.tags), wanted.library
    )
    if wanted.differentiable:
        core.preparations.append(record_gradients)
    if not _crosses_as_it_is(schema, meant):
        try:
            core.check_crossings()
        except Unsupported as refusal:
            raise SchemaError([Diagnostic("OW512", f"{schema.qualname}: {refusal}")]) from None
        core.packs = True
    return core


def _crosses_as_it_is(schema: Schema, meant: Inferred) -> bool:
    """Whether arguments and results pass the dispatcher as they are."""
    return (
        all(isinstance(binding, Single) and binding.codec == AS_IS for binding in meant.bindings)
        and all(part.codec == AS_IS for part in meant.results.parts)
        and meant.results.gives is not Gives.STRUCTURE
        and len(schema.returns) == len(meant.results.parts)
    )


def planned(function: Callable[..., Any], schema: Schema, meant: Inferred) -> Plan:
    """How calls of the function line up with the schema; of its overload `out` elsewhere."""
    signature = _without(inspect.signature(function), _outs(meant))
    return plan(compiled_form(schema), signature, meant.bindings, meant.results, meant.schema)


def _planned_out(function: Callable[..., Any], schema: Schema, meant: Inferred) -> Plan:
    out = meant.out
    assert out is not None
    signature = _with(inspect.signature(function), _outs(meant))
    return plan(schema, signature, out.bindings, out.results, out.schema)


def _outs(meant: Inferred) -> frozenset[str]:
    """The parameters that only the overload `out` has."""
    if meant.out is None:
        return frozenset()
    return frozenset(b.name for b in meant.out.bindings) - {b.name for b in meant.bindings}


def _without(whole: inspect.Signature, outs: frozenset[str]) -> inspect.Signature:
    if not outs:
        return whole
    return whole.replace(parameters=[p for p in whole.parameters.values() if p.name not in outs])


def _with(whole: inspect.Signature, outs: frozenset[str]) -> inspect.Signature:
    """The same with the outs required, and given by keyword."""
    named, required = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    given = [
        p.replace(kind=named, default=required) for p in whole.parameters.values() if p.name in outs
    ]
    return whole.replace(parameters=[*_without(whole, outs).parameters.values(), *given])


_handles: weakref.WeakValueDictionary[str, OpDef[Any, Any]] = weakref.WeakValueDictionary()


def _handle(
    cores: list[Core], signature: Callable[[], inspect.Signature], function: Callable[P, R]
) -> OpDef[P, R]:
    """The handle of an operator; one that was given out before goes on with the new version."""
    first, *rest = cores
    out = OpDef[..., Any](rest[0], lambda: rest[0].plan.signature) if rest else None
    known = _handles.get(first.qualname)
    if known is None:
        known = _handles[first.qualname] = OpDef(first, signature, out)
    else:
        known.__init__(first, signature, out)  # type: ignore[misc]
    first.handle = known  # an operator keeps its handle; nothing else does
    for handle in (known, out):
        if handle is not None:
            name_like(handle, function)
    return known
