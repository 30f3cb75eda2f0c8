"""Which operators an expression registers: a decorator on a function, or a call that is given one.

Helpers are read as Python would run them: their parameters stand for what a call gives, and the
registration inside them is looked at with these meanings. Nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from opwright.findings import Span
from opwright.frozen import frozen, replace
from opwright.hints.constants import constant
from opwright.hints.model import Function, Kind
from opwright.hints.resolve import (
    Definition,
    External,
    FunctionNode,
    Hidden,
    Meaning,
    Scope,
    Written,
    best,
    parameters,
)
from opwright.hints.source import read_function, read_lambda
from opwright.survey.forms import INFER, INFER_PATHS, Form, form_of

_DEPTH = 4  # helpers that call helpers that call helpers
_PARTIALS = ("functools.partial", "functools.partialmethod")
NOWHERE = Span()


Mutates: TypeAlias = "tuple[str, ...] | str | None"
"""`mutates_args`: names, a text (only `"unknown"` is right), None where it is not written out."""


@frozen
class Registration:
    """One operator as its registering call gives it; `{...}` is what only running it tells."""

    name: str
    via: str
    span: Span
    function: Function | None = None
    mutates: Mutates = ()
    schema: str | None = None
    schema_span: Span = NOWHERE
    elsewhere: str = ""
    """The path of a function that another package defines."""
    helper: bool = False
    """The function is a parameter of the code around: a helper, whose callers count instead."""


def registrations(
    node: ast.expr, scope: Scope, given: Meaning | None = None, depth: int = _DEPTH
) -> Iterator[Registration]:
    """What a decorator registers when it is applied to `given`, or a call does by itself."""
    call = node if isinstance(node, ast.Call) else None
    if call is not None and isinstance(call.func, ast.Call) and len(call.args) == 1:
        yield from registrations(call.func, scope, _given(call.args[0], scope), depth)
        return
    head = node if call is None else call.func
    meaning = scope.meaning(head)
    path = _path(meaning)
    form = form_of(path)
    if path in INFER_PATHS and call is not None:
        yield from _inferring(call, scope)
    elif form is not None:
        yield from _by_form(_Site(path, form, node, call, scope, given))
    elif depth and isinstance(meaning, Definition):
        yield from _through(meaning, call, scope, given, depth)
    elif depth and call is None and isinstance(meaning, Written):
        yield from _elsewhere(_made(meaning, given, depth), node, scope)


def _path(meaning: Meaning | None) -> str:
    match meaning:
        case External(path):
            return path
        case Definition(ast.FunctionDef()):
            return meaning.path
        case _:
            return ""


def _made(maker: Written, given: Meaning | None, depth: int) -> Iterator[Registration]:
    """What `register = helper(lib)` registers when it is applied."""
    if isinstance(maker.node, ast.Call):
        yield from registrations(maker.node, maker.scope, given, depth - 1)


def _elsewhere(
    found: Iterator[Registration], node: ast.expr, scope: Scope
) -> Iterator[Registration]:
    """The same registrations, placed where the helper is used."""
    for registration in found:
        yield replace(registration, span=scope.module.span(node))


def _given(node: ast.expr, scope: Scope) -> Meaning:
    """What an argument means, to be looked up under the name of a parameter."""
    return scope.reaching(node) or Written(node, scope)


# A call of a known form ------------------------------------------------------------------------


@frozen
class _Site:
    via: str
    form: Form
    node: ast.expr
    call: ast.Call | None
    scope: Scope
    given: Meaning | None

    def argument(self, name: str) -> ast.expr | None:
        """What the call gives for a parameter of the form."""
        if self.call is None or not name:
            return None
        by_name = {keyword.arg: keyword.value for keyword in self.call.keywords}
        if name in by_name:
            return by_name[name]
        if None in by_name and self.scope.lookup(name) is not None:
            return ast.copy_location(ast.Name(name), self.call)  # `**kwargs` of a helper
        places = dict(zip(self.form.parameters, self.call.args, strict=False))
        return places.get(name)


def _by_form(site: _Site) -> Iterator[Registration]:
    form, scope = site.form, site.scope
    node = site.argument(form.function)
    target = _given(node, scope) if node is not None else site.given
    if node is None and site.given is None:
        return  # a decorator that is not applied here
    function = function_of(target)
    mutates = site.argument(form.mutates)
    schema = site.argument(form.schema)
    written = None if schema is None or _is_none(schema, scope) else spelled(schema, scope)
    yield Registration(
        name=_qualified(_name(site, function), site),
        via=site.via,
        span=scope.module.span(site.node),
        function=function,
        mutates=_writes(mutates, scope),
        schema=written,
        schema_span=NOWHERE if schema is None else _literal_span(schema, scope),
        elsewhere=target.path if isinstance(target, External) else "",
        helper=function is None and _is_parameter(target, scope),
    )


def _name(site: _Site, function: Function | None) -> str:
    node = site.argument(site.form.name)
    if node is not None and not _is_none(node, site.scope):
        return spelled(node, site.scope)
    own = "" if function is None else function.name
    bare = site.form.bare
    return own.removeprefix(bare) if bare else own


def _qualified(name: str, site: _Site) -> str:
    if "::" in name:
        return name
    library = site.argument(site.form.library)
    namespace = library_namespace(library, site.scope) if library is not None else ""
    namespace = namespace or site.form.namespace
    return f"{namespace}::{name}" if namespace else name


def library_namespace(node: ast.expr, scope: Scope) -> str:
    """`ns` of an expression that means `torch.library.Library("ns", ...)`, or nothing."""
    if isinstance(node, ast.BoolOp):
        found = (library_namespace(value, scope) for value in node.values)
        return next(filter(None, found), "")
    match _given(node, scope):
        case Written(ast.Call(func, args), where) if args:
            if where.meaning(func) == External("torch.library.Library"):
                return spelled(args[0], where)
        case Written(ast.BoolOp() as either, where):
            return library_namespace(either, where)
    return ""


def _writes(node: ast.expr | None, scope: Scope) -> Mutates:
    match node:
        case None | ast.Dict([]) | ast.Constant(None):
            return ()
        case ast.Set(parts) | ast.Tuple(parts) | ast.List(parts):
            names = [constant(part, scope) for part in parts]
            known = tuple(name for name in names if isinstance(name, str))
            return known if len(known) == len(names) else None
        case ast.Constant(str(text)):
            return text
        case ast.BoolOp(_, [first, *rest]):
            return _writes(first, scope) or (_writes(rest[-1], scope) if rest else ())
        case _:
            meaning = _given(node, scope)
            if isinstance(meaning, Written) and meaning.node is not node:
                return _writes(meaning.node, meaning.scope)
            return None


def _is_none(node: ast.expr, scope: Scope) -> bool:
    return constant(node, scope) is None


def _is_parameter(meaning: Meaning | None, scope: Scope) -> bool:
    """Whether this is a parameter of a function around, or made of one."""
    if not isinstance(meaning, Written):
        return meaning is None
    names = [part.id for part in ast.walk(meaning.node) if isinstance(part, ast.Name)]
    return any(_is_hidden(name, meaning.scope) for name in names)


def _is_hidden(name: str, scope: Scope) -> bool:
    where: Scope | None = scope
    while where is not None:
        if name in where.bindings:
            return isinstance(where.node, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(
                best(where.bindings[name]).binder, Hidden
            )
        where = where.parent
    return False


# What is given ---------------------------------------------------------------------------------


def function_of(meaning: Meaning | None) -> Function | None:
    """The function that an expression means: a `def`, a lambda, a partial of one."""
    match meaning:
        case Definition(ast.FunctionDef() | ast.AsyncFunctionDef()):
            return read_function(meaning)
        case Written(ast.Lambda() as node, scope):
            return read_lambda(node, scope)
        case Written(ast.Call(func, [inner, *args], keywords), scope):
            if scope.meaning(func) in [External(path) for path in _PARTIALS]:
                whole = function_of(_given(inner, scope))
                held = {keyword.arg for keyword in keywords}
                return None if whole is None else _without(whole, len(args), held)
            return None
        case _:
            return None


def _without(function: Function, count: int, names: set[str | None]) -> Function:
    """A function without the parameters that a partial already holds."""
    positional = (Kind.POSITIONAL_ONLY, Kind.POSITIONAL)
    places = [p.name for p in function.parameters if p.kind in positional][:count]
    kept = tuple(p for p in function.parameters if p.name not in {*places, *names})
    return replace(function, parameters=kept)


def spelled(node: ast.expr, scope: Scope) -> str:
    """A text as far as it can be known; `{...}` stands for the rest.

    Braces mark what only running the code would tell, so the text can be shown as it is.
    """
    value = constant(node, scope)
    if isinstance(value, str):
        return value
    hole = "{" + ast.unparse(node) + "}"
    match node:
        case ast.JoinedStr(parts):
            return "".join(spelled(part, scope) for part in parts)
        case ast.FormattedValue(inner, -1, None):
            return spelled(inner, scope)
        case ast.BinOp(left, ast.Add(), right):
            return spelled(left, scope) + spelled(right, scope)
        case ast.BoolOp(ast.Or(), values):
            first = next((v for v in values if constant(v, scope) not in (None, "")), None)
            return hole if first is None else spelled(first, scope)
        case ast.Attribute(owner, "__name__"):
            meaning = scope.meaning(owner)
            return meaning.node.name if isinstance(meaning, Definition) else hole
        case ast.Name(name):
            with scope.sources.following(scope, f"{name} spelled") as again:
                meaning = None if again else scope.meaning(node)
                return (
                    spelled(meaning.node, meaning.scope) if isinstance(meaning, Written) else hole
                )
        case _:
            return hole


def _literal_span(node: ast.expr, scope: Scope) -> Span:
    """Where a text stands: the literal itself, also when a name brought it here."""
    meaning = _given(node, scope)
    if isinstance(meaning, Written):
        return meaning.scope.module.span(meaning.node)
    return scope.module.span(node)


# Helpers ---------------------------------------------------------------------------------------


def _through(
    helper: Definition, call: ast.Call | None, scope: Scope, given: Meaning | None, depth: int
) -> Iterator[Registration]:
    """What a function registers that is called like this, and then applied to `given`."""
    node = helper.node
    if not isinstance(node, ast.FunctionDef):
        return
    inner = registering(helper)
    if not inner or (given is None and not (call and (call.args or call.keywords))):
        return  # nothing is handed over, so what it registers is seen where that is written
    bound = _bound(node, call, scope, helper.scope)
    if call is None and given is not None:  # `@helper` itself takes the function
        bound |= {parameter.arg: given for parameter in [*parameters(node)][:1]}
    body = helper.inside.with_names(bound)
    found = [
        registration
        for made, functions in inner
        for registration in registrations(made, _within(body, functions, given), None, depth - 1)
        if registration.function is not None
    ]
    place = scope.module.span(call or node)
    yield from (replace(one, span=place, via=helper.path) for one in found[:1])


def _bound(
    node: FunctionNode, call: ast.Call | None, scope: Scope, home: Scope
) -> dict[str, Meaning]:
    """What each parameter of a helper stands for in one call of it."""
    names = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
    defaults = dict(zip(names[::-1], node.args.defaults[::-1], strict=False))
    keyword_defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    defaults |= {arg.arg: default for arg, default in keyword_defaults if default is not None}
    bound: dict[str, Meaning] = {n: _given(default, home) for n, default in defaults.items()}
    if call is not None:
        places = zip(names, call.args, strict=False)
        bound |= {name: _given(argument, scope) for name, argument in places}
        bound |= {k.arg: _given(k.value, scope) for k in call.keywords if k.arg is not None}
    return bound


def _within(body: Scope, functions: Sequence[ast.FunctionDef], given: Meaning | None) -> Scope:
    """The scope of a call inside a helper; the decorator in it is applied to `given`."""
    for function in functions:
        body = body.child(function)
        first: Mapping[str, Meaning] = {}
        if given is not None:
            first = {parameter.arg: given for parameter in [*parameters(function)][:1]}
        body = body.with_names(first)
    return body


Inner: TypeAlias = "tuple[ast.Call, tuple[ast.FunctionDef, ...]]"
"""A call inside a helper, and the functions in the helper that it stands in."""


def registering(helper: Definition) -> list[Inner]:
    """The calls in a function that register what its caller gives; empty for most functions."""
    notes = helper.inside.notes
    if "registering" not in notes and not helper.scope.module.holds(helper.node, HINTS):
        notes["registering"] = []
    if "registering" not in notes:
        notes["registering"] = []  # a function that comes back to itself registers nothing by that
        notes["registering"] = [
            (call, functions)
            for call, functions in _calls(helper.node)
            if may_register(call.func) and _leads(call, _within(helper.inside, functions, None))
        ]
    return cast("list[Inner]", notes["registering"])


def _leads(call: ast.Call, scope: Scope) -> bool:
    """Whether a call registers something, directly or through a helper."""
    if isinstance(call.func, ast.Call):
        return _leads(call.func, scope)
    meaning = scope.meaning(call.func)
    path = _path(meaning)
    if path in INFER_PATHS or form_of(path) is not None:
        return True
    return isinstance(meaning, Definition) and bool(registering(meaning))


def _calls(node: ast.AST) -> Iterator[Inner]:
    """Every call in a function, but not the decorators of inner functions: these register where
    they are written.
    """
    waiting: list[tuple[ast.AST, tuple[ast.FunctionDef, ...]]]
    waiting = [(part, ()) for part in getattr(node, "body", [])]
    while waiting:
        part, functions = waiting.pop()
        if isinstance(part, ast.Call):
            yield part, functions
            if isinstance(part.func, ast.Call):
                waiting += [(argument, functions) for argument in part.args]
                continue
        if isinstance(part, ast.FunctionDef):
            waiting += [(statement, (*functions, part)) for statement in part.body]
        elif not isinstance(part, (ast.ClassDef, ast.AsyncFunctionDef)):
            waiting += [(child, functions) for child in ast.iter_child_nodes(part)]


HINTS = ("_op", "register", "infer_schema", ".op(")
"""What the text of a call has in it where `may_register` says yes."""


def may_register(node: ast.expr) -> bool:
    """A cheap look at a callee's name, before anything is looked up."""
    match node:
        case ast.Call(func):
            return may_register(func)
        case ast.Attribute(_, name) | ast.Name(name):
            return name in ("op", "infer_schema") or "_op" in name or "register" in name
        case _:
            return False


# `define(name + infer_schema(function))` -------------------------------------------------------


def _inferring(call: ast.Call, scope: Scope) -> Iterator[Registration]:
    site = _Site("torch.library.infer_schema", INFER, call, call, scope, None)
    node = site.argument("prototype_function")
    define = _define_around(call, scope)
    if node is None or define is None:
        return
    target = _given(node, scope)
    function = function_of(target)
    yield Registration(
        name=_defined_name(define, scope),
        via=site.via,
        span=scope.module.span(call),
        function=function,
        mutates=_writes(site.argument("mutates_args"), scope),
        helper=function is None and _is_parameter(target, scope),
    )


def _define_around(call: ast.Call, scope: Scope) -> ast.Call | None:
    """The `define(...)` that this inferred schema goes to."""
    defines = [
        part
        for part in ast.walk(scope.node)
        if isinstance(part, ast.Call) and _called_name(part) == "define" and part.args
    ]
    holding = [define for define in defines if call in ast.walk(define)]
    return next(iter(holding), defines[0] if len(defines) == 1 else None)


def _called_name(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(_, name) | ast.Name(name):
            return name
        case _:
            return ""


def _defined_name(define: ast.Call, scope: Scope) -> str:
    text = spelled(define.args[0], scope)
    name = text.partition("(")[0].partition("{infer_schema")[0].partition("{torch.")[0]
    owner = define.func.value if isinstance(define.func, ast.Attribute) else None
    namespace = "" if owner is None or "::" in name else library_namespace(owner, scope)
    return f"{namespace}::{name}" if namespace else name
