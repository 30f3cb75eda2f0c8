"""What a constant expression is worth, worked out from its text.

Knows arithmetic, enum members and torch's named constants; runs nothing, and gives up (`Unknown`)
where only running the code would tell.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from opwright.hints.classes import RawField, enum_base, fields, members, mixin, structure_kind
from opwright.hints.model import (
    Default,
    Instance,
    Member,
    StructureKind,
    Symbol,
    Unknown,
    canonical,
)
from opwright.hints.resolve import Definition, External, Meaning, Scope, Written

_LIMIT = 100_000  # longer texts and larger numbers are no defaults, and cost time
_NUMBERS: dict[str, float | int] = {
    **dict.fromkeys(("math.inf", "torch.inf", "numpy.inf"), math.inf),
    **dict.fromkeys(("math.nan", "torch.nan", "numpy.nan"), math.nan),
    **dict.fromkeys(("math.pi", "torch.pi", "numpy.pi"), math.pi),
    **dict.fromkeys(("math.e", "torch.e", "numpy.e"), math.e),
    "math.tau": math.tau,
    "sys.maxsize": sys.maxsize,
}
_DTYPE_ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
_SYMBOL = re.compile(
    r"torch\.(bool|b?float\d\w*|complex\d+|q?u?int\d\w*|bits\d\w*|contiguous_format|channels_last"
    r"|channels_last_3d|preserve_format|strided|sparse_\w+|_mkldnn|jagged)"
)
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def _bounded(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Refuse what a few characters can blow up: `9**9**9`, `"x" * 10**9`, `"%999999999d" % 1`."""

    def guarded(left: Any, right: Any) -> Any:
        if max(_weight(left), _weight(right)) > _LIMIT or _weight(left) * _weight(right) > _LIMIT:
            raise ValueError("too large")
        return compute(left, right)

    return guarded


def _bounded_text(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """As `_bounded`, for what is harmless between numbers."""
    bounded = _bounded(compute)

    def guarded(left: Any, right: Any) -> Any:
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        return compute(left, right) if numbers else bounded(left, right)

    return guarded


def _weight(value: object) -> float:
    match value:
        case str():
            return _LIMIT + 1 if re.search(r"%[^a-z%]*\d", value) else len(value)
        case tuple():
            return len(value)
        case int() | float():
            return abs(value)
        case _:
            return 1


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _bounded_text(operator.mul),
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _bounded_text(operator.mod),
    ast.Pow: _bounded(operator.pow),
    ast.LShift: _bounded(operator.lshift),
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_SEQUENCES = ("tuple", "list", "torch.Size")


def constant(node: ast.expr, scope: Scope) -> Default:
    """The value of an expression; `Unknown` with its text where that takes running the code."""
    match node:
        case ast.Constant(value):
            return Unknown("...") if value is ... else value
        case ast.Tuple(parts) | ast.List(parts):
            return _sequence(node, parts, scope)
        case ast.Dict(keys, values):
            return _dict(node, keys, values, scope)
        case ast.UnaryOp(op, operand):
            return _computed(node, _UNARY[type(op)], constant(operand, scope))
        case ast.BinOp(left, op, right) if type(op) in _BINARY:
            return _computed(node, _BINARY[type(op)], constant(left, scope), constant(right, scope))
        case ast.JoinedStr(parts):
            return _joined(node, parts, scope)
        case ast.Name() | ast.Attribute():
            return _named(node, scope)
        case ast.Call(func, args, keywords):
            return _called(node, func, args, keywords, scope)
        case _:
            return unknown(node)


def unknown(node: ast.expr) -> Unknown:
    return Unknown(ast.unparse(node))


def _sequence(node: ast.expr, parts: list[ast.expr], scope: Scope) -> Default:
    if any(isinstance(part, ast.Starred) for part in parts):
        return unknown(node)
    return tuple(constant(part, scope) for part in parts)


def _dict(
    node: ast.expr, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], scope: Scope
) -> Default:
    """A dict whose keys are words; it may stand for a `TypedDict`."""
    words = [Unknown("**") if key is None else constant(key, scope) for key in keys]
    if not all(isinstance(word, str) for word in words):
        return unknown(node)
    pairs = zip(words, values, strict=True)
    return Instance("dict", tuple((str(word), constant(value, scope)) for word, value in pairs))


def _computed(node: ast.expr, compute: Callable[..., Any], *given: Default) -> Default:
    if not all(_is_small(value) for value in given):
        return unknown(node)
    try:
        value = compute(*given)
    except (ArithmeticError, TypeError, ValueError):
        return unknown(node)
    return value if _is_small(value) else unknown(node)


def _is_small(value: object) -> bool:
    match value:
        case str() | tuple():
            return len(value) < _LIMIT
        case int():
            return abs(value) < 2**64
        case float() | complex():
            return True
        case _:
            return False


def _joined(node: ast.expr, parts: list[ast.expr], scope: Scope) -> Default:
    """An f-string whose fields are constants themselves."""
    texts = []
    for part in parts:
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        plain = not isinstance(part, ast.FormattedValue) or (
            part.format_spec is None and part.conversion == -1
        )
        value = constant(inner, scope)
        if not plain or not isinstance(value, (str, int, float)):
            return unknown(node)
        texts.append(str(value))
    return "".join(texts)


def _named(node: ast.Name | ast.Attribute, scope: Scope) -> Default:
    if isinstance(node, ast.Attribute):
        member = _member(scope.meaning(node.value), node.attr)
        if member is not None:
            return member
        if node.attr in ("value", "name"):
            return _of_member(node, scope)
    with scope.sources.following(scope, f"= {ast.unparse(node)}") as again:
        return unknown(node) if again else _meant(scope.meaning(node), node)


def _meant(meaning: Meaning | None, node: ast.expr) -> Default:
    match meaning:
        case External(path) if path in _NUMBERS:
            return _NUMBERS[path]
        case External(path):
            return symbol(path) or unknown(node)
        case Written(expression, scope):
            owner = scope.node
            if isinstance(owner, ast.ClassDef) and scope.parent is not None:
                member = _member(Definition(owner, scope.parent), meaning.name)
                return member if member is not None else constant(expression, scope)
            value = constant(expression, scope)
            return unknown(node) if isinstance(value, Unknown) else value
        case _:
            return unknown(node)


def symbol(path: str) -> Symbol | None:
    """A dtype, layout or memory format under its first name."""
    module, _, name = path.rpartition(".")
    if module == "torch":
        path = f"torch.{_DTYPE_ALIASES.get(name, name)}"
    return Symbol(path) if _SYMBOL.fullmatch(path) else None


def _member(owner: Meaning | None, name: str) -> Member | None:
    if not isinstance(owner, Definition) or not isinstance(owner.node, ast.ClassDef):
        return None
    if enum_base(owner) is None:
        return None
    first: dict[str, str] = {}  # a later name of an equal value is another name of the first member
    for known, value in member_values(owner):
        first.setdefault(repr(value), known)
        if known == name:
            plain = value if mixin(owner) and isinstance(value, (int, str)) else None
            return Member(canonical(owner.path), first[repr(value)], plain)
    return None


def _plain(node: ast.expr, scope: Scope) -> Default:
    """The value of an expression, of its member where it is an enum's."""
    value = constant(node, scope)
    if isinstance(value, Member) and isinstance(node, ast.Attribute):
        found = scope.meaning(node.value)
        return dict(member_values(found))[value.name] if isinstance(found, Definition) else value
    return value


def _of_member(node: ast.Attribute, scope: Scope) -> Default:
    """`Act.RELU.value` and `.name`."""
    owner = node.value
    member = constant(owner, scope) if isinstance(owner, (ast.Name, ast.Attribute)) else None
    if not isinstance(member, Member) or not isinstance(owner, ast.Attribute):
        return unknown(node)
    return member.name if node.attr == "name" else _plain(owner, scope)


def member_values(found: Definition) -> list[tuple[str, Default]]:
    """The members of an enum with their values; `auto()` counts as the class does."""
    base = enum_base(found)
    collected: list[tuple[str, Default]] = []
    for name, node in members(found):
        if _is_auto(node, found):
            value = _auto(base, name, collected)
        else:
            value = constant(node, found.inside.with_names(_before(collected, found)))
        collected.append((name, value))
    return collected


def _before(collected: list[tuple[str, Default]], found: Definition) -> dict[str, Meaning]:
    """In the class body a member above is still its plain value: `BOTH = LEFT | RIGHT`."""
    plain = [(name, value) for name, value in collected if isinstance(value, (int, str))]
    return {name: Written(ast.Constant(value), found.scope) for name, value in plain}


def _is_auto(node: ast.expr, found: Definition) -> bool:
    return isinstance(node, ast.Call) and (found.inside.meaning(node.func) == External("enum.auto"))


def _auto(base: str | None, name: str, before: list[tuple[str, Default]]) -> Default:
    numbers = [value for _, value in before if isinstance(value, int)]
    if base == "enum.StrEnum":
        return name.lower()
    if base in ("enum.Flag", "enum.IntFlag"):
        return 1 << max(number.bit_length() for number in numbers) if numbers else 1
    return max(numbers, default=0) + 1


def _called(
    node: ast.expr,
    func: ast.expr,
    args: list[ast.expr],
    keywords: list[ast.keyword],
    scope: Scope,
) -> Default:
    if any(isinstance(arg, ast.Starred) for arg in args) or any(k.arg is None for k in keywords):
        return unknown(node)
    match scope.meaning(func):
        case External("float") if len(args) == 1 and not keywords:
            return _computed(node, float, constant(args[0], scope))
        case External("int") if len(args) == 1 and not keywords:
            return _computed(node, int, _plain(args[0], scope))
        case External("dict") if not args:
            return Instance(
                "dict", tuple((k.arg or "", constant(k.value, scope)) for k in keywords)
            )
        case External("torch.device") if args:
            return _device(node, [constant(arg, scope) for arg in args])
        case External(path) if path in _SEQUENCES and len(args) <= 1 and not keywords:
            value = constant(args[0], scope) if args else ()
            return value if isinstance(value, tuple) else unknown(node)
        case Definition(ast.ClassDef()) as found if structure_kind(found) is not None:
            given = {k.arg: constant(k.value, scope) for k in keywords if k.arg is not None}
            return _instance(node, found, [constant(arg, scope) for arg in args], given)
        case _:
            return unknown(node)


def _device(node: ast.expr, args: list[Default]) -> Default:
    match args:
        case [str(text)]:
            return Instance("torch.device", (("type", text),))
        case [str(kind), int(index)]:
            return Instance("torch.device", (("type", f"{kind}:{index}"),))
        case _:
            return unknown(node)


def _instance(
    node: ast.expr, found: Definition, args: list[Default], keywords: dict[str, Default]
) -> Default:
    """`Cfg(scale=2.0)`, with the defaults of the fields that are not given."""
    if structure_kind(found) is StructureKind.TYPEDDICT:
        return unknown(node) if args else Instance("dict", tuple(keywords.items()))
    wanted = fields(found)
    given = dict(zip((field.name for field in wanted), args, strict=False)) | keywords
    with found.scope.sources.following(found.inside, "()") as again:
        defaults = {f.name: Unknown(f.name) if again else filled(f) for f in wanted}
    values = [(field.name, given.get(field.name, defaults[field.name])) for field in wanted]
    too_many = given.keys() - {field.name for field in wanted}
    return unknown(node) if too_many else Instance(found.path, tuple(values))


def filled(field: RawField) -> Default:
    """The value that a field has when nothing is given for it."""
    if field.default is not None:
        return constant(field.default, field.scope)
    match field.factory:
        case None:
            return None  # a key that a `TypedDict` may lack
        case ast.Lambda(_, body):
            return constant(body, field.scope)
        case factory:
            call = ast.copy_location(ast.Call(factory, [], []), factory)
            return constant(call, field.scope)
