"""Finds the files that a C++ file includes, near it.

Knows folders; knows nothing of build systems.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from opwright.survey.cpp import Header
from opwright.survey.cpp_text import Source


class Headers:
    """Finds included files near the one that includes them."""

    def __init__(self, file: str) -> None:
        self.folder = os.path.dirname(file)
        self.read: list[str] = []

    def find(self, included: str) -> Header | None:
        folder = self.folder
        for _ in range(CLIMB):
            path = os.path.normpath(os.path.join(folder, included))
            self.read.append(path)
            header = header_at(path)
            if header is not None:
                return header
            folder = os.path.dirname(folder) if folder else ".."
        return None


CLIMB = 4
"""Folders above a file in which its includes are looked for."""


def header_at(path: str) -> Header | None:
    """The file at a path, if there is one that can be read."""
    try:
        found = os.stat(path)
        return _header(path, found.st_mtime_ns, found.st_size) if S_ISREG(found.st_mode) else None
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def _header(path: str, changed: int, size: int) -> Header:
    """Read once, and again when it changed."""
    text = Path(path).read_bytes().decode("utf-8", "replace")
    return Header(path, Source.of(text.replace("\r\n", "\n")))
