"""The types of a schema: frozen values that print themselves in canonical form.

Knows nothing of arguments, Python annotations or torch.

The alias mark sits on the type node, where the grammar puts it, so printing is compositional:
`Tensor(a!)[]` is a list of written tensors, `Tensor[](a!)` a written list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from opwright.frozen import frozen, replace
from opwright.never import assert_never

BASES = frozenset(
    (
        *("Tensor", "Scalar", "int", "SymInt", "float", "bool", "SymBool", "str", "complex"),
        *("Any", "AnyClassType", "AnyEnumType", "Generator", "Stream", "Device", "ScalarType"),
        *("Layout", "MemoryFormat", "Storage", "QScheme", "Quantizer", "Capsule", "NoneType"),
        *("DeviceIndex", "ConstQuantizerPtr"),
    )
)
"""The named types of a schema; beside them stand type variables and classes, `a.b.C`."""

MANY = 1 << 30

APPLIED = {
    "": range(MANY),
    "Await": range(1, 2),
    "Dict": range(2, 3),
    "Future": range(1, 2),
    "RRef": range(1, 2),
    "Union": range(2, MANY),
}
"""The types with arguments, the tuple without a name, and how many they take."""

INTEGERS = frozenset(
    {"int", "SymInt", "ScalarType", "Layout", "MemoryFormat", "DeviceIndex", "ConstQuantizerPtr"}
)
"""The types that are one `int` to TorchScript: a Union cannot hold two of them."""

KEYS = INTEGERS | {"Any", "Device", "Tensor", "bool", "complex", "float", "str"}
"""The types that the keys of a `Dict` can have."""

MARKED = frozenset({"Dict", "Union"})
"""The types with arguments that can carry an alias annotation."""


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in order; the wildcard last, where alone torch reads it."""
    return tuple(sorted(set(names), key=lambda name: (name == "*", len(name), name)))


@frozen
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
        object.__setattr__(self, "before", _sorted(self.before))
        after = self.before if self.after is None else _sorted(self.after)
        object.__setattr__(self, "after", after)

    @property
    def names(self) -> tuple[str, ...]:
        """Every set that the annotation names, the wildcard too."""
        return (*self.before, *(self.after or ()))

    def __str__(self) -> str:
        if not self.before and not self.after:
            return "!" if self.writes else ""
        after = "" if self.after == self.before else f" -> {'|'.join(self.after or ())}"
        return f"({'|'.join(self.before)}{'!' if self.writes else ''}{after})"


@frozen
class Base:
    """A named type: `Tensor`, `SymInt`, `ScalarType`, a type variable, a class `__torch__....`."""

    name: str
    alias: Alias | None = None

    def __str__(self) -> str:
        return f"{self.name}{self.alias or ''}"


@frozen
class Maybe:
    """An optional type, `T?`; optional twice is optional once.

    >>> Maybe(Maybe(Base("int"))) == Maybe(Base("int"))
    True
    """

    of: Type

    def __post_init__(self) -> None:
        if isinstance(self.of, Maybe):
            object.__setattr__(self, "of", self.of.of)

    def __str__(self) -> str:
        return f"{self.of}?"


@frozen
class List:
    """A list, `T[]`, or with a size, `T[2]` (which torch does not enforce)."""

    of: Type
    size: int | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        size = "" if self.size is None else self.size
        return f"{self.of}[{size}]{self.alias or ''}"


@frozen
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
    """Every alias annotation of a type, in the order of its text.

    >>> print(*aliases(List(Base("Tensor", Alias(("a",))), alias=Alias(("b",)))))
    (a) (b)
    """
    found: list[Alias] = []
    waiting = [kind]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Maybe):
            waiting.append(node.of)
            continue
        if node.alias is not None:
            found.append(node.alias)
        if isinstance(node, Apply):
            waiting.extend(node.of)
        elif isinstance(node, List):
            waiting.append(node.of)
    return reversed(found)


def depth(kind: Type) -> int:
    """How many types stand inside each other.

    >>> depth(Base("int")), depth(Maybe(List(Base("int"))))
    (1, 3)
    """
    deepest, waiting = 0, [(kind, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        if isinstance(node, Apply):
            waiting.extend((part, level + 1) for part in node.of)
        elif isinstance(node, (Maybe, List)):
            waiting.append((node.of, level + 1))
    return deepest


def rebuilt(kind: Type, change: Callable[[Type], Type]) -> Type:
    """The type with every node changed, from the inside out.

    >>> print(rebuilt(List(Base("int")), lambda node: Maybe(node)))
    int?[]?
    """
    match kind:
        case Maybe(of):
            return change(Maybe(rebuilt(of, change)))
        case List(of, size, alias):
            return change(List(rebuilt(of, change), size, alias))
        case Apply(name, parts, alias):
            return change(Apply(name, tuple(rebuilt(part, change) for part in parts), alias))
        case Base():
            return change(kind)
        case _:
            assert_never(kind)


def holds_tensors(kind: Type | None) -> bool:
    """Whether an argument of a type can hold tensors; one that is not annotated can.

    >>> holds_tensors(List(Base("Tensor"))), holds_tensors(Base("int")), holds_tensors(None)
    (True, False, True)
    """
    return kind is None or any(isinstance(n, Base) and n.name == "Tensor" for n in nodes(kind))


def marked(kind: Type, alias: Alias) -> Type:
    """The same type with an alias mark on its tensors.

    >>> print(marked(List(Maybe(Base("Tensor"))), Alias(("a",), writes=True)))
    Tensor(a!)?[]
    """
    match kind:
        case Maybe(of):
            return Maybe(marked(of, alias))
        case List(of, size):
            return List(marked(of, alias), size)
        case Base("Tensor"):
            return Base("Tensor", alias)
        case _:
            return kind


def plain(kind: Type) -> Type:
    """The type without its alias annotations.

    >>> print(plain(List(Base("Tensor", Alias(("a",), writes=True)))))
    Tensor[]
    """
    return rebuilt(
        kind, lambda node: node if isinstance(node, Maybe) else replace(node, alias=None)
    )
