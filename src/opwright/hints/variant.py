"""A function whose `Out` parameters may be left out is two operators: `f` and `f.out`.

Knows how to make the annotations of each out of the one function's.
"""

from __future__ import annotations

from collections.abc import Callable

from opwright.frozen import replace
from opwright.hints.model import (
    ELLIPSIS,
    MISSING,
    NONE,
    Function,
    Hint,
    Kind,
    Of,
    Parameter,
    Structure,
    union,
)

_OUT = "opwright.Out"


def optional_outs(function: Function) -> frozenset[str]:
    """The parameters `Out[Tensor] | None = None` of a function that returns something."""
    if function.returns in (None, NONE):
        return frozenset()
    return frozenset(p.name for p in function.parameters if p.default is None and _is_out(p.hint))


def _is_out(hint: Hint | None) -> bool:
    match hint:
        case Of("Union", args):
            return any(_is_out(arg) for arg in args)
        case Of(head, _):
            return head == _OUT
        case _:
            return False


def without_outs(function: Function, outs: frozenset[str]) -> Function:
    """The operator that makes its results."""
    kept = tuple(p for p in function.parameters if p.name not in outs)
    returns = function.returns and _over_returns(function.returns, _unmarked)
    return replace(function, parameters=kept, returns=returns)


def with_outs(function: Function, outs: frozenset[str]) -> Function:
    """The operator that writes its results into what it is given."""
    kept = tuple(p for p in function.parameters if p.name not in outs)
    given = tuple(_required(p) for p in function.parameters if p.name in outs)
    returns = function.returns and _over_returns(function.returns, _marked)
    return replace(function, parameters=kept + given, returns=returns)


def _required(parameter: Parameter) -> Parameter:
    assert parameter.hint is not None
    hint = Of(_OUT, (_unmarked(parameter.hint),))
    return replace(parameter, hint=hint, default=MISSING, kind=Kind.KEYWORD_ONLY)


def _over_returns(hint: Hint, change: Callable[[Hint], Hint]) -> Hint:
    match hint:
        case Of("tuple", args) if ELLIPSIS not in args:
            return Of("tuple", tuple(map(change, args)))
        case Structure(fields=fields):
            changed = tuple(replace(part, hint=change(part.hint)) for part in fields)
            return replace(hint, fields=changed)
        case _:
            return change(hint)


def _unmarked(hint: Hint) -> Hint:
    """The tensor behind `Out[Tensor] | None` and `Out[Tensor | None]`."""
    match hint:
        case Of("Union", args) if NONE in args:
            return _unmarked(union(arg for arg in args if arg != NONE))
        case Of("opwright.Out", (inner,)):
            return _unmarked(inner)
        case _:
            return hint


def _marked(hint: Hint) -> Hint:
    return Of(_OUT, (_unmarked(hint),))
