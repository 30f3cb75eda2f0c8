"""Schema texts that torch cannot read, or reads as something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.rule import Rule
from opwright.survey.index import Declared, Index


def faults(code: str) -> Callable[[Index], Iterator[Diagnostic]]:
    """The check for one code: what the parser says of every handwritten schema."""

    def check(index: Index) -> Iterator[Diagnostic]:
        for declared in index.declared:
            for fault in declared.faults:
                if fault.code == code:
                    yield _placed(declared, fault)

    return check


def _placed(declared: Declared, fault: Diagnostic) -> Diagnostic:
    """The fault where it stands in the source."""
    definition = declared.definition
    assert definition.text is not None
    rows = definition.text.value.split("\n")
    before = sum(len(row) + 1 for row in rows[: max(fault.span.line - 1, 0)])
    shift = declared.offset if fault.span.line <= 1 else 0
    start = max(before + fault.span.column - 1 - shift, 0)
    width = fault.span.end_column - fault.span.column if fault.span.end_column else 0
    span = definition.text.span(start, start + max(width, 0))
    message = f"schema of {definition.name}: {fault.message}"
    return finding(fault.code, message, span=span, hint=fault.hint)


def _define(schema: str) -> str:
    return f"""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define({schema!r})
"""


_WHY = {
    "OW001": "A character or a string that the schema language does not have.",
    "OW002": "The text is not a schema: torch refuses it when the library is loaded.",
    "OW003": "A type that torch does not know; lower-case names would be type variables, which "
    "only torch itself may use.",
    "OW004": "A name that torch refuses or cannot reach through `torch.ops`.",
    "OW005": "Types nested so deeply that torch gives up.",
    "OW006": "The type cannot hold the default: torch accepts some of these and fails later.",
    "OW007": "A default that torch cannot read, or reads as another value.",
    "OW008": "Two arguments with one name: torch accepts this, and nobody can give the second.",
    "OW009": "A required argument after one with a default: torch stops with an internal assert.",
    "OW011": "Defaults are not possible where a schema takes any arguments.",
}
_EXAMPLES = {
    "OW001": ("f(Tensor x, int n=@) -> ()", "f(Tensor(a!) x, int n=1) -> ()"),
    "OW002": ("f(Tensor x,) -> Tensor", "f(Tensor(a!) x) -> ()"),
    "OW003": ("f(Tensr x) -> Tensor", "f(Tensor(a!) x) -> ()"),
    "OW004": ("f(Tensor lambda, int if) -> Tensor", "f(Tensor(a!) x, int n) -> ()"),
    "OW005": (f"f(Tensor(a!) x, int{'[]' * 60} n) -> ()", "f(Tensor(a!) x, int[] n) -> ()"),
    "OW006": ("f(Tensor(a!) x, int n=1.5) -> ()", "f(Tensor(a!) x, float n=1.5) -> ()"),
    "OW007": ("f(Tensor(a!) x, float n=1e999) -> ()", "f(Tensor(a!) x, float? n=None) -> ()"),
    "OW008": ("f(Tensor(a!) x, int x) -> ()", "f(Tensor(a!) x, int n) -> ()"),
    "OW009": ("f(Tensor(a!) x, int n=1, int k) -> ()", "f(Tensor(a!) x, int k, int n=1) -> ()"),
    "OW011": ("f(Tensor(a!) x, int n=1, ...) -> ()", "f(Tensor(a!) x, int n, ...) -> ()"),
}

RULES = tuple(
    Rule(code, _WHY[code], bad=_define(bad), good=_define(good), check=faults(code))
    for code, (bad, good) in _EXAMPLES.items()
)
