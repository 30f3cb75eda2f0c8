"""How a parameter becomes schema arguments: one, or for a structure one per field.

Knows `cfg__field` and the presence flag; what a single annotation means is decided in `meaning`.
"""

from __future__ import annotations

from opwright.frozen import frozen
from opwright.hints.codec import Binding, Single, Splat
from opwright.hints.defaults import held
from opwright.hints.meaning import Meaning, Refusal, meaning
from opwright.hints.model import (
    MISSING,
    NONE,
    Default,
    Field,
    Hint,
    Instance,
    Missing,
    Of,
    Structure,
    StructureKind,
    union,
    written,
)
from opwright.schema.kinds import Alias, Base, marked
from opwright.schema.model import REQUIRED, Argument


@frozen
class Slot:
    """One schema argument, what its annotation means, and whether it came out of a structure."""

    argument: Argument
    meaning: Meaning
    inside: bool = False


class Flattening:
    """Takes parameters in, one after the other; keeps the arguments that they become.

    A refusal is kept with the name of its argument. The default of a field that no schema can hold
    is left out of the schema; the default of a parameter itself is refused.
    """

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.refusals: list[tuple[str, Refusal]] = []
        self.kw_only = False

    def bind(
        self, name: str, argument: str, hint: Hint, default: Default, *, inside: bool = False
    ) -> Binding | None:
        """Take in a parameter or field that is called `argument` in the schema.

        The answer is None where the annotation has no meaning.
        """
        structure = structured(hint)
        if structure is None:
            return self._single(name, argument, hint, default, inside=inside)
        return self._splat(name, argument, hint, structure, default)

    def _single(
        self, name: str, argument: str, hint: Hint, default: Default, *, inside: bool
    ) -> Single | None:
        found = meaning(hint)
        if isinstance(found, Refusal):
            self.refusals.append((argument, found))
            return None
        value = REQUIRED if isinstance(default, Missing) else held(default, hint, found)
        if isinstance(value, Refusal):
            if not (inside and value.code == "OW107"):
                self.refusals.append((argument, value))
            value = REQUIRED
        kind = found.type
        if found.mark:
            kind = marked(kind, Alias((argument,), writes=True))
        self.slots.append(Slot(Argument(argument, kind, value, self.kw_only), found, inside))
        return Single(name, argument, found.codec)

    def _splat(
        self, name: str, argument: str, hint: Hint, structure: Structure, default: Default
    ) -> Splat:
        maybe = hint != structure
        defaults = _defaults(structure, default, maybe=maybe)
        if defaults is None:
            message = f"the default {written(default)} does not fit {hint}"
            self.refusals.append((argument, Refusal("OW106", message)))
            defaults = {}
        presence = self._presence(argument, default) if maybe else None
        omitted = tuple(part.name for part in structure.fields if _omittable(structure, part))
        fields = (
            self.bind(
                part.name,
                f"{argument}__{part.name}",
                union([part.hint, NONE]) if maybe or part.name in omitted else part.hint,
                defaults.get(part.name, MISSING),
                inside=True,
            )
            for part in structure.fields
        )
        bound = tuple(binding for binding in fields if binding is not None)
        return Splat(name, structure, bound, presence, omitted)

    def _presence(self, argument: str, default: Default) -> str:
        value = REQUIRED if isinstance(default, Missing) else default is not None
        flag = Argument(argument, Base("bool"), value, self.kw_only)
        self.slots.append(Slot(flag, Meaning(Base("bool")), inside=True))
        return argument


def structured(hint: Hint) -> Structure | None:
    """The structure that a parameter of this annotation is, if it is one or `None`."""
    match hint:
        case Structure():
            return hint
        case Of("Union", (Structure() as structure, maybe)) if maybe == NONE:
            return structure
        case _:
            return None


def _defaults(structure: Structure, default: Default, *, maybe: bool) -> dict[str, Default] | None:
    """What each field is when nothing is passed; None where the default is no such structure."""
    match default:
        case Missing():
            return {part.name: _own(structure, part) for part in structure.fields}
        case None if maybe:
            return {part.name: None for part in structure.fields}
        case Instance(path, values) if path == structure.path:
            return dict(values)
        case Instance("dict", values) if structure.kind is StructureKind.TYPEDDICT:
            return _from_dict(structure, dict(values))
        case _:
            return None


def _own(structure: Structure, part: Field) -> Default:
    return None if _omittable(structure, part) else part.default


def _omittable(structure: Structure, part: Field) -> bool:
    return structure.kind is StructureKind.TYPEDDICT and not part.required


def _from_dict(structure: Structure, values: dict[str, Default]) -> dict[str, Default] | None:
    needed = {part.name for part in structure.fields if part.required}
    known = {part.name: None for part in structure.fields}
    return {**known, **values} if needed <= values.keys() <= known.keys() else None
