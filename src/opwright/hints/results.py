"""What a return annotation means: the returns of the schema and what they alias.

Knows the arguments only by their slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opwright.hints.codec import NOTHING, Gives, Result, Results
from opwright.hints.meaning import TENSOR, Meaning, Refusal, innermost, meaning
from opwright.hints.model import ELLIPSIS, NONE, Hint, Of, Structure, StructureKind
from opwright.hints.structure import Slot
from opwright.schema.kinds import Alias, Apply, marked
from opwright.schema.model import Return

_RETURNED = (StructureKind.NAMEDTUPLE, StructureKind.DATACLASS)


class Returning:
    """The returns of one function, the arguments that they are views of, and what is wrong."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.slots = slots
        self.returns: tuple[Return, ...] = ()
        self.results = NOTHING
        self.viewed: set[str] = set()
        self.refusals: list[Refusal] = []

    def take(self, hint: Hint) -> None:
        """Take the return annotation in."""
        gives, parts, structure = self._form(hint)
        written = {mark: self._written(mark) for mark in ("Mutable", "Out")}
        made = [part for name, of in parts if (part := self._part(name, of, written))]
        if gives is Gives.TUPLE and len(made) == 1:
            self.returns = (Return(Apply("", (made[0][0].type,))),)
        else:
            self.returns = tuple(returned for returned, _ in made)
        self.results = Results(gives, tuple(result for _, result in made), structure)

    def _form(self, hint: Hint) -> tuple[Gives, list[tuple[str | None, Hint]], Structure | None]:
        match hint:
            case Of("tuple", args) if args and ELLIPSIS not in args:
                return Gives.TUPLE, [(None, arg) for arg in args], None
            case Structure(_, kind, fields) if kind in _RETURNED:
                return Gives.STRUCTURE, [(part.name, part.hint) for part in fields], hint
            case Structure(_, kind):
                message = f"a {kind.value} cannot be returned"
                self.refusals.append(Refusal("OW102", message, "make it a NamedTuple"))
                return Gives.NOTHING, [], None
            case _ if hint == NONE:
                return Gives.NOTHING, [], None
            case _:
                return Gives.ONE, [(None, hint)], None

    def _written(self, mark: str) -> Iterator[str]:
        return iter([s.argument.name for s in self.slots if s.meaning.mark == mark])

    def _part(
        self, name: str | None, hint: Hint, written: dict[str, Iterator[str]]
    ) -> tuple[Return, Result] | None:
        found = meaning(hint)
        if isinstance(found, Refusal):
            self.refusals.append(found)
            return None
        names = self._aliased(found, written)
        kind = marked(found.type, self._alias(names)) if names else found.type
        return Return(kind, name), Result(found.codec, names)

    def _aliased(self, found: Meaning, written: dict[str, Iterator[str]]) -> tuple[str, ...]:
        """The arguments that a result is: the next one of its mark, or those that it names."""
        if found.mark:
            if name := next(written[found.mark], None):
                return (name,)
            message = f"`{found.mark}` is returned, and no parameter is left that is one"
            self.refusals.append(Refusal("OW110", message, f"mark the parameter `{found.mark}`"))
            return ()
        tensors = [s.argument.name for s in self.slots if innermost(s.meaning.type) == TENSOR]
        for name in found.aliases:
            if name not in tensors:
                message = f"{name!r} is no tensor parameter that a result can be a view of"
                hint = f"name one of: {', '.join(tensors)}" if tensors else "take a Tensor"
                self.refusals.append(Refusal("OW110", message, hint))
        return tuple(name for name in found.aliases if name in tensors)

    def _alias(self, names: tuple[str, ...]) -> Alias:
        self.viewed.update(names)
        writes = {s.argument.name for s in self.slots if s.meaning.mark}
        return Alias(names, not writes.isdisjoint(names))
