"""How many values the return statements of a function give back, as far as the text shows.

Knows statements; knows nothing of gradients or schemas.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opwright.frozen import frozen

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@frozen
class Returned:
    """One way out: the expression, and how many values it is seen to hold."""

    node: ast.AST
    count: int


def returned(function: ast.FunctionDef | ast.Lambda) -> Iterator[Returned]:
    """Every way out whose number of values can be seen: a tuple is counted, nothing is guessed.

    >>> text = "def backward(ctx, grad):\\n    return grad, None"
    >>> [way.count for way in returned(ast.parse(text).body[0])]
    [2]
    >>> text = "lambda ctx, grad: (grad, None) if ctx.cut else grad.split(1)"
    >>> [way.count for way in returned(ast.parse(text, mode="eval").body)]
    [2]
    """
    if isinstance(function, ast.Lambda):
        yield from _counted(function.body)
        return
    for statement in _returns(function.body):
        yield from _counted(statement.value or ast.Constant(None, lineno=statement.lineno))


def _returns(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """The return statements of this function, not those of functions inside it."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, _SCOPES):
            yield from _returns([*_inside(node)])


def _inside(node: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly inside a compound one: of its bodies, handlers and cases."""
    for _, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else ():
            if isinstance(child, ast.stmt):
                yield child
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                yield from child.body


def _counted(value: ast.expr) -> Iterator[Returned]:
    """A conditional expression is two ways out; `None` is one value; a star is not counted."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _counted(body)
            yield from _counted(orelse)
        case ast.Tuple(elts=parts) if not any(isinstance(part, ast.Starred) for part in parts):
            yield Returned(value, len(parts))
        case ast.Constant(value=None):
            yield Returned(value, 1)
