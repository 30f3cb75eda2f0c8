"""Whatever stands as an annotation or default, reading ends with findings, not an exception."""

from __future__ import annotations

import collections
import contextvars
import dataclasses
import enum
import functools
import operator
import sys
import typing
from typing import Any

import pytest
import typing_extensions

from opwright.hints import annotation, examine, live, values
from opwright.hints.model import Instance, Member, Unknown
from opwright.hints.names import Scope

from .writing import function


class Raises:
    """An object that answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __repr__(self) -> str:
        return "raises\nraises"


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


T = typing.TypeVar("T")
STRANGE: tuple[Any, ...] = (
    *(3, 2.5, b"x", object(), lambda: 3, len, [], [int], {}, {"a": int}, (), (int, str), set()),
    *(NotImplemented, Raises(), Unhashable(), print, operator.add, functools.partial(int)),
    *(typing.Generic, typing.ClassVar, typing.ClassVar[int], typing.Union, typing.Optional),
    *(typing.Literal, typing.Annotated, typing.Final, typing.Callable, typing.Protocol, typing.Any),
    *(typing.NoReturn, type, type[int], list, tuple, typing.NewType),
    *(typing.ParamSpec("P"), typing_extensions.TypeVarTuple("Ts"), T, list[T]),
    *(typing_extensions.Unpack[tuple[int, ...]], typing_extensions.Self, typing.AnyStr, type, ...),
    *(tuple[()], typing.Callable[..., Any], typing.Callable[[int], str], typing.IO, typing.IO[str]),
    *(collections.OrderedDict[str, int], collections.deque, contextvars.ContextVar[int], "", " "),
    *(
        "(",
        "\0",
        "x:=3",
        "lambda: x",
        "[x for x in y]",
        "*int",
        "list[",
        "'int'",
        "int if int else 3",
    ),
    *(typing.ForwardRef("int"), typing.Union["int", None], typing.ForwardRef("Nowhere"), Exception),
    *(dataclasses.InitVar, dataclasses.InitVar[int], dict, typing.Hashable, typing.Sized),
    *(property(), classmethod(len), enum.Enum, enum.Flag, typing.NamedTuple, typing.TypedDict),
)


@pytest.mark.parametrize("place", range(len(STRANGE)), ids=[repr(one)[:40] for one in STRANGE])
def test_any_annotation_is_read(place: int) -> None:
    def f(x: int) -> int: ...

    f.__annotations__.update({"x": STRANGE[place], "return": STRANGE[place]})
    found = examine(f)
    assert all(one.code.startswith("OW1") for one in found.findings)
    assert str(found.schema).startswith("f(")


@pytest.mark.parametrize("place", range(len(STRANGE)), ids=[repr(one)[:40] for one in STRANGE])
def test_any_default_is_read(place: int) -> None:
    def f(x: int, y: typing.List[int] = STRANGE[place]) -> int: ...  # noqa: UP006

    codes = [one.code for one in examine(f).findings]
    expected = [] if STRANGE[place] in ([],) or STRANGE[place] == () else ["OW106"]
    assert codes == expected


def test_what_is_called_is_any_object() -> None:
    for subject in STRANGE:
        assert examine(subject).findings


VALUES = {
    "member of an int enum": (enum.IntEnum("Level", "LOW").LOW, Member),
    "flags without a name": (enum.Flag("Bits", "A B")(3), (int, Member)),
    "a subclass of float": (type("Float64", (float,), {})(2.5), float),
    "a subclass of str": (type("Text", (str,), {})("a"), str),
    "a mapping with other keys": ({1: 2}, Unknown),
    "a dict": ({"a": 1}, Instance),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_a_live_default_is_worth(name: str) -> None:
    given, kind = VALUES[name]
    assert isinstance(values.value(given), kind)


def test_a_default_that_holds_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert "Unknown" in repr(values.value(endless))


def test_a_long_default_is_named_by_its_class() -> None:
    assert values.value(set(range(100))) == Unknown("set(...)")
    assert values.value(Raises()) == Unknown("Raises(...)")


def test_a_factory_that_fails() -> None:
    text = """
@dataclass
class Cfg:
    n: int = field(default_factory=lambda: 1 / 0)
    m: float = field(default_factory=functools.partial(float, "x"))
def f(cfg: Cfg) -> Tensor: ..."""
    messages = [one.message for one in examine(function(text)).findings]
    assert messages[0] == "'cfg__n' of f: the default <lambda> is no constant"
    assert messages[1].startswith("'cfg__m' of f: the default functools.partial(")


def test_a_field_whose_presence_is_quoted_wrongly() -> None:
    text = "class Cfg(TypedDict):\n    n: 'NotRequired[1 / 0]'\ndef f(cfg: Cfg) -> Tensor: ..."
    (found,) = examine(function(text)).findings
    assert found.code == "OW103"


def test_memories_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is emptied when it is full, and the answers stay the same."""
    for module, name in ((annotation, "_MOST_REMEMBERED"), (live, "_MOST_KNOWN")):
        monkeypatch.setattr(module, name, 2)
    lower = sys.modules["opwright.hints.lower"]
    monkeypatch.setattr(lower, "_MOST_KNOWN", 2)
    for module, name in ((live, "_known"), (lower, "_parameters")):
        monkeypatch.setattr(module, name, {})  # what other tests left there may be more
    texts = [f"def f(one{n}: list[{kind}]) -> {kind}: ..." for n, kind in enumerate(KINDS)]
    found = [str(examine(function(text, "")).schema) for text in texts]
    assert found == [
        f"f({kind}[] one{n}) -> {kind}" for n, kind in enumerate(map(KINDS.get, KINDS))
    ]
    assert len(lower._parameters) <= 3
    assert len(live._known) <= 3


KINDS = {"int": "SymInt", "float": "float", "bool": "bool", "str": "str", "complex": "complex"}


def test_a_scope_without_a_file_knows_no_imports() -> None:
    hint = annotation.read_hint("Nowhere | None | Elsewhere", Scope({}))
    assert "Nowhere" in str(hint)
    assert annotation.read_hint("None | Nowhere", Scope({})) != hint
