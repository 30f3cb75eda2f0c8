"""Opwright: type annotations to PyTorch operator schemas.

The face: every public name once, fetched when it is first used, so that importing Opwright costs
nothing and PyTorch is needed only by the names that register operators.
"""

from __future__ import annotations

import importlib

from opwright.version import __version__ as __version__

# Type checkers take this name for true; importing `typing` would be most of what we cost.
TYPE_CHECKING = not __name__  # jedi would take a plain False at its word
if TYPE_CHECKING:
    from opwright.findings import Diagnostic as Diagnostic
    from opwright.findings import SchemaError as SchemaError
    from opwright.findings import Severity as Severity
    from opwright.findings import Span as Span
    from opwright.hints import infer as infer
    from opwright.lint import lint as lint
    from opwright.marks import Aliases as Aliases
    from opwright.marks import Const as Const
    from opwright.marks import Json as Json
    from opwright.marks import Mutable as Mutable
    from opwright.marks import Opaque as Opaque
    from opwright.marks import Out as Out
    from opwright.marks import Scalar as Scalar
    from opwright.ops.enrich import enrich as enrich
    from opwright.ops.handle import OpDef as OpDef
    from opwright.ops.op import existing as existing
    from opwright.ops.op import op as op
    from opwright.ops.operator import Operator as Operator
    from opwright.schema.compare import compare as compare
    from opwright.schema.model import Schema as Schema
    from opwright.schema.parse import canonical as canonical
    from opwright.schema.parse import parse as parse
    from opwright.schema.signature import signature as signature

_HOMES = {
    "Diagnostic": "opwright.findings",
    "SchemaError": "opwright.findings",
    "Severity": "opwright.findings",
    "Span": "opwright.findings",
    "infer": "opwright.hints",
    "lint": "opwright.lint",
    "Aliases": "opwright.marks",
    "Const": "opwright.marks",
    "Json": "opwright.marks",
    "Mutable": "opwright.marks",
    "Opaque": "opwright.marks",
    "Out": "opwright.marks",
    "Scalar": "opwright.marks",
    "enrich": "opwright.ops.enrich",
    "OpDef": "opwright.ops.handle",
    "existing": "opwright.ops.op",
    "op": "opwright.ops.op",
    "Operator": "opwright.ops.operator",
    "compare": "opwright.schema.compare",
    "Schema": "opwright.schema.model",
    "canonical": "opwright.schema.parse",
    "parse": "opwright.schema.parse",
    "signature": "opwright.schema.signature",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'opwright' has no attribute {name!r}")
    try:
        home = importlib.import_module(_HOMES[name])
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
        raise ImportError(
            f"opwright.{name} needs PyTorch: pip install 'opwright[torch]'", name="torch"
        ) from None
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
