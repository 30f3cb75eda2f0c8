"""What a class statement declares: an enum or a structure, with which bases and fields.

Knows the class forms of the standard library and pydantic; leaves annotations and defaults unread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opwright.frozen import frozen, replace
from opwright.hints.model import StructureKind
from opwright.hints.resolve import Definition, External, Meaning, Scope, Written

_STRUCTURES = {
    "typing.NamedTuple": StructureKind.NAMEDTUPLE,
    "typing.TypedDict": StructureKind.TYPEDDICT,
    "pydantic.BaseModel": StructureKind.PYDANTIC,
    "pydantic.main.BaseModel": StructureKind.PYDANTIC,
    "pydantic_settings.BaseSettings": StructureKind.PYDANTIC,
}
_DATACLASSES = ("dataclasses.dataclass", "pydantic.dataclasses.dataclass")
_FIELD_CALLS = ("dataclasses.field", "pydantic.Field", "pydantic.fields.Field")
_ENUMS = {
    "enum.Enum": "",
    "enum.Flag": "",
    "enum.IntEnum": "int",
    "enum.IntFlag": "int",
    "enum.StrEnum": "str",
}
_NOT_FIELDS = ("typing.ClassVar", "dataclasses.KW_ONLY")
_WRAPPERS = {"typing.Required": True, "typing.NotRequired": False}


@frozen
class RawField:
    """A field as written: nodes, and the scope to read them in."""

    name: str
    annotation: ast.expr
    scope: Scope
    default: ast.expr | None = None
    factory: ast.expr | None = None
    required: bool = True
    init: bool = True


def bases(found: Definition) -> Iterator[Meaning]:
    """What the direct bases mean; `Generic[T]` means `Generic`."""
    assert isinstance(found.node, ast.ClassDef)
    for base in found.node.bases:
        head = base.value if isinstance(base, ast.Subscript) else base
        meaning = found.scope.meaning(head)
        if meaning is not None and meaning != found:
            yield meaning


def ancestors(found: Definition, depth: int = 32) -> Iterator[Meaning]:
    """The bases and theirs, nearest first; a loop of bases ends at some depth."""
    for base in bases(found):
        yield base
        if isinstance(base, Definition) and isinstance(base.node, ast.ClassDef) and depth:
            yield from ancestors(base, depth - 1)


def external_bases(found: Definition) -> list[str]:
    """The paths of all bases that are not of this tree, nearest first."""
    return [base.path for base in ancestors(found) if isinstance(base, External)]


# Enums -----------------------------------------------------------------------------------------


def enum_base(found: Definition) -> str | None:
    """`enum.Enum`, `enum.IntEnum`, ... for an enum class, None for any other."""
    return next((path for path in external_bases(found) if path in _ENUMS), None)


def mixin(found: Definition) -> str:
    """`str` or `int` where members are such values themselves."""
    paths = external_bases(found)
    direct = next((path for path in paths if path in ("str", "int")), "")
    return direct or next((_ENUMS[path] for path in paths if _ENUMS.get(path)), "")


def members(found: Definition) -> Iterator[tuple[str, ast.expr]]:
    """Names and values of the members, in order."""
    for statement in found.node.body:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, value):
                if value is not None and _is_member(name, value):
                    yield name, value


def _is_member(name: str, value: ast.expr) -> bool:
    reserved = name.startswith("__") or (name.startswith("_") and name.endswith("_"))
    return not reserved and not isinstance(value, ast.Lambda)


# Structures ------------------------------------------------------------------------------------


def structure_kind(found: Definition) -> StructureKind | None:
    """What makes a class a structure, its own decorator or a base of it."""
    if _is_dataclass(found):
        return StructureKind.DATACLASS
    for base in ancestors(found):
        match base:
            case External(path) if path in _STRUCTURES:
                return _STRUCTURES[path]
            case Definition(ast.ClassDef()) if _is_dataclass(base):
                return StructureKind.DATACLASS
            case Written(ast.Call(func, [_, *_])) if _functional(func, base.scope):
                return StructureKind.NAMEDTUPLE
    return None


def _is_dataclass(found: Definition) -> bool:
    return any(_is_decorator(node, found.scope) for node in found.node.decorator_list)


def _is_decorator(node: ast.expr, scope: Scope) -> bool:
    head = node.func if isinstance(node, ast.Call) else node
    match scope.meaning(head):
        case External(path):
            return path in _DATACLASSES
        case Written(
            ast.Call(func, args), where
        ):  # `frozen = dataclass(frozen=True)`, or a partial
            partial = where.meaning(func) == External("functools.partial")
            return _is_decorator(args[0] if partial and args else func, where)
        case _:
            return False


def _functional(func: ast.expr, scope: Scope) -> bool:
    return scope.meaning(func) in (
        External("typing.NamedTuple"),
        External("collections.namedtuple"),
    )


def fields(found: Definition) -> list[RawField]:
    """The fields that the constructor takes, inherited ones first, in order."""
    kind = structure_kind(found)
    return [] if kind is None else [f for f in _fields(found, kind, 32).values() if f.init]


def _fields(found: Definition, kind: StructureKind, depth: int) -> dict[str, RawField]:
    collected: dict[str, RawField] = {}
    for base in reversed(list(bases(found))):
        if isinstance(base, Definition) and isinstance(base.node, ast.ClassDef) and depth:
            collected.update(_fields(base, kind, depth - 1))
    if kind is not StructureKind.DATACLASS or _is_dataclass(found):
        own = _own_fields(found, kind)
        collected.update((field.name, field) for field in own)
    return collected


def _own_fields(found: Definition, kind: StructureKind) -> Iterator[RawField]:
    named_tuple = kind is StructureKind.NAMEDTUPLE
    if named_tuple and External("typing.NamedTuple") not in set(bases(found)):
        return  # a subclass of a NamedTuple adds methods, not fields
    inside = found.inside
    for statement in found.node.body:
        match statement:
            case ast.AnnAssign(ast.Name(name), annotation, value):
                field = RawField(name, annotation, inside, value)
                if not _is_excluded(field, kind):
                    yield _completed(field, found, kind)


def _is_excluded(field: RawField, kind: StructureKind) -> bool:
    if kind is StructureKind.PYDANTIC and field.name.startswith("_"):
        return True
    head = field.annotation
    if isinstance(head, ast.Constant) and isinstance(head.value, str):
        return head.value.partition("[")[0].rpartition(".")[2] in ("ClassVar", "KW_ONLY")
    head = head.value if isinstance(head, ast.Subscript) else head
    return any(field.scope.meaning(head) == External(path) for path in _NOT_FIELDS)


def _completed(field: RawField, found: Definition, kind: StructureKind) -> RawField:
    """Take `field(...)` and `NotRequired[...]` apart."""
    if kind is StructureKind.TYPEDDICT:
        return _key(field, found)
    match field.default:
        case ast.Call(func, args, keywords) if _is_field_call(func, field.scope):
            given = {keyword.arg: keyword.value for keyword in keywords}
            default = given.get("default", args[0] if args else None)
            default = None if _is_ellipsis(default) else default
            init = given.get("init")
            return replace(
                field,
                default=default,
                factory=given.get("default_factory"),
                required=default is None and "default_factory" not in given,
                init=not (isinstance(init, ast.Constant) and init.value is False),
            )
        case default:
            return replace(field, required=default is None)


def _is_field_call(func: ast.expr, scope: Scope) -> bool:
    meaning = scope.meaning(func)
    return isinstance(meaning, External) and meaning.path in _FIELD_CALLS


def _is_ellipsis(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _key(field: RawField, found: Definition) -> RawField:
    """A key of a `TypedDict`: required by its own word, else by the class's `total`."""
    assert isinstance(found.node, ast.ClassDef)
    total = next((k.value for k in found.node.keywords if k.arg == "total"), None)
    required = not (isinstance(total, ast.Constant) and total.value is False)
    annotation = field.annotation
    if isinstance(annotation, ast.Subscript):
        match field.scope.meaning(annotation.value):
            case External(path) if path in _WRAPPERS:
                required, annotation = _WRAPPERS[path], annotation.slice
    return replace(field, annotation=annotation, required=required)
