"""What torch defines and then cannot run: refused at registration, with the way around it.

Knows schemas only. Each limit names the torch that has it, so that it can go when torch has moved.
"""

from __future__ import annotations

from collections.abc import Iterator

from opwright.findings import Diagnostic
from opwright.schema.model import List, Maybe, Schema


def limits(schema: Schema) -> Iterator[Diagnostic]:
    """Everything in a schema that works in eager mode and breaks under compilation."""
    for argument in schema.arguments:
        # torch 2.13: auto-functionalization fails, 'dict' object has no attribute 'append'
        kind = argument.type
        if argument.writes and isinstance(kind, List) and isinstance(kind.of, Maybe):
            yield Diagnostic(
                "OW517",
                f"{argument.name!r} of {schema.qualname} is a written list of optional tensors, "
                "which torch.compile cannot handle",
                f"take the tensors that are there: `{argument.name}: Mutable[list[Tensor]]`",
            )
