"""Where Python's versions differ; each branch says when it can go."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Mapping
from typing import Any

import typing_extensions

QUALIFIERS: tuple[object, ...] = tuple(
    getattr(module, name)
    for module in (typing, typing_extensions)
    for name in ("Final", "Required", "NotRequired", "ReadOnly")
    if hasattr(module, name)
)
"""What may stand around a type and does not change it; `typing` has all from 3.13."""

STATED: Mapping[object, bool] = {
    getattr(module, name): name == "Required"
    for module in (typing, typing_extensions)
    for name in ("Required", "NotRequired")
    if hasattr(module, name)
}
"""What says whether a key of a `TypedDict` must be there; in `typing` from 3.11."""

ALIASES: tuple[type, ...] = tuple(
    {
        getattr(module, "TypeAliasType", typing_extensions.TypeAliasType)
        for module in (typing, typing_extensions)
    }
)
"""The class of a PEP 695 `type` statement; in `typing` from 3.12."""

if sys.version_info >= (3, 14):  # EOL 3.13: keep only this branch
    import annotationlib

    def annotations_of(owner: Any) -> Mapping[str, Any]:
        """The own annotations of a function or class; unknown names come as `ForwardRef`."""
        return annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)
else:

    def annotations_of(owner: Any) -> Mapping[str, Any]:
        """The own annotations of a function or class."""
        return inspect.get_annotations(owner) if isinstance(owner, type) else owner.__annotations__
