"""What annotations say and mean: an annotated function goes in, a schema comes out.

Needs no torch; knows nothing of registering.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

from opwright.findings import SchemaError, Severity
from opwright.frozen import replace
from opwright.hints.lower import Inferred, lower
from opwright.hints.model import Function
from opwright.hints.mutates import marked_by, unmatched
from opwright.hints.places import located
from opwright.schema.model import Schema

Mutates = Collection[str] | Literal["unknown"]


def infer(
    function: Callable[..., Any], *, name: str | None = None, mutates_args: Mutates = ()
) -> Schema:
    """The schema that the annotations of `function` mean.

    `name` is the operator's, `ns::name`; without it the function's own is taken. `mutates_args`
    reads a function without marks as `torch.library.custom_op` does: it names the parameters that
    are written, or is `"unknown"` for all tensors. Raises `SchemaError` with every fault at once.

    >>> def area(width: int, height: int, scale: float = 1) -> float: ...
    >>> print(infer(area, name="mylib::area"))
    mylib::area(SymInt width, SymInt height, float scale=1.0) -> float
    """
    return inferred(function, name=name, mutates_args=mutates_args).schema


def inferred(
    function: Callable[..., Any], *, name: str | None = None, mutates_args: Mutates = ()
) -> Inferred:
    """As `infer`, with everything that a registration needs: bindings, results and remarks."""
    found = examine(function, name=name, mutates_args=mutates_args)
    errors = [finding for finding in found.findings if finding.severity is Severity.ERROR]
    if errors:
        raise SchemaError(errors)
    return found


def examine(
    function: Callable[..., Any], *, name: str | None = None, mutates_args: Mutates = ()
) -> Inferred:
    """As `inferred`, with the faults among the findings instead of raised.

    >>> def bad(x: dict, y: set[int]) -> None: ...
    >>> for finding in examine(bad).findings:
    ...     print(finding.code, finding.message)
    OW102 'x' of bad: dict has no schema type
    OW102 'y' of bad: set[int] has no schema type
    """
    from opwright.hints.live import read, underneath  # who reads source alone need not wait

    read_ = read(function)
    found = _lowered(read_, name, mutates_args)
    if not found.findings:
        return found
    written = underneath(function)
    return found if written is None else _lowered(located(read_, written), name, mutates_args)


def _lowered(function: Function, name: str | None, mutates_args: Mutates) -> Inferred:
    if not mutates_args:
        return lower(function, name)
    found = lower(marked_by(function, mutates_args), name)
    faults = tuple(unmatched(function, mutates_args))
    return replace(found, findings=found.findings + faults) if faults else found
