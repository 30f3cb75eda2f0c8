"""Which files a linter reads, and which of them need more than a look at their bytes.

Knows folders, names and byte patterns; parses nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from opwright.lint.settings import Project, matches
from opwright.survey.forms import WORDS

PYTHON = (".py", ".pyi")
CPP = frozenset(".cpp .cc .cxx .cu .cuh .h .hpp .hh .hxx .hip .mm .m .inl .inc .jinja .in".split())

REGISTERS = (
    *(word.encode() for word in WORDS),
    b"torch.library",
    b"torch import library",
    b"register_fake",
    b"register_kernel",
    b"Library(",
    b".define(",
    b"impl_abstract",
)
"""One of these is in every Python file that registers an operator by a form known here."""

CONFIRMS = re.compile(
    rb"(?:_op|register_fake|register_kernel|impl_abstract|infer_schema)\w*\s*\("
    rb"|@[\w.]*_op\b|(?<!\w)Library\(|\btorch\.library|\btorch import library|\.define\("
    rb"|opwright"
)
"""A closer look at a file that holds one of these words, by far not all of which register."""

CALLS = (b"torch.ops", b"torch import ops")
"""One of these is in every Python file that calls an operator."""

BLOCKS = (b"TORCH_LIBRARY", b"RegisterOperators")
"""One of these is in every C++ file that registers an operator."""


def walk(paths: Iterable[str], project: Project) -> Iterator[str]:
    """The files to be read: those given, and those below given folders that are not excluded."""
    seen: set[str] = set()
    for path in paths:
        found = _below(path, project) if os.path.isdir(path) else [path]
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


def _below(folder: str, project: Project) -> Iterator[str]:
    """Python and C++ files below a folder, in order; links to folders are not followed."""
    names, globs = _exclusions(project)
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            continue  # a folder that may not be read holds nothing for us
        folders = []
        for entry in entries:
            if entry.name in names or any(
                fnmatchcase(entry.name, glob) or matches(project.relative(entry.path), glob)
                for glob in globs
            ):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif is_python(entry.name) or is_cpp(entry.name):
                yield entry.path
        waiting.extend(reversed(folders))


def _exclusions(project: Project) -> tuple[frozenset[str], list[str]]:
    """Plain names, and globs."""
    settings = project.settings
    wanted = (*settings.exclude, *settings.extend_exclude)
    globs = [each for each in wanted if any(mark in each for mark in "*?[/")]
    return frozenset(wanted) - frozenset(globs), globs


def is_python(name: str) -> bool:
    return name.endswith(PYTHON)


def is_cpp(name: str) -> bool:
    """Whether a name is one of C++, CUDA, HIP or Objective-C++, or a template of one."""
    return os.path.splitext(name)[1] in CPP
