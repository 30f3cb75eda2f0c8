"""Functions written as text, with a file of their own and torch only under TYPE_CHECKING."""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from typing import Any

PRELUDE = """\
from __future__ import annotations
import collections, collections.abc, dataclasses, enum, functools, numbers, pathlib, typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import *
from opwright.marks import Aliases, Const, Json, Mutable, Opaque, Out, Scalar
from typing_extensions import NotRequired, ReadOnly, Required, TypeAliasType, TypedDict
if TYPE_CHECKING:
    import torch
    from jaxtyping import Float
    from torch import Tensor, nn
"""
_numbers = itertools.count()


def write(text: str, prelude: str = PRELUDE) -> types.ModuleType:
    """A module of that text; its lines count from the end of the prelude."""
    name = f"written_{next(_numbers)}"
    module = types.ModuleType(name)
    module.__file__ = f"/written/{name}.py"
    source = prelude + text
    linecache.cache[module.__file__] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        module.__file__,
    )
    sys.modules[name] = module
    exec(compile(source, module.__file__, "exec"), vars(module))
    return module


def function(text: str, prelude: str = PRELUDE) -> Any:
    """The last function that a module of that text defines, whatever else it is."""
    return list(vars(write(text, prelude)).values())[-1]


def first_line(prelude: str = PRELUDE) -> int:
    return prelude.count("\n") + 1
