"""Files as they should be: what of them is there already, the difference, writing, removing.

Knows folders and bytes; nothing of stubs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

from opwright.frozen import frozen


@frozen
class Plan:
    """The wanted content of files; None for one that should not be there."""

    files: Mapping[Path, bytes | None]

    def changes(self) -> Iterator[Path]:
        """The files that are not as they should be."""
        return (path for path, wanted in self.files.items() if _content(path) != wanted)

    def carry_out(self) -> list[Path]:
        """Write and remove; gives the files that changed. A second time changes nothing."""
        changed = [*self.changes()]
        for path in changed:
            _put(path, self.files[path])
        return changed

    def diff(self) -> Iterator[str]:
        """What carrying out would change, as unified diffs."""
        for path in self.changes():
            yield from _diff(path, _content(path), self.files[path])


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _put(path: Path, wanted: bytes | None) -> None:
    if wanted is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wanted)
        return
    path.unlink()
    _clear(path.parent)


def _clear(folder: Path) -> None:
    """Remove a folder that became empty, and those around it, but not where the user stands."""
    while folder.resolve() not in (Path.cwd(), *Path.cwd().parents) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _diff(path: Path, old: bytes | None, new: bytes | None) -> Iterator[str]:
    name = path.as_posix()
    before, after = [(part or b"").decode("utf-8", "replace").splitlines() for part in (old, new)]
    ends = ("/dev/null" if old is None else name, "/dev/null" if new is None else name)
    yield from difflib.unified_diff(before, after, *ends, n=1, lineterm="")
