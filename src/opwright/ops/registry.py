"""Which operators this process has registered through Opwright, and who registered them.

Knows cores and names; decides whether a second registration is a reload or a clash.
"""

from __future__ import annotations

import difflib
import os
import sys
import threading
import warnings
from collections.abc import Sequence
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
    """The operators that were made of one function, registered together."""

    cores: tuple[Core, ...]
    source: Kernel

    @property
    def name(self) -> str:
        return self.cores[0].qualname

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


def register(cores: Sequence[Core], source: Kernel, kernels: dict[str, Kernel]) -> None:
    """Define operators; replace the earlier version of them whole, and only if that works out.

    Raises `SchemaError` where somebody else has a name.
    """
    with lock:
        new = Entry(tuple(cores), source)
        old = _entries.get(new.name)
        _check_clash(new, old)
        for core in old.cores if old else ():
            core.destroy()
        try:
            _define(new.cores, kernels)
        except BaseException:
            for core in old.cores if old else ():
                core.restore()
            raise
        _forget(old)
        _entries.update({core.qualname: new for core in cores})
        for core in cores:
            stamp(core)
        if old is not None:
            _tell_change(old.cores[0], new.cores[0])


def _define(cores: tuple[Core, ...], kernels: dict[str, Kernel]) -> None:
    """All or none."""
    defined: list[Core] = []
    try:
        for core in cores:
            core.define(kernels)
            defined.append(core)
    except BaseException:
        for core in defined:
            core.destroy()
        raise


def remove(qualname: str) -> None:
    """Take an operator that Opwright registered, and its overload `out`, away again."""
    with lock:
        old = _entries[qualname]
        for core in old.cores:
            core.destroy()
            core.retire()
        _forget(old)


def _forget(old: Entry | None) -> None:
    for core in old.cores if old else ():
        _entries.pop(core.qualname, None)


def _check_clash(new: Entry, old: Entry | None) -> None:
    if old is not None and old.identity == new.identity:
        return
    for core in new.cores:
        owner = _entries.get(core.qualname)
        if owner is None and not private.exists(core.qualname):
            continue
        where = place(owner.source) if owner else private.registered_at(core.qualname)
        message = f"{place(new.source)} registers {core.qualname!r}, which {where} registered first"
        hint = "choose another name, or add to that operator through `opwright.existing(...)`"
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
