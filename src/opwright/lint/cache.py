"""What earlier runs read: the facts of files that have not changed since.

Lives in the user's own cache folder, never in the code base: it is pickled, and who can write it
can run code. An entry holds while the file, and every file and folder that was looked at for it,
are the ones on disk: same size, inode, times of content and of status. Entries of files that
changed just before they were read are not kept, as a clock may be too coarse to tell.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from opwright.frozen import frozen
from opwright.lint.surveying import EXISTS, ROOT, Later, Surveyed, Wanted, is_root
from opwright.version import __version__

Identity = tuple[int, int, int, int] | None
"""Size, inode, and the times of content and status of a file; None where there is none."""
Result = Surveyed | Later | None
COARSE = 2_000_000_000
"""Nanoseconds that a file must have rested before it was read."""


def identity(path: str) -> Identity:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def answer(question: str) -> Identity:
    """The identity of a path, or the answer to a question about one."""
    kind, path = question[:1], question[1:]
    if kind == EXISTS:
        return (1, 0, 0, 0) if os.path.lexists(path) else None
    if kind == ROOT:
        return (1, 0, 0, 0) if is_root(Path(path)) else None
    return identity(question)


@frozen
class Entry:
    """What a file gave, and what it depends on."""

    identity: Identity
    result: Result
    others: tuple[tuple[str, Identity], ...] = ()


@dataclass
class Cache:
    """Entries by what was asked (`survey` or `calls`) and by file."""

    path: Path
    entries: dict[tuple[str, str], Entry] = field(default_factory=dict)
    seen: dict[str, Identity] = field(default_factory=dict)
    changed: bool = False

    def known(self, question: str, files: Iterable[str]) -> Iterator[tuple[str, Result]]:
        """The files whose entries still hold, with their results."""
        for file in files:
            entry = self.entries.get((question, file))
            if entry is not None and self.holds(file, entry):
                yield file, entry.result

    def holds(self, file: str, entry: Entry) -> bool:
        return entry.identity is not None and all(
            self.now(path) == before for path, before in ((file, entry.identity), *entry.others)
        )

    def now(self, path: str) -> Identity:
        """The identity of a path in this run, looked up once, before the file is read."""
        if path not in self.seen:
            self.seen[path] = answer(path)
        return self.seen[path]

    def keep(self, question: str, file: str, result: Result) -> None:
        """Remember a result, unless a file that it depends on may still be changing."""
        others = result.read if isinstance(result, Surveyed) else ()
        identities = tuple((path, self.now(path)) for path in others)
        latest = time.time_ns() - COARSE
        mine = self.now(file)
        if all(_rested(one, latest) for one in (mine, *(i for _, i in identities))):
            self.entries[question, file] = Entry(mine, result, identities)
            self.changed = True

    def save(self) -> None:
        """Write all entries; a folder that cannot be written is no cache."""
        if not self.changed:
            return
        import tempfile  # takes long to load

        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent)
            with os.fdopen(handle, "wb") as file:
                pickle.dump(self.entries, file, protocol=pickle.HIGHEST_PROTOCOL)
            os.replace(name, self.path)


def _rested(one: Identity, latest: int) -> bool:
    return one is None or max(one[2], one[3]) < latest


def opened(folder: Path, root: Path, wanted: Wanted) -> Cache:
    """The cache of a code base for these settings; empty where there is none that can be read."""
    name = hashlib.sha256(repr((str(root), os.getcwd(), wanted, _reader())).encode()).hexdigest()[
        :32
    ]
    cache = Cache(folder / f"{name}.lint")
    with contextlib.suppress(Exception):  # whatever is wrong with it, it is only a cache
        cache.entries = pickle.loads(cache.path.read_bytes())
    return cache


def _reader() -> tuple[object, ...]:
    """What a result depends on besides the files: this version, as it is installed, and Python."""
    package = Path(__file__).resolve().parents[1]
    sources = sorted(package.glob("*/*.py")) + sorted(package.glob("*.py"))
    times = tuple(path.stat().st_mtime_ns for path in sources)
    return __version__, times, sys.version_info[:3]
