"""What is registered in this process, as stubs need it: schemas, and what their authors say.

Reads torch's registry; registers nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from typing import Any

from opwright.findings import SchemaError
from opwright.hints import examine
from opwright.ops import private, registry
from opwright.schema.parse import parse
from opwright.stubs.choices import narrowed
from opwright.stubs.operators import Operator, Unread


def registered(namespaces: Collection[str] = ()) -> Iterator[Operator | Unread]:
    """Every operator of these namespaces, of all without any.

    >>> found = [each for each in registered(["prim"]) if isinstance(each, Operator)]
    >>> print(*[each.schema for each in found if each.schema.name == "prim::dtype"])
    prim::dtype(Tensor a) -> int
    """
    for schema in private.all_schemas():
        if not namespaces or schema.name.partition("::")[0] in namespaces:
            yield _operator(str(schema), schema.name)


def _operator(text: str, name: str) -> Operator | Unread:
    try:
        schema = parse(text)
    except SchemaError as refused:
        return Unread(name, refused.findings)
    function = _function(name)
    if function is None:
        return Operator(schema)
    return Operator(schema, inspect.getdoc(function) or "", *_place(function), _choices(function))


def _choices(function: Callable[..., Any]) -> dict[str, str]:
    """The arguments that take some values only."""
    meant = examine(function)
    bindings = (*meant.bindings, *(meant.out.bindings if meant.out else ()))
    return dict(narrowed(bindings))


def _function(name: str) -> Callable[..., Any] | None:
    """The Python function of an operator, where Opwright or torch knows it."""
    own = registry.entry(name)
    if own is not None:
        return own.source
    definition = private.CUSTOM_OPS.get(name)
    return None if definition is None else definition._init_fn


def _place(function: Callable[..., Any]) -> tuple[str, int]:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return ("", 0) if code is None else (code.co_filename, code.co_firstlineno)
