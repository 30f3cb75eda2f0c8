"""Every annotation of the design's table, and what is refused."""

from __future__ import annotations

import pytest

from opwright.findings import SchemaError
from opwright.hints import examine, infer
from opwright.hints.codec import (
    AS_IS,
    By,
    Each,
    EnumMember,
    JsonText,
    Nullable,
    OneOf,
    OpaqueObject,
    Single,
)
from opwright.hints.model import EnumType, Name

from .writing import function

CLASSES = """
class Act(str, enum.Enum):
    RELU = "relu"
    GELU = "gelu"
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
class Mode(enum.Enum):
    FAST = object()
    SLOW = object()
class Empty(enum.Enum): ...
Rank = NewType("Rank", int)
Size = Union[int, float]
T = TypeVar("T")
Number = TypeVar("Number", int, float)
Whole = TypeVar("Whole", bound="int")
Pair = TypeAliasType("Pair", Tuple[int, int])
P = ParamSpec("P")
@dataclass
class Cfg:
    scale: float
class Plain: ...
"""
MEANINGS = {
    "Tensor": "Tensor",
    "torch.Tensor": "Tensor",
    "nn.Parameter": "Tensor",
    "'Tensor'": "Tensor",
    'Float[Tensor, "b n"]': "Tensor",
    'Float[Tensor, "b n"] | None': "Tensor?",
    "int": "SymInt",
    "torch.SymInt": "SymInt",
    "int | torch.SymInt": "SymInt",
    "Const[int]": "int",
    "Const[int | None]": "int?",
    "Const[list[int]]": "int[]",
    "list[Const[int]]": "int[]",
    "Const[tuple[int, int]]": "int[2]",
    "bool": "bool",
    "float": "float",
    "str": "str",
    "complex": "complex",
    "Scalar": "Scalar",
    "numbers.Number": "Scalar",
    "int | float": "Scalar",
    "Union[int, float, bool]": "Scalar",
    "int | float | bool | complex": "Scalar",
    "int | float | None": "Scalar?",
    "Optional[Scalar]": "Scalar?",
    "list[int | float]": "Scalar[]",
    "torch.dtype": "ScalarType",
    "torch.device": "Device",
    "torch.device | str": "Device",
    "torch.device | str | None": "Device?",
    "torch.layout": "Layout",
    "torch.memory_format": "MemoryFormat",
    "torch.Generator | None": "Generator?",
    "torch.Generator": "Generator",
    "torch.Stream": "Stream",
    "torch.SymBool": "SymBool",
    "Tensor | None": "Tensor?",
    "Optional[Tensor]": "Tensor?",
    "Union[None, Tensor]": "Tensor?",
    "Optional[list[Tensor]]": "Tensor[]?",
    "list[Tensor] | None": "Tensor[]?",
    "Optional[list[Optional[Tensor]]]": "Tensor?[]?",
    "List[Tensor]": "Tensor[]",
    "list['Tensor']": "Tensor[]",
    "List['Tensor | None']": "Tensor?[]",
    "Sequence[int]": "SymInt[]",
    "typing.Sequence[int]": "SymInt[]",
    "Iterable[int]": "SymInt[]",
    "collections.abc.Collection[int]": "SymInt[]",
    "MutableSequence[int]": "SymInt[]",
    "tuple[int, ...]": "SymInt[]",
    "torch.Size": "SymInt[]",
    "list[list[int]]": "SymInt[][]",
    "list[str]": "str[]",
    "list[list[float]]": "float[][]",
    "list[tuple[int, int]]": "SymInt[][]",
    "tuple[int, int]": "SymInt[2]",
    "Tuple[int, int, int]": "SymInt[3]",
    "tuple[int]": "SymInt[1]",
    "tuple[Tensor, Tensor]": "Tensor[2]",
    "Optional[tuple[int, int]]": "SymInt[2]?",
    "tuple[Tensor, Optional[Tensor]]": "Tensor?[]",
    "tuple[Optional[Tensor], Optional[Tensor]]": "Tensor?[2]",
    "int | tuple[int, int]": "SymInt[2]",
    "Union[int, Tuple[int, int], None]": "SymInt[2]?",
    "float | tuple[float, float, float]": "float[3]",
    "int | tuple[int, int] | list[int]": "SymInt[2]",
    "list[int] | tuple[int, ...]": "SymInt[]",
    "torch.Size | tuple[int, ...]": "SymInt[]",
    "tuple[int, int] | tuple[int, int, int]": "SymInt[]",
    "Literal['relu', 'gelu']": "str",
    "Literal['relu', None]": "str?",
    "Literal['a'] | Literal['b']": "str",
    "Literal['a'] | str": "str",
    "Literal[1, 2]": "SymInt",
    "Literal[True]": "bool",
    "list[Literal['a', 'b']]": "str[]",
    "Act": "str",
    "Act | None": "str?",
    "list[Act]": "str[]",
    "Level": "int",
    "Mode": "str",
    "Rank": "SymInt",
    "Size": "Scalar",
    "Number": "Scalar",
    "Whole": "SymInt",
    "Pair": "SymInt[2]",
    "Annotated[int, 'meters']": "SymInt",
    "Final[int]": "SymInt",
    "Json[Cfg]": "str",
    "Json[dict[str, Any]]": "str",
    "Json[Cfg] | None": "str?",
    "Mutable[Tensor]": "Tensor(a!)",
    "Mutable[Tensor | None]": "Tensor(a!)?",
    "Mutable[Tensor] | None": "Tensor(a!)?",
    "Optional[Mutable[Tensor]]": "Tensor(a!)?",
    "Mutable[list[Tensor]]": "Tensor(a!)[]",
    "list[Mutable[Tensor]]": "Tensor(a!)[]",
    "Mutable[list[Tensor] | None]": "Tensor(a!)[]?",
    "Mutable[list[Tensor | None]]": "Tensor(a!)?[]",
    'Mutable[Float[Tensor, "b"]]': "Tensor(a!)",
    "Annotated[Mutable[Tensor], 'in place']": "Tensor(a!)",
    "Out[Tensor]": "Tensor(a!)",
    "Out[list[Tensor]]": "Tensor(a!)[]",
}


@pytest.mark.parametrize("annotation", MEANINGS)
def test_what_an_annotation_means(annotation: str) -> None:
    written = function(f"{CLASSES}\ndef f(x: {annotation}) -> Tensor: ...")
    assert str(infer(written)) == f"f({MEANINGS[annotation]} x) -> Tensor"


def test_an_opaque_class_is_its_path() -> None:
    written = function("class Cfg: ...\ndef f(x: Opaque[Cfg]) -> Tensor: ...")
    assert str(infer(written)) == f"f({written.__module__}.Cfg x) -> Tensor"


ACT = (("RELU", "relu"), ("GELU", "gelu"))
CODECS = {
    "Tensor": AS_IS,
    "Tensor | None": AS_IS,
    "list[int]": AS_IS,
    "list[Tensor | None]": AS_IS,
    "Sequence[int]": AS_IS,
    "torch.Size": Each(AS_IS, "torch.Size"),
    "tuple[int, ...]": Each(AS_IS, "tuple"),
    "tuple[int, int]": Each(AS_IS, "tuple", 2),
    "tuple[int, int] | None": Nullable(Each(AS_IS, "tuple", 2)),
    "tuple[Tensor, Tensor | None]": Each(AS_IS, "tuple", 2),
    "list[tuple[int, int]]": Each(Each(AS_IS, "tuple", 2)),
    "int | tuple[int, int]": Each(AS_IS, "tuple", 2, repeats=True),
    "int | tuple[int, int] | list[int]": Each(AS_IS, "list", 2, repeats=True),
    "list[int] | tuple[int, ...]": AS_IS,
    "Literal['a', 'b']": OneOf(("a", "b")),
    "Literal['a', None]": Nullable(OneOf(("a",))),
    "Literal['a'] | Literal['b']": OneOf(("a", "b")),
    "Act": EnumMember(EnumType("Act", ACT, "str"), By.VALUE),
    "list[Act] | None": Nullable(Each(EnumMember(EnumType("Act", ACT, "str"), By.VALUE))),
    "Level": EnumMember(EnumType("Level", (("LOW", 1), ("HIGH", 2)), "int"), By.VALUE),
    "Color": EnumMember(EnumType("Color", (("RED", 1),)), By.NAME),
    "Json[list[int]]": JsonText(Name("list")),
}


@pytest.mark.parametrize("annotation", CODECS)
def test_how_values_reach_an_argument(annotation: str) -> None:
    classes = CLASSES + "\nclass Color(enum.Enum):\n    RED = 1"
    written = function(f"{classes}\ndef f(x: {annotation}) -> Tensor: ...")
    (binding,) = examine(written).bindings
    assert isinstance(binding, Single)
    assert (binding.name, binding.argument) == ("x", "x")
    assert _bare(binding.codec) == CODECS[annotation]


def _bare(codec: object) -> object:
    """The codec with enum paths cut to the class, and only the head of what Json holds."""
    match codec:
        case EnumMember(EnumType(path, members, mixin), by):
            return EnumMember(EnumType(path.rpartition(".")[2], members, mixin), by)
        case Each(of, kind, size, repeats):
            return Each(_bare(of), kind, size, repeats)  # type: ignore[arg-type]
        case Nullable(of):
            return Nullable(_bare(of))  # type: ignore[arg-type]
        case JsonText(of):
            return JsonText(Name(of.head))  # type: ignore[union-attr]
        case _:
            return codec


def test_a_live_class_comes_with_its_codec() -> None:
    written = function(f"{CLASSES}\ndef f(x: Act, y: Opaque[Plain]) -> Tensor: ...")
    act, plain = (binding.codec for binding in examine(written).bindings)  # type: ignore[union-attr]
    assert isinstance(act, EnumMember)
    assert act.enum.object is written.__globals__["Act"]
    assert isinstance(plain, OpaqueObject)
    assert isinstance(plain.of, Name)
    assert plain.of.object is written.__globals__["Plain"]


FIELDS_FIRST = "make it a dataclass, NamedTuple or TypedDict, or use `Json[Plain]`, `Opaque[Plain]`"
REFUSALS = {
    "dict[str, Any]": (
        "OW102 'x' of f: dict[str, Any] has no schema type",
        "use a TypedDict, `Json[dict[str, Any]]` or `Opaque[...]`",
    ),
    "dict[str, float]": (
        "OW102 'x' of f: dict[str, float] has no schema type",
        "pass two lists, `list[str]` and `list[float]`, or use a TypedDict or"
        " `Json[dict[str, float]]`",
    ),
    "Mapping[str, Tensor]": (
        "OW102 'x' of f: Mapping[str, Tensor] has no schema type",
        "pass two lists, `list[str]` and `list[Tensor]`, or use a TypedDict or"
        " `Json[Mapping[str, Tensor]]`",
    ),
    "Callable[[int], int]": (
        "OW102 'x' of f: Callable[[int], int] has no schema type",
        "pass a str and look the function up in a registry of your own",
    ),
    "Callable": (
        "OW102 'x' of f: Callable has no schema type",
        "pass a str and look the function up in a registry of your own",
    ),
    "Any": (
        "OW102 'x' of f: Any has no schema type",
        "name the type, or write `Json[...]` or `Opaque[...]` around it",
    ),
    "object": (
        "OW102 'x' of f: object has no schema type",
        "name the type, or write `Json[...]` or `Opaque[...]` around it",
    ),
    "nn.Module": (
        "OW102 'x' of f: Module has no schema type",
        "pass its parameters as Tensors, or a str that names it in a registry",
    ),
    "torch.tensor": ("OW102 'x' of f: tensor has no schema type", "write `torch.Tensor`"),
    "torch.SymFloat": ("OW102 'x' of f: SymFloat has no schema type", "write `opwright.Scalar`"),
    "set[int]": ("OW102 'x' of f: set[int] has no schema type", "write `list[int]`"),
    "list": ("OW102 'x' of f: list has no schema type", "say of what: `list[int]`"),
    "List": ("OW102 'x' of f: list has no schema type", "say of what: `list[int]`"),
    "bytes": (
        "OW102 'x' of f: bytes has no schema type",
        "write `str`, or a Tensor of `torch.uint8`",
    ),
    "pathlib.Path": ("OW102 'x' of f: Path has no schema type", "write `str`"),
    "Plain": (
        "OW102 'x' of f: Plain has no schema type",
        f"{FIELDS_FIRST}, or a str that names an entry of your own registry",
    ),
    "list[Cfg]": (
        "OW102 'x' of f: Cfg has no schema type",
        "a structure is flattened only as a parameter of its own",
    ),
    "tuple[int, str]": (
        "OW102 'x' of f: tuple[int, str] has no schema type",
        "pass the items as parameters of their own, or use a NamedTuple",
    ),
    "Tensor | float": (
        "OW102 'x' of f: Tensor | float has no schema type",
        "define two operators, or overloads of one, and choose in Python",
    ),
    "int | bool": (
        "OW102 'x' of f: bool | int has no schema type",
        "write `int`, or `opwright.Scalar` if True is to stay True",
    ),
    "int | list[int]": (
        "OW102 'x' of f: int | list[int] has no schema type",
        "write the list alone, or a bare item beside a tuple of fixed length",
    ),
    "int | str": ("OW102 'x' of f: int | str has no schema type", "choose one of them"),
    "Literal['a', 1]": (
        "OW102 'x' of f: Literal['a', 1] has no schema type",
        "write `str`, `int`, `bool` or an Enum",
    ),
    "Literal[Act.RELU]": (
        "OW102 'x' of f: Literal[Act.RELU] has no schema type",
        "annotate the Enum itself",
    ),
    "Literal[b'a']": (
        "OW102 'x' of f: Literal[b'a'] has no schema type",
        "write `str`, `int`, `bool` or an Enum",
    ),
    "Empty": ("OW102 'x' of f: Empty has no schema type", "give it members"),
    "type[int]": (
        "OW102 'x' of f: type[int] has no schema type",
        "see the table of annotations for what has one",
    ),
    "Missing": (
        "OW103 'x' of f: Missing is not defined where the annotation is written",
        "import it, or define it above",
    ),
    "list[missing.Name]": (
        "OW103 'x' of f: missing.Name is not defined where the annotation is written",
        "import it, or define it above",
    ),
    "Missing[int] | None": (
        "OW103 'x' of f: Missing is not defined where the annotation is written",
        "import it, or define it above",
    ),
    "T": (
        "OW103 'x' of f: T is a type variable without bound or constraints",
        "give it a bound: `TypeVar('T', bound=Tensor)`, or write the type itself",
    ),
    "P": ("OW103 'x' of f: P is not a type", "write a type"),
    "3": ("OW103 'x' of f: 3 is not a type", "write a type"),
    "1 / 0": ("OW103 'x' of f: 1 / 0 is not a type", "write a type"),
    "'in t'": ("OW103 'x' of f: in t is not an expression", "write the annotation without quotes"),
    "Mutable[int]": (
        "OW109 'x' of f: Mutable[int] marks what is not a tensor",
        "write `int`: only tensors are written to",
    ),
    "Out[Mutable[Tensor]]": (
        "OW109 'x' of f: Out[Mutable[Tensor]] is marked twice",
        "write `Out` where it is never read",
    ),
    "Const[float]": ("OW109 'x' of f: Const[float] marks what is not an int", "write `float`"),
    "Mutable[dict]": (
        "OW102 'x' of f: dict has no schema type",
        "use a TypedDict, `Json[dict[str, ...]]`, or two lists, keys and values",
    ),
    "Opaque[list[int]]": (
        "OW109 'x' of f: Opaque[list[int]] is not a class at the top of a module",
        "name a class that torch can register",
    ),
    "Opaque[Missing]": (
        "OW103 'x' of f: Missing is not defined where the annotation is written",
        "import it, or define it above",
    ),
    "Json[list[Missing]]": (
        "OW103 'x' of f: Missing is not defined where the annotation is written",
        "import it, or define it above",
    ),
    "tuple[Mutable[Tensor], Tensor]": (
        "OW102 'x' of f: tuple[Mutable[Tensor], Tensor] has no schema type",
        "pass the items as parameters of their own, or use a NamedTuple",
    ),
}


@pytest.mark.parametrize("annotation", REFUSALS)
def test_what_is_refused_says_what_to_write(annotation: str) -> None:
    message, hint = REFUSALS[annotation]
    written = function(f"{CLASSES}\ndef f(x: {annotation}) -> Tensor: ...")
    (found,) = examine(written).findings
    assert (f"{found.code} {found.message}", found.hint) == (message, hint)
    with pytest.raises(SchemaError) as raised:
        infer(written)
    assert raised.value.findings == (found,)


def test_the_tables_can_fail() -> None:
    """The control: each pair of annotations that must differ does."""
    pairs = [
        ("int", "Const[int]"),
        ("Tensor", "Mutable[Tensor]"),
        ("tuple[int, int]", "list[int]"),
        ("Tensor | None", "Tensor"),
        ("list[Tensor | None]", "list[Tensor] | None"),
    ]
    for left, right in pairs:
        written = function(f"def f(x: {left}, y: {right}) -> Tensor: ...")
        x, y = infer(written).arguments
        assert x.type != y.type
