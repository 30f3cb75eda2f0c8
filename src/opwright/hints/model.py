"""What an annotation says: the values that both readers fill in and `lower` decides upon.

Knows nothing of how Python writes annotations, and nothing of schemas.

Paths are canonical: builtins bare (`int`, `list`, `None`), everything else dotted, where its users
import it from (`torch.Tensor`, `torch.nn.Parameter`, `collections.abc.Sequence`). `canonical`
absorbs the re-exports; `union` puts unions in one order; aliases, `NewType`, bounded type
variables, `Final`, and `Annotated` with metadata that means nothing here are seen through by the
readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Literal, TypeAlias

from opwright.findings import Span
from opwright.frozen import field, frozen


@frozen
class Name:
    """A type by its canonical path. `object` is the live class, where a live reader met it."""

    path: str
    object: object = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.path.rpartition(".")[2] or self.path


@frozen
class Of:
    """A type with arguments: `list[int]`, `tuple[int, ...]`, a union, `Mutable[Tensor]`.

    The head is a canonical path; a union's is `Union`; the dots of a tuple are `Name("...")`;
    a mark's is `opwright.Mutable`, `.Out`, `.Const`, `.Json` or `.Opaque`.
    """

    head: str
    args: tuple[Hint, ...]

    def __str__(self) -> str:
        if self.head == "Union":
            return " | ".join(map(str, self.args))
        args = [str(arg) for arg in self.args] or ["()"]
        if self.head == "collections.abc.Callable":
            args[0] = args[0].removeprefix("list")
        return f"{self.head.rpartition('.')[2]}[{', '.join(args)}]"


@frozen
class Choice:
    """`Literal[...]`; an enum member among the values is a `Member`."""

    values: tuple[Constant, ...]

    def __str__(self) -> str:
        return f"Literal[{', '.join(map(written, self.values))}]"


@frozen
class Aliased:
    """`Annotated[T, Aliases("x", ...)]`: a view of the named parameters."""

    of: Hint
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"Annotated[{self.of}, Aliases({', '.join(map(repr, self.names))})]"


@frozen
class Shaped:
    """A jaxtyping annotation: `Float[Tensor, "b n"]` is `Shaped(Tensor, "Float", "b n")`."""

    of: Hint
    dtype: str
    shape: str

    def __str__(self) -> str:
        return f'{self.dtype}[{self.of}, "{self.shape}"]'


@frozen
class EnumType:
    """An enum class; `mixin` is `str`, `int` (also `IntEnum`, `IntFlag`) or empty."""

    path: str
    members: tuple[tuple[str, Default], ...]
    mixin: str = ""
    object: object = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.path.rpartition(".")[2]


class StructureKind(str, Enum):
    """What makes a class a structure."""

    DATACLASS = "dataclass"
    NAMEDTUPLE = "NamedTuple"
    TYPEDDICT = "TypedDict"
    PYDANTIC = "pydantic model"


@frozen
class Field:
    """A field that the constructor takes; not `required` with a default, or if `NotRequired`."""

    name: str
    hint: Hint
    default: Default
    required: bool = True


@frozen
class Structure:
    """A dataclass, `NamedTuple`, `TypedDict` or pydantic model, with inherited fields, in order."""

    path: str
    kind: StructureKind
    fields: tuple[Field, ...]
    object: object = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.path.rpartition(".")[2]


class Reason(str, Enum):
    """Why an annotation could not be read; the values are clauses of a sentence."""

    UNKNOWN_NAME = "is not defined where the annotation is written"
    RECURSIVE = "contains itself"
    UNBOUND = "is a type variable without bound or constraints"
    NOT_A_TYPE = "is not a type"
    SYNTAX = "is not an expression"
    DEEP = "is nested too deeply"


@frozen
class Unresolved:
    """An annotation, or a part of one, that the reader could not read."""

    text: str
    reason: Reason

    def __str__(self) -> str:
        return self.text


Hint: TypeAlias = "Name | Of | Choice | Aliased | Shaped | EnumType | Structure | Unresolved"


# Defaults --------------------------------------------------------------------------------------


class Missing(Enum):
    """The type of `MISSING`: the default of a parameter or field that must be given."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Literal[Missing.MISSING] = Missing.MISSING


@frozen
class Member:
    """An enum member: `Act.RELU` is `Member("mylib.Act", "RELU")`.

    `plain` is the `int` or `str` that a member of an `IntEnum` or `class Act(str, Enum)` is.
    """

    path: str
    name: str
    plain: int | str | None = field(default=None, compare=False, repr=False)


@frozen
class Symbol:
    """A dotted constant: `torch.bfloat16`, `torch.contiguous_format`, `torch.strided`."""

    path: str


@frozen
class Instance:
    """A structure with *every* field filled in, in order; a dict with text keys is `dict`.

    A `torch.device` has one field, its text: `Instance("torch.device", (("type", "cuda:0"),))`.
    """

    path: str
    fields: tuple[tuple[str, Default], ...]


@frozen
class Unknown:
    """A default that is no constant: its text (source) or `repr` (live). Lists, tuples and
    `torch.Size` are tuples; sets, functions and calls are unknown.
    """

    text: str


Constant: TypeAlias = "bool | int | float | complex | str | bytes | Member | None"
Default: TypeAlias = (
    "Constant | Symbol | Instance | Unknown | tuple[Default, ...] | Literal[Missing.MISSING]"
)


def written(default: Default) -> str:
    """A default as its author would write it.

    >>> written((1, Member("mylib.Act", "RELU"), Symbol("torch.half")))
    '(1, Act.RELU, torch.half)'
    """
    match default:
        case Member(path, name):
            return f"{path.rpartition('.')[2]}.{name}"
        case Symbol(path):
            return path
        case Unknown(text):
            return text
        case Instance("torch.device", ((_, text),)):
            return f"torch.device({text!r})"
        case Instance("dict", fields):
            return f"{{{', '.join(f'{name!r}: {written(value)}' for name, value in fields)}}}"
        case Instance(path, fields):
            inside = ", ".join(f"{name}={written(value)}" for name, value in fields)
            return f"{path.rpartition('.')[2]}({inside})"
        case tuple():
            return f"({', '.join(map(written, default))}{',' * (len(default) == 1)})"
        case _:
            return repr(default)


# Functions -------------------------------------------------------------------------------------


class Kind(Enum):
    """How a parameter is passed."""

    POSITIONAL_ONLY = 0
    POSITIONAL = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4


class Role(Enum):
    """What was given as an operator; only a `FUNCTION` can be one."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    COROUTINE = "coroutine"
    GENERATOR = "generator"
    OPAQUE = "opaque"


@frozen
class Parameter:
    """A parameter; `hint` is None where nothing is annotated; the span is the annotation's, else
    the parameter's.
    """

    name: str
    hint: Hint | None
    default: Default = MISSING
    kind: Kind = Kind.POSITIONAL
    span: Span = field(default=Span(), compare=False)


@frozen
class Function:
    """An annotated function. `returns` is None where nothing is annotated (`-> None` is a `Name`).

    A bound method, a partial and a callable object come without what they already hold; `METHOD` is
    one whose first parameter is still the `self` of a class.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: Hint | None
    role: Role = Role.FUNCTION
    qualname: str = ""
    module: str = ""
    span: Span = field(default=Span(), compare=False)
    returns_span: Span = field(default=Span(), compare=False)


# One spelling ----------------------------------------------------------------------------------

_ALIASES = {
    "NoneType": "None",
    "builtins.NoneType": "None",
    "types.NoneType": "None",
    "types.EllipsisType": "...",
    "typing.List": "list",
    "typing.Tuple": "tuple",
    "typing.Dict": "dict",
    "typing.Set": "set",
    "typing.FrozenSet": "frozenset",
    "typing.Type": "type",
    "typing.Text": "str",
    "typing.Union": "Union",
    "types.UnionType": "Union",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.autograd.Variable": "torch.Tensor",
    "torch.autograd.variable.Variable": "torch.Tensor",
    "torch.FloatTensor": "torch.Tensor",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.types.Number": "numbers.Number",
    "torch.distributed.distributed_c10d.GroupName": "str",
    "torch.types._int": "int",
    "torch.types._float": "float",
    "torch.types._bool": "bool",
    "torch.types._complex": "complex",
    "torch.types._dtype": "torch.dtype",
    "torch.types._device": "torch.device",
    "torch.types._layout": "torch.layout",
    "torch.types._size": "torch.Size",
    "torch.types.Device": "torch.types.Device",
}
_MODULES = {
    "builtins": "",
    "typing_extensions": "typing",
    "torch._C": "torch",
    "opwright.marks": "opwright",
    "pathlib._local": "pathlib",
}
_ABSTRACT = frozenset(
    [
        "Sequence",
        "MutableSequence",
        "Iterable",
        "Iterator",
        "Collection",
        "Callable",
        "Mapping",
        "MutableMapping",
        "Generator",
        "AsyncGenerator",
        "Awaitable",
        "Coroutine",
        "Set",
        "Sized",
    ]
)


def canonical(path: str) -> str:
    """The one path of a type that can be imported from several places.

    >>> [canonical(p) for p in ("typing.List", "torch._tensor.Tensor", "typing_extensions.Any")]
    ['list', 'torch.Tensor', 'typing.Any']
    >>> canonical("typing.Sequence"), canonical("builtins.int"), canonical("torch._C.Generator")
    ('collections.abc.Sequence', 'int', 'torch.Generator')
    """
    module, _, name = path.rpartition(".")
    module = _MODULES.get(module, module)
    if module == "typing" and name in _ABSTRACT:
        module = "collections.abc"
    path = f"{module}.{name}" if module else name
    return _ALIASES.get(path, path)


def union(args: Iterable[Hint]) -> Hint:
    """A union in its one form: flat, each member once, in the order of their text, None last.

    Typing's caches may swap the members of an equal union, so the written order is not to be had.

    >>> print(union([Name("None"), Of("Union", (Name("str"), Name("int"))), Name("str")]))
    int | str | None
    """
    flat: dict[Hint, None] = {}
    for arg in args:
        flat.update(
            dict.fromkeys(arg.args if isinstance(arg, Of) and arg.head == "Union" else [arg])
        )
    members = sorted(flat, key=lambda hint: (hint == NONE, str(hint)))
    return members[0] if len(members) == 1 else Of("Union", tuple(members))


def parts(hint: Hint) -> Iterator[Hint]:
    """A hint and everything inside it, fields of structures too."""
    waiting = [hint]
    while waiting:
        part = waiting.pop()
        yield part
        match part:
            case Of(_, args):
                waiting.extend(args)
            case Aliased(of) | Shaped(of):
                waiting.append(of)
            case Structure(_, _, fields):
                waiting.extend(field.hint for field in fields)
            case _:
                pass


NONE = Name("None")
ELLIPSIS = Name("...")
