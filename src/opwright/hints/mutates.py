"""What torch's `mutates_args` says, as marks on the annotations of a function without them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.frozen import replace
from opwright.hints.meaning import TENSOR, Refusal, innermost, meaning
from opwright.hints.model import Function, Of, Parameter

UNKNOWN = "unknown"


def marked_by(function: Function, mutates_args: Collection[str]) -> Function:
    """The function with `Mutable` around what is named, or with `"unknown"` around each tensor."""
    parameters = tuple(_marked(parameter, mutates_args) for parameter in function.parameters)
    return replace(function, parameters=parameters)


def _marked(parameter: Parameter, mutates_args: Collection[str]) -> Parameter:
    if parameter.hint is None:
        return parameter
    found = meaning(parameter.hint)
    tensor = not isinstance(found, Refusal) and innermost(found.type) == TENSOR
    written = not isinstance(found, Refusal) and found.mark
    named = tensor if mutates_args == UNKNOWN else parameter.name in mutates_args
    if not named or written:
        return parameter
    return replace(parameter, hint=Of("opwright.Mutable", (parameter.hint,)))


def unmatched(function: Function, mutates_args: Collection[str]) -> Iterator[Diagnostic]:
    """A finding for each name that is no parameter, or for a text that is not `"unknown"`."""
    if mutates_args == UNKNOWN:
        return
    if isinstance(mutates_args, str):
        message = f"mutates_args of {function.name} is {mutates_args!r}"
        yield _found(function, message, f'write `["{mutates_args}"]`, or `"unknown"`')
        return
    known = {parameter.name for parameter in function.parameters}
    for name in mutates_args:
        if name not in known:
            message = f"mutates_args of {function.name} names {name!r}, which is no parameter"
            yield _found(function, message, f"it has {', '.join(sorted(known))}")


def _found(function: Function, message: str, hint: str) -> Diagnostic:
    return finding("OW115", message, hint, function.span)
