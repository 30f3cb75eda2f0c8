"""Where the annotations of a live function stand in its file.

Knows source text only; of a function without a file only the line is known.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType

from opwright.findings import Span
from opwright.frozen import replace
from opwright.hints.model import Function

_Def = ast.FunctionDef | ast.AsyncFunctionDef


def located(function: Function, written: FunctionType) -> Function:
    """The same function, each span the annotation's own: line and column."""
    code = written.__code__
    lines = linecache.getlines(code.co_filename, written.__globals__)
    node = _definition("".join(lines), code.co_firstlineno, code.co_name)
    if node is None:
        start = Span(code.co_filename, code.co_firstlineno)
        parameters = tuple(replace(parameter, span=start) for parameter in function.parameters)
        return replace(function, parameters=parameters, span=start, returns_span=start)
    spans = {arg.arg: _span(arg.annotation or arg, code.co_filename, lines) for arg in _args(node)}
    parameters = tuple(
        replace(parameter, span=spans.get(parameter.name, parameter.span))
        for parameter in function.parameters
    )
    name = _name_span(node, code.co_filename, lines)
    returns = _span(node.returns, code.co_filename, lines) if node.returns else name
    return replace(function, parameters=parameters, span=name, returns_span=returns)


@lru_cache(maxsize=64)
def _definition(text: str, line: int, name: str) -> _Def | None:
    """The `def` whose first line, decorators included, is this one."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, _Def) and node.name == name:
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            if first == line:
                return node
    return None


def _args(node: _Def) -> Iterator[ast.arg]:
    given = node.args
    yield from (*given.posonlyargs, *given.args, *given.kwonlyargs)
    yield from (arg for arg in (given.vararg, given.kwarg) if arg is not None)


def _span(node: ast.expr | ast.arg, file: str, lines: list[str]) -> Span:
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return Span(
        file,
        node.lineno,
        _column(lines[node.lineno - 1], node.col_offset),
        end_line,
        _column(lines[end_line - 1], end),
    )


def _column(line: str, offset: int) -> int:
    """From bytes, counted from 0, to characters, counted from 1."""
    return len(line.encode()[:offset].decode(errors="ignore")) + 1


def _name_span(node: _Def, file: str, lines: list[str]) -> Span:
    start = _column(lines[node.lineno - 1], node.col_offset)
    column = lines[node.lineno - 1].find(node.name, start + 2) + 1
    return Span(file, node.lineno, column, node.lineno, column + len(node.name))
