"""A call of an operator that its namespace does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Severity
from opwright.lint.rule import Rule
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    spaces: dict[str, list[str]] = {}
    for name in index.overloads:
        spaces.setdefault(name.partition("::")[0], []).append(name)
    implemented = {name.partition(".")[0] for name in index.operators}
    for call in index.calls:
        name = call.name.partition(".")[0]
        known = spaces.get(name.partition("::")[0])
        if known is None or call.guarded or name in implemented:
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
        message = f"nothing that was read defines {name}"
        hint = f"did you mean `torch.ops.{near[0].replace('::', '.')}`?" if near else ""
        severity = Severity.WARNING if near else Severity.NOTE
        yield finding("OW601", message, span=call.span, hint=hint, severity=severity)


RULES = (
    Rule(
        "OW601",
        "Where the code base defines a namespace, a call of a name that it does not have is most "
        "likely misspelled. Without a similar name it is a note: the operator may come from a "
        "binary.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("normalize_(Tensor(a!) x) -> ()")

torch.ops.mylib.normalise_(torch.ones(3))
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("normalize_(Tensor(a!) x) -> ()")

torch.ops.mylib.normalize_(torch.ones(3))
""",
        check=check,
    ),
)
