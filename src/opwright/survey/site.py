"""One use of a callable that may register something: its arguments, and what they mean.

Knows how Python binds arguments to parameters; knows nothing of operators.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from opwright.findings import Span
from opwright.frozen import frozen, replace
from opwright.hints.resolve import Assigned, Binding, Meaning, Scope, Written
from opwright.hints.resolve import Defined as Bound
from opwright.survey.implementing import ALIASES

MOST_ROWS = 200
"""Rows of a literal table that a loop over it is read for."""


@frozen
class Place:
    """Where a fact counts as written: at a helper's outermost call, or where it is."""

    span: Span | None = None
    guards: tuple[str, ...] = ()

    def of(self, span: Span) -> Span:
        return span if self.span is None else self.span


@frozen
class Site:
    """A callable as it is used: called or not, applied to a function or not."""

    call: ast.Call | None
    node: ast.expr
    scope: Scope
    given: Meaning | None
    place: Place

    @property
    def span(self) -> Span:
        return self.place.of(self.scope.module.span(self.node))

    def at(self, position: int, name: str) -> ast.expr | None:
        """An argument by position or by name."""
        if self.call is None:
            return None
        by_name = {keyword.arg: keyword.value for keyword in self.call.keywords}
        if name in by_name:
            return by_name[name]
        plain = self.call.args[: position + 1]
        if len(plain) <= position or any(isinstance(a, ast.Starred) for a in plain):
            return None
        return plain[position]

    def by_name(self, names: Sequence[str], name: str) -> ast.expr | None:
        """An argument by its name, or by its place among `names`."""
        if self.call is None or not name:
            return None
        for keyword in self.call.keywords:
            if keyword.arg == name or ALIASES.get(keyword.arg or "") == name:
                return keyword.value
        return self.at(names.index(name), name) if name in names else None


def guarded(place: Place, guard: str) -> Place:
    return replace(place, guards=(*place.guards, guard[:200]))


def given_by(node: ast.expr, scope: Scope) -> Meaning:
    """What an argument means; a name that several statements bind means nothing but itself."""
    if isinstance(node, ast.Name) and is_ambiguous(node, scope):
        return Written(node, scope)
    return scope.meaning(node) or Written(node, scope)


def is_ambiguous(node: ast.Name, scope: Scope) -> bool:
    """Whether a name is bound both by a definition and by imports or assignments.

    `f = register(f)` itself does not count: what it binds comes after.
    """
    binders = [b.binder for b in binding_scope(node.id, scope) if not b.weak]
    others = [b for b in binders if not (isinstance(b, Assigned) and _holds(b.node, node))]
    return len(others) > 1 and not all(isinstance(binder, Bound) for binder in others)


def binding_scope(name: str, scope: Scope) -> list[Binding]:
    """How the innermost scope that knows a name binds it."""
    where: Scope | None = scope
    while where is not None:
        if name in where.bindings:
            return where.bindings[name]
        where = where.parent
    return []


def _holds(outer: ast.expr, inner: ast.expr) -> bool:
    """Whether one expression stands inside the other."""
    start, end = (outer.lineno, outer.col_offset), (outer.end_lineno, outer.end_col_offset)
    return start <= (inner.lineno, inner.col_offset) and (
        (inner.end_lineno or 0, inner.end_col_offset or 0) <= (end[0] or 0, end[1] or 0)
    )


def rows(target: ast.expr, iterable: ast.expr, scope: Scope) -> Iterator[dict[str, Meaning]]:
    """What the targets of a loop over a literal table mean, row by row; else one row of nothing."""
    meaning = given_by(iterable, scope)
    if not isinstance(meaning, Written) or not isinstance(meaning.node, (ast.Tuple, ast.List)):
        yield {}
        return
    for item in meaning.node.elts[:MOST_ROWS]:
        yield dict(bound_row(target, item, meaning.scope))


def bound_row(target: ast.expr, item: ast.expr, scope: Scope) -> Iterator[tuple[str, Meaning]]:
    match target, item:
        case ast.Name(name), _:
            yield name, given_by(item, scope)
        case ((ast.Tuple(targets) | ast.List(targets)), (ast.Tuple(items) | ast.List(items))):
            for each, value in zip(targets, items, strict=False):
                yield from bound_row(each, value, scope)


def bindings(helper: ast.FunctionDef, site: Site, home: Scope) -> dict[str, Meaning]:
    """What each parameter of a helper stands for in one call of it."""
    arguments = helper.args
    names = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(names[::-1], arguments.defaults[::-1], strict=False))
    keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    defaults |= {arg.arg: default for arg, default in keyword if default is not None}
    bound = {name: given_by(default, home) for name, default in defaults.items()}
    if site.call is not None:
        places = zip(names, site.call.args, strict=False)
        bound |= {name: given_by(argument, site.scope) for name, argument in places}
        named = [(k.arg, k.value) for k in site.call.keywords]
        bound |= {name: given_by(node, site.scope) for name, node in named if name is not None}
    return bound


def parts_of(function: ast.FunctionDef) -> Iterator[ast.FunctionDef | ast.Call]:
    """Every call in a function, and the functions inside it, whose calls are their own."""
    waiting: list[ast.AST] = [*reversed(function.body)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (ast.FunctionDef, ast.Call)):
            yield part
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(reversed([*ast.iter_child_nodes(part)]))
