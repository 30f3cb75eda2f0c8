"""The marks an author puts on annotations. For a type checker each is the plain type behind it.

Knows nothing of schemas and needs nothing but typing.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias, TypeVar

from opwright.frozen import frozen

T = TypeVar("T")


@frozen
class Mark:
    """The metadata behind a mark; `Mutable[Tensor]` is `Annotated[Tensor, Mark("Mutable")]`."""

    name: str


@frozen
class Aliases:
    """The result is a view of these parameters: `-> Annotated[Tensor, Aliases("x")]`.

    >>> Aliases("x", "y").names
    ('x', 'y')
    """

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        object.__setattr__(self, "names", names)


Mutable: TypeAlias = Annotated[T, Mark("Mutable")]
"""A tensor, or an optional or list of tensors, that the operator reads and writes."""

Out: TypeAlias = Annotated[T, Mark("Out")]
"""A tensor that the operator writes and never reads."""

Const: TypeAlias = Annotated[T, Mark("Const")]
"""An `int` that `torch.compile` specialises on: `int` in the schema, not `SymInt`."""

Json: TypeAlias = Annotated[T, Mark("Json")]
"""A value that travels as text: serialised by pydantic, parsed once per distinct text."""

Opaque: TypeAlias = Annotated[T, Mark("Opaque")]
"""A Python object that travels as torch's opaque type."""

Scalar: TypeAlias = Annotated[int | float | bool | complex, Mark("Scalar")]
"""Any number; unlike `float`, one that comes from a size compiles once."""
