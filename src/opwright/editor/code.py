"""A code base that is being edited: what its files say, each surveyed anew when it changes.

Knows texts that editors hold and files on disk; nothing of protocols.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError
from opwright.hints.files import Module, no_collection, parse_file
from opwright.lint.engine import judged, settled, survey, wanted
from opwright.lint.files import is_cpp, is_python, walk
from opwright.lint.settings import Project
from opwright.lint.surveying import Later, Surveyed, Surveyor
from opwright.survey.facts import Definition, Fact
from opwright.survey.index import Declared, Index, declare


@dataclass
class Code:
    """Everything known of a code base; `texts` are the files that an editor holds.

    What was edited is stale until `catch_up`, which another thread may run; meanwhile the last
    survey answers, and a file is looked at in the neighbourhood of the cursor.
    """

    project: Project
    texts: dict[str, str] = field(default_factory=dict)
    surveyed: dict[str, Surveyed] = field(default_factory=dict)
    declared: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    joined: Index | None = None

    def __post_init__(self) -> None:
        self.surveyor = Surveyor(wanted(self.project))
        self.glancing = Surveyor(wanted(self.project))
        self.modules: dict[str, tuple[str, Heads]] = {}
        self.lock = threading.RLock()

    def read_all(self, roots: Sequence[str]) -> None:
        """Survey every file below some folders."""
        files = [*walk(roots, self.project)]
        with no_collection():
            # In this process alone: a server has threads, and a fork of those may hang.
            found = survey(files, wanted(self.project), {}, lambda done, total: None, jobs=1)
        for one in found:
            if one.file not in self.texts:
                self._keep(one)

    def edit(self, file: str, text: str) -> None:
        """The editor holds this text now; it is surveyed when somebody asks."""
        self.texts[file] = text
        self.stale.add(file)

    def forget(self, file: str) -> None:
        """The editor no longer holds the file: what is on disk counts."""
        self.texts.pop(file, None)
        self.stale.add(file)

    def changed_on_disk(self, files: Iterable[str]) -> None:
        """These files were written, made or removed by somebody else."""
        self.surveyor = Surveyor(wanted(self.project))
        self.stale.update(file for file in files if is_python(file) or is_cpp(file))

    def text(self, file: str) -> str:
        """The text of a file, as the editor has it or as it lies on disk."""
        if file in self.texts:
            return self.texts[file]
        try:
            return Path(file).read_text("utf-8", errors="replace")
        except OSError:
            return ""

    @property
    def index(self) -> Index:
        """What all files said together when they were last surveyed."""
        joined = self.joined
        if joined is None:
            surveyed, known = [*self.surveyed.values()], [*self.declared.values()]
            joined = Index(tuple(fact for one in surveyed for fact in one.facts))
            # Reading a schema costs more than all the rest: only those of changed files are read.
            joined.__dict__["declared"] = tuple(each for declared in known for each in declared)
            self.joined = joined
        return joined

    def facts(self, file: str) -> tuple[Fact, ...]:
        """What one file said when it was last surveyed."""
        one = self.surveyed.get(file)
        return one.facts if one else ()

    def facts_near(self, file: str, line: int) -> tuple[Fact, ...]:
        """What a file says now in the statement that holds a line, counted from 0."""
        if file not in self.stale:
            return self.facts(file)
        self.glancing.watched.forget(Path(file))
        one = self.glancing.survey(file, neighbourhood(self.text(file), line).encode())
        return one.facts if isinstance(one, Surveyed) else ()

    def heads(self, file: str) -> Heads | None:
        """The functions of a file as it is now; None where it is half typed."""
        text = self.text(file)
        known = self.modules.get(file)
        if known is None or known[0] != text:
            try:
                module = parse_file(Path(file), Path(file).stem, text.encode())
            except SchemaError:
                return None
            known = self.modules[file] = (text, Heads.of(module))
        return known[1]

    def findings(self) -> dict[str, list[Diagnostic]]:
        """What the linter has to say of the last survey, by file."""
        surveyed = [*self.surveyed.values()]
        found = [finding for one in surveyed for finding in one.findings]
        found += judged(self.index, self.project)
        by_file: dict[str, list[Diagnostic]] = {}
        for finding in settled(found, surveyed, self.project):
            by_file.setdefault(finding.span.file, []).append(finding)
        return by_file

    def catch_up(self) -> None:
        """Survey what was edited since."""
        with self.lock:
            for file in [*self.stale]:
                self.stale.discard(file)
                self._survey(file)
                if file in self.texts and is_python(file):
                    self.heads(file)  # a rename will want them

    def _survey(self, file: str) -> None:
        held = self.texts.get(file)
        self.joined = None
        if held is None and not Path(file).is_file():
            self.surveyed.pop(file, None)
            self.declared.pop(file, None)
            return
        self.surveyor.watched.forget(Path(file))
        one = self.surveyor.survey(file, None if held is None else held.encode())
        if isinstance(one, Later):
            one = self.surveyor.parse(file, self.text(file).encode())
        self._keep(self._with_last_facts(one or Surveyed(file)))

    def _with_last_facts(self, one: Surveyed) -> Surveyed:
        """Half-typed code says nothing; what the file said before is the best guess."""
        before = self.surveyed.get(one.file)
        if before is None or one.facts or not one.findings:
            return one
        return Surveyed(one.file, before.facts, one.findings, before.silences, before.read)

    def _keep(self, one: Surveyed) -> None:
        self.surveyed[one.file] = one
        definitions = (fact for fact in one.facts if isinstance(fact, Definition))
        self.declared[one.file] = tuple(map(declare, definitions))
        self.joined = None


@dataclass(frozen=True)
class Heads:
    """A parsed file: its functions by the line of their `def`, its calls by their first line."""

    module: Module
    functions: dict[int, ast.FunctionDef] = field(default_factory=dict)
    calls: dict[int, list[ast.Call]] = field(default_factory=dict)

    @staticmethod
    def of(module: Module) -> Heads:
        """What a module holds, nested or not."""
        heads = Heads(module)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef):
                heads.functions[node.lineno] = node
            elif isinstance(node, ast.Call):
                heads.calls.setdefault(node.lineno, []).append(node)
        return heads


_CONTINUED = re.compile(r"(?:elif|else|except|finally)\b|[)\]}#\s]|\Z")
_NAMES = re.compile(r"(?:import|from)\b|\w+\s*(?::[^=]*)?=")


def neighbourhood(text: str, line: int) -> str:
    """A file with only what gives names a meaning, and the top-level statement around a line.

    Lines keep their places.

    >>> neighbourhood("import torch\\n@x\\ndef f():\\n    1\\ndef g():\\n    2\\n", 5)
    'import torch\\n\\n\\n\\ndef g():\\n    2\\n'
    """
    lines = text.splitlines(keepends=True)
    starts = [n for n, each in enumerate(lines) if not _CONTINUED.match(each)]
    heads = [
        n for n, before in zip(starts, [-1, *starts], strict=False) if not _decorates(lines, before)
    ]
    kept: list[str] = []
    for start, end in zip([0, *heads], [*heads, len(lines)], strict=True):
        wanted = start <= line < end or _NAMES.match(lines[start] if lines else "")
        kept += lines[start:end] if wanted else ["\n"] * (end - start)
    return "".join(kept)


def _decorates(lines: list[str], number: int) -> bool:
    return number >= 0 and lines[number].startswith("@")
