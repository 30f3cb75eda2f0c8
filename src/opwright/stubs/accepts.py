"""What Python values a call of an operator takes and gives, as annotations in text.

Knows the types of schemas; nothing of operators. An annotation for a *call* is wider than the one
its author wrote: the dispatcher takes any sequence for a list, one number for a sized list, a
string for a device.
"""

from __future__ import annotations

from functools import cache

from opwright.never import assert_never
from opwright.schema.kinds import Apply, Base, List, Maybe, Type
from opwright.schema.spell import INFERRED, LOST

WIDER = {
    "Device": "torch.device | str | int",
    "Scalar": "int | float | bool | complex",
    "SymBool": "bool",
    "int": "int",
}
"""What a call may give, where it is not what the author of the operator annotates."""

TAKES = LOST | INFERRED | WIDER
GIVES = TAKES | {"Device": "torch.device"}

PLAIN = frozenset(INFERRED) - {"Device", "SymBool", "int"}
"""The types that the annotation of a parameter means when it is read back, without more words."""


@cache
def takes(kind: Type) -> str:
    """The annotation of a parameter.

    >>> from opwright.schema.kinds import Base, List, Maybe
    >>> takes(Maybe(List(Base("SymInt"), 2))), takes(Base("Device"))
    ('int | Sequence[int] | None', 'torch.device | str | int')
    """
    match kind:
        case Maybe(of):
            return optional(takes(of))
        case List(of, size):
            item = takes(of)
            bare = f"{item} | " if size is not None and isinstance(of, Base) else ""
            return f"{bare}Sequence[{item}]"
        case Base(name):
            return TAKES.get(name, "Any")
        case Apply():
            return _applied(kind, [takes(part) for part in kind.of])
        case _:
            assert_never(kind)


@cache
def gives(kind: Type) -> str:
    """The annotation of a result.

    >>> from opwright.schema.kinds import Base, List
    >>> gives(List(Base("Tensor")))
    'list[Tensor]'
    """
    match kind:
        case Maybe(of):
            return optional(gives(of))
        case List(of):
            return f"list[{gives(of)}]"
        case Base(name):
            return GIVES.get(name, "Any")
        case Apply():
            return _applied(kind, [gives(part) for part in kind.of])
        case _:
            assert_never(kind)


def optional(annotation: str) -> str:
    """The same or None; `Any` holds None already."""
    return annotation if annotation in ("Any", "None") else f"{annotation} | None"


def _applied(kind: Apply, of: list[str]) -> str:
    match kind.name:
        case "":
            return f"tuple[{', '.join(of) or '()'}]"
        case "Union":
            return " | ".join(of)
        case name:
            return LOST[name].format(", ".join(of))


@cache
def plain(kind: Type) -> bool:
    """Whether the annotation says it all: read as an author's, it means this very type.

    >>> from opwright.schema.kinds import Base, List
    >>> plain(List(Base("SymInt"))), plain(Base("int")), plain(List(Base("SymInt"), 2))
    (True, False, False)
    """
    match kind:
        case Maybe(of):
            return plain(of)
        case List(of, size, alias):
            return size is None and alias is None and plain(of)
        case Base(name, alias):
            return alias is None and name in PLAIN
        case Apply():
            return False
        case _:
            assert_never(kind)
