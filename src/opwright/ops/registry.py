"""Which operators this process has registered through Opwright, and who registered them.

Knows cores and names; decides whether a second registration is a reload or a clash.
"""

from __future__ import annotations

import difflib
import os
import sys
import threading
import warnings
from dataclasses import dataclass

import torch

from opwright.findings import Diagnostic, SchemaError
from opwright.ops import private
from opwright.ops.cache import stamp
from opwright.ops.core import Core, Kernel
from opwright.ops.results import place


class SchemaChanged(UserWarning):
    """An operator was registered again with another schema; compiled code may know the old one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered operator, and the function that it was made of."""

    core: Core
    source: Kernel

    @property
    def identity(self) -> tuple[str, str]:
        """Two functions of one identity are two versions of one function."""
        name = getattr(self.source, "__qualname__", repr(self.source))
        return getattr(self.source, "__module__", ""), name


_entries: dict[str, Entry] = {}
lock = threading.RLock()
"""Held while anything is registered or taken away."""


def _new_lock() -> None:
    global lock
    lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # a thread of the parent may have held it
    os.register_at_fork(after_in_child=_new_lock)


def entry(qualname: str) -> Entry | None:
    """The operator that Opwright registered under this name."""
    return _entries.get(qualname)


def names() -> list[str]:
    """The names of all operators that Opwright registered and nobody took away."""
    return sorted(_entries)


def register(core: Core, source: Kernel, kernels: dict[str, Kernel]) -> None:
    """Define an operator; replace the earlier version of it whole, and only if that works out.

    Raises `SchemaError` where somebody else has the name.
    """
    with lock:
        new, old = Entry(core, source), _entries.get(core.qualname)
        _check_clash(new, old)
        if old is not None:
            old.core.destroy()
        try:
            core.define(kernels)
        except BaseException:
            if old is not None:
                old.core.restore()
            raise
        _entries[core.qualname] = new
        stamp(core)
        if old is not None:
            _tell_change(old.core, core)


def remove(qualname: str) -> None:
    """Take an operator that Opwright registered away again."""
    with lock:
        _entries.pop(qualname).core.destroy()


def _check_clash(new: Entry, old: Entry | None) -> None:
    name = new.core.qualname
    if old is not None and old.identity == new.identity:
        return
    if old is None and not private.exists(name):
        return
    first = place(old.source) if old is not None else private.registered_at(name)
    message = f"{place(new.source)} registers {name!r}, which {first} has registered already"
    hint = "choose another name, or add to it through `opwright.existing(...)`"
    raise SchemaError([Diagnostic("OW511", message, hint)])


def _tell_change(old: Core, new: Core) -> None:
    """Compiled code of this process forgets an operator that is replaced."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    if old.plan.schema != new.plan.schema:
        before, after = str(old.plan.schema), str(new.plan.schema)
        lines = [line for line in difflib.ndiff([before], [after]) if line[0] in "-+"]
        shown = "\n".join(f"  {line}" for line in lines)
        warnings.warn(
            f"{new.qualname} is registered again with another schema; code compiled for the old "
            f"one may still be cached:\n{shown}",
            SchemaChanged,
            stacklevel=5,
        )
