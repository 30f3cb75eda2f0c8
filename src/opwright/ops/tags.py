"""Which of torch's tags a schema earns.

Knows schemas and `torch.Tag`; a tag that this torch does not have is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from opwright.schema.kinds import Base, aliases
from opwright.schema.model import Schema


def tags_for(schema: Schema, given: Sequence[torch.Tag] = ()) -> tuple[torch.Tag, ...]:
    """The tags to define an operator with: what the user gives, and what the schema says.

    >>> from opwright.schema.parse import parse
    >>> [str(tag) for tag in tags_for(parse("mylib::f_(Tensor(a!) x) -> Tensor(a!)"))]
    ['Tag.pt2_compliant_tag', 'Tag.inplace']
    """
    earned = (getattr(torch.Tag, name, None) for name in _earned(schema))
    return tuple(dict.fromkeys([*given, *(tag for tag in earned if tag is not None)]))


def _earned(schema: Schema) -> Iterator[str]:
    yield "pt2_compliant_tag"
    if is_inplace(schema):
        yield "inplace"
    if is_out(schema):
        yield "out"


def is_inplace(schema: Schema) -> bool:
    """Whether the operator writes its first argument alone and gives it back."""
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
    written = [argument for argument in schema.arguments if argument.writes]
    return (
        bool(written)
        and all(argument.kw_only and isinstance(argument.type, Base) for argument in written)
        and [argument.type for argument in written] == [result.type for result in schema.returns]
    )


def aliases_back(schema: Schema) -> bool:
    """Whether a result is an argument or a view of one."""
    return any(True for result in schema.returns for _ in aliases(result.type))
