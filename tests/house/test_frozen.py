"""A frozen class behaves as the dataclass of the same text, whatever is asked of it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import pytest

from opwright import frozen
from opwright.hints.model import Member
from opwright.schema.model import REQUIRED, Argument, Base, Schema

# The body of each class, and the arguments of values of it; those in one row are all different.
CLASSES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "nothing": ("pass", [()]),
    "one": ("x: int", [(1,), (float("nan"),), ("1",)]),
    "defaults": ("x: int\n y: str = 'a'\n z: tuple = ()", [(1,), (1, "b"), (1, "a", (2,)), (2,)]),
    "words of the patterns": ("hash: int\n other_: int = 0", [(1,), (2,), (1, 1)]),
    "many": (
        "\n ".join(f"f{i}: int = {i}" for i in range(14)),
        [(), (1,), (0, 2), (*range(13), 0)],
    ),
    "factory": ("x: int\n many: list = field(default_factory=list)", [(1,), (1, [2]), (2,)]),
    "not compared": (
        "x: int\n y: int = field(default=0, compare=False, repr=False)",
        [(1,), (2, 3)],
    ),
    "checked": (
        "x: int\n def __post_init__(self):\n  object.__setattr__(self, 'x', self.x * 2)",
        [(1,), ("a",)],
    ),
    "own repr": ("x: int\n def __repr__(self):\n  return 'mine'", [(1,), (2,)]),
    "own hash": (
        "x: int\n def __eq__(self, other):\n  return self.x == getattr(other, 'x', 0)\n"
        " def __hash__(self):\n  return 7",
        [(1,), (2,)],
    ),
    "own start": (
        "x: tuple\n def __init__(self, *x):\n  object.__setattr__(self, 'x', x)",
        [(), (1,), (1, 2)],
    ),
}


# The name of each way to make a class of a body, and what makes fields for it.
OURS = (frozen.frozen, frozen.field)
THEIRS = (dataclasses.dataclass(frozen=True, slots=True), dataclasses.field)
OTHERS = {
    "not frozen": dataclasses.dataclass(slots=True, unsafe_hash=True),
    "no slots": dataclasses.dataclass(frozen=True),
    "no equality": dataclasses.dataclass(frozen=True, slots=True, eq=False),
    "no repr": dataclasses.dataclass(frozen=True, slots=True, repr=False),
}


def _made(text: str, decorate: Callable[[type], Any], field: Callable[..., Any]) -> Any:
    """The class of a body, where pickle finds it."""
    space: dict[str, Any] = {"field": field, "__name__": __name__}
    exec(f"class Twin:\n 'What it is.'\n {text}", space)
    globals()["Twin"] = decorate(space["Twin"])
    return globals()["Twin"]


def _answer(ask: Callable[[], object]) -> object:
    """What an expression gives, or the class of what it raises."""
    try:
        return ask()
    except Exception as error:
        return type(error)


def _asked(cls: Any, rows: Iterable[tuple[Any, ...]]) -> list[object]:
    """Everything that is asked of a class and its values."""
    values = [cls(*row) for row in rows]
    return [
        *(cls.__doc__, cls.__match_args__, getattr(cls, "__slots__", ()), _parameters(cls)),
        *(_told(field) for field in dataclasses.fields(cls)),
        *(_answer(lambda: cls(*range(20))), _answer(lambda: cls(strange=1))),
        *([one == other for other in (*values, 1, None)] for one in values),
        *(_said(value) for value in values),
    ]


def _said(value: Any) -> list[object]:
    """What one value says."""
    names = type(value).__match_args__
    copies = [copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))]
    return [
        repr(value),
        *([getattr(one, name) for name in names] for one in (value, *copies)),
        *(_answer(lambda way=way: way(value)) for way in (hash, vars, iter, dataclasses.asdict)),
        *(_answer(lambda: value < value), dataclasses.is_dataclass(value)),
        *(_answer(lambda name=name: setattr(value, name, 1)) for name in names),
        *(_answer(lambda name=name: delattr(value, name)) for name in names),
    ]


def _parameters(cls: type) -> list[tuple[object, ...]]:
    parameters = inspect.signature(cls).parameters.values()
    return [
        (p.name, p.kind, p.annotation, p.default is inspect.Parameter.empty) for p in parameters
    ]


def _told(field: dataclasses.Field[Any]) -> tuple[object, ...]:
    return field.name, field.type, field.default, field.default_factory, field.compare, field.repr


@pytest.mark.parametrize(("text", "rows"), CLASSES.values(), ids=CLASSES)
def test_a_frozen_class_answers_as_the_dataclass_does(
    text: str, rows: list[tuple[Any, ...]]
) -> None:
    ours, theirs = (repr(_asked(_made(text, *way), rows)) for way in (OURS, THEIRS))
    assert ours == theirs


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_class_would_answer_otherwise(other: Callable[[type], Any]) -> None:
    """The control: what is asked tells ways to make a class apart."""
    text, rows = CLASSES["defaults"]
    ours = repr(_asked(_made(text, *OURS), rows))
    assert ours != repr(_asked(_made(text, other, dataclasses.field), rows))


def test_nothing_is_set_that_the_class_does_not_have() -> None:
    cls = _made("x: int", *OURS)
    message = "^Twin is frozen: 'y' cannot be changed$"
    with pytest.raises(dataclasses.FrozenInstanceError, match=message):
        cls(1).y = 2


def test_an_equality_of_its_own_wants_a_hash_of_its_own() -> None:
    """As everywhere in Python; a dataclass would go on hashing the fields."""
    cls = _made("x: int\n def __eq__(self, other):\n  return True", *OURS)
    assert cls(1) == cls(2)
    with pytest.raises(TypeError, match=r"^unhashable type: 'Twin'$"):
        hash(cls(1))


def test_fields_of_one_value_are_no_others() -> None:
    cls = _made(CLASSES["factory"][0], *OURS)
    assert cls(1).many is not cls(1).many


def test_a_cached_property_is_kept_and_does_not_count() -> None:
    @frozen.frozen
    class Circle:
        radius: int

        @cached_property
        def area(self) -> list[int]:
            return [self.radius**2]

    circle = Circle(2)
    assert circle.area is circle.area
    assert (circle, repr(circle)) == (Circle(2), f"{Circle.__qualname__}(radius=2)")


def test_a_required_field_after_a_default_is_refused() -> None:
    class Wrong:
        x: int = 0
        y: int

    with pytest.raises(TypeError, match="Wrong: a field without default stands after one with it"):
        frozen.frozen(Wrong)


@pytest.mark.parametrize("replace", [frozen.replace, dataclasses.replace], ids=["ours", "theirs"])
def test_public_values_can_be_replaced(replace: Callable[..., Any]) -> None:
    schema = Schema("f", arguments=(Argument("x", Base("int")),))
    assert str(replace(schema, name="g")) == "g(int x) -> ()"
    assert replace(Member("a.B", "C", plain=1), name="D").plain == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
        replace(schema, nam="g")


def test_what_was_pickled_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = pickle.dumps(Schema("f", arguments=(Argument("x", Base("int")),)))
    monkeypatch.setattr(Schema, "__post_init__", lambda self: pytest.fail("checked"))
    (argument,) = pickle.loads(stored).arguments
    assert argument.default is REQUIRED
    with pytest.raises(pytest.fail.Exception):
        Schema("f")


def test_dataclasses_are_not_loaded_for_frozen_values() -> None:
    code = "import sys, opwright.schema.model; print('dataclasses' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_class_below_a_frozen_one_is_compared_and_hashed_as_its_values_are() -> None:
    @frozen.frozen
    class Point:
        x: int

    class Below(Point):
        pass

    assert hash(Below(1)) == hash(Below(1))
    assert (Below(1) == Below(1), Below(1) == Below(2), Below(1) == Point(1)) == (
        True,
        False,
        False,
    )
    assert dataclasses.replace(Below(1), x=2) == Below(2)
