"""What a schema is: frozen values that print themselves in canonical form.

Knows nothing of Python annotations or torch.

The alias mark sits on the type node, where the grammar puts it, so printing is compositional:
`Tensor(a!)[]` is a list of written tensors, `Tensor[](a!)` a written list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, TypeAlias

from typing_extensions import assert_never

from opwright.schema.literal import Value, literal


class Required(Enum):
    """The type of `REQUIRED`: the default of an argument that must be given."""

    REQUIRED = "required"

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Literal[Required.REQUIRED] = Required.REQUIRED


Default: TypeAlias = "Value | Literal[Required.REQUIRED]"


@dataclass(frozen=True, slots=True)
class Alias:
    """An alias annotation `(before! -> after)`: sets are sorted tuples; `*` is the wildcard.

    `after` equals `before` when the text has no arrow. `Tensor!` is `Alias((), writes=True)`.

    >>> print(Alias(("a",), writes=True), Alias(("a", "b")), Alias(("a",), after=("*",)))
    (a!) (a|b) (a -> *)
    """

    before: tuple[str, ...] = ()
    writes: bool = False
    after: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", tuple(sorted(set(self.before))))
        after = self.before if self.after is None else tuple(sorted(set(self.after)))
        object.__setattr__(self, "after", after)

    def __str__(self) -> str:
        if not self.before and not self.after:
            return "!" if self.writes else ""
        after = "" if self.after == self.before else f" -> {'|'.join(self.after or ())}"
        return f"({'|'.join(self.before)}{'!' if self.writes else ''}{after})"


@dataclass(frozen=True, slots=True)
class Base:
    """A named type: `Tensor`, `SymInt`, `ScalarType`, a type variable, a class `__torch__....`."""

    name: str
    alias: Alias | None = None

    def __str__(self) -> str:
        return f"{self.name}{self.alias or ''}"


@dataclass(frozen=True, slots=True)
class Maybe:
    """An optional type, `T?`."""

    of: Type

    def __str__(self) -> str:
        return f"{self.of}?"


@dataclass(frozen=True, slots=True)
class List:
    """A list, `T[]`, or with a size, `T[2]` (which torch does not enforce)."""

    of: Type
    size: int | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        size = "" if self.size is None else self.size
        return f"{self.of}[{size}]{self.alias or ''}"


@dataclass(frozen=True, slots=True)
class Apply:
    """A type with arguments: `Dict(str, Tensor)`, `Union(int, str)`; a tuple has no name."""

    name: str
    of: tuple[Type, ...]
    alias: Alias | None = None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.of))}){self.alias or ''}"


Type: TypeAlias = "Base | Maybe | List | Apply"


def nodes(kind: Type) -> Iterator[Type]:
    """Walk a type from the outside in.

    >>> [str(node) for node in nodes(Maybe(List(Base("Tensor"))))]
    ['Tensor[]?', 'Tensor[]', 'Tensor']
    """
    waiting = [kind]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Apply):
            waiting.extend(reversed(node.of))
        elif isinstance(node, (Maybe, List)):
            waiting.append(node.of)


def aliases(kind: Type) -> Iterator[Alias]:
    """Every alias annotation of a type, from the outside in."""
    for node in nodes(kind):
        if not isinstance(node, Maybe) and node.alias is not None:
            yield node.alias


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an operator."""

    name: str
    type: Type
    default: Default = REQUIRED
    kw_only: bool = False

    @property
    def writes(self) -> bool:
        """Whether the operator writes to this argument."""
        return any(alias.writes for alias in aliases(self.type))

    def __str__(self) -> str:
        default = "" if self.default is REQUIRED else f"={literal(self.default)}"
        return f"{self.type} {self.name}{default}"


@dataclass(frozen=True, slots=True)
class Return:
    """One result of an operator; the name is what a `NamedTuple` calls it."""

    type: Type
    name: str | None = None

    def __str__(self) -> str:
        return str(self.type) if self.name is None else f"{self.type} {self.name}"


@dataclass(frozen=True, slots=True)
class Schema:
    """What an operator takes, writes and gives back; `str()` is the canonical form.

    Alias sets are relettered on construction, so two schemas that differ only in letters are equal.

    >>> x = Argument("x", Base("Tensor", Alias(("z",), writes=True)))
    >>> print(Schema("mylib::zero_", arguments=(x,)))
    mylib::zero_(Tensor(a!) x) -> ()
    """

    name: str
    overload: str = ""
    arguments: tuple[Argument, ...] = ()
    returns: tuple[Return, ...] = ()
    varargs: bool = False
    varrets: bool = False

    def __post_init__(self) -> None:
        arguments, returns = _relettered(self.arguments, self.returns)
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "returns", returns)

    @property
    def namespace(self) -> str:
        """`mylib` of `mylib::scale_`; empty where the name has none."""
        return self.name.rpartition("::")[0]

    @property
    def qualname(self) -> str:
        """Name with overload: `mylib::scale_.out`."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def mutable(self) -> bool:
        """Whether the operator writes to any argument."""
        return any(argument.writes for argument in self.arguments)

    def __str__(self) -> str:
        return f"{self.qualname}({', '.join(self._arguments())}) -> {self._returns()}"

    def _arguments(self) -> Iterator[str]:
        starred = False
        for argument in self.arguments:
            if argument.kw_only and not starred:
                yield "*"
            starred = argument.kw_only
            yield str(argument)
        if self.varargs:
            yield "..."

    def _returns(self) -> str:
        parts = [*map(str, self.returns), *(["..."] if self.varrets else [])]
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _letter(index: int) -> str:
    """`a` to `z`, then `a1`, `b1`, ..."""
    turn, place = divmod(index, len(_LETTERS))
    return f"{_LETTERS[place]}{turn or ''}"


def _relettered(
    arguments: tuple[Argument, ...], returns: tuple[Return, ...]
) -> tuple[tuple[Argument, ...], tuple[Return, ...]]:
    """Name alias sets a, b, c ... in order of first appearance."""
    letters: dict[str, str] = {"*": "*"}
    for kind in (*(a.type for a in arguments), *(r.type for r in returns)):
        for alias in aliases(kind):
            for name in (*alias.before, *(alias.after or ())):
                letters.setdefault(name, _letter(len(letters) - 1))
    if all(old == new for old, new in letters.items()):
        return arguments, returns
    return (
        tuple(replace(part, type=_renamed(part.type, letters)) for part in arguments),
        tuple(replace(part, type=_renamed(part.type, letters)) for part in returns),
    )


def _renamed(kind: Type, letters: dict[str, str]) -> Type:
    match kind:
        case Maybe(of):
            return Maybe(_renamed(of, letters))
        case List(of, size, alias):
            return List(_renamed(of, letters), size, _renamed_alias(alias, letters))
        case Apply(name, of, alias):
            renamed = tuple(_renamed(part, letters) for part in of)
            return Apply(name, renamed, _renamed_alias(alias, letters))
        case Base(name, alias):
            return Base(name, _renamed_alias(alias, letters))
        case _:
            assert_never(kind)


def _renamed_alias(alias: Alias | None, letters: dict[str, str]) -> Alias | None:
    if alias is None:
        return None
    before = tuple(letters[name] for name in alias.before)
    return Alias(before, alias.writes, tuple(letters[name] for name in alias.after or ()))
