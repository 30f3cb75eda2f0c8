"""Structures: flattened, nested, with defaults, optional, and what clashes."""

from __future__ import annotations

import pytest

from opwright.hints import examine, infer, inferred
from opwright.hints.codec import AS_IS, Gives, Result, Results, Single, Splat

from .writing import function, write

CLASSES = """
import pydantic
@dataclass
class Cfg:
    scale: float
    causal: bool = False
@dataclass(frozen=True)
class Frozen:
    scale: float = 1.0
    bias: Optional[Tensor] = None
    hidden: int = field(default=3, init=False)
    sizes: list[int] = field(default_factory=lambda: [1, 2])
@dataclass
class Base:
    first: int
@dataclass
class Derived(Base):
    second: "int" = 2
@dataclass
class Outer:
    inner: Cfg
    n: int = 1
@dataclass
class Writes:
    cache: Mutable[Tensor]
@dataclass
class Unheld:
    names: list[str] = field(default_factory=list)
    limit: float = float("inf")
    n: int = 1
@dataclass
class Tree:
    value: int
    left: Optional[Tree] = None
@dataclass
class Bad:
    table: dict
    number: int = 1.5
@dataclass
class Nothing: ...
class Pair(NamedTuple):
    x: Tensor
    n: int = 3
class Keys(TypedDict):
    scale: float
    causal: NotRequired[bool]
class Loose(TypedDict, total=False):
    scale: Required[float]
    causal: bool
class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    scale: float
    causal: bool = False
    sizes: list[int] = pydantic.Field(default_factory=list)
@dataclass
class Box(Generic[T_co]):
    n: int
    of: T_co
class Act(str, enum.Enum):
    RELU = "relu"
@dataclass
class Chosen:
    act: Act = Act.RELU
    mode: Literal["fast", "slow"] = "fast"
    k: tuple[int, int] = (1, 1)
"""
CLASSES = CLASSES.replace("Generic[T_co]", "Generic[T]").replace("of: T_co", "of: T")
CLASSES = 'T = TypeVar("T", bound="int")\n' + CLASSES
FLATTENED = {
    "cfg: Cfg": "float cfg__scale, bool cfg__causal=False",
    "cfg: Frozen": ("float cfg__scale=1.0, Tensor? cfg__bias=None, SymInt[] cfg__sizes=[1, 2]"),
    "cfg: Derived": "SymInt cfg__first, SymInt cfg__second=2",
    "cfg: Outer": "float cfg__inner__scale, bool cfg__inner__causal, SymInt cfg__n=1".replace(
        "causal,", "causal=False,"
    ),
    "cfg: Writes": "Tensor(a!) cfg__cache",
    "cfg: Nothing": "",
    "cfg: Pair": "Tensor cfg__x, SymInt cfg__n=3",
    "cfg: Keys": "float cfg__scale, bool? cfg__causal=None",
    "cfg: Loose": "float cfg__scale, bool? cfg__causal=None",
    "cfg: Model": "float cfg__scale, bool cfg__causal=False, SymInt[] cfg__sizes=[]",
    "cfg: Box[int]": "SymInt cfg__n, SymInt cfg__of",
    "cfg: Chosen": 'str cfg__act="relu", str cfg__mode="fast", SymInt[2] cfg__k=[1, 1]',
    # a default that no schema can hold is left out, and with it those before it
    "cfg: Unheld": "str[] cfg__names, float cfg__limit, SymInt cfg__n=1",
    # a required parameter after it takes the defaults away
    "cfg: Cfg, x: Tensor": "float cfg__scale, bool cfg__causal, Tensor x",
    "x: Tensor, *, cfg: Cfg": "Tensor x, *, float cfg__scale, bool cfg__causal=False",
    # the default of the parameter wins over those of the fields
    "cfg: Cfg = Cfg(2.0, True)": "float cfg__scale=2.0, bool cfg__causal=True",
    "cfg: Model = Model(scale=2)": (
        "float cfg__scale=2.0, bool cfg__causal=False, SymInt[] cfg__sizes=[]"
    ),
    "cfg: Keys = {'scale': 1.0}": "float cfg__scale=1.0, bool? cfg__causal=None",
    "cfg: Outer = Outer(Cfg(1.0))": (
        "float cfg__inner__scale=1.0, bool cfg__inner__causal=False, SymInt cfg__n=1"
    ),
    # optional: a flag, and every field may be None
    "cfg: Optional[Cfg] = None": ("bool cfg=False, float? cfg__scale=None, bool? cfg__causal=None"),
    "cfg: Cfg | None = Cfg(2.0)": "bool cfg=True, float? cfg__scale=2.0, bool? cfg__causal=False",
    "cfg: Cfg | None": "bool cfg, float? cfg__scale, bool? cfg__causal=False",
    "cfg: Outer | None = None": (
        "bool cfg=False, bool cfg__inner=False, float? cfg__inner__scale=None,"
        " bool? cfg__inner__causal=None, SymInt? cfg__n=None"
    ),
}


@pytest.mark.parametrize("parameters", FLATTENED)
def test_a_structure_is_flattened(parameters: str) -> None:
    written = function(f"{CLASSES}\ndef f({parameters}) -> Tensor: ...")
    assert str(infer(written)) == f"f({FLATTENED[parameters]}) -> Tensor"


def test_bindings_rebuild_what_was_flattened() -> None:
    module = write(f"{CLASSES}\ndef f(x: Tensor, cfg: Outer | None = None) -> Tensor: ...")
    x, cfg = inferred(module.f).bindings
    assert x == Single("x", "x")
    assert isinstance(cfg, Splat)
    inner, n = cfg.fields
    assert (cfg.presence, cfg.structure.object) == ("cfg", module.Outer)
    assert isinstance(inner, Splat)
    assert (inner.presence, inner.structure.object) == ("cfg__inner", module.Cfg)
    assert inner.fields == (
        Single("scale", "cfg__inner__scale"),
        Single("causal", "cfg__inner__causal"),
    )
    assert n == Single("n", "cfg__n", AS_IS)


def test_keys_that_may_be_missing_are_named() -> None:
    module = write(f"{CLASSES}\ndef f(cfg: Keys) -> Tensor: ...")
    (cfg,) = inferred(module.f).bindings
    assert isinstance(cfg, Splat)
    assert cfg.omitted == ("causal",)


REFUSED = {
    "cfg: Cfg, cfg__scale: int": (
        "OW108 'cfg__scale' of f: a field and a parameter become this argument"
    ),
    "cfg: Tree": "OW103 'cfg__left' of f: Tree contains itself",
    "cfg: list[Cfg]": "OW102 'cfg' of f: Cfg has no schema type",
    "cfg: Mutable[Cfg]": "OW102 'cfg' of f: Cfg has no schema type",
    "cfg: dict[str, Cfg]": "OW102 'cfg' of f: dict[str, Cfg] has no schema type",
    "cfg: Cfg = None": "OW106 'cfg' of f: the default None does not fit Cfg",
    "cfg: Cfg = Pair(1)": "OW106 'cfg' of f: the default Pair(x=1, n=3) does not fit Cfg",
    "cfg: Optional[Cfg] = 3": "OW106 'cfg' of f: the default 3 does not fit Cfg | None",
}


@pytest.mark.parametrize("parameters", REFUSED)
def test_what_cannot_be_flattened(parameters: str) -> None:
    written = function(f"{CLASSES}\ndef f({parameters}) -> Tensor: ...")
    (found,) = examine(written).findings
    assert f"{found.code} {found.message}" == REFUSED[parameters]


def test_every_fault_of_a_structure_is_told() -> None:
    written = function(f"{CLASSES}\ndef f(cfg: Bad) -> Tensor: ...")
    assert [found.message for found in examine(written).findings] == [
        "'cfg__table' of f: dict has no schema type",
        "'cfg__number' of f: the default 1.5 does not fit int",
    ]


RETURNS = {
    "None": ("()", Results(Gives.NOTHING)),
    "Tensor": ("Tensor", Results(Gives.ONE, (Result(),))),
    "Optional[Tensor]": ("Tensor?", Results(Gives.ONE, (Result(),))),
    "list[Optional[Tensor]]": ("Tensor?[]", Results(Gives.ONE, (Result(),))),
    "Sequence[Tensor]": ("Tensor[]", Results(Gives.ONE, (Result(),))),
    "tuple[Tensor, Optional[Tensor]]": (
        "(Tensor, Tensor?)",
        Results(Gives.TUPLE, (Result(), Result())),
    ),
    "tuple[Tensor, int, float]": (
        "(Tensor, SymInt, float)",
        Results(Gives.TUPLE, (Result(),) * 3),
    ),
    "tuple[Tensor, list[Tensor]]": (
        "(Tensor, Tensor[])",
        Results(Gives.TUPLE, (Result(), Result())),
    ),
    "tuple[Tensor]": ("((Tensor))", Results(Gives.TUPLE, (Result(),))),
    "int": ("SymInt", Results(Gives.ONE, (Result(),))),
}


@pytest.mark.parametrize("returns", RETURNS)
def test_what_is_returned(returns: str) -> None:
    found = inferred(function(f"def f(y: Mutable[Tensor]) -> {returns}: ..."))
    schema, results = RETURNS[returns]
    assert str(found.schema) == f"f(Tensor(a!) y) -> {schema}"
    assert found.results == results


@pytest.mark.parametrize("head", ["class R(NamedTuple):", "@dataclass\nclass R:"])
def test_named_results(head: str) -> None:
    module = write(f"{head}\n    y: Tensor\n    lse: Tensor | None\ndef f(x: Tensor) -> R: ...")
    found = inferred(module.f)
    assert str(found.schema) == "f(Tensor x) -> (Tensor y, Tensor? lse)"
    assert found.results.gives is Gives.STRUCTURE
    assert found.results.structure is not None
    assert found.results.structure.object is module.R


ALIASES = {
    "x: Mutable[Tensor]) -> Mutable[Tensor]": "Tensor(a!) x) -> Tensor(a!)",
    "x: Tensor, *, out: Out[Tensor]) -> Out[Tensor]": (
        "Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
    ),
    "x: Tensor, *, a: Out[Tensor], b: Out[Tensor]) -> tuple[Out[Tensor], Out[Tensor]]": (
        "Tensor x, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))"
    ),
    "x: Mutable[Tensor], y: Tensor) -> Tensor": "Tensor(a!) x, Tensor y) -> Tensor",
    "x: Mutable[Tensor], *, o: Out[Tensor]) -> tuple[Out[Tensor], Mutable[Tensor]]": (
        "Tensor(a!) x, *, Tensor(b!) o) -> (Tensor(b!), Tensor(a!))"
    ),
    "y: Tensor, x: Tensor) -> Annotated[Tensor, Aliases('x')]": (
        "Tensor y, Tensor(a) x) -> Tensor(a)"
    ),
    "x: Tensor, y: Tensor) -> Annotated[Tensor, Aliases('x', 'y')]": (
        "Tensor(a) x, Tensor(b) y) -> Tensor(a|b)"
    ),
    "x: Mutable[Tensor]) -> Annotated[Tensor, Aliases('x')]": "Tensor(a!) x) -> Tensor(a!)",
    "x: Tensor) -> Annotated[list[Tensor], Aliases('x')]": "Tensor(a) x) -> Tensor(a)[]",
    "x: Tensor | None) -> Annotated[Tensor, Aliases('x')]": "Tensor(a)? x) -> Tensor(a)",
}


@pytest.mark.parametrize("signature", ALIASES)
def test_results_that_alias(signature: str) -> None:
    assert str(infer(function(f"def f({signature}: ..."))) == f"f({ALIASES[signature]}"


RETURN_FAULTS = {
    "x: Tensor) -> Mutable[Tensor]": (
        "OW110 the result of f: `Mutable` is returned, and no parameter is left that is one"
    ),
    "x: Tensor) -> Annotated[Tensor, Aliases('y')]": (
        "OW110 the result of f: 'y' is no tensor parameter that a result can be a view of"
    ),
    "x: Tensor, n: int) -> Annotated[Tensor, Aliases('n')]": (
        "OW110 the result of f: 'n' is no tensor parameter that a result can be a view of"
    ),
    "x: Tensor) -> dict[str, Tensor]": (
        "OW102 the result of f: dict[str, Tensor] has no schema type"
    ),
    "x: Tensor) -> TD": "OW102 the result of f: a TypedDict cannot be returned",
    "x: Tensor)": "OW101 the result of f is not annotated",
    "x: Tensor) -> None": ("OW111 f returns nothing, writes nothing: torch.compile drops the call"),
}


@pytest.mark.parametrize("signature", RETURN_FAULTS)
def test_results_that_are_refused(signature: str) -> None:
    written = function(f"class TD(TypedDict):\n    y: Tensor\ndef f({signature}: ...")
    (found,) = examine(written).findings
    assert f"{found.code} {found.message}" == RETURN_FAULTS[signature]


VARIANTS = {
    "x: Tensor, *, out: Out[Tensor] | None = None) -> Tensor": (
        "f(Tensor x) -> Tensor",
        "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    ),
    "x: Tensor, out: Optional[Out[Tensor]] = None, n: int = 1) -> Out[Tensor]": (
        "f(Tensor x, SymInt n=1) -> Tensor",
        "f.out(Tensor x, SymInt n=1, *, Tensor(a!) out) -> Tensor(a!)",
    ),
    "x: Tensor, a: Out[Tensor | None] = None, b: Out[Tensor] | None = None)"
    " -> tuple[Tensor, Tensor]": (
        "f(Tensor x) -> (Tensor, Tensor)",
        "f.out(Tensor x, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))",
    ),
}


@pytest.mark.parametrize("signature", VARIANTS)
def test_an_out_that_may_be_left_out_makes_two_operators(signature: str) -> None:
    found = inferred(function(f"def f({signature}: ..."))
    assert found.out is not None
    assert (str(found.schema), str(found.out.schema)) == VARIANTS[signature]


def test_more_outs_than_results_are_told() -> None:
    text = "x: Tensor, out: Out[Tensor] | None = None) -> tuple[Tensor, Tensor]"
    (found,) = examine(function(f"def f({text}: ...")).findings
    assert found.code == "OW110"
