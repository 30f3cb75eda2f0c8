"""What a live typing construct is: `typing_inspect`, and what it lacks.

Knows how Python spells types at run time; nothing of hints.
"""

from __future__ import annotations

from typing import Annotated, Any, ForwardRef, get_args, get_origin

import typing_inspect  # type: ignore[import-untyped]

from opwright import _compat


def is_union(annotation: object) -> bool:
    """`Optional[int]` and `int | None`."""
    return bool(get_args(annotation)) and bool(typing_inspect.is_union_type(annotation))


def is_literal(annotation: object) -> bool:
    """`Literal["a"]`."""
    return get_origin(annotation) is not None and bool(typing_inspect.is_literal_type(annotation))


def is_annotated(annotation: object) -> bool:
    """`Annotated[int, ...]`, which `typing_inspect` does not know."""
    return get_origin(annotation) is Annotated


def is_qualified(annotation: object) -> bool:
    """`Final[int]`, `Required[int]`, `NotRequired[int]`, `ReadOnly[int]`."""
    return get_origin(annotation) in _compat.QUALIFIERS


def stated(annotation: object) -> bool | None:
    """What `Required` or `NotRequired` around a type says; None where neither is.

    >>> from typing_extensions import NotRequired
    >>> stated(NotRequired[int]), stated(int)
    (False, None)
    """
    while is_qualified(annotation):
        if get_origin(annotation) in _compat.STATED:
            return _compat.STATED[get_origin(annotation)]
        annotation = get_args(annotation)[0]
    return None


def is_alias(annotation: object) -> bool:
    """`type Pair = tuple[int, int]`."""
    return isinstance(annotation, _compat.ALIASES)


def behind(annotation: Any) -> list[object] | None:
    """What a `NewType` or type variable stands for: one type, its constraints, or nothing at all.

    None for everything else.

    >>> from typing import NewType, TypeVar
    >>> behind(NewType("Rank", int)), behind(TypeVar("T", int, float)), behind(TypeVar("T"))
    ([<class 'int'>], [<class 'int'>, <class 'float'>], [])
    >>> behind(int)
    """
    if typing_inspect.is_new_type(annotation) and hasattr(annotation, "__supertype__"):
        return [annotation.__supertype__]
    if typing_inspect.is_typevar(annotation):
        bound = typing_inspect.get_bound(annotation)
        return [bound] if bound is not None else list(typing_inspect.get_constraints(annotation))
    return None


def forward_text(annotation: object) -> str | None:
    """The text of a quoted annotation."""
    if isinstance(annotation, str):
        return annotation
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else None
