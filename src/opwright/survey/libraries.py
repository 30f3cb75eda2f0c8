"""Whether anything keeps a `torch.library.Library` alive: its operators live as long as it does.

Knows assignments; knows nothing of operators.
"""

from __future__ import annotations

import ast

from opwright.hints.resolve import Scope


def is_dropped(call: ast.Call, scope: Scope) -> bool:
    """Whether a `Library(...)` made in a function is gone when the function returns.

    A test may want just that: functions called `test...` are left alone.
    """
    function = scope.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if function.name.startswith(("test", "_test")):
        return False
    names = _assigned(function, call)
    return names is not None and not any(_is_kept(name, function) for name in names)


def _assigned(function: ast.AST, call: ast.Call) -> list[str] | None:
    """The plain names that the call is assigned to; None where something else is done with it."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets, value) if value is call:
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                return names if len(names) == len(targets) else None
            case ast.AnnAssign(ast.Name(name), _, value) if value is call:
                return [name]
    return None


def _is_kept(name: str, function: ast.AST) -> bool:
    """Whether a local name is declared global, or used for more than calling its methods."""
    for node in ast.walk(function):
        match node:
            case ast.Global(names) | ast.Nonlocal(names) if name in names:
                return True
    plain = {
        id(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and id(node) not in plain
        for node in ast.walk(function)
    )
