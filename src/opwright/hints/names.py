"""What a name in a quoted or postponed annotation stands for, where the annotation was written.

Knows scopes, frames and the imports of a file; imports nothing itself and nothing of hints.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.util import resolve_name
from types import CodeType, FrameType, ModuleType
from typing import Any, NoReturn

from opwright import marks
from opwright.frozen import field, frozen


@frozen
class StandIn:
    """What a name stands for that is not there while the program runs.

    `imported` where an import that does not run (under `TYPE_CHECKING`) or did not stay (inside a
    function) says which path that is. It can be written like a type: `x.y`, `x[...]`, `x | None`.
    """

    path: str
    imported: bool = False
    arguments: tuple[object, ...] = ()

    def __getattr__(self, name: str) -> StandIn:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.path}.{name}", self.imported)

    def __getitem__(self, arguments: object) -> StandIn:
        inside = arguments if isinstance(arguments, tuple) else (arguments,)
        return StandIn(self.path, self.imported, inside)

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{self.path} has no items")  # without this, one for each index

    def __or__(self, other: object) -> Either:
        return Either((self, other))

    def __ror__(self, other: object) -> Either:
        return Either((other, self))

    def __call__(self) -> None:
        """Only there because `typing` takes nothing else for a type."""


@frozen
class Either:
    """A union with a stand-in among its members."""

    members: tuple[object, ...]

    def __or__(self, other: object) -> Either:
        return Either((*self.members, other))

    def __ror__(self, other: object) -> Either:
        return Either((other, *self.members))

    def __call__(self) -> None:
        """Only there because `typing` takes nothing else for a type."""


@frozen
class Scope:
    """Where an annotation was written.

    `qualname` is the function's; `always` are names that need no import, and their paths; `reading`
    are the classes whose fields are being read.
    """

    globals: dict[str, Any]
    locals: Mapping[str, Any] = field(default_factory=dict)
    qualname: str = ""
    always: Mapping[str, str] = field(default_factory=dict)
    reading: frozenset[object] = frozenset()

    def evaluate(self, text: str) -> object:
        """What the text of an annotation stands for; raises what evaluating it raises."""
        if not self.locals and "<" not in self.qualname:  # there are no names but the file's own
            with suppress(NameError):
                return eval(_compiled(text), self.globals)
        return eval(_compiled(text), self.globals, _Names(self))


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text.strip(), "<annotation>", "eval")


class _Names(dict[str, Any]):
    """The names of a scope, looked up only when they are asked for."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope.locals)
        self.scope = scope

    def __missing__(self, name: str) -> object:
        scope = self.scope
        running = list(_frames(scope))
        outer = scope.qualname.split(".")[:-1]
        around = [frame.f_locals for frame in running if frame.f_code.co_name in outer]
        elsewhere = [frame.f_locals for frame in running if frame.f_code.co_name not in outer]
        for known in (*around, scope.globals, vars(builtins), *elsewhere):
            if name in known:
                return known[name]
        return _imported(name, scope)


def _frames(scope: Scope) -> Iterator[FrameType]:
    """The functions of the same file that are running, innermost first.

    A decorator runs inside the function that holds the decorated one, so its locals are there.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals is scope.globals and frame.f_code.co_name != "<module>":
            yield frame
        frame = frame.f_back


# Imports that did not run ----------------------------------------------------------------------


def _imported(name: str, scope: Scope) -> object:
    path = _paths(scope).get(name) or scope.always.get(name)
    if path is not None and path.startswith("jaxtyping."):  # which takes no stand-in for an array
        return StandIn(path, imported=True)
    return StandIn(name) if path is None else loaded(path)


def loaded(path: str) -> object:
    """The object at a path, if its module is loaded already; else what stands for it.

    >>> loaded("collections.abc.Sequence")
    <class 'collections.abc.Sequence'>
    >>> loaded("nowhere.Config")
    StandIn(path='nowhere.Config', imported=True, arguments=())
    """
    if path in sys.modules:
        return sys.modules[path]
    module, _, name = path.rpartition(".")
    owner = loaded(module) if module else None
    there = vars(owner) if isinstance(owner, ModuleType | type) else {}
    if module == "opwright":  # the face fetches the marks on first use
        there = vars(marks)
    return there.get(name, StandIn(path, imported=True))


def _paths(scope: Scope) -> Mapping[str, str]:
    """Which path each name of the file's imports stands for, seen from the scope."""
    file = scope.globals.get("__file__")
    if not isinstance(file, str):
        return {}
    text = "".join(linecache.getlines(file, scope.globals))
    package = scope.globals.get("__package__") or ""
    inside = tuple(scope.qualname.replace("<locals>.", "").split(".")[:-1])
    return _imports(text, package, inside)


@lru_cache(maxsize=64)
def _imports(text: str, package: str, inside: tuple[str, ...]) -> Mapping[str, str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    return dict(_found(tree, package, inside))


def _found(node: ast.AST, package: str, inside: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The imports of a body; into functions and classes only along `inside`."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import(names):
                for alias in names:
                    yield (
                        (alias.asname or alias.name.partition(".")[0]),
                        (alias.name if alias.asname else alias.name.partition(".")[0]),
                    )
            case ast.ImportFrom(module, names, level):
                base = _absolute(module or "", level or 0, package)
                yield from ((alias.asname or alias.name, f"{base}.{alias.name}") for alias in names)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                if inside[:1] == (name,):
                    yield from _found(child, package, inside[1:])
            case _:
                yield from _found(child, package, inside)


def _absolute(module: str, level: int, package: str) -> str:
    try:
        return resolve_name("." * level + module, package).removesuffix(".") if level else module
    except ImportError:
        return module
