"""Functions made from text, now or at their first call.

Knows Python only.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from typing import Any, TypeAlias

Defaults: TypeAlias = "tuple[tuple[Any, ...], dict[str, Any]]"
"""The defaults of positional parameters, and those of keyword-only ones."""

WRITE = "_ow_write"
"""Under this name a namespace holds what writes the body of its unwritten function."""


@functools.lru_cache(maxsize=4096)
def _code(text: str) -> types.CodeType:
    """The code of the one function in `text`, which all functions of one text share."""
    space: dict[str, Any] = {}
    exec(compile(text, "<opwright>", "exec"), space)
    code: types.CodeType = space["written"].__code__
    return code


def now(name: str, text: str, space: dict[str, Any], defaults: Defaults) -> Callable[..., Any]:
    """The function `written` of a text, called `name`; it looks global names up in `space`.

    >>> double = now("double", "def written(x, by): return x * by", {}, ((2,), {}))
    >>> double(4), double.__name__
    (8, 'double')
    """
    space.setdefault("__builtins__", vars(builtins))  # Dynamo looks for it
    made = types.FunctionType(_code(text), space, name)
    made.__qualname__ = name
    made.__defaults__, made.__kwdefaults__ = defaults
    return made


def later(
    name: str, text: Callable[[], str], space: dict[str, Any], defaults: Callable[[], Defaults]
) -> Callable[..., Any]:
    """The same, but the text is asked for at the first call; one such function a namespace.

    The function object stays the same, so the dispatcher may keep it.
    """
    made = types.FunctionType(_unwritten.__code__, space, name)
    made.__qualname__ = name

    def write() -> Callable[..., Any]:
        code = _code(text())
        made.__defaults__, made.__kwdefaults__ = defaults()
        made.__code__ = code  # last: until here another thread still finds the unwritten body
        return made

    space[WRITE] = write
    return made


def _unwritten(*args: Any, **kwargs: Any) -> Any:
    return _ow_write()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821
