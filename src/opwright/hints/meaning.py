"""What one annotation means: a schema type and how values reach it, or why there is none.

Knows nothing of functions, names and defaults.
"""

from __future__ import annotations

from collections.abc import Callable

from opwright.frozen import frozen, replace
from opwright.hints.advice import instead
from opwright.hints.codec import (
    AS_IS,
    AsIs,
    By,
    Codec,
    Each,
    EnumMember,
    JsonText,
    Nullable,
    OneOf,
    OpaqueObject,
)
from opwright.hints.model import (
    ELLIPSIS,
    NONE,
    Aliased,
    Choice,
    EnumType,
    Hint,
    Member,
    Name,
    Of,
    Reason,
    Shaped,
    Structure,
    Unresolved,
    parts,
    union,
)
from opwright.never import assert_never
from opwright.schema.kinds import Apply, Base, List, Maybe, Type


@frozen
class Meaning:
    """A schema type without alias marks, the codec of its values, and what the marks say.

    `mark` is `Mutable`, `Out` or empty; `aliases` names the parameters that a result is a view of.
    """

    type: Type
    codec: Codec = AS_IS
    mark: str = ""
    aliases: tuple[str, ...] = ()


@frozen
class Refusal:
    """Why there is no schema for this: the code, the end of a sentence, and what to write."""

    code: str
    message: str
    hint: str = ""


TENSOR = Base("Tensor")
NAMES: dict[str, Meaning] = {
    path: Meaning(Base(name))
    for path, name in {
        "torch.Tensor": "Tensor",
        "torch.nn.Parameter": "Tensor",
        "int": "SymInt",
        "torch.SymInt": "SymInt",
        "torch.SymBool": "SymBool",
        "bool": "bool",
        "float": "float",
        "str": "str",
        "complex": "complex",
        "numbers.Number": "Scalar",
        "opwright.Scalar": "Scalar",
        "torch.dtype": "ScalarType",
        "torch.device": "Device",
        "torch.layout": "Layout",
        "torch.memory_format": "MemoryFormat",
        "torch.Generator": "Generator",
        "torch.Stream": "Stream",
    }.items()
}
NAMES["torch.Size"] = Meaning(List(Base("SymInt")), Each(AS_IS, "torch.Size"))
_NUMBERS = {
    "int": "int",
    "torch.SymInt": "int",
    "bool": "bool",
    "float": "float",
    "torch.SymFloat": "float-like",
    "complex": "complex",
}


def meaning(hint: Hint) -> Meaning | Refusal:
    """What an annotation means.

    >>> print(meaning(Of("list", (Of("Union", (Name("torch.Tensor"), NONE)),))).type)
    Tensor?[]
    >>> meaning(Name("torch.tensor"))
    Refusal(code='OW102', message='tensor has no schema type', hint='write `torch.Tensor`')
    """
    match hint:
        case Name(path):
            return NAMES.get(path) or _without(hint)
        case Of(head, args):
            return _HEADS[head](hint, args) if head in _HEADS else _without(hint)
        case Choice():
            return _choice(hint)
        case Aliased(of, names):
            inner = meaning(of)
            return inner if isinstance(inner, Refusal) else replace(inner, aliases=names)
        case Shaped(of):
            return meaning(of)
        case EnumType():
            return _enum(hint)
        case Structure():
            return _without(hint, "a structure is flattened only as a parameter of its own")
        case Unresolved(text, reason):
            return Refusal("OW103", f"{text} {reason.value}", _TO_READ[reason])
        case _:
            assert_never(hint)


def optional(inner: Meaning) -> Meaning:
    """The same or None."""
    if isinstance(inner.type, Maybe):
        return inner
    codec = AS_IS if inner.codec == AS_IS else Nullable(inner.codec)
    return replace(inner, type=Maybe(inner.type), codec=codec)


def _without(hint: Hint, advice: str = "") -> Refusal:
    return Refusal("OW102", f"{hint} has no schema type", advice or instead(hint))


_TO_READ = {
    Reason.UNKNOWN_NAME: "import it, or define it above",
    Reason.RECURSIVE: "use `Json[...]`, or flatten it by hand",
    Reason.UNBOUND: "give it a bound: `TypeVar('T', bound=Tensor)`, or write the type itself",
    Reason.NOT_A_TYPE: "write a type",
    Reason.SYNTAX: "write the annotation without quotes",
    Reason.DEEP: "give its parts names of their own",
}


# Sequences -------------------------------------------------------------------------------------


def _sequence(hint: Hint, args: tuple[Hint, ...]) -> Meaning | Refusal:
    return _listed(args[0], "list") if len(args) == 1 else _without(hint)


def _tuple(hint: Hint, args: tuple[Hint, ...]) -> Meaning | Refusal:
    if len(args) == 2 and args[1] == ELLIPSIS:
        return _listed(args[0], "tuple")
    items: list[Meaning] = []
    for arg in args:
        item = meaning(arg)
        if isinstance(item, Refusal):
            return item
        items.append(item)
    present = {(_present(item), item.mark) for item in items}
    if len(present) != 1:
        return _without(hint)
    return _fixed(items)


def _listed(item: Hint, kind: str) -> Meaning | Refusal:
    inner = meaning(item)
    if isinstance(inner, Refusal):
        return inner
    return replace(inner, type=List(_unsized(inner.type)), codec=_each(inner.codec, kind))


def _fixed(items: list[Meaning]) -> Meaning:
    """A tuple of items that differ in whether they may be None; the grammar has no mixture."""
    loosest = next((item for item in items if isinstance(item.type, Maybe)), items[0])
    mixed = len({item.type for item in items}) > 1
    kind = List(_unsized(loosest.type), None if mixed else len(items))
    return replace(loosest, type=kind, codec=Each(loosest.codec, "tuple", len(items)))


def _present(item: Meaning) -> tuple[Type, Codec]:
    codec = item.codec.of if isinstance(item.codec, Nullable) else item.codec
    return (item.type.of if isinstance(item.type, Maybe) else item.type), codec


def _each(codec: Codec, kind: str) -> Codec:
    """The dispatcher gives lists: a plain one needs no work."""
    return AS_IS if codec == AS_IS and kind == "list" else Each(codec, kind)


def _unsized(kind: Type) -> Type:
    """The grammar has sizes at the outermost list alone."""
    match kind:
        case List(of, _):
            return List(_unsized(of))
        case Maybe(of):
            return Maybe(_unsized(of))
        case _:
            return kind


# Unions ----------------------------------------------------------------------------------------


def _union(hint: Hint, args: tuple[Hint, ...]) -> Meaning | Refusal:
    if NONE in args:
        inner = meaning(union(arg for arg in args if arg != NONE))
        return inner if isinstance(inner, Refusal) else optional(inner)
    if number := _number(args):
        return number
    members: list[Meaning] = []
    for arg in args:
        member = meaning(arg)
        if isinstance(member, Refusal):
            return member if member.code != "OW102" else _without(hint)
        members.append(member)
    return _same(members) or _text(members) or _device(members) or _lists(members) or _without(hint)


def _number(args: tuple[Hint, ...]) -> Meaning | None:
    """`int | float` and wider are a `Scalar`; `int | SymInt` is an int."""
    kinds = {_NUMBERS.get(arg.path, "") if isinstance(arg, Name) else "" for arg in args}
    if "" in kinds or kinds == {"int", "bool"}:
        return None
    return NAMES["int"] if kinds == {"int"} else NAMES["opwright.Scalar"]


def _same(members: list[Meaning]) -> Meaning | None:
    return members[0] if all(member == members[0] for member in members) else None


def _text(members: list[Meaning]) -> Meaning | None:
    """`Literal["a"] | Literal["b"]`, or beside a plain `str` no choice at all."""
    kinds = {member.type for member in members}
    if len(kinds) != 1 or not all(isinstance(member.codec, AsIs | OneOf) for member in members):
        return None
    choices = [member.codec for member in members if isinstance(member.codec, OneOf)]
    if len(choices) < len(members):
        return replace(members[0], codec=AS_IS)
    return replace(members[0], codec=OneOf(tuple(v for choice in choices for v in choice.values)))


def _device(members: list[Meaning]) -> Meaning | None:
    """`torch.device | str`: the dispatcher makes a device of either."""
    names = {member.type.name for member in members if isinstance(member.type, Base)}
    same = names == {"Device", "str"} and all(member.codec == AS_IS for member in members)
    return NAMES["torch.device"] if same and len(members) == 2 else None


def _lists(members: list[Meaning]) -> Meaning | None:
    """Sequences of the same items, maybe beside a bare item that stands for a fixed number."""
    lists = [member for member in members if isinstance(member.type, List)]
    bare = [member for member in members if not isinstance(member.type, List)]
    items = {_item(member) for member in lists} | {(m.type, m.codec, m.mark) for m in bare}
    sizes = {size for member in lists if (size := _size(member)) is not None}
    if not lists or len(items) != 1 or len(bare) > 1 or (bare and len(sizes) != 1):
        return None
    kinds = [member.codec.kind if isinstance(member.codec, Each) else "list" for member in lists]
    kind = next(kind for kind in ("list", "tuple", "torch.Size") if kind in kinds)
    ((item, codec, mark),) = items
    if not bare and len({_size(member) for member in lists}) == 1:
        return Meaning(lists[0].type, _sized(codec, kind, _size(lists[0])), mark)
    size = sizes.pop() if bare else None
    return Meaning(List(item, size), _sized(codec, kind, size, repeats=bool(bare)), mark)


def _item(member: Meaning) -> tuple[Type, Codec, str]:
    assert isinstance(member.type, List)
    codec = member.codec.of if isinstance(member.codec, Each) else AS_IS
    return member.type.of, codec, member.mark


def _size(member: Meaning) -> int | None:
    return member.codec.size if isinstance(member.codec, Each) else None


def _sized(codec: Codec, kind: str, size: int | None, *, repeats: bool = False) -> Codec:
    if size is None:
        return _each(codec, kind)
    return Each(codec, kind, size, repeats)


# Choices ---------------------------------------------------------------------------------------


def _choice(choice: Choice) -> Meaning | Refusal:
    values = tuple(value for value in choice.values if value is not None)
    kinds = {type(value) for value in values}
    if len(kinds) != 1:
        return _without(choice)
    kind = kinds.pop()
    if kind is Member:
        return _without(choice, "annotate the Enum itself")
    if kind not in _CHOICES:
        return _without(choice)
    inner = Meaning(_CHOICES[kind], OneOf(values))
    return inner if len(values) == len(choice.values) else optional(inner)


_CHOICES: dict[type, Type] = {str: Base("str"), int: Base("SymInt"), bool: Base("bool")}


def _enum(enum: EnumType) -> Meaning | Refusal:
    if not enum.members:
        return _without(enum)
    if enum.mixin == "int":
        return Meaning(Base("int"), EnumMember(enum, By.VALUE))
    by = By.VALUE if enum.mixin == "str" else By.NAME
    return Meaning(Base("str"), EnumMember(enum, by))


# Marks -----------------------------------------------------------------------------------------


def _written(hint: Hint, args: tuple[Hint, ...]) -> Meaning | Refusal:
    assert isinstance(hint, Of)
    mark = hint.head.rpartition(".")[2]
    inner = meaning(args[0])
    if isinstance(inner, Refusal):
        return inner
    if innermost(inner.type) != TENSOR:
        message = f"{hint} marks what is not a tensor"
        return Refusal("OW109", message, f"write `{args[0]}`: only tensors are written to")
    if inner.mark not in ("", mark):
        return Refusal("OW109", f"{hint} is marked twice", "write `Out` where it is never read")
    return replace(inner, mark=mark)


def innermost(kind: Type) -> Type:
    while isinstance(kind, Maybe | List):
        kind = kind.of
    return kind


def _const(hint: Hint, args: tuple[Hint, ...]) -> Meaning | Refusal:
    inner = meaning(args[0])
    if isinstance(inner, Refusal):
        return inner
    if innermost(inner.type) not in (Base("SymInt"), Base("int")):
        return Refusal("OW109", f"{hint} marks what is not an int", f"write `{args[0]}`")
    return replace(inner, type=_specialised(inner.type))


def _specialised(kind: Type) -> Type:
    match kind:
        case Maybe(of):
            return Maybe(_specialised(of))
        case List(of, size):
            return List(_specialised(of), size)
        case Base() | Apply():
            return Base("int")


def _json(hint: Hint, args: tuple[Hint, ...]) -> Meaning | Refusal:
    for part in parts(args[0]):
        if isinstance(part, Unresolved) and part.reason is not Reason.RECURSIVE:
            return meaning(part)
    return Meaning(Base("str"), JsonText(args[0]))


def _opaque(hint: Hint, args: tuple[Hint, ...]) -> Meaning | Refusal:
    match args[0]:
        case Name(path) | Structure(path) | EnumType(path) if "<" not in path and "." in path:
            return Meaning(Base(path), OpaqueObject(args[0]))
        case Unresolved():
            return meaning(args[0])
        case _:
            message = f"{hint} is not a class at the top of a module"
            return Refusal("OW109", message, "name a class that torch can register")


_HEADS: dict[str, Callable[[Hint, tuple[Hint, ...]], Meaning | Refusal]] = {
    "Union": _union,
    "list": _sequence,
    "collections.abc.Sequence": _sequence,
    "collections.abc.MutableSequence": _sequence,
    "collections.abc.Iterable": _sequence,
    "collections.abc.Collection": _sequence,
    "tuple": _tuple,
    "opwright.Mutable": _written,
    "opwright.Out": _written,
    "opwright.Const": _const,
    "opwright.Json": _json,
    "opwright.Opaque": _opaque,
}
