"""Frozen values: what `@dataclass(frozen=True, slots=True)` gives, cheap enough for every start.

A dataclass writes the text of its methods and compiles it, class by class, whenever its module is
loaded. Here a method is compiled once for so many fields, and each class takes a copy that has its
own names. To everyone else the classes are dataclasses: `dataclasses.fields`, `replace` and
`asdict` take their values.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from types import CellType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

T = TypeVar("T")
_NONE: Mapping[str, object] = MappingProxyType({})


class _NotGiven:
    def __repr__(self) -> str:
        return "..."


_NOT_GIVEN: Any = _NotGiven()


class _Field:
    """What `field()` says of a field."""

    __slots__ = ("compare", "default", "default_factory", "hint", "repr")
    hint: object

    def __init__(
        self,
        *,
        default: Any = _NOT_GIVEN,
        default_factory: Any = _NOT_GIVEN,
        compare: bool = True,
        repr: bool = True,
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.compare = compare
        self.repr = repr

    @property
    def made(self) -> bool:
        """Whether the default is made anew for each value."""
        return self.default_factory is not _NOT_GIVEN

    @property
    def required(self) -> bool:
        return self.default is _NOT_GIVEN and not self.made


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a frozen value by their names."""
    return {name: getattr(value, name) for name in value.__match_args__}


def _replaced(value: Any, /, **changes: Any) -> Any:
    return type(value)(**fields_of(value) | changes)


# Type checkers know these two of `dataclasses`, and check every name that is replaced.
if TYPE_CHECKING:
    from dataclasses import field as field
    from dataclasses import replace as replace

    from typing_extensions import dataclass_transform
else:
    field, replace = _Field, _replaced

    def dataclass_transform(**_):
        return lambda decorator: decorator


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class of annotated names one of frozen values; what it defines itself stays.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0), {Point(1): "hashable"}[Point(1)]
    (Point(x=1, y=0), True, 'hashable')
    >>> replace(Point(1), y=2)
    Point(x=1, y=2)
    """
    own = dict(vars(cls))
    fields = {
        name: _as_field(hint, own.pop(name, _NOT_GIVEN))
        for name, hint in cls.__annotations__.items()
    }
    for storage in ("__dict__", "__weakref__"):
        own.pop(storage, None)
    caches = any(isinstance(value, cached_property) for value in own.values())
    given = {
        "__slots__": (*fields, "__dict__") if caches else tuple(fields),
        "__match_args__": tuple(fields),
        "__frozen_fields__": fields,
    }
    build: Any = type(cls)
    made = build(cls.__name__, cls.__bases__, _SHARED | own | given)
    if "__init__" not in own:
        made.__init__ = _start(made, fields)
    return made  # type: ignore[no-any-return]


def _as_field(hint: object, default: Any) -> _Field:
    field = default if isinstance(default, _Field) else _Field(default=default)
    field.hint = hint
    return field


# What all classes share ----------------------------------------------------------------------


def _repr(self: Any) -> str:
    shown = [name for name, field in self.__frozen_fields__.items() if field.repr]
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({inside})"


def _refuse(self: object, name: str, value: object = None) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__qualname__} is frozen: {name!r} cannot be changed")


def _equal(self: Any, other: object) -> bool:
    _learn_to_compare(type(self))
    return bool(self == other)


def _hash(self: Any) -> int:
    _learn_to_compare(type(self))
    return hash(self)


def _learn_to_compare(cls: Any) -> None:
    """Give a class its own `__eq__` and `__hash__`, now that a value is compared: few ever are."""
    home = next(each for each in cls.__mro__ if "__frozen_fields__" in vars(each))
    compared = tuple(name for name, field in home.__frozen_fields__.items() if field.compare)
    for pattern in _comparing(len(compared)):
        if vars(home)[pattern.__name__] in (_equal, _hash):
            setattr(home, pattern.__name__, _copied(pattern, home, compared))


def _state(self: Any) -> list[object]:
    return [getattr(self, name) for name in self.__match_args__]


def _restore(self: Any, state: Sequence[object]) -> None:
    """Fill in what was pickled; it need not be checked again."""
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)


class _DataclassFields:
    """What `dataclasses` keeps of its own classes, made when it asks."""

    def __get__(self, value: object, cls: Any) -> Mapping[str, Any]:
        import dataclasses

        fields: dict[str, _Field] = cls.__frozen_fields__
        rows = [
            (name, field.hint, dataclasses.field(**_told(field))) for name, field in fields.items()
        ]
        twin: Any = dataclasses.make_dataclass(cls.__name__, rows)
        cls.__dataclass_fields__ = twin.__dataclass_fields__
        return cls.__dataclass_fields__  # type: ignore[no-any-return]


def _told(field: _Field) -> dict[str, Any]:
    told = {name: getattr(field, name) for name in _Field.__slots__ if name != "hint"}
    return {name: value for name, value in told.items() if value is not _NOT_GIVEN}


_SHARED = {
    "__repr__": _repr,
    "__eq__": _equal,
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _state,
    "__setstate__": _restore,
    "__dataclass_fields__": _DataclassFields(),
}


# What each class has of its own --------------------------------------------------------------


def _start(made: Any, fields: Mapping[str, _Field]) -> FunctionType:
    """The `__init__` of a class."""
    factories = tuple(number for number, field in enumerate(fields.values()) if field.made)
    pattern = _init(len(fields), factories, hasattr(made, "__post_init__"))
    start = _copied(pattern, made, tuple(fields), _cells(made, fields))
    start.__defaults__ = _defaults(made, fields)
    start.__annotations__ = {name: field.hint for name, field in fields.items()}
    return start


def _defaults(made: type, fields: Mapping[str, _Field]) -> tuple[Any, ...]:
    """The defaults of the last parameters."""
    required = [field.required for field in fields.values()]
    if required != sorted(required, reverse=True):
        raise TypeError(f"{made.__qualname__}: a field without default stands after one with it")
    return tuple(field.default for field in fields.values() if not field.required)


def _cells(made: Any, fields: Mapping[str, _Field]) -> dict[str, object]:
    """What the names mean that an `__init__` takes from around it."""
    cells: dict[str, object] = {"_not_given": _NOT_GIVEN}
    for number, (name, field) in enumerate(fields.items()):
        cells[f"_set_{number}"] = getattr(made, name).__set__
        cells[f"_make_{number}"] = field.default_factory
    return cells


def _copied(
    pattern: FunctionType, made: type, names: Sequence[str], cells: Mapping[str, object] = _NONE
) -> FunctionType:
    """A pattern with the names of a class instead of `_0`, `_1` and so on."""
    code, new = pattern.__code__, {f"_{number}": name for number, name in enumerate(names)}
    code = code.replace(
        co_varnames=tuple(new.get(name, name) for name in code.co_varnames),
        co_names=tuple(new.get(name, name) for name in code.co_names),
    )
    closure = tuple(CellType(cells[name]) for name in code.co_freevars)
    home = vars(sys.modules[made.__module__])
    copy = FunctionType(code, home, pattern.__name__, None, closure)
    copy.__qualname__ = f"{made.__qualname__}.{pattern.__name__}"
    return copy


@cache
def _init(count: int, factories: tuple[int, ...], checked: bool) -> FunctionType:
    """The pattern of an `__init__`. The descriptors of slots set them past `__setattr__`."""
    names = [f"_{number}" for number in range(count)]
    values = [
        f"_make{name}() if {name} is _not_given else {name}" if number in factories else name
        for number, name in enumerate(names)
    ]
    sets = [f"_set{name}(self, {value})" for name, value in zip(names, values, strict=True)]
    around = [f"_set{name}" for name in names] + [f"_make_{number}" for number in factories]
    text = f"""
def around({", ".join(["_not_given", *around])}):
  def __init__({", ".join(["self", *names])}):
    {"; ".join([*sets, "self.__post_init__()" if checked else "pass"])}
  return __init__
"""
    init: FunctionType = _functions(text)["around"](None, *around)
    return init


@cache
def _comparing(count: int) -> tuple[FunctionType, ...]:
    """The patterns of `__eq__` and `__hash__`."""
    mine = "".join(f"self._{number}, " for number in range(count))
    text = f"""
def __eq__(self, other):
  if other.__class__ is not self.__class__:
    return NotImplemented
  return ({mine}) == ({mine.replace("self", "other")})
def __hash__(self):
  return hash(({mine}))
"""
    return tuple(_functions(text).values())


def _functions(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(text, found)
    del found["__builtins__"]
    return found
