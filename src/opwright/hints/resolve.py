"""What a name means where it is written: followed through scopes, assignments, imports, files.

Knows Python's rules for names; knows nothing of types. Reads text: nothing is imported or run.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from opwright.findings import SchemaError
from opwright.frozen import frozen
from opwright.hints.files import Folders, Module, parse_file
from opwright.hints.model import canonical

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
ScopeNode: TypeAlias = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


# What a name can mean --------------------------------------------------------------------------


@frozen
class External:
    """Something of another package, by its canonical path: `torch.Tensor`, `int`."""

    path: str


@frozen
class Package:
    """A module of the tree; a file, or a folder without `__init__.py`."""

    path: Path


@frozen
class Definition:
    """A class or function, and the scope that it is written in."""

    node: ast.ClassDef | FunctionNode
    scope: Scope

    @property
    def path(self) -> str:
        """`module.Outer.Name`, as `__module__` and `__qualname__` say it."""
        return f"{self.scope.module.name}.{self.scope.qualname(self.node.name)}"

    @property
    def inside(self) -> Scope:
        return self.scope.child(self.node)


@frozen
class Written:
    """An expression that a name was assigned, and the scope to read it in."""

    node: ast.expr
    scope: Scope
    name: str = ""


@frozen
class Variable:
    """A type parameter of Python 3.12, an `ast.TypeVar`."""

    node: ast.AST
    scope: Scope

    @property
    def bound(self) -> ast.expr | None:
        """The bound; constraints are written as a tuple."""
        return getattr(self.node, "bound", None)


Meaning: TypeAlias = "External | Package | Definition | Written | Variable"


# What binds a name -----------------------------------------------------------------------------


@frozen
class Imported:
    """`from module import name`, or `import module` where the name is empty."""

    module: str
    level: int = 0
    name: str = ""


@frozen
class Assigned:
    """`name = node`; `type name[T] = node` has type parameters."""

    node: ast.expr
    variables: tuple[ast.AST, ...] = ()


@frozen
class Defined:
    node: ast.ClassDef | FunctionNode


@frozen
class Hidden:
    """A parameter, a loop variable: something that only running the code would tell."""


Binder: TypeAlias = "Imported | Assigned | Defined | Hidden"


@frozen
class Binding:
    """One place that binds a name; `certain` unless it stands under a condition."""

    name: str
    binder: Binder
    certain: bool = True
    line: int = 0

    @property
    def weak(self) -> bool:
        """Nothing to go by: `X = None` beside the import that gives X a meaning, `f = wrap(f)`."""
        match self.binder:
            case Assigned(ast.Constant(None)) | Hidden():
                return True
            case Assigned(ast.Call() as call):
                return any(isinstance(n, ast.Name) and n.id == self.name for n in ast.walk(call))
            case _:
                return False


def best(bindings: Sequence[Binding]) -> Binding:
    """Of several bindings of one name, the one that annotations mean: what fallbacks
    stand in for, the last that is certain, else the first.
    """
    strong = [binding for binding in bindings if not binding.weak] or bindings
    certain = [binding for binding in strong if binding.certain]
    return certain[-1] if certain else strong[0]


def bound(body: Sequence[ast.stmt]) -> Iterator[Binding]:
    """Every name that these statements bind in their own scope, in the order of the text."""
    waiting = [(statement, True) for statement in reversed(body)]
    while waiting:
        statement, certain = waiting.pop()
        for name, binder in _binders(statement):
            yield Binding(name, binder, certain, statement.lineno)
        if not isinstance(statement, ScopeNode):
            certain = certain and isinstance(statement, ast.With)
            waiting += [(inner, certain) for inner in reversed(list(statements(statement)))]


def statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly inside one: all branches of an `if`, a `try`, a `match`."""
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from part.body
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, ())


def _binders(statement: ast.stmt) -> Iterator[tuple[str, Binder]]:
    match statement:
        case ast.Import(names):
            for alias in names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or whole, Imported(whole)
        case ast.ImportFrom(module, names, level):
            for alias in names:
                if alias.name != "*":
                    yield alias.asname or alias.name, Imported(module or "", level, alias.name)
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield statement.name, Defined(statement)
        case ast.Assign(targets, value):
            for target in targets:
                yield from _unpacked(target, value)
        case ast.AnnAssign(target, _, value) if value is not None:
            yield from _unpacked(target, value)
        case ast.For(target) | ast.AsyncFor(target):
            yield from _unpacked(target, None)
        case ast.With(items) | ast.AsyncWith(items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _unpacked(item.optional_vars, None)
        case _ if type(statement).__name__ == "TypeAlias":  # PEP 695, Python 3.12
            name, value = getattr(statement, "name"), getattr(statement, "value")  # noqa: B009
            yield name.id, Assigned(value, tuple(getattr(statement, "type_params", ())))


def _unpacked(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, Binder]]:
    match target:
        case ast.Name(name):
            yield name, Hidden() if value is None else Assigned(value)
        case ast.Tuple(parts) | ast.List(parts):
            values: Sequence[ast.expr | None] = [None] * len(parts)
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(parts):
                values = value.elts
            for part, given in zip(parts, values, strict=True):
                yield from _unpacked(part, given)
        case ast.Starred(part):
            yield from _unpacked(part, None)


def parameters(node: FunctionNode | ast.Lambda) -> Iterator[ast.arg]:
    """Every parameter in the order of the text."""
    given = node.args
    yield from (*given.posonlyargs, *given.args)
    yield from filter(None, [given.vararg])
    yield from given.kwonlyargs
    yield from filter(None, [given.kwarg])


# Scopes ----------------------------------------------------------------------------------------


class Scope:
    """A module, class or function body, in which names have meanings."""

    def __init__(
        self, node: ScopeNode, module: Module, sources: Sources, parent: Scope | None = None
    ) -> None:
        self.node = node
        self.module = module
        self.sources = sources
        self.parent = parent
        self.notes: dict[str, object] = {}
        """What readers of this scope have found out once and need again."""
        self._children: dict[int, Scope] = {}

    def close(self) -> None:
        """Let go of everything; see `Sources.close`."""
        for child in self._children.values():
            child.close()
        self.__dict__.clear()

    def child(self, node: ast.ClassDef | FunctionNode) -> Scope:
        """The body of a class or function that is written in this scope."""
        known = self._children.get(id(node))
        if known is None:
            known = self._children[id(node)] = Scope(node, self.module, self.sources, self)
        return known

    def qualname(self, name: str) -> str:
        """`Outer.name`, `function.<locals>.name`."""
        if self.parent is None or isinstance(self.node, ast.Module):
            return name
        inner = name if isinstance(self.node, ast.ClassDef) else f"<locals>.{name}"
        return self.parent.qualname(f"{self.node.name}.{inner}")

    def with_names(self, meanings: Mapping[str, Meaning]) -> Scope:
        """This scope, with some names that mean something else in one place."""
        return _Named(self, meanings) if meanings else self

    def with_variables(self, variables: Sequence[ast.AST]) -> Scope:
        """This scope with the `T` of `def f[T: int](...)` or `type A[T] = ...` (Python 3.12)."""
        names = {getattr(part, "name", ""): part for part in variables}
        return self.with_names({name: Variable(part, self) for name, part in names.items()})

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        found: dict[str, list[Binding]] = {}
        for binding in (*self._parameters(), *bound(self.node.body)):
            found.setdefault(binding.name, []).append(binding)
        return found

    def _parameters(self) -> Iterator[Binding]:
        if isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for parameter in parameters(self.node):
                yield Binding(parameter.arg, Hidden())

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """`from m import *` statements, the last first."""
        if not isinstance(self.node, ast.Module):
            return []
        found = [
            node
            for statement in self.node.body
            if not isinstance(statement, ScopeNode)
            for node in ast.walk(statement)
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        ]
        return found[::-1]

    def meaning(self, node: ast.expr) -> Meaning | None:
        """What a dotted name means here; other expressions mean themselves."""
        match node:
            case ast.Name(name):
                return self.lookup(name)
            case ast.Attribute(value, name):
                owner = self.meaning(value)
                return None if owner is None else self.sources.attribute(owner, name)
            case _:
                return Written(node, self)

    def lookup(self, name: str) -> Meaning | None:
        """What a bare name means here: this scope, star imports, the scopes around, builtins."""
        if name in self.bindings:
            return self.own(name)
        return self.starred(name) or self._above(name)

    def _above(self, name: str) -> Meaning | None:
        parent = self.parent
        while parent is not None and parent.is_class:  # a class body is no scope for what is in it
            parent = parent.parent
        if parent is not None:
            return parent.lookup(name)
        return External(name) if hasattr(builtins, name) else None

    def reaching(self, node: ast.expr) -> Meaning | None:
        """What a name means at one place: of several bindings the last one above it."""
        if isinstance(node, ast.Name):
            above = [b for b in self.bindings.get(node.id, ()) if b.line < node.lineno]
            strong = [binding for binding in above if not binding.weak]
            if strong:
                return self._follow(node.id, strong[-1].binder)
        return self.meaning(node)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def own(self, name: str) -> Meaning | None:
        """What this very scope binds the name to, followed to its end."""
        return self._follow(name, best(self.bindings[name]).binder)

    def _follow(self, name: str, binder: Binder) -> Meaning | None:
        match binder:
            case Defined(node):
                return Definition(node, self)
            case Imported():
                with self.sources.following(self, name) as again:
                    return None if again else self.sources.imported(binder, self.module)
            case Assigned(ast.Name() | ast.Attribute() as node, ()):
                with self.sources.following(self, name) as again:
                    return None if again else self._aliased(node, name)
            case Assigned(node, variables):
                return Written(node, self.with_variables(variables), name)
            case Hidden():
                return None

    def _aliased(self, node: ast.expr, name: str) -> Meaning | None:
        """`A = b.C`: what stands behind, or the expression where that is not known."""
        if isinstance(node, ast.Name) and node.id == name:
            return self._above(name)
        return self.meaning(node) or Written(node, self, name)

    def starred(self, name: str) -> Meaning | None:
        """What a star import brings under this name."""
        for star in self.stars:
            if not star.level and is_known(star.module or ""):
                if name in _starred_names(star.module or ""):
                    return External(canonical(f"{star.module}.{name}"))
                continue
            target = self.sources.find(star.module or "", star.level, self.module)
            scope = target and self.sources.scope_of(target)
            with self.sources.following(self, f"{name} of *") as again:
                if scope and not again and scope.exports(name):
                    return scope.lookup(name)
        return None

    def exports(self, name: str) -> bool:
        """Whether `from this import *` brings the name."""
        if self._all is not None:
            return name in self._all
        if name in self.bindings:
            return not name.startswith("_")
        return not name.startswith("_") and self.starred(name) is not None

    @cached_property
    def _all(self) -> frozenset[str] | None:
        """`__all__`, as far as its words are written out."""
        words = [
            part.value
            for statement in self.node.body
            if _extends_all(statement)
            for part in ast.walk(statement)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        return frozenset(words) if words else None


def _extends_all(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign([ast.Name("__all__")]) | ast.AnnAssign(ast.Name("__all__")):
            return True
        case ast.AugAssign(ast.Name("__all__")):
            return True
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("__all__")))):
            return True
        case _:
            return False


class _Named(Scope):
    """A scope with a few names on top, which what is written in it sees as well."""

    def __init__(self, outer: Scope, names: Mapping[str, Meaning]) -> None:
        super().__init__(outer.node, outer.module, outer.sources, outer.parent)
        self._outer = outer
        self._names = names

    def with_names(self, meanings: Mapping[str, Meaning]) -> Scope:
        return _Named(self._outer, {**self._names, **meanings}) if meanings else self

    def lookup(self, name: str) -> Meaning | None:
        return self._names.get(name) or super().lookup(name)


# Files -----------------------------------------------------------------------------------------

# What is defined in these is known by its path; reading on would lead behind the public name.
_KNOWN = frozenset(sys.stdlib_module_names) | {
    *("jaxtyping", "numpy", "opwright", "pydantic", "torch", "typing_extensions")
}
# A survey of torch's own tree follows its private modules, as it would any other's.
_TORCH = {
    "torch",
    "torch._C",
    "torch._library.custom_ops",
    "torch._library.infer_schema",
    "torch._library.triton",
    "torch._tensor",
    "torch.autograd",
    "torch.autograd.variable",
    "torch.library",
    "torch.nn",
    "torch.nn.modules.module",
    "torch.nn.parameter",
    "torch.types",
}


_TORCH_TYPES = frozenset(
    ["Tensor", "device", "dtype", "layout", "memory_format", "Generator", "Stream", "Size"]
)


def _starred_names(module: str) -> Collection[str]:
    """What `from module import *` brings of names that annotations are made of."""
    if module == "torch":
        return _TORCH_TYPES
    loaded = sys.modules.get(module) if module in _ANNOTATING else None
    return getattr(loaded, "__all__", ())


# Modules of the standard library that this one has loaded itself, or that `typing` has.
_ANNOTATING = ("typing", "typing_extensions", "collections.abc", "dataclasses", "enum", "numbers")


def is_known(module: str) -> bool:
    """Whether names of this module are known by path and never looked up in files."""
    top = module.partition(".")[0]
    return top in _KNOWN and (top != "torch" or module in _TORCH)


class Sources:
    """A tree of source files: parsed on demand, each once, and never imported."""

    def __init__(self) -> None:
        self.folders = Folders()
        self._scopes: dict[Path, Scope | SchemaError] = {}
        self._open: set[tuple[int, str]] = set()

    def open(self, path: Path, data: bytes | None = None) -> Scope:
        """The scope of a file; raises `SchemaError` where it cannot be read."""
        known = self._scopes.get(path)
        if known is None:
            try:
                module = parse_file(path, self.folders.name(path), data)
                known = Scope(module.tree, module, self)
            except SchemaError as error:
                known = error
            self._scopes[path] = known
        if isinstance(known, SchemaError):
            raise known
        return known

    def close(self, path: Path) -> None:
        """Free the tree of a file for good; nobody may hold anything of it any more.

        Scopes refer to each other in circles, which only a garbage collection would find.
        """
        scope = self._scopes.pop(path, None)
        if isinstance(scope, Scope):
            scope.module.tree.body.clear()
            scope.close()

    def close_all(self) -> None:
        """Free every tree."""
        for path in [*self._scopes]:
            self.close(path)

    @property
    def held(self) -> int:
        """How many trees are held."""
        return len(self._scopes)

    def forget(self, path: Path) -> None:
        """Drop the tree of a file; what others hold of it stays valid."""
        self._scopes.pop(path, None)

    def scope_of(self, path: Path) -> Scope | None:
        """The scope of a file that another one imports; None where it cannot be read."""
        if path.suffix not in (".py", ".pyi"):
            return None
        try:
            return self.open(path)
        except SchemaError:  # reported when the file itself is asked for
            return None

    def following(self, place: Scope | ast.AST, name: str) -> _Following:
        """Guard against names that lead back to themselves."""
        return _Following(self._open, (id(place), name))

    def find(self, module: str, level: int, importer: Module) -> Path | None:
        """The file that an import statement names."""
        if not level:
            return self.folders.absolute(module, importer.folder)
        folder = importer.folder
        for _ in range(level - 1):
            folder = folder.parent
        return self.folders.below(folder, module)

    def imported(self, imported: Imported, importer: Module) -> Meaning | None:
        """What an import statement brings."""
        if not imported.level and is_known(imported.module):
            return External(canonical(_joined(imported.module, imported.name)))
        target = self.find(imported.module, imported.level, importer)
        if target is None or (target == importer.path and not imported.name):
            return External(canonical(_joined(self._written(imported, importer), imported.name)))
        return self.attribute(Package(target), imported.name) if imported.name else Package(target)

    def _written(self, imported: Imported, importer: Module) -> str:
        """The dotted name of a module that is not there."""
        if not imported.level:
            return imported.module
        package = importer.name.split(".")
        keep = len(package) - imported.level + (importer.path.stem == "__init__")
        return _joined(".".join(package[: max(keep, 0)]), imported.module)

    def attribute(self, owner: Meaning, name: str) -> Meaning | None:
        """What `owner.name` means."""
        match owner:
            case External(path):
                return External(canonical(_joined(path, name)))
            case Package(path):
                return self._of_module(path, name)
            case Definition(ast.ClassDef() as node, scope):
                return self._of_class(node, scope, name)
            case Definition() | Written() | Variable():
                return None

    def _of_module(self, path: Path, name: str) -> Meaning | None:
        scope = self.scope_of(path)
        if scope is not None and name in scope.bindings:
            found = scope.own(name)
            if found is not None:  # not `from . import name` in this very file
                return found
        if path.stem == "__init__" or not path.suffix:
            inner = self.folders.below(path.parent if path.suffix else path, name)
            if inner is not None:
                return Package(inner)
        starred = scope and scope.starred(name)
        return starred or External(canonical(_joined(self.folders.name(path), name)))

    def _of_class(self, node: ast.ClassDef, scope: Scope, name: str) -> Meaning | None:
        inside = scope.child(node)
        if name in inside.bindings:
            return inside.own(name)
        for base in node.bases:
            with self.following(inside, f".{name}") as again:
                meaning = None if again else scope.meaning(base)
                found = meaning and self.attribute(meaning, name)
            if found is not None:
                return found
        return None


def _joined(module: str, name: str) -> str:
    return f"{module}.{name}" if module and name else module or name


class _Following:
    """Marks a name as being followed; entering answers whether it already was."""

    def __init__(self, open_names: set[tuple[int, str]], name: tuple[int, str]) -> None:
        self._open = open_names
        self._name = name

    def __enter__(self) -> bool:
        self._again = self._name in self._open
        self._open.add(self._name)
        return self._again

    def __exit__(self, *failure: object) -> None:
        if not self._again:
            self._open.discard(self._name)
