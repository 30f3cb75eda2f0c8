"""How Python values reach schema arguments and come back: what packs a call and unpacks a kernel's.

Small closed unions for the registration core; knows nothing of how they were decided.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from opwright.frozen import frozen
from opwright.hints.model import Constant, EnumType, Hint, Structure


@frozen
class AsIs:
    """The value is passed unchanged."""


@frozen
class Nullable:
    """None stays None; anything else goes by `of`."""

    of: Codec


@frozen
class Each:
    """A sequence, item by item: the dispatcher carries a list, the kernel receives `kind`.

    `kind` is `list`, `tuple` or `torch.Size`. `size` is the length that a call must have; with
    `repeats` a bare item stands for `size` of them.
    """

    of: Codec
    kind: str = "list"
    size: int | None = None
    repeats: bool = False


@frozen
class OneOf:
    """`Literal[...]`: the value is passed unchanged and must be one of these."""

    values: tuple[Constant, ...]


class By(Enum):
    """What of an enum member travels."""

    NAME = "name"
    VALUE = "value"


@frozen
class EnumMember:
    """The call gives a member of `enum` (by value also the bare value); the kernel gets it."""

    enum: EnumType
    by: By


@frozen
class JsonText:
    """Serialised by pydantic as `of`, parsed once per distinct text."""

    of: Hint


@frozen
class OpaqueObject:
    """An object of torch's opaque type for the class `of`."""

    of: Hint


Codec: TypeAlias = "AsIs | Nullable | Each | OneOf | EnumMember | JsonText | OpaqueObject"
AS_IS = AsIs()


@frozen
class Single:
    """One Python parameter (or field) that is one schema argument."""

    name: str
    argument: str
    codec: Codec = AS_IS


@frozen
class Splat:
    """One Python parameter (or field) that is a structure, one schema argument per field.

    `presence` names the `bool` argument that says whether the structure was given at all
    (`Optional[Cfg]`); with False all fields are None and the kernel receives None. `omitted`
    names the fields (`NotRequired` in a `TypedDict`) that the kernel's dict lacks when None.
    """

    name: str
    structure: Structure
    fields: tuple[Binding, ...]
    presence: str | None = None
    omitted: tuple[str, ...] = ()


Binding: TypeAlias = "Single | Splat"


class Gives(Enum):
    """The Python form of what a kernel returns."""

    NOTHING = "None"
    ONE = "one value"
    TUPLE = "a tuple"
    STRUCTURE = "a NamedTuple or dataclass"


@frozen
class Result:
    """One return: `arguments` names the schema arguments that it aliases, if any."""

    codec: Codec = AS_IS
    arguments: tuple[str, ...] = ()


@frozen
class Results:
    """How the returns of the schema make the Python result; `structure` for `Gives.STRUCTURE`.

    A `tuple[Tensor]` is `Gives.TUPLE` with one part: its schema has one return, `(Tensor)`.
    """

    gives: Gives
    parts: tuple[Result, ...] = ()
    structure: Structure | None = None


NOTHING = Results(Gives.NOTHING)
