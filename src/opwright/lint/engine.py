"""From paths to findings: files are surveyed on every core, joined into one index, and judged.

Knows the order of the work; what is wrong with an operator is for rules to say.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from opwright.findings import Diagnostic
from opwright.frozen import field, frozen
from opwright.hints.files import no_collection
from opwright.lint import noqa
from opwright.lint.catalog import RULES
from opwright.lint.files import walk
from opwright.lint.settings import Project, Settings
from opwright.lint.surveying import Later, Surveyed, Surveyor, Wanted
from opwright.survey.facts import Definition
from opwright.survey.index import Index

if TYPE_CHECKING:
    from opwright.lint.cache import Cache, Result

Progress = Callable[[int, int], None]
"""Called with how many files are read, and of how many."""

CHUNK = 256
"""Files that a worker is given at a time."""
FEW = 300
"""So few files are read here: workers would take longer to start."""


@frozen
class Report:
    """What one run found: the findings in order, and the files that it read."""

    findings: tuple[Diagnostic, ...]
    files: int = 0
    index: Index = field(default_factory=lambda: Index(()))


def lint(
    paths: Sequence[str],
    project: Project,
    *,
    progress: Progress = lambda done, total: None,
    texts: Mapping[str, bytes] | None = None,
    jobs: int = 0,
    cache: Path | None = None,
) -> Report:
    """Read everything below some paths and judge it.

    `texts` are files whose content is not the one on disk: an editor's, or standard input. `cache`
    is a folder for what was read, so that the next run need not read it again.
    """
    texts = texts or {}
    files = [*walk([path for path in paths if path not in texts], project), *texts]
    want = wanted(project)
    many = len(files) > FEW // 10
    memory = _memory(cache, project, want) if cache is not None and many else None
    with no_collection():
        surveyed = survey(files, want, texts, progress, jobs, memory)
    if memory is not None:
        memory.save()
    index = Index(tuple(fact for one in surveyed for fact in one.facts))
    found = [finding for one in surveyed for finding in one.findings]
    found += judged(index, project)
    return Report(tuple(settled(found, surveyed, project)), len(files), index)


def _memory(folder: Path, project: Project, want: Wanted) -> Cache:
    from opwright.lint.cache import opened  # not loaded for a few files

    return opened(folder, project.root, want)


def wanted(project: Project) -> Wanted:
    """What of a project's settings the survey depends on."""
    settings = project.settings
    return Wanted(
        tuple(sorted(settings.macros.items())),
        tuple(settings.namespace_map.items()),
        settings.define_functions,
        settings.fake_decorators,
    )


def judged(index: Index, project: Project) -> Iterator[Diagnostic]:
    """What the rules that are switched on say; they say nothing of no facts."""
    if not index.facts:
        return
    for code, rule in RULES.items():
        if runs(code, project.settings):
            yield from rule.check(index)


def settled(
    found: Iterable[Diagnostic], surveyed: Iterable[Surveyed], project: Project
) -> list[Diagnostic]:
    """The findings that settings and comments leave, each once, in the order of the files."""
    settings = project.settings
    by_file: dict[str, dict[Diagnostic, None]] = {one.file: {} for one in surveyed}
    for finding in found:
        by_file.setdefault(finding.span.file, {})[finding] = None
    comments = {one.file: one.silences for one in surveyed}
    kept: list[Diagnostic] = []
    for file, findings in by_file.items():
        if not findings and not comments.get(file):
            continue
        path = project.relative(file)
        wanted = [f for f in findings if not settings.ignored_in(f.code, path)]
        used: noqa.Used = set()
        kept += sorted(noqa.kept(wanted, comments.get(file, ()), used), key=_place)
        if settings.chosen("OW910") and not settings.ignored_in("OW910", path):
            kept += noqa.unused(comments.get(file, ()), used, lambda code: runs(code, settings))
    return kept


def runs(code: str, settings: Settings) -> bool:
    """Whether findings of a code are reported."""
    rule = RULES.get(code)
    return settings.chosen(code, default=rule is None or rule.default)


def _place(found: Diagnostic) -> tuple[int, int, str]:
    return found.span.line, found.span.column, found.code


def survey(
    files: Sequence[str],
    wanted: Wanted,
    texts: Mapping[str, bytes],
    progress: Progress,
    jobs: int = 0,
    memory: Cache | None = None,
) -> list[Surveyed]:
    """The facts of files: first of those that register, then of those that call what is known."""
    work = _Reading(wanted, texts, progress, jobs, memory)
    first = list(work.read("survey", files))
    done = [one for one in first if isinstance(one, Surveyed)]
    spaces = {space for one in done for space in _spaces(one)}
    callers = [
        one.file
        for one in first
        if isinstance(one, Later) and (not one.namespaces or one.namespaces & spaces)
    ]
    done += [one for one in work.read("calls", callers) if isinstance(one, Surveyed)]
    order = {file: number for number, file in enumerate(files)}
    return sorted(done, key=lambda one: order[one.file])


@frozen
class _Reading:
    """Reads files in workers, and what has been read before from memory."""

    wanted: Wanted
    texts: Mapping[str, bytes]
    progress: Progress
    jobs: int
    memory: Cache | None

    def read(self, question: str, files: Sequence[str]) -> Iterator[Surveyed | Later]:
        """The answers to a question, of the files that have one."""
        memory = self.memory
        known = {} if memory is None else dict(memory.known(question, files))
        given = [file for file in files if file in self.texts]
        plain = [file for file in files if file not in self.texts and file not in known]
        if memory is not None:
            for file in plain:
                memory.now(file)  # before it is read, lest a change in between goes unseen
        yield from (one for file, one in known.items() if one is not None and file not in given)
        yield from self.texts_of(given, calls=question == "calls")
        for file, one in self.fresh(plain, calls=question == "calls"):
            if memory is not None:
                memory.keep(question, file, one)
            if one is not None:
                yield one

    def texts_of(self, files: Sequence[str], *, calls: bool) -> Iterator[Surveyed | Later]:
        surveyor = Surveyor(self.wanted)
        for file in files:
            data = self.texts[file]
            one = surveyor.parse(file, data) if calls else surveyor.survey(file, data)
            if one is not None:
                yield one

    def fresh(self, files: Sequence[str], *, calls: bool) -> Iterator[tuple[str, Result]]:
        """Each file with what it holds, in workers if they are many."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        workers = self.jobs or cores
        if workers == 1 or len(files) <= (FEW // 10 if calls else FEW):
            yield from _inline(files, Surveyor(self.wanted), self.progress, calls=calls)
            return
        size = max(1, min(CHUNK, len(files) // (workers * 4)))
        chunks = [(files[at : at + size], self.wanted, calls) for at in range(0, len(files), size)]
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor  # both take long to load

        context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
        read = 0
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            for (chunk, _, _), found in zip(chunks, pool.map(_chunk, chunks), strict=True):
                yield from zip(chunk, found, strict=True)
                read += len(chunk)
                self.progress(read, len(files))


def _spaces(one: Surveyed) -> Iterator[str]:
    for fact in one.facts:
        if isinstance(fact, Definition):
            yield fact.name.partition("::")[0]


def _inline(
    files: Sequence[str], surveyor: Surveyor, progress: Progress, *, calls: bool
) -> Iterator[tuple[str, Result]]:
    for number, file in enumerate(files):
        yield file, surveyor.parse_calls(file) if calls else surveyor.survey(file)
        progress(number + 1, len(files))


def _chunk(work: tuple[list[str], Wanted, bool]) -> list[Result]:
    """What a worker does with its share."""
    files, wanted, calls = work
    gc.disable()
    surveyor = _surveyor(wanted)
    return [one for _, one in _inline(files, surveyor, lambda done, total: None, calls=calls)]


@lru_cache(maxsize=1)
def _surveyor(wanted: Wanted) -> Surveyor:
    """The surveyor of this worker, which keeps what it has read from one share to the next."""
    return Surveyor(wanted)
