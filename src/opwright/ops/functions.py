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

Source: TypeAlias = "Callable[[], tuple[str, Defaults]]"
"""What gives the text of a function, and its defaults."""

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


def later(name: str, source: Source, space: dict[str, Any]) -> Callable[..., Any]:
    """The same, but text and defaults are asked for at the first call.

    The function object stays the same, so the dispatcher may keep it. A namespace holds one such
    function at a time.

    >>> double = later("double", lambda: ("def written(x, by): return x * by", ((2,), {})), {})
    >>> double(4), double(4, by=3)
    (8, 12)
    """
    made = types.FunctionType(_unwritten.__code__, space, name)
    made.__qualname__ = name
    space[WRITE] = _Writing(made, source)
    return made


class _Writing:
    """Writes the body of one function; an object of its own, since a closure would be ten."""

    __slots__ = ("_function", "_source")

    def __init__(self, function: types.FunctionType, source: Source) -> None:
        self._function = function
        self._source = source

    def __call__(self) -> Callable[..., Any]:
        made = self._function
        text, defaults = self._source()
        code = _code(text)
        made.__defaults__, made.__kwdefaults__ = defaults
        made.__code__ = code  # last: until here another thread still finds the unwritten body
        return made


def _unwritten(*args: Any, **kwargs: Any) -> Any:
    return _ow_write()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821
