"""`torch.library.opcheck` on operators as they were called: which, and with what."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import torch

from opwright.ops.core import Core
from opwright.ops.handle import OpDef

Call = tuple[Core, tuple[Any, ...], dict[str, Any]]


@contextlib.contextmanager
def first_calls() -> Iterator[list[Call]]:
    """The first call of each operator while this lasts, with its arguments as they were."""
    calls: list[Call] = []
    original = OpDef._first_call

    def noted(handle: Any, /, *args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(RuntimeError):  # torch copies no tensor that is computed
            calls.append((_called(handle, kwargs), *copy.deepcopy((args, kwargs))))
        return original(handle, *args, **kwargs)

    OpDef._first_call = noted
    try:
        yield calls
    finally:
        OpDef._first_call = original


def _called(handle: Any, kwargs: dict[str, Any]) -> Core:
    """The operator that serves a call: a handle may have an overload that writes."""
    core: Core = handle.core if handle.out is None or "out" not in kwargs else handle.out.core
    return core


def opcheck(core: Core, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, str]:
    """What `opcheck` says of an operator that was called like this."""
    given = core._flatten(*args, **kwargs)
    named = {a.name: v for a, v in zip(core.schema.arguments, given, strict=True) if a.kw_only}
    free = tuple(given[: len(given) - len(named)])
    return dict(torch.library.opcheck(core.overload, free, named))


def passes(verdicts: dict[str, str]) -> bool:
    return set(verdicts.values()) == {"SUCCESS"}
