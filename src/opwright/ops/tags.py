"""Which of torch's tags a schema earns.

Knows schemas and `torch.Tag`; a tag that this torch does not have is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import torch

from opwright.schema.kinds import Base
from opwright.schema.model import REQUIRED, Schema


def tags_for(schema: Schema, given: Sequence[torch.Tag] = ()) -> tuple[torch.Tag, ...]:
    """The tags to define an operator with: what the user gives, and what the schema says.

    >>> from opwright.schema.parse import parse
    >>> [str(tag) for tag in tags_for(parse("mylib::f_(Tensor(a!) x) -> Tensor(a!)"))]
    ['Tag.pt2_compliant_tag', 'Tag.inplace']
    """
    earned = _present(tuple(_earned(schema)))
    return tuple(dict.fromkeys([*given, *earned])) if given else earned


@lru_cache
def _present(names: tuple[str, ...]) -> tuple[torch.Tag, ...]:
    """The tags of these names that this torch has."""
    return tuple(getattr(torch.Tag, name) for name in names if hasattr(torch.Tag, name))


def _earned(schema: Schema) -> Iterator[str]:
    yield "pt2_compliant_tag"
    if is_inplace(schema):
        yield "inplace"
    if is_out(schema):
        yield "out"


def is_inplace(schema: Schema) -> bool:
    """Whether the operator writes its first argument alone and gives it back."""
    if not _gives_back(schema):
        return False
    written = [argument for argument in schema.arguments if argument.writes]
    return (
        len(written) == len(schema.returns) == 1
        and written[0] is schema.arguments[0]
        and not written[0].kw_only
        and isinstance(written[0].type, Base)
        and written[0].type == schema.returns[0].type
    )


def is_out(schema: Schema) -> bool:
    """Whether the operator gives back the keyword-only tensors that it writes, in order."""
    if not _gives_back(schema):
        return False
    written = [argument for argument in schema.arguments if argument.writes]
    return (
        bool(written)
        and all(argument.kw_only and isinstance(argument.type, Base) for argument in written)
        and [argument.type for argument in written] == [result.type for result in schema.returns]
    )


def _gives_back(schema: Schema) -> bool:
    """Whether each result is marked as an argument; most schemas are told apart by this alone."""
    types = [result.type for result in schema.returns]
    return bool(types) and all(isinstance(kind, Base) and kind.alias for kind in types)


def compiled_form(schema: Schema, twin: Schema | None = None) -> Schema:
    """The schema in the form that this torch compiles; `twin` is the operator without the outs.

    What gives back the arguments that it writes needs a tag for that. Where torch has none (before
    2.13), or has Inductor swap `f` for `f.out` with arguments given twice (2.13: where any of them
    has a default or is keyword-only), the schema says nothing of the result; the handle gives it
    back all the same.
    """
    if not (is_inplace(schema) or is_out(schema)):
        return schema
    tagged = hasattr(torch.Tag, "inplace" if is_inplace(schema) else "out")
    return (
        schema if tagged and not (twin and _swapped_wrongly(twin)) else replace(schema, returns=())
    )


def _swapped_wrongly(twin: Schema) -> bool:
    return any(a.kw_only or a.default is not REQUIRED for a in twin.arguments)
