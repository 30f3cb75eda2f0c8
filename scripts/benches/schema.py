"""Reading and writing every schema that torch knows, against torch's own reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

import opwright
from benches import Row, Times


def rows() -> Iterator[Row]:
    texts = [str(schema) for schema in torch._C._jit_get_all_schemas()]
    texts = [text for text in texts if _readable(text)]
    ours = [opwright.parse(text) for text in texts]
    theirs = [torch._C.parse_schema(text) for text in texts]
    count = len(texts)
    yield Row(
        f"read {count} schemas",
        "torch._C.parse_schema",
        _each(opwright.parse, texts),
        _each(torch._C.parse_schema, texts),
        Times(30),
        count,
    )
    yield Row(
        f"print {count} schemas",
        "str(FunctionSchema)",
        _each(str, ours),
        _each(str, theirs),
        Times(5),
        count,
    )


def _each(function: Callable[[object], object], values: Sequence[object]) -> Callable[[], object]:
    return lambda: [function(value) for value in values]


def _readable(text: str) -> bool:
    """Whether both read what torch printed; torch cannot read all that it prints itself."""
    try:
        torch._C.parse_schema(text)
        opwright.parse(text)
    except (RuntimeError, opwright.SchemaError):
        return False
    return True
