"""The functions that registrations name: their heads and what their bodies do.

Knows functions; knows nothing of the operators that they are registered for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from opwright.findings import Span
from opwright.frozen import frozen, replace
from opwright.hints.model import Function
from opwright.hints.model import Role as HintRole
from opwright.hints.resolve import Definition, External, Meaning, Scope, Written
from opwright.hints.source import read_function
from opwright.schema.kinds import List, Maybe, Type, holds_tensors
from opwright.survey.body import Tie, read_body
from opwright.survey.facts import Body, Signature
from opwright.survey.registering import function_of
from opwright.survey.returns import returned
from opwright.survey.signatures import signature_of, signature_of_lambda

OperatorOf = Callable[[ast.expr, Scope], str]
"""The operator that a called expression stands for in a scope; empty where it is none."""


@frozen
class Target:
    """A function: its head, its body where there is one to read, and its annotated form."""

    signature: Signature | None
    body: Body | None = None
    function: Function | None = None


NOWHERE = Target(None)


class Targets:
    """Reads each function of a file at most once."""

    def __init__(self, operator: OperatorOf) -> None:
        self._operator = operator
        self._known: dict[int, Target] = {}

    def of(self, meaning: Meaning | None, *, in_class: bool = False) -> Target:
        """The function that a meaning stands for; `NOWHERE` where it is none to be read.

        One `in_class` takes no `self`, as in Opwright's class form.
        """
        match meaning:
            case Definition(ast.FunctionDef() as node):
                if id(node) not in self._known:
                    self._known[id(node)] = self._defined(meaning, node, in_class=in_class)
                return self._known[id(node)]
            case Written(ast.Lambda() as node, scope):
                return self._lambda(node, scope)
            case Written(ast.Call()):
                function = function_of(meaning)
                return NOWHERE if function is None else Target(signature_of(function))
            case _:
                return NOWHERE

    def _defined(self, found: Definition, node: ast.FunctionDef, *, in_class: bool) -> Target:
        function = read_function(found)
        if in_class and function.role is HintRole.METHOD:
            function = replace(function, role=HintRole.FUNCTION)
        if function.role is not HintRole.FUNCTION or not _is_plain(found, node):
            return NOWHERE
        signature = placed(signature_of(function), node, found.scope.module.span)
        followed = {p.name: tie_of(p.type) for p in signature.parameters if holds_tensors(p.type)}
        body = self._body(node, node.body, followed, found.inside)
        return Target(signature, body, function)

    def _body(
        self,
        node: ast.FunctionDef | ast.Lambda,
        statements: list[ast.stmt],
        followed: Mapping[str, Tie],
        inside: Scope,
    ) -> Body:
        def path(expression: ast.expr) -> str:
            return dotted_path(expression, inside)

        def operator(expression: ast.expr) -> str:
            return self._operator(expression, inside)

        span = inside.module.span
        body = read_body(statements, followed, meaning=path, operator=operator, span=span)
        return replace(body, counts=_counts(node, span))

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Target:
        signature = signature_of_lambda(node, scope)
        names = {parameter.name: Tie.SAME for parameter in signature.parameters}
        return Target(signature, self._body(node, [ast.Return(node.body)], names, scope))


def placed(
    signature: Signature, node: ast.FunctionDef, span: Callable[[ast.AST], Span]
) -> Signature:
    """The signature with the places of its defaults."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    first = zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True)
    last = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    places = {a.arg: span(default) for a, default in (*first, *last) if default is not None}
    parameters = tuple(
        replace(p, default_span=places[p.name]) if p.name in places else p
        for p in signature.parameters
    )
    return replace(signature, parameters=parameters)


def _counts(
    node: ast.FunctionDef | ast.Lambda, span: Callable[[ast.AST], Span]
) -> tuple[tuple[int, Span], ...]:
    return tuple((way.count, span(way.node)) for way in returned(node))


UNKNOWN_DECORATORS = ("triton.", "numba.", "cutlass.", "cute.", "tilelang.", "contextlib.")


def _is_plain(found: Definition, node: ast.FunctionDef) -> bool:
    """Whether what is called is the function as written, for all that its decorators say."""
    paths = (
        dotted_path(d.func if isinstance(d, ast.Call) else d, found.scope)
        for d in node.decorator_list
    )
    return not any(path.startswith(UNKNOWN_DECORATORS) for path in paths)


def dotted_path(expression: ast.expr, scope: Scope) -> str:
    """The canonical path behind a name; empty for anything that is written in the tree."""
    if not isinstance(expression, (ast.Name, ast.Attribute)):
        return ""
    meaning = scope.meaning(expression)
    return meaning.path if isinstance(meaning, External) else ""


def tie_of(kind: Type | None) -> Tie:
    """How a parameter is followed."""
    bare = kind.of if isinstance(kind, Maybe) else kind
    return Tie.LIST if isinstance(bare, List) else Tie.SAME
