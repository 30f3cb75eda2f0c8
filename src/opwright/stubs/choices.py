"""What values some arguments take only: the `Literal[...]` behind a `Literal` or an `Enum`.

Knows how values reach an operator; nothing of where its function stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opwright.hints.codec import (
    AsIs,
    Binding,
    By,
    Codec,
    Each,
    EnumMember,
    JsonText,
    Nullable,
    OneOf,
    OpaqueObject,
    Single,
    Splat,
)
from opwright.hints.model import written
from opwright.never import assert_never


def narrowed(bindings: Iterable[Binding]) -> Iterator[tuple[str, str]]:
    """The arguments that take some values only, with the annotation that says so."""
    for binding in bindings:
        match binding:
            case Single(_, argument, codec):
                if (text := _choices(codec)) is not None:
                    yield argument, text
            case Splat(fields=fields):
                yield from narrowed(fields)
            case _:
                assert_never(binding)


def _choices(codec: Codec) -> str | None:
    """The annotation of the values that travel; None where the schema's type says it all."""
    match codec:
        case OneOf(values):
            return f"Literal[{', '.join(map(written, values))}]"
        case EnumMember(enum, By.NAME):
            return f"Literal[{', '.join(repr(name) for name, _ in enum.members)}]"
        case EnumMember(enum, _):
            return f"Literal[{', '.join(written(value) for _, value in enum.members)}]"
        case Nullable(of):
            return _wrapped(of, "{} | None")
        case Each(of):
            return _wrapped(of, "Sequence[{}]")
        case AsIs() | JsonText() | OpaqueObject():
            return None
        case _:
            assert_never(codec)


def _wrapped(codec: Codec, form: str) -> str | None:
    inner = _choices(codec)
    return None if inner is None else form.format(inner)
