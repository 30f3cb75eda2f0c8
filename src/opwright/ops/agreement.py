"""Whether a kernel, fake or other implementation can stand for the function of an operator.

Knows signatures and annotations; registers nothing. An implementation may leave defaults out, since
it is always given every argument; a default of its own must be the operator's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from inspect import Parameter
from types import CodeType, FunctionType
from typing import Any

from opwright.codes import finding
from opwright.findings import Diagnostic, SchemaError, Severity, Span
from opwright.hints import inferred
from opwright.ops.plan import Plan
from opwright.schema.compare import compare

_FREE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def check(
    plan: Plan,
    implementation: Callable[..., Any],
    role: str,
    ignored: frozenset[str] = frozenset(),
) -> None:
    """Refuse an implementation that would be called otherwise than it is written.

    All faults at once, as a `SchemaError`. What has no signature to read is taken on trust;
    `ignored` parameters it may have or not.
    """
    try:
        whole = inspect.signature(implementation)
    except (ValueError, TypeError):
        return
    kept = [p for p in whole.parameters.values() if p.name not in ignored]
    signature = whole if len(kept) == len(whole.parameters) else whole.replace(parameters=kept)
    if signature == plan.signature:
        return
    what = f"{role} of {plan.schema.qualname}"
    found = list(disagreements(plan.signature, signature, what))
    found += _annotated(plan, implementation, signature, what) if not found else []
    if found:
        place = _span(implementation)
        raise SchemaError(
            Diagnostic(f.code, f.message, f.hint, f.span if f.span != Span() else place)
            for f in found
        )


def has_same_head(source: object, other: object) -> bool:
    """Whether two plain functions are written alike up to the colon; a quick first look."""
    if not (isinstance(source, FunctionType) and isinstance(other, FunctionType)):
        return False
    return (
        _head(source.__code__) == _head(other.__code__)
        and source.__annotations__ == other.__annotations__
        and _defaults(source) == _defaults(other)
        and not (source.__dict__ or other.__dict__)
    )


def _defaults(function: FunctionType) -> list[tuple[type, object]]:
    named = (function.__kwdefaults__ or {}).items()
    values = [*(function.__defaults__ or ()), *(part for pair in named for part in pair)]
    return [(type(value), value) for value in values]


def _head(code: CodeType) -> tuple[object, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    named = code.co_varnames[:count]
    return (code.co_argcount, code.co_posonlyargcount, flags, named)


def disagreements(
    expected: inspect.Signature, given: inspect.Signature, what: str
) -> Iterator[Diagnostic]:
    """Names, order, kinds and defaults that differ; `_` stands for any positional name.

    >>> def f(x, n=7): ...
    >>> def kernel(x, n=3): ...
    >>> two = inspect.signature(f), inspect.signature(kernel)
    >>> print(*disagreements(*two, "kernel 'cpu' of mylib::f"))
    OW304 the default of 'n' is 3 in kernel 'cpu' of mylib::f, 7 in the operator
      hint: write `n=7`, or leave the default out
    """
    yield from _positional(expected, given, what)
    yield from _named(expected, given, what)
    for name, parameter in given.parameters.items():
        yield from _default(expected.parameters.get(name), parameter, what)


def _positional(
    expected: inspect.Signature, given: inspect.Signature, what: str
) -> Iterator[Diagnostic]:
    wanted = [p for p in expected.parameters.values() if p.kind in _FREE]
    by_name = {p.name for p in expected.parameters.values() if p.kind not in _FREE}
    found = [p for p in given.parameters.values() if p.kind in _FREE and p.name not in by_name]
    rest = any(p.kind is Parameter.VAR_POSITIONAL for p in given.parameters.values())
    names = [p.name for p in wanted]
    takes = [_meant(p.name, names[i : i + 1]) for i, p in enumerate(found)]
    if names == takes or (rest and names[: len(takes)] == takes):
        return
    named = {p.name for p in given.parameters.values() if p.kind is Parameter.KEYWORD_ONLY}
    if sorted(names) == sorted(takes):
        yield finding("OW303", f"{what} takes {_row(takes)}, the operator gives {_row(names)}")
        return
    for name in names:
        if name in named:
            yield finding("OW306", f"{name!r} is keyword-only in {what}, not in the operator")
        elif name not in takes and not rest:
            yield finding("OW301", f"{what} lacks {name!r}", f"add `{name}`")
    for name in takes:
        if name not in names:
            hint = f"the operator gives it {_row(names)}"
            yield finding("OW302", f"{what} takes {name!r}, which it is not given", hint)


def _meant(name: str, at_this_place: list[str]) -> str:
    """A positional parameter called `_` or `_n` takes what comes there, and does not care."""
    return at_this_place[0] if name.startswith("_") and at_this_place else name


def _named(
    expected: inspect.Signature, given: inspect.Signature, what: str
) -> Iterator[Diagnostic]:
    wanted = [p.name for p in expected.parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
    taken = {p.name: p for p in given.parameters.values()}
    rest = any(p.kind is Parameter.VAR_KEYWORD for p in given.parameters.values())
    free = {p.name for p in expected.parameters.values() if p.kind in _FREE}
    for name in wanted:
        if not rest and (name not in taken or taken[name].kind is Parameter.POSITIONAL_ONLY):
            yield finding("OW301", f"{what} lacks the keyword {name!r}", f"add `*, {name}`")
    for name, p in taken.items():
        if p.kind is Parameter.KEYWORD_ONLY and name not in wanted and name not in free:
            yield finding("OW302", f"{what} takes {name!r}, which it is not given")


def _default(expected: Parameter | None, given: Parameter, what: str) -> Iterator[Diagnostic]:
    if expected is None or given.default is Parameter.empty or _same(expected, given):
        return
    meant = "none" if expected.default is Parameter.empty else repr(expected.default)
    keep = "" if meant == "none" else f"write `{given.name}={meant}`, or "
    yield finding(
        "OW304",
        f"the default of {given.name!r} is {given.default!r} in {what}, {meant} in the operator",
        f"{keep}leave the default out",
    )


def _same(one: Parameter, other: Parameter) -> bool:
    if type(one.default) is not type(other.default):
        numbers = (int, float)
        if not (type(one.default) in numbers and type(other.default) in numbers):
            return False
    return bool(one.default == other.default)


def _annotated(
    plan: Plan, implementation: Callable[..., Any], signature: inspect.Signature, what: str
) -> list[Diagnostic]:
    """What the annotations of an implementation say otherwise, if all of it is annotated."""
    parameters = signature.parameters.values()
    if any(p.annotation is p.empty for p in parameters) or not parameters:
        return []
    if signature.return_annotation is signature.empty:
        return []
    meant = inferred(implementation, name=plan.schema.qualname).schema
    if meant == plan.schema:
        return []
    return [
        Diagnostic(found.code, f"{what}: {found.message}", found.hint)
        for found in compare(plan.schema, meant)
        if found.severity is Severity.ERROR and found.code not in _ABOUT_DEFAULTS
    ]


_ABOUT_DEFAULTS = ("OW207", "OW208")


def _row(names: list[str]) -> str:
    return f"({', '.join(names)})"


def _span(function: Callable[..., Any]) -> Span:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Span() if code is None else Span(code.co_filename, code.co_firstlineno)
