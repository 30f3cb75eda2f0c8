"""Reads annotations from source text into hints; imports and runs nothing.

Knows how Python writes types; `resolve` tells it what names mean, `lower` what hints mean.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError, Span
from opwright.hints.classes import enum_base, fields, mixin, structure_kind
from opwright.hints.constants import constant, filled, member_values
from opwright.hints.model import (
    ELLIPSIS,
    MISSING,
    NONE,
    Aliased,
    Choice,
    Constant,
    Default,
    EnumType,
    Field,
    Function,
    Hint,
    Kind,
    Name,
    Of,
    Parameter,
    Reason,
    Role,
    Shaped,
    Structure,
    StructureKind,
    Unknown,
    Unresolved,
    union,
)
from opwright.hints.resolve import (
    Defined,
    Definition,
    External,
    FunctionNode,
    Meaning,
    Scope,
    Sources,
    Variable,
    Written,
    parameters,
)

_SEEN_THROUGH = ("typing.Final", "typing.Required", "typing.NotRequired", "typing.ReadOnly")


# Functions -------------------------------------------------------------------------------------


def read_function(found: Definition) -> Function:
    """Read one `def` into the values that the live reader gives for the function itself."""
    node, scope = found.node, found.scope
    assert not isinstance(node, ast.ClassDef)
    module, name = scope.module, _name_span(node, scope)
    where = scope.with_variables(getattr(node, "type_params", ()))
    return Function(
        name=node.name,
        parameters=tuple(_parameters(node, where)),
        returns=None if node.returns is None else _hint(node.returns, where),
        role=_role(found),
        qualname=scope.qualname(node.name),
        module=module.name,
        span=name,
        returns_span=name if node.returns is None else module.span(node.returns),
    )


def read_lambda(node: ast.Lambda, scope: Scope) -> Function:
    """Read a lambda: parameters without annotations."""
    return Function(
        name="<lambda>",
        parameters=tuple(_parameters(node, scope)),
        returns=None,
        qualname=scope.qualname("<lambda>"),
        module=scope.module.name,
        span=scope.module.span(node),
    )


def _parameters(node: FunctionNode | ast.Lambda, scope: Scope) -> Iterator[Parameter]:
    defaults = _defaults(node.args)
    for parameter in parameters(node):
        written, default = parameter.annotation, defaults.get(parameter.arg)
        yield Parameter(
            name=parameter.arg,
            hint=None if written is None else _hint(written, scope),
            default=MISSING if default is None else _default(default, scope),
            kind=_kind(node.args, parameter),
            span=scope.module.span(written or parameter),
        )


def _hint(node: ast.expr, scope: Scope) -> Hint:
    try:
        return read_hint(node, scope)
    except RecursionError:
        return Unresolved("...", Reason.DEEP)


def _default(node: ast.expr, scope: Scope) -> Default:
    try:
        return constant(node, scope)
    except RecursionError:
        return Unknown("...")


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    given = positional[len(positional) - len(arguments.defaults) :]
    found = {arg.arg: default for arg, default in zip(given, arguments.defaults, strict=True)}
    keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {arg.arg: default for arg, default in keyword if default is not None}


def _kind(arguments: ast.arguments, parameter: ast.arg) -> Kind:
    if parameter in arguments.posonlyargs:
        return Kind.POSITIONAL_ONLY
    if parameter in arguments.kwonlyargs:
        return Kind.KEYWORD_ONLY
    if parameter is arguments.vararg:
        return Kind.VAR_POSITIONAL
    return Kind.VAR_KEYWORD if parameter is arguments.kwarg else Kind.POSITIONAL


def _role(found: Definition) -> Role:
    node = found.node
    if _yields(node):
        return Role.GENERATOR
    if isinstance(node, ast.AsyncFunctionDef):
        return Role.COROUTINE
    assert isinstance(node, ast.FunctionDef)
    decorators = [found.scope.meaning(decorator) for decorator in node.decorator_list]
    if External("classmethod") in decorators:
        return Role.METHOD
    first = next(parameters(node), None)
    bare = first is not None and first.arg in ("self", "cls") and first.annotation is None
    return Role.METHOD if bare and External("staticmethod") not in decorators else Role.FUNCTION


def _yields(node: ast.AST) -> bool:
    """Whether a function body has a `yield` of its own."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        part = waiting.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(part))
    return False


def _name_span(node: FunctionNode, scope: Scope) -> Span:
    """The name after `def`."""
    module = scope.module
    start = module.span(node)
    line = module.lines[start.line - 1] if start.line <= len(module.lines) else ""
    column = line.find(node.name, start.column + 2)
    if column < 0:
        return start
    return Span(start.file, start.line, column + 1, start.line, column + 1 + len(node.name))


# Annotations -----------------------------------------------------------------------------------


def read_hint(node: ast.expr, scope: Scope) -> Hint:
    """Read one annotation; what cannot be read becomes `Unresolved`, never an exception."""
    match node:
        case ast.Constant(None):
            return NONE
        case ast.Constant(value) if value is ...:
            return ELLIPSIS
        case ast.Constant(str(text)):
            return _quoted(text, scope)
        case ast.Name() | ast.Attribute():
            return _meant(scope.meaning(node), ast.unparse(node))
        case ast.Subscript(head, inner):
            return _subscript(node, head, _items(inner), scope)
        case ast.BinOp(left, ast.BitOr(), right):
            return union([read_hint(left, scope), read_hint(right, scope)])
        case _:
            return Unresolved(ast.unparse(node), Reason.NOT_A_TYPE)


def _quoted(text: str, scope: Scope) -> Hint:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return Unresolved(text, Reason.SYNTAX)
    return read_hint(node, scope)


def _items(inner: ast.expr) -> list[ast.expr]:
    return inner.elts if isinstance(inner, ast.Tuple) else [inner]


def _meant(meaning: Meaning | None, text: str) -> Hint:
    match meaning:
        case External(path):
            return Name(path)
        case Definition(ast.ClassDef()) as found:
            return _class(found, text)
        case Written(node, scope, name):
            with scope.sources.following(scope, f"{name or ast.unparse(node)}:") as again:
                return Unresolved(text, Reason.RECURSIVE) if again else _written(meaning, text)
        case Variable(_, scope):
            constraints = _items(meaning.bound) if isinstance(meaning.bound, ast.Tuple) else []
            return _variable(None if constraints else meaning.bound, constraints, scope, text)
        case None:
            return Unresolved(text, Reason.UNKNOWN_NAME)
        case _:
            return Unresolved(text, Reason.NOT_A_TYPE)


def _written(meaning: Written, text: str) -> Hint:
    """What an alias, a `NewType` or a type variable stands for."""
    node, scope = meaning.node, meaning.scope
    match node:
        case ast.Call(func, args, keywords):
            match scope.meaning(func), args:
                case External("typing.NewType"), [_, of]:
                    return read_hint(of, scope)
                case External("typing.TypeVar"), [_, *constraints]:
                    bound = next((k.value for k in keywords if k.arg == "bound"), None)
                    return _variable(bound, constraints, scope, text)
                case External("typing.TypeAliasType"), [_, of, *_]:
                    return read_hint(of, scope)
            return Unresolved(text, Reason.NOT_A_TYPE)
        case ast.Name() | ast.Attribute():
            return Unresolved(ast.unparse(node), Reason.UNKNOWN_NAME)
        case _:
            return read_hint(node, scope)


def _variable(
    bound: ast.expr | None, constraints: Sequence[ast.expr], scope: Scope, text: str
) -> Hint:
    if bound is not None:
        return read_hint(bound, scope)
    if constraints:
        return union(read_hint(part, scope) for part in constraints)
    return Unresolved(text, Reason.UNBOUND)


def _class(found: Definition, text: str) -> Hint:
    if enum_base(found) is not None:
        values = tuple(member_values(found))
        return EnumType(found.path, values, mixin(found))
    kind = structure_kind(found)
    if kind is None:
        return Name(found.path)
    with found.scope.sources.following(found.inside, "fields") as again:
        return Unresolved(found.node.name, Reason.RECURSIVE) if again else _structure(found, kind)


def _structure(found: Definition, kind: StructureKind) -> Structure:
    read = [
        Field(
            raw.name,
            read_hint(raw.annotation, raw.scope),
            MISSING if raw.required else filled(raw),
            raw.required,
        )
        for raw in fields(found)
    ]
    return Structure(found.path, kind, tuple(read))


def _subscript(node: ast.expr, head: ast.expr, items: list[ast.expr], scope: Scope) -> Hint:
    match scope.meaning(head):
        case External(path):
            return _applied(path, node, items, scope)
        case Definition(ast.ClassDef()) as found:
            owner = _class(found, ast.unparse(head))
            given = tuple(_argument(item, scope) for item in items)
            return Of(owner.path, given) if isinstance(owner, Name) else owner
        case Written() as alias:
            return _generic_alias(alias, node, items, scope)
        case None:
            return Unresolved(ast.unparse(head), Reason.UNKNOWN_NAME)
        case _:
            return Unresolved(ast.unparse(node), Reason.NOT_A_TYPE)


def _applied(path: str, node: ast.expr, items: list[ast.expr], scope: Scope) -> Hint:
    match path:
        case "typing.Optional":
            return union([read_hint(items[0], scope), NONE])
        case "Union":
            return union(read_hint(item, scope) for item in items)
        case "typing.Literal":
            return _choice(items, scope)
        case "typing.Annotated":
            return _annotated(items, scope)
        case _ if path in _SEEN_THROUGH:
            return read_hint(items[0], scope)
        case _ if path.startswith("jaxtyping.") and len(items) == 2:
            return _shaped(path, node, items, scope)
        case _:
            return Of(path, tuple(_argument(item, scope) for item in items))


def _argument(item: ast.expr, scope: Scope) -> Hint:
    """The list of `Callable[[int], str]` is an argument too."""
    if isinstance(item, ast.List):
        return Of("list", tuple(read_hint(part, scope) for part in item.elts))
    return read_hint(item, scope)


def _shaped(path: str, node: ast.expr, items: list[ast.expr], scope: Scope) -> Hint:
    shape = constant(items[1], scope)
    if not isinstance(shape, str):
        return Unresolved(ast.unparse(node), Reason.NOT_A_TYPE)
    return Shaped(read_hint(items[0], scope), path.rpartition(".")[2], shape)


def _choice(items: list[ast.expr], scope: Scope) -> Hint:
    values: dict[tuple[type, Default], Constant] = {}
    for item in items:
        for value in _choices(item, scope):
            if isinstance(value, Unknown):
                return Unresolved(ast.unparse(item), Reason.NOT_A_TYPE)
            values[type(value), value] = value  # type: ignore[assignment]
    return Choice(tuple(values.values()))


def _choices(item: ast.expr, scope: Scope) -> Sequence[Default]:
    """The value of one word of a `Literal`, which may be an alias of another `Literal`."""
    if isinstance(item, (ast.Subscript, ast.Name)):
        inner = read_hint(item, scope)
        return inner.values if isinstance(inner, Choice) else [Unknown(ast.unparse(item))]
    return [constant(item, scope)]


def _annotated(items: list[ast.expr], scope: Scope) -> Hint:
    of = read_hint(items[0], scope)
    for item in items[1:]:
        match item:
            case ast.Call(func, args) if scope.meaning(func) == External("opwright.Aliases"):
                names = [constant(arg, scope) for arg in args]
                of = Aliased(of, tuple(name for name in names if isinstance(name, str)))
    return of


def _generic_alias(alias: Written, node: ast.expr, items: list[ast.expr], scope: Scope) -> Hint:
    """`Pair[int]` where `Pair = tuple[T, T]`."""
    names = _free_variables(alias)
    if not names:
        return Unresolved(ast.unparse(node), Reason.NOT_A_TYPE)
    meant = [scope.meaning(item) or Written(item, scope) for item in items]
    given = dict(zip(names, meant, strict=False))
    text = ast.unparse(node)
    with scope.sources.following(alias.node, text) as again:
        if again:
            return Unresolved(text, Reason.RECURSIVE)
        return _meant(Written(alias.node, alias.scope.with_names(given)), text)


def _free_variables(alias: Written) -> list[str]:
    """The type variables of an alias, in order of appearance."""
    names = [part.id for part in ast.walk(alias.node) if isinstance(part, ast.Name)]
    return [name for name in dict.fromkeys(names) if _is_variable(alias.scope.lookup(name))]


def _is_variable(meaning: Meaning | None) -> bool:
    match meaning:
        case Written(ast.Call(func), scope):
            return scope.meaning(func) == External("typing.TypeVar")
        case _:
            return isinstance(meaning, Variable)


# From outside ----------------------------------------------------------------------------------


def read_source(path: Path, qualname: str, sources: Sources | None = None) -> Function:
    """Read the function of this name in a file; raises `SchemaError` where there is none."""
    scope = (sources or Sources()).open(path)
    found = named(scope, qualname)
    if found is None:
        message = f"{path} has no function {qualname!r}"
        raise SchemaError([Diagnostic("OW902", message, span=Span(str(path)))])
    return read_function(found)


def named(scope: Scope, qualname: str) -> Definition | None:
    """The `def` of a qualified name, `<locals>` included; the last where there are several."""
    found: Definition | None = None
    for part in qualname.replace("<locals>.", "").split("."):
        where = scope if found is None else found.inside
        binders = [binding.binder for binding in where.bindings.get(part, [])]
        nodes = [binder.node for binder in binders if isinstance(binder, Defined)]
        if not nodes:
            return None
        found = Definition(nodes[-1], where)
    return None if found is None or isinstance(found.node, ast.ClassDef) else found
