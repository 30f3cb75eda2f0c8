"""The linter: rules over what a survey of a code base found, and everything around them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from opwright.findings import Diagnostic


def lint(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Diagnostic]:
    """Everything that is wrong below some paths, in the order of files and lines.

    Settings are those of the `pyproject.toml` nearest to the first path. Nothing of the code is
    imported; code that cannot be read is a finding, too.

    >>> [*lint([])]
    []
    """
    from opwright.lint.engine import lint as linted
    from opwright.lint.settings import find_project

    texts = [os.fspath(path) for path in paths]
    if texts:
        yield from linted(texts, find_project(Path(texts[0]))).findings


class _Called(ModuleType):
    """`opwright.lint(paths)` works also where importing a submodule made `lint` this package."""

    __call__ = staticmethod(lint)


sys.modules[__name__].__class__ = _Called
