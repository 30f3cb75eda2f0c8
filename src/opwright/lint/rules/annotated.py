"""Annotations of operators that no schema can say."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Severity
from opwright.lint.rule import Rule
from opwright.survey.facts import Definition
from opwright.survey.index import Index

OWN = "opwright.op"
WRITES_BY_MARK = frozenset(["OW111", "OW109"])
"""Faults that count only where annotations say what is written: in Opwright's own form."""


def told(code: str) -> Callable[[Index], Iterator[Diagnostic]]:
    """The check for one code: what the analyzer says of every function that is made an operator."""

    def check(index: Index) -> Iterator[Diagnostic]:
        for fact in index.facts:
            if not isinstance(fact, Definition):
                continue
            for fault in fact.faults:
                if fault.code == code and (fact.via == OWN or code not in WRITES_BY_MARK):
                    span = fault.span if fault.span.line else fact.span
                    weight = fault.severity if fact.via == OWN else Severity.WARNING
                    yield finding(code, fault.message, span=span, hint=fault.hint, severity=weight)

    return check


def _op(parameters: str, returns: str = "torch.Tensor") -> str:
    return f"""
import enum
import torch
import opwright as ow
from opwright import Mutable

@ow.op("mylib::f")
def f({parameters}) -> {returns}:
    return torch.empty(3)
"""


_ROWS = {
    "OW101": (
        "An operator's schema comes from its annotations; without one there is nothing to go by.",
        _op("x: torch.Tensor, n"),
        _op("x: torch.Tensor, n: int"),
    ),
    "OW102": (
        "The schema language has a fixed set of types. What it cannot say must be written another "
        "way: as several arguments, a dataclass, JSON, or a registry key.",
        _op("x: torch.Tensor, names: dict[str, int]"),
        _op("x: torch.Tensor, names: list[str], values: list[int]"),
    ),
    "OW103": (
        "An annotation whose name is not defined where it is written.",
        _op("x: torch.Tensor, n: Count"),
        _op("x: torch.Tensor, n: int"),
    ),
    "OW105": (
        "A schema names each argument: there is no place for `*args` and `**kwargs`.",
        _op("x: torch.Tensor, *rest: torch.Tensor"),
        _op("x: torch.Tensor, rest: list[torch.Tensor]"),
    ),
    "OW106": (
        "A default that its own annotation does not allow.",
        _op("x: torch.Tensor, n: int = 1.5"),
        _op("x: torch.Tensor, n: float = 1.5"),
    ),
    "OW107": (
        "A default that no schema can hold, such as infinity: torch could not read it back.",
        _op('x: torch.Tensor, n: float = float("inf")'),
        _op("x: torch.Tensor, n: float | None = None"),
    ),
    "OW111": (
        "A function that returns nothing and writes nothing is dropped by torch.compile. If it "
        "writes an argument, the annotation must say so.",
        _op("x: torch.Tensor", "None").replace("    return torch.empty(3)\n", "    print(x)\n"),
        _op("x: Mutable[torch.Tensor]", "None").replace(
            "    return torch.empty(3)\n", "    x.zero_()\n"
        ),
    ),
}

RULES = tuple(
    Rule(code, why, bad=bad, good=good, check=told(code))
    for code, (why, bad, good) in _ROWS.items()
)
