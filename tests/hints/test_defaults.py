"""Defaults of every kind: what a schema holds, what does not fit, what no schema can hold."""

from __future__ import annotations

import pytest

from opwright import parse
from opwright.hints import examine, infer

from .writing import function

CLASSES = """
class Act(str, enum.Enum):
    RELU = "relu"
    GELU = "gelu"
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
class Mode(enum.Enum):
    FAST = 1
    SLOW = 2
class Cfg(TypedDict):
    n: int
INF, NAN = float("inf"), float("nan")
"""
HELD = {
    "int = 3": "SymInt x=3",
    "int = True": "SymInt x=1",
    "int = -2**63": "SymInt x=-9223372036854775808",
    "Const[int] = 3": "int x=3",
    "float = 1": "float x=1.0",
    "float = 0.1": "float x=0.1",
    "float = 1e-6": "float x=1e-06",
    "float = 2.2250738585072014e-308": "float x=2.2250738585072014e-308",
    "bool = True": "bool x=True",
    "Scalar = 2": "Scalar x=2",
    "Scalar = 2.5": "Scalar x=2.5",
    "Scalar = True": "Scalar x=True",
    "complex = 1j": "complex x=1.0j",
    "complex = 0": "complex x=0.0j",
    "str = 'cpu'": 'str x="cpu"',
    "str = ''": 'str x=""',
    "Tensor | None = None": "Tensor? x=None",
    "Tensor = None": "Tensor x=None",
    "int | None = 3": "SymInt? x=3",
    "float | None = 3": "float? x=3.0",
    "list[int] = [1, 2]": "SymInt[] x=[1, 2]",
    "list[int] = ()": "SymInt[] x=[]",
    "Sequence[float] = (1, 2.5)": "float[] x=[1.0, 2.5]",
    "list[bool] = [True]": "bool[] x=[True]",
    "tuple[int, int] = (1, 1)": "SymInt[2] x=[1, 1]",
    "int | tuple[int, int] = 1": "SymInt[2] x=[1, 1]",
    "int | tuple[int, int] = (1, 2)": "SymInt[2] x=[1, 2]",
    "list[int] | None = None": "SymInt[]? x=None",
    "Literal['a', 'b'] = 'a'": 'str x="a"',
    "Literal[1, None] = None": "SymInt? x=None",
    "Act = Act.RELU": 'str x="relu"',
    "Act | None = None": "str? x=None",
    "Act | None = Act.GELU": 'str? x="gelu"',
    "Level = Level.HIGH": "int x=2",
    "Mode = Mode.SLOW": 'str x="SLOW"',
    "torch.device = 'cuda:0'": 'Device x="cuda:0"',
    "Json[dict[str, int]] = {'a': 1}": r'str x="{\"a\":1}"',
    "Json[list[float]] = [1.5, None]": 'str x="[1.5,null]"',
}


@pytest.mark.parametrize("written", HELD)
def test_a_default_that_a_schema_holds(written: str) -> None:
    schema = infer(function(f"{CLASSES}\ndef f(x: {written}) -> Tensor: ..."))
    assert str(schema) == f"f({HELD[written]}) -> Tensor"
    assert parse(str(schema)) == schema


@pytest.mark.parametrize(
    "text", ['say "hi"', "it's", "back\\slash", "two\nlines", "tab\t", "é 日本"]
)
def test_a_text_reads_back_as_itself(text: str) -> None:
    schema = infer(function(f"def f(x: str = {text!r}) -> Tensor: ..."))
    assert parse(str(schema)).arguments[0].default == text


NONE_INSTEAD = "give it `| None` with `None`, and put the value into the body"
MADE_INSTEAD = "give it `| None` with `None`, and make the object in the body"
FAULTS = {
    "int = 1.5": ("OW106", "the default 1.5 does not fit int", ""),
    "int = None": ("OW106", "the default None does not fit int", "write `int | None`"),
    "int = 'a'": ("OW106", "the default 'a' does not fit int", ""),
    "int = 2**63": (
        "OW107",
        "no schema can hold the int default 9223372036854775808",
        "write a smaller number",
    ),
    "float = True": ("OW106", "the default True does not fit float", ""),
    "float = INF": ("OW107", "no schema can hold the float default inf", NONE_INSTEAD),
    "float = NAN": ("OW107", "no schema can hold the float default nan", NONE_INSTEAD),
    "float = 5e-324": ("OW107", "no schema can hold the float default 5e-324", NONE_INSTEAD),
    "bool = 1": ("OW106", "the default 1 does not fit bool", ""),
    "str = 1": ("OW106", "the default 1 does not fit str", ""),
    "str = b'a'": ("OW106", "the default b'a' does not fit str", ""),
    "complex = 1 + 2j": (
        "OW107",
        "no schema can hold the complex default (1+2j)",
        NONE_INSTEAD,
    ),
    "Tensor = 0": ("OW106", "the default 0 does not fit Tensor", ""),
    "list[int] = 3": ("OW106", "the default 3 does not fit list[int]", ""),
    "list[int] = [1, 'a']": ("OW106", "the default (1, 'a') does not fit list[int]", ""),
    "tuple[int, int] = (1, 2, 3)": (
        "OW106",
        "the default (1, 2, 3) has 3 items",
        "give it 2",
    ),
    "tuple[int, int] = 1": ("OW106", "the default 1 does not fit tuple[int, int]", ""),
    "tuple[int, int] = (1, 'a')": (
        "OW106",
        "the default (1, 'a') does not fit tuple[int, int]",
        "",
    ),
    "list[str] = []": ("OW107", "no schema can hold the list[str] default ()", NONE_INSTEAD),
    "list[Scalar] = [1]": (
        "OW107",
        "no schema can hold the list[Scalar] default (1,)",
        NONE_INSTEAD,
    ),
    "list[list[int]] = [[1]]": (
        "OW107",
        "no schema can hold the list[list[int]] default ((1,),)",
        NONE_INSTEAD,
    ),
    "list[int] | None = [1]": (
        "OW107",
        "no schema can hold the list[int] | None default (1,)",
        NONE_INSTEAD,
    ),
    "Literal['a', 'b'] = 'c'": ("OW106", "the default 'c' does not fit Literal['a', 'b']", ""),
    "Literal[1, 2] = True": ("OW106", "the default True does not fit Literal[1, 2]", ""),
    "Act = 'relu'": ("OW106", "the default 'relu' does not fit Act", ""),
    "Act = Level.LOW": ("OW106", "the default Level.LOW does not fit Act", ""),
    "torch.dtype = 6": ("OW106", "the default 6 does not fit dtype", ""),
    "torch.device = None": (
        "OW106",
        "the default None does not fit device",
        "write `device | None`",
    ),
    "int = len": (
        "OW106",
        "the default <built-in function len> is no constant",
        "write a constant, or None and fill it in the body",
    ),
    "Cfg = {'n': 'a'}": ("OW106", "the default 'a' does not fit int", ""),
    "Cfg = {'m': 1}": ("OW106", "the default {'m': 1} does not fit Cfg", ""),
    "Cfg = 3": ("OW106", "the default 3 does not fit Cfg", ""),
    "Opaque[Cfg] = {'n': 1}": ("OW107", "no schema can hold the default {'n': 1}", MADE_INSTEAD),
    "Json[Any] = len": (
        "OW107",
        "no schema can hold the default <built-in function len>",
        MADE_INSTEAD,
    ),
    "Json[Any] = INF": ("OW107", "no schema can hold the default inf", MADE_INSTEAD),
}


@pytest.mark.parametrize("written", FAULTS)
def test_a_default_that_is_refused(written: str) -> None:
    code, message, hint = FAULTS[written]
    (found,) = examine(function(f"{CLASSES}\ndef f(x: {written}) -> Tensor: ...")).findings
    subject = "'x__n'" if "does not fit int" in message and written.startswith("Cfg") else "'x'"
    assert (found.code, found.message, found.hint) == (code, f"{subject} of f: {message}", hint)


def test_keyword_only_defaults_are_kept_in_place() -> None:
    schema = infer(function("def f(x: Tensor, *, n: int = 3, m: int) -> Tensor: ..."))
    assert str(schema) == "f(Tensor x, *, SymInt n=3, SymInt m) -> Tensor"
