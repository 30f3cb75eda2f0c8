"""Reads one live annotation into a hint.

Knows Python's live types; what names stand for is known to `names`, what hints mean to `lower`.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable
from contextlib import suppress
from enum import Enum
from typing import Any, get_args, get_origin

from opwright.frozen import replace
from opwright.hints import constructs
from opwright.hints.declared import Declared, declared_fields, structure_kind
from opwright.hints.model import (
    ELLIPSIS,
    MISSING,
    NONE,
    Aliased,
    Choice,
    Default,
    EnumType,
    Field,
    Hint,
    Name,
    Of,
    Reason,
    Shaped,
    Structure,
    Unknown,
    Unresolved,
    canonical,
    parts,
    union,
)
from opwright.hints.names import Either, Scope, StandIn
from opwright.hints.values import member, path_of, value
from opwright.marks import Aliases, Mark

_MOST_REMEMBERED = 4096
_remembered: dict[object, Hint] = {type(None): NONE, None: NONE, ...: ELLIPSIS}


def read_hint(annotation: Any, scope: Scope) -> Hint:
    """Read an annotation; what cannot be read becomes `Unresolved`, never an exception.

    >>> print(read_hint(list["int | None"], Scope({})))
    list[int | None]
    """
    text = constructs.forward_text(annotation)
    if text is not None:
        return _quoted(text, scope)
    return remembered(annotation) or _remember(annotation, _read(annotation, scope))


def remembered(annotation: object) -> Hint | None:
    """The hint of an annotation that was read before and means the same everywhere."""
    try:
        return None if type(annotation) is str else _remembered.get(annotation)
    except TypeError:  # unhashable
        return None


def _remember(annotation: object, hint: Hint) -> Hint:
    """Keep what does not depend on where it was written."""
    lasting = not any(isinstance(part, Unresolved) for part in parts(hint))
    if lasting and isinstance(annotation, Hashable) and not _quotes(annotation):
        if len(_remembered) > _MOST_REMEMBERED:
            _remembered.clear()
            _remembered.update({type(None): NONE, None: NONE, ...: ELLIPSIS})
        _remembered[annotation] = hint
    return hint


def _quotes(annotation: object) -> bool:
    """Whether a part of an annotation is quoted."""
    if constructs.forward_text(annotation) is not None:
        return not constructs.is_literal(annotation)
    if constructs.is_literal(annotation):
        return False
    if isinstance(annotation, list):
        return any(map(_quotes, annotation))
    return any(map(_quotes, get_args(annotation)))


def _quoted(text: str, scope: Scope) -> Hint:
    try:
        annotation = scope.evaluate(text)
    except SyntaxError:
        return Unresolved(text, Reason.SYNTAX)
    except Exception:  # whatever the text raises, it is no type
        return Unresolved(text, Reason.NOT_A_TYPE)
    if constructs.forward_text(annotation) == text:
        return Unresolved(text, Reason.NOT_A_TYPE)
    return read_hint(annotation, scope)


def _read(annotation: Any, scope: Scope) -> Hint:
    if isinstance(annotation, StandIn):
        return _stand_in(annotation, scope)
    if isinstance(annotation, Either):
        return union(read_hint(part, scope) for part in annotation.members)
    if (stands_for := constructs.behind(annotation)) is not None:
        return _behind(annotation, stands_for, scope)
    if constructs.is_alias(annotation):
        return _alias(annotation, scope)
    if get_origin(annotation) is not None:
        return _generic(annotation, scope)
    return _class(annotation, scope) if isinstance(annotation, type) else _other(annotation)


def _each(annotations: Iterable[object], scope: Scope) -> tuple[Hint, ...]:
    return tuple(read_hint(annotation, scope) for annotation in annotations)


def _behind(annotation: Any, stands_for: list[object], scope: Scope) -> Hint:
    if not stands_for:
        return Unresolved(annotation.__name__, Reason.UNBOUND)
    return union(_each(stands_for, scope))


def _alias(annotation: Any, scope: Scope) -> Hint:
    """`type Pair = tuple[int, int]`, whose value is worked out when it is first asked for."""
    if annotation in scope.reading:
        return Unresolved(annotation.__name__, Reason.RECURSIVE)
    try:
        stands_for = annotation.__value__
    except NameError as missing:
        return Unresolved(missing.name or annotation.__name__, Reason.UNKNOWN_NAME)
    return read_hint(stands_for, replace(scope, reading=scope.reading | {annotation}))


def _generic(annotation: Any, scope: Scope) -> Hint:
    origin, args = get_origin(annotation), get_args(annotation)
    if constructs.is_annotated(annotation):
        return _annotated(annotation, scope)
    if constructs.is_literal(annotation):
        return Choice(tuple(member(arg) if isinstance(arg, Enum) else arg for arg in args))
    if constructs.is_union(annotation):
        return union(_each(args, scope))
    if constructs.is_qualified(annotation):
        return read_hint(args[0], scope)
    if constructs.is_alias(origin):
        return read_hint(origin.__value__[args], scope)
    if not args and annotation != tuple[()]:  # `typing.List` and the like
        return Name(path_of(origin))
    owner = _class(origin, scope) if isinstance(origin, type) else _other(origin)
    return Of(owner.path, _arguments(args, scope)) if isinstance(owner, Name) else owner


def _arguments(args: tuple[object, ...], scope: Scope) -> tuple[Hint, ...]:
    """The list of `Callable[[int], str]` is an argument too."""
    return tuple(
        Of("list", _each(arg, scope)) if isinstance(arg, list) else read_hint(arg, scope)
        for arg in args
    )


def _annotated(annotation: Any, scope: Scope) -> Hint:
    hint = read_hint(annotation.__origin__, scope)
    for metadata in annotation.__metadata__:
        match metadata:
            case Mark("Scalar"):
                hint = Name("opwright.Scalar")
            case Mark(name):
                hint = Of(f"opwright.{name}", (hint,))
            case Aliases(names):
                hint = Aliased(hint, names)
    return hint


def _stand_in(stand_in: StandIn, scope: Scope) -> Hint:
    """A name that is not there: by its path, if an import says which one."""
    if not stand_in.imported:
        return Unresolved(stand_in.path, Reason.UNKNOWN_NAME)
    path, arguments = canonical(stand_in.path), stand_in.arguments
    if not arguments:
        return Name(path)
    if path.startswith("jaxtyping.") and len(arguments) == 2:
        of, shape = arguments
        return Shaped(read_hint(of, scope), path.rpartition(".")[2], str(shape))
    return Of(path, _each(arguments, scope))


# Classes ---------------------------------------------------------------------------------------


def _class(cls: type, scope: Scope) -> Hint:
    if issubclass(cls, Enum):
        return _enum(cls)
    if isinstance(shape := getattr(cls, "dim_str", None), str):
        return _shaped(cls, shape, scope)
    kind = structure_kind(cls)
    if kind is None:
        return Name(path_of(cls), cls)
    if cls in scope.reading:
        return Unresolved(cls.__name__, Reason.RECURSIVE)
    fields = tuple(_fields(cls, scope))
    return Structure(path_of(cls), kind, fields, cls)


def _enum(cls: type[Enum]) -> EnumType:
    mixin = next((base.__name__ for base in (str, int) if issubclass(cls, base)), "")
    members = tuple((name, value(live.value)) for name, live in cls.__members__.items())
    return EnumType(path_of(cls), members, mixin, cls)


def _shaped(cls: Any, shape: str, scope: Scope) -> Hint:
    """A class that jaxtyping made."""
    return Shaped(read_hint(cls.array_type, scope), cls.dtype.__name__, shape)


def _fields(cls: type, scope: Scope) -> Iterable[Field]:
    for part in declared_fields(cls):
        owner = part.owner
        module = sys.modules.get(owner.__module__)
        inside = Scope(
            vars(module) if module else {},
            {**vars(owner), owner.__name__: owner},
            f"{owner.__qualname__}.{part.name}",
            reading=scope.reading | {cls},
        )
        required = _is_required(part, inside)
        default = MISSING if required else _default(part)
        yield Field(part.name, read_hint(part.annotation, inside), default, required)


def _is_required(part: Declared, scope: Scope) -> bool:
    """A quoted `NotRequired[...]` is not seen by `TypedDict` itself."""
    annotation, text = part.annotation, constructs.forward_text(part.annotation)
    if text is not None and "Required" in text:
        with suppress(Exception):  # `read_hint` says what is wrong with it
            annotation = scope.evaluate(text)
    stated = constructs.stated(annotation)
    return part.required if stated is None else stated


def _default(part: Declared) -> Default:
    if part.factory is None:
        return value(part.default)
    try:
        return value(part.factory())
    except Exception:  # the author's own code; what it makes is not known
        return Unknown(getattr(part.factory, "__name__", repr(part.factory)))


def _other(annotation: Any) -> Hint:
    """What is no class: `typing.Any`, a function that is called like a type, or no type at all."""
    name = getattr(annotation, "__name__", None) or getattr(annotation, "_name", None)
    module = getattr(annotation, "__module__", None)
    if isinstance(name, str) and isinstance(module, str) and module.partition(".")[0] in _HOMES:
        return Name(canonical(f"{module}.{name}"))
    text = name if isinstance(name, str) else repr(annotation)
    return Unresolved(text, Reason.NOT_A_TYPE)


_HOMES = ("typing", "typing_extensions", "torch", "numpy")
