"""Which operators this process has registered through Opwright, and who registered them.

Knows cores and names; decides whether a second registration is a reload or a clash.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from opwright.findings import Diagnostic, SchemaError
from opwright.ops import cache, private
from opwright.ops.core import Core, Kernel
from opwright.ops.lock import lock as lock
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
        if old is not None and old.identity == new.identity:
            _replace(new, old, kernels)
        else:
            _check_names(new)
            _define(new, kernels)
        _entries.update({core.qualname: new for core in cores})
        for core in cores:
            cache.stamp(core.schema)


def _replace(new: Entry, old: Entry, kernels: dict[str, Kernel]) -> None:
    """Take the old operators away and define the new ones, or leave all as it was."""
    for core in old.cores:
        core.destroy()
    try:
        _define(new, kernels)
    except BaseException:
        for core in old.cores:
            core.restore()
        _forget_compiled()
        raise
    _forget(old)
    _tell_change(old.cores[0], new.cores[0])


def _define(entry: Entry, kernels: dict[str, Kernel]) -> None:
    """All operators of a function, or none."""
    defined: list[Core] = []
    try:
        for core in entry.cores:
            core.define(kernels)
            defined.append(core)
    except BaseException as error:
        for core in defined:
            core.destroy()
        if private.says_taken(error) and private.exists(core.qualname):
            where = private.registered_at(core.qualname) or "somebody"
            raise _clash(entry, core.qualname, where) from None
        raise


def remove(qualname: str) -> None:
    """Take an operator that Opwright registered, and its overload `out`, away again."""
    with lock:
        old = _entries[qualname]
        for core in old.cores:
            core.destroy()
            core.retire()
            cache.forget(core.qualname)
        _forget(old)
        _forget_compiled()


def _forget(old: Entry | None) -> None:
    for core in old.cores if old else ():
        _entries.pop(core.qualname, None)


def _check_names(new: Entry) -> None:
    """Refuse the names of operators that another function was made of."""
    for core in new.cores:
        owner = _entries.get(core.qualname)
        if owner is not None:
            raise _clash(new, core.qualname, place(owner.source))


def _clash(new: Entry, name: str, first: str) -> SchemaError:
    message = f"{place(new.source)} registers {name!r}, which {first} registered first"
    hint = "choose another name, or add to that operator through `opwright.existing(...)`"
    return SchemaError([Diagnostic("OW511", message, hint)])


def _forget_compiled() -> None:
    """Drop the compiled code of this process: it points to operators that are gone."""
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()


def _tell_change(old: Core, new: Core) -> None:
    """Say what is different about an operator that was registered again."""
    _forget_compiled()
    if old.schema != new.schema:
        before, after = str(old.schema), str(new.schema)
        lines = [line for line in difflib.ndiff([before], [after]) if line[0] in "-+"]
        shown = "\n".join(f"  {line}" for line in lines)
        warnings.warn(
            f"{new.qualname} is registered again with another schema; code compiled for the old "
            f"one may still be cached:\n{shown}",
            SchemaChanged,
            stacklevel=6,
        )
