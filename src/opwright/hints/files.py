"""Where the source of a module lies and what its text parses into; opens files, imports nothing.

Knows folders, encodings and syntax errors; knows nothing of names or annotations.
"""

from __future__ import annotations

import ast
import gc
import io
import os
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError, Span
from opwright.frozen import frozen

_SUFFIXES = (".py", ".pyi")
_ROOTS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")
_SITES = ("site-packages", "dist-packages")
_HEIGHT = 8


@frozen
class Module:
    """One parsed file: `name` is the dotted name that its users import it by."""

    path: Path
    name: str
    text: str
    tree: ast.Module

    @property
    def folder(self) -> Path:
        """Where `from . import` looks."""
        return self.path.parent

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def holds(self, node: ast.stmt, words: Sequence[str]) -> bool:
        """Whether any of these words stands in the text of a statement."""
        text = "\n".join(self.lines[node.lineno - 1 : node.end_lineno])
        return any(word in text for word in words)

    def span(self, node: ast.AST) -> Span:
        """The place of a node, in characters counted from 1."""
        line, end_line = getattr(node, "lineno", 0), getattr(node, "end_lineno", None)
        if not line:
            return Span(str(self.path))
        column = self._column(line, getattr(node, "col_offset", 0))
        end = self._column(end_line, getattr(node, "end_col_offset", 0)) if end_line else 0
        return Span(str(self.path), line, column, end_line or 0, end)

    def _column(self, line: int, offset: int) -> int:
        """`ast` counts bytes from 0."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return (offset if text.isascii() else len(text.encode()[:offset].decode())) + 1


def parse_file(path: Path, name: str, data: bytes | None = None) -> Module:
    """Read and parse a file; what cannot be read raises `SchemaError` with one `OW9xx` finding.

    >>> parse_file(Path("broken.py"), "broken", b"def f(:")
    Traceback (most recent call last):
    opwright.findings.SchemaError: broken.py:1:7: OW901 this is no Python: invalid syntax
    """
    data = _bytes(path) if data is None else data
    text = _decoded(path, data)
    return Module(path, name, text, _parsed(path, text))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, "OW900", f"this file cannot be read: {error.strerror}") from None


def _decoded(path: Path, data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise _unreadable(path, "OW900", f"this file cannot be decoded: {error}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parsed(path: Path, text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape like "\d" is the author's matter
            return ast.parse(text)
    except SyntaxError as error:
        place = Span(str(path), error.lineno or 0, error.offset or 0)
        message = f"this is no Python: {error.msg}"
    except ValueError as error:
        place, message = Span(str(path)), f"this is no Python: {error}"
    except (RecursionError, MemoryError):
        place, message = Span(str(path)), "this file is nested too deeply to be read"
    raise SchemaError([Diagnostic("OW901", message, span=place)])


def _unreadable(path: Path, code: str, message: str) -> SchemaError:
    return SchemaError([Diagnostic(code, message, span=Span(str(path)))])


class Folders:
    """Finds the file of a module by its dotted name, looking at folders only, each one once."""

    def __init__(self) -> None:
        self._entries: dict[Path, frozenset[str]] = {}
        self._roots: dict[Path, tuple[Path, ...]] = {}

    def absolute(self, name: str, folder: Path) -> Path | None:
        """The file that `import name` in a file of this folder means, if it is near."""
        for root in self.roots(folder):
            found = self.below(root, name)
            if found is not None:
                return found
        return None

    def below(self, folder: Path, name: str) -> Path | None:
        """The file, or the folder without `__init__.py`, of a dotted name inside a folder."""
        *packages, last = name.split(".")
        for part in packages:
            if part not in self.entries(folder):
                return None
            folder = folder / part
        inside = self.entries(folder)
        if not last or (last in inside and self.entries(folder / last)):
            return self._package(folder / last)
        names = (f"{last}{suffix}" for suffix in _SUFFIXES)
        return next((folder / name for name in names if name in inside), None)

    def _package(self, folder: Path) -> Path:
        names = (f"__init__{suffix}" for suffix in _SUFFIXES)
        return next((folder / n for n in names if n in self.entries(folder)), folder)

    def name(self, path: Path) -> str:
        """The dotted name that a file is imported by."""
        home = self.roots(path.parent)[0]
        parts = path.relative_to(home).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" and parts[1:] else parts)

    def roots(self, folder: Path) -> tuple[Path, ...]:
        """Folders that absolute imports of files in this folder start from, the likeliest first.

        The first one holds the outermost package around the folder. The others count where packages
        do without `__init__.py`: those above, up to the project's or the site's own folder.
        """
        known = self._roots.get(folder)
        if known is None:
            above = list(self._climb(folder))
            packages = [place for place in above if "__init__.py" in self.entries(place)]
            home = packages[-1].parent if packages else folder
            others = [place for place in above if place not in (*packages, home)]
            known = self._roots[folder] = (home, *others)
        return known

    def _climb(self, folder: Path) -> Iterator[Path]:
        """This folder and those above it, as far as they may belong to the same code base."""
        for _ in range(_HEIGHT):
            yield folder
            package = "__init__.py" in self.entries(folder)
            if folder == folder.parent or (not package and self._is_root(folder)):
                return
            folder = folder.parent

    def _is_root(self, folder: Path) -> bool:
        inside = self.entries(folder)
        return (
            folder.name in _SITES
            or any(name in inside for name in _ROOTS)
            or any(name.endswith((".dist-info", ".egg-info")) for name in inside)
        )

    def entries(self, folder: Path) -> frozenset[str]:
        known = self._entries.get(folder)
        if known is None:
            known = self._entries[folder] = _listed(folder)
        return known


def _listed(folder: Path) -> frozenset[str]:
    """A folder that cannot be listed has no modules for us, as it has none for Python."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


@contextmanager
def no_collection() -> Iterator[None]:
    """Syntax trees are many small objects and no garbage: collecting amid parsing is wasted."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
