"""One file, from its bytes to its facts: what a worker does.

Never raises for what a file holds: a fault is a finding, and the rest is still read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError, Span
from opwright.frozen import frozen, replace
from opwright.hints.files import Folders
from opwright.hints.resolve import Scope, Sources
from opwright.lint.files import BLOCKS, CALLS, CONFIRMS, REGISTERS, is_python
from opwright.lint.noqa import Silence, silences
from opwright.lint.settings import matches
from opwright.survey.facts import Fact


@frozen
class Wanted:
    """What of the settings a worker must know."""

    macros: tuple[tuple[str, str], ...] = ()
    namespaces: tuple[tuple[str, str], ...] = ()
    """Glob to namespace."""
    defining: tuple[str, ...] = ()
    faking: tuple[str, ...] = ()
    """Dotted paths that settings add to the ones that register operators."""


@frozen
class Surveyed:
    """What one file brought home."""

    file: str
    facts: tuple[Fact, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    silences: tuple[Silence, ...] = ()
    read: tuple[str, ...] = ()
    """What else these facts depend on: paths, and questions about paths."""


@frozen
class Later:
    """A file that only calls operators, of these namespaces; empty where that is not plain."""

    file: str
    namespaces: frozenset[str]


SPACES = re.compile(rb"torch\.ops\.(\w+)")


def silent(data: bytes) -> bool:
    """Whether a file may hold a comment that silences a code of ours."""
    marked = b"OW" in data and (b"noqa" in data or b"NOQA" in data)
    return marked and SILENT.search(data) is not None


SILENT = re.compile(rb"(?:noqa|NOQA)[^\n]{0,80}OW\d")


class Surveyor:
    """Reads files one after the other, and keeps what several of them import."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        paths = (*wanted.defining, *wanted.faking)
        self.words = [path.rpartition(".")[2].encode() for path in paths]
        self.watched = Watched()

    def survey(self, file: str, data: bytes | None = None) -> Surveyed | Later | None:
        """The facts of a file; None where its bytes say that there are none."""
        try:
            data = Path(file).read_bytes() if data is None else data
        except OSError as error:
            return Surveyed(file, findings=(unreadable(file, error.strerror or "unreadable"),))
        return self.python(file, data) if is_python(file) else self.cpp(file, data)

    def parse_calls(self, file: str) -> Surveyed:
        """The facts of a file that calls operators worth a look."""
        try:
            return self.parse(file, Path(file).read_bytes())
        except OSError as error:
            return Surveyed(file, findings=(unreadable(file, error.strerror or "unreadable"),))

    def python(self, file: str, data: bytes) -> Surveyed | Later | None:
        if not self.registers(data) and not silent(data):
            if not any(word in data for word in CALLS):
                return None
            plain = b"torch import ops" not in data and b"torch.ops\n" not in data
            return Later(file, frozenset(_spaces(data)) if plain else frozenset())
        return self.parse(file, data)

    def registers(self, data: bytes) -> bool:
        """Whether the bytes of a Python file look as if they registered an operator."""
        if any(word in data for word in self.words):
            return True
        return any(word in data for word in REGISTERS) and CONFIRMS.search(data) is not None

    def parse(self, file: str, data: bytes) -> Surveyed:
        """A Python file, parsed."""
        if len(data) > LARGEST:
            return Surveyed(file, findings=(too_large(file),))
        from opwright.survey.sites import Names, read_sites

        path = Path(file)
        names = Names(frozenset(self.wanted.defining), frozenset(self.wanted.faking))
        self.watched.start()
        try:
            scope = self.watched.open(path, data)
            facts = tuple(read_sites(scope, names))
            text = scope.module.text
        except SchemaError as error:
            return Surveyed(file, findings=tuple(named(f, file) for f in error.findings))
        except RecursionError:
            return Surveyed(file, findings=(too_deep(file),))
        finally:
            self.tidy()
        found = silences(text, file, python=True)
        return Surveyed(file, facts, (), found, self.watched.read(path))

    def tidy(self) -> None:
        """Free all trees when they are many; until then, other files may import them."""
        if self.watched.held >= MOST_HELD:
            self.watched.close_all()

    def cpp(self, file: str, data: bytes) -> Surveyed | None:
        if not any(word in data for word in BLOCKS) and not silent(data):
            return None
        from opwright.lint.headers import Headers  # not loaded for Python alone
        from opwright.survey.cpp import CppNames, read_cpp

        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        spaces = {space for glob, space in self.wanted.namespaces if matches(file, glob)}
        known = {"TORCH_EXTENSION_NAME": next(iter(spaces))} if spaces else {}
        headers = Headers(file)
        names = CppNames(dict(self.wanted.macros), known)
        facts = tuple(read_cpp(text, file, names, headers.find))
        return Surveyed(file, facts, (), silences(text, file, python=False), tuple(headers.read))


MOST_HELD = 150
"""Trees that are held at a time: some hundred megabytes."""


def _spaces(data: bytes) -> Iterator[str]:
    return (name.decode() for name in SPACES.findall(data))


def unreadable(file: str, why: str) -> Diagnostic:
    return Diagnostic("OW900", f"this file cannot be read: {why}", span=Span(file))


def too_large(file: str) -> Diagnostic:
    message = f"this file is larger than {LARGEST // 10**6} MB and is not read"
    return Diagnostic("OW901", message, span=Span(file))


LARGEST = 4_000_000
"""Bytes of Python that are parsed: the tree of a larger file takes gigabytes."""


def too_deep(file: str) -> Diagnostic:
    return Diagnostic("OW901", "this file is nested too deeply to be read", span=Span(file))


def named(found: Diagnostic, file: str) -> Diagnostic:
    """The finding under the path that the user gave."""
    return replace(found, span=replace(found.span, file=file))


EXISTS, ROOT = "?", "^"
"""Before a path: what was asked is whether it exists, or whether a project begins there."""


class Watched(Sources):
    """Sources that remember which other files were looked at for one file."""

    def __init__(self) -> None:
        super().__init__()
        self.folders: WatchedFolders = WatchedFolders()
        self.opened: set[Path] = set()

    def start(self) -> None:
        self.opened.clear()
        self.folders.asked.clear()

    def scope_of(self, path: Path) -> Scope | None:
        self.opened.add(path)
        return super().scope_of(path)

    def read(self, file: Path) -> tuple[str, ...]:
        """Everything that was looked at besides the file itself."""
        return tuple(sorted({*map(str, self.opened - {file}), *self.folders.asked}))


class WatchedFolders(Folders):
    """Folders that remember what they were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()
        self._names: dict[Path, _Names] = {}
        self._climbed: dict[Path, frozenset[str]] = {}

    def entries(self, folder: Path) -> frozenset[str]:
        names = self._names.get(folder)
        if names is None:
            names = self._names[folder] = _Names(super().entries(folder))
            names.folder, names.asked = str(folder), self.asked
        if not names:
            self.asked.add(str(folder))
        return names

    def roots(self, folder: Path) -> tuple[Path, ...]:
        """The same roots; what was asked for them is asked again, as they are remembered."""
        if folder not in self._climbed:
            before = set(self.asked)
            self.asked.clear()
            super().roots(folder)
            self._climbed[folder] = frozenset(self.asked)
            self.asked |= before
        self.asked |= self._climbed[folder]
        return super().roots(folder)

    def _is_root(self, folder: Path) -> bool:
        self.asked.add(f"{ROOT}{folder}")
        return is_root(folder)


def is_root(folder: Path) -> bool:
    """Whether a project or a site begins in a folder."""
    return Folders()._is_root(folder)


class _Names(frozenset[str]):
    """The names in a folder, which tell what was looked for."""

    folder: str
    asked: set[str]

    def __contains__(self, name: object) -> bool:
        self.asked.add(f"{EXISTS}{self.folder}{os.sep}{name}")
        return super().__contains__(name)
