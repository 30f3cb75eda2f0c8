"""A code base that is being edited: what its files say, each surveyed anew when it changes.

Knows texts that editors hold and files on disk; nothing of protocols.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opwright.findings import Diagnostic
from opwright.hints.files import no_collection
from opwright.lint.engine import judged, settled, survey, wanted
from opwright.lint.files import is_cpp, is_python, walk
from opwright.lint.settings import Project
from opwright.lint.surveying import Later, Surveyed, Surveyor
from opwright.survey.facts import Definition, Fact
from opwright.survey.index import Declared, Index, declare


@dataclass
class Code:
    """Everything known of a code base; `texts` are the files that an editor holds."""

    project: Project
    texts: dict[str, str] = field(default_factory=dict)
    surveyed: dict[str, Surveyed] = field(default_factory=dict)
    declared: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    joined: Index | None = None

    def __post_init__(self) -> None:
        self.surveyor = Surveyor(wanted(self.project))

    def read_all(self, roots: Sequence[str]) -> None:
        """Survey every file below some folders."""
        files = [*walk(roots, self.project)]
        with no_collection():
            found = survey(files, wanted(self.project), {}, lambda done, total: None)
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
        """What all files say together."""
        self._catch_up()
        if self.joined is None:
            self.joined = Index(tuple(fact for one in self.surveyed.values() for fact in one.facts))
            # Reading a schema costs more than all the rest: only those of changed files are read.
            known = tuple(each for declared in self.declared.values() for each in declared)
            self.joined.__dict__["declared"] = known
        return self.joined

    def facts(self, file: str) -> tuple[Fact, ...]:
        """What one file says."""
        self._catch_up()
        one = self.surveyed.get(file)
        return one.facts if one else ()

    def findings(self) -> dict[str, list[Diagnostic]]:
        """What the linter has to say, by file."""
        self._catch_up()
        found = [finding for one in self.surveyed.values() for finding in one.findings]
        found += judged(self.index, self.project)
        by_file: dict[str, list[Diagnostic]] = {}
        for finding in settled(found, self.surveyed.values(), self.project):
            by_file.setdefault(finding.span.file, []).append(finding)
        return by_file

    def _catch_up(self) -> None:
        while self.stale:
            self._survey(self.stale.pop())

    def _survey(self, file: str) -> None:
        held = self.texts.get(file)
        if held is None and not Path(file).is_file():
            self.surveyed.pop(file, None)
            self.declared.pop(file, None)
            self.joined = None
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
