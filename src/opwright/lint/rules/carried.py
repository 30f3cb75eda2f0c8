"""Schemas that torch's compiler, autograd or export cannot carry all the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.hints.model import Function
from opwright.hints.remarks import remarks
from opwright.lint.places import in_schema
from opwright.lint.rule import Rule
from opwright.survey.index import Index

QUOTED = re.compile(r"'(\w+)' of ")
NOBODY = Function("", (), None)
"""The remarks are on the schema; nothing is asked of a function."""


def remarked(code: str) -> Callable[[Index], Iterator[Diagnostic]]:
    """The check for one code: what can be remarked on every operator's schema."""

    def check(index: Index) -> Iterator[Diagnostic]:
        for operator in index.defined.values():
            schema, home = operator.schema, operator.home
            if schema is None or home is None:
                continue
            for remark in remarks(schema, NOBODY):
                if remark.code == code:
                    name = QUOTED.match(remark.message)
                    named = (a for a in schema.arguments if name and a.name == name[1])
                    place = in_schema(home, next(named, None))
                    yield finding(code, remark.message, span=place, hint=remark.hint)

    return check


def _define(schema: str) -> str:
    return f"""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define({schema!r})
"""


RULES = (
    Rule(
        "OW112",
        "A result that aliases an argument is refused by torch.compile, unless it has one of the "
        "forms that torch knows: in place on the first argument, or keyword-only `out` tensors.",
        bad=_define("f(int n, Tensor(a!) x) -> Tensor(a!)")
        + 'lib.impl("f", lambda n, x: x, "Meta")\n',
        good=_define("f(int n, Tensor(a!) x) -> ()"),
        check=remarked("OW112"),
    ),
    Rule(
        "OW113",
        "torch.export can trace an argument of this type, and cannot save the program.",
        bad=_define("f(Tensor(a!) x, int[][] sizes) -> ()"),
        good=_define("f(Tensor(a!) x, int[] sizes) -> ()"),
        check=remarked("OW113"),
    ),
    Rule(
        "OW114",
        "The dispatcher sees tensors in `Tensor`, `Tensor?`, `Tensor[]` and `Tensor?[]`. In any "
        "other container they choose no kernel and carry no gradient.",
        bad=_define("f(Tensor(a!) x, Tensor[]? others) -> ()"),
        good=_define("f(Tensor(a!) x, Tensor[] others) -> ()"),
        check=remarked("OW114"),
    ),
    Rule(
        "OW117",
        "AOTInductor writes C++ that calls the operator, and so does Inductor with `cpp_wrapper`; "
        "neither can write a constant of every type. Tried on torch 2.13 and 2.14.1: `complex` and "
        "`Dict` pass neither of them, `SymBool` and `Tensor[][]` pass the C++ wrapper alone, and "
        "what torch.export cannot save (OW113) does not pass AOTInductor.",
        bad=_define("f(Tensor(a!) x, complex by) -> ()"),
        good=_define("f(Tensor(a!) x, float real, float imaginary) -> ()"),
        check=remarked("OW117"),
    ),
)
