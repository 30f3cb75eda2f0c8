"""Strings of a Python source that still know where each character stands.

Knows literals, their concatenation, f-strings with constant parts and names for these; anything
else is not a string here.
"""

from __future__ import annotations

import ast
import re

from opwright.frozen import replace
from opwright.hints.constants import constant
from opwright.hints.resolve import Scope, Written
from opwright.survey.facts import Piece, Text

LITERAL = re.compile(
    r"""(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"{3}|'{3}|"|')(?P<inside>(?:\\.|(?!(?P=quote)).)*)(?P=quote)
      | \#[^\n]*""",
    re.DOTALL | re.VERBOSE,
)


def text_of(node: ast.expr, scope: Scope) -> Text | None:
    """The string that an expression spells; None where a part of it is not constant.

    >>> from pathlib import Path
    >>> from opwright.hints.resolve import Sources
    >>> scope = Sources().open(Path("ops.py"), b'S = "f(int n)" " -> ()"')
    >>> text = text_of(ast.parse("S", mode="eval").body, scope)
    >>> text.value, str(text.span(8))
    ('f(int n) -> ()', 'ops.py:1:17')
    """
    match node:
        case ast.Constant(str(value)):
            return _literal(node, value, scope)
        case ast.BinOp(left, ast.Add(), right):
            first, second = text_of(left, scope), text_of(right, scope)
            return None if first is None or second is None else joined(first, second)
        case ast.Name() | ast.Attribute():
            return _named(node, scope)
        case _:
            worth = constant(node, scope)
            return _inexact(node, worth, scope) if isinstance(worth, str) else None


def joined(first: Text, second: Text) -> Text:
    """Two strings after each other; those of another file keep only their place as a whole."""
    if first.file != second.file:
        second = replace(second, file=first.file, pieces=first.pieces[:1])
    moved = tuple(replace(p, start=p.start + len(first.value)) for p in second.pieces)
    return Text(first.value + second.value, first.file, first.pieces + moved)


def _named(node: ast.Name | ast.Attribute, scope: Scope) -> Text | None:
    with scope.sources.following(scope, f"text {ast.unparse(node)}") as again:
        meaning = None if again else scope.meaning(node)
        return text_of(meaning.node, meaning.scope) if isinstance(meaning, Written) else None


def _inexact(node: ast.expr, value: str, scope: Scope) -> Text:
    span = scope.module.span(node)
    return Text(value, span.file, (Piece(0, span.line, span.column, exact=False),))


def _literal(node: ast.Constant, value: str, scope: Scope) -> Text:
    """A literal, which may be several after each other."""
    span = scope.module.span(node)
    segment = "\n".join(scope.module.lines[span.line - 1 : span.end_line])
    segment = segment[span.column - 1 :]
    pieces, at = [], 0
    for match in LITERAL.finditer(segment):
        if at >= len(value) or match["quote"] is None:
            continue
        inside = match["inside"]
        exact = value.startswith(inside, at) and "\\" not in inside
        before = segment[: match.start("inside")]
        line = before.count("\n")
        column = len(before) - before.rfind("\n") if line else span.column + len(before)
        if not exact:
            pieces.append(Piece(at, span.line + line, column, exact=False))
            break
        for row in inside.splitlines(keepends=True) or [""]:
            pieces.append(Piece(at, span.line + line, column))
            at, line, column = at + len(row), line + 1, 1
    return Text(value, span.file, tuple(pieces) or _inexact(node, value, scope).pieces)
