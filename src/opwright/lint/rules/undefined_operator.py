"""A kernel or fake for an operator that nothing in the code base defines."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.rule import Rule
from opwright.survey.index import Index

TORCH = frozenset(["aten", "prims", "prim", "quantized", "inductor", "c10d", "_c10d_functional"])


def check(index: Index) -> Iterator[Diagnostic]:
    spaces = {name.partition("::")[0] for name in index.defined}
    for operator in index.operators.values():
        space = operator.name.partition("::")[0]
        if operator.declared or space in TORCH or space not in spaces:
            continue
        near = difflib.get_close_matches(operator.name, index.defined, n=1, cutoff=0.8)
        hint = f"did you mean `{near[0]}`?" if near else ""
        one = operator.implementations[0]
        message = f"{operator.name} is not defined anywhere in what was read"
        yield finding("OW505", message, span=one.span, hint=hint)


RULES = (
    Rule(
        "OW505",
        "An implementation for a name that nothing defines is never used, or fails when it is "
        "registered. What other packages define is not seen here, so this is a note.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("zero_(Tensor(a!) x) -> ()")
lib.impl("zer_", lambda x: x.zero_(), "CPU")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("zero_(Tensor(a!) x) -> ()")
lib.impl("zero_", lambda x: x.zero_(), "CPU")
""",
        check=check,
    ),
)
