"""How alias sets are named: a, b, c ... in order of first appearance. Knows types only."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from opwright.frozen import replace
from opwright.schema.kinds import Alias, Maybe, Type, aliases, rebuilt

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def lettered(kinds: Sequence[Type]) -> Sequence[Type]:
    """The same types with their alias sets named anew, so that equal sharing is equal text.

    Gives back `kinds` itself where nothing changes.

    >>> from opwright.schema.kinds import Base
    >>> kinds = [Base("Tensor", Alias(("z", "y"))), Base("Tensor", Alias(("z",)))]
    >>> print(*lettered(kinds))
    Tensor(a|b) Tensor(a)
    """
    new = _letters(kinds)
    if all(old == letter for old, letter in new.items()):
        return kinds
    return [_renamed(kind, new) for kind in kinds]


def _letters(kinds: Sequence[Type]) -> dict[str, str]:
    """The new name of each set. Names of one annotation are ordered by where else they appear."""
    seen: dict[str, list[int]] = {}
    for place, alias in enumerate(alias for kind in kinds for alias in aliases(kind)):
        for side, names in enumerate((alias.before, alias.after or ())):
            for name in names:
                seen.setdefault(name, []).append(2 * place + side)
    seen.pop("*", None)
    ranked = sorted(seen, key=lambda name: [*seen[name], sys.maxsize])
    return {"*": "*", **{name: _letter(number) for number, name in enumerate(ranked)}}


def _letter(number: int) -> str:
    """`a` to `z`, then `a1`, `b1`, ..."""
    turn, place = divmod(number, len(_LETTERS))
    return f"{_LETTERS[place]}{turn or ''}"


def _renamed(kind: Type, new: dict[str, str]) -> Type:
    def rename(node: Type) -> Type:
        if isinstance(node, Maybe) or node.alias is None:
            return node
        before = tuple(new[name] for name in node.alias.before)
        after = tuple(new[name] for name in node.alias.after or ())
        return replace(node, alias=Alias(before, node.alias.writes, after))

    return rebuilt(kind, rename)
