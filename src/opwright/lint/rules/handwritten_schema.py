"""A handwritten schema against the annotations of the function that it is written for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Related
from opwright.frozen import replace
from opwright.lint.places import in_schema
from opwright.lint.rule import Rule
from opwright.schema.compare import compare
from opwright.schema.kinds import plain
from opwright.schema.model import Schema
from opwright.survey.facts import Language
from opwright.survey.index import Declared, Index, inferred

QUOTED = re.compile(r"'(\w+)'")


def differing(code: str) -> Callable[[Index], Iterator[Diagnostic]]:
    """The check for one code: what the comparison says of every such pair."""

    def check(index: Index) -> Iterator[Diagnostic]:
        for declared in index.declared:
            for found in _differences(declared):
                if found.code == code:
                    yield _placed(declared, found)

    return check


def _differences(declared: Declared) -> list[Diagnostic]:
    definition, written = declared.definition, declared.schema
    signature = definition.signature
    if definition.text is None or written is None or signature is None:
        return []
    if signature.language is Language.CPP:
        return []  # a rule of its own
    meant = inferred(definition, signature)
    if meant is None:
        return []
    if definition.via != "opwright.op":
        written, meant = _unmarked(written), _unmarked(meant)
    return compare(written, replace(meant, name=written.name, overload=written.overload))


def _unmarked(schema: Schema) -> Schema:
    """Without alias marks: only Opwright's annotations can say them."""
    arguments = tuple(replace(a, type=plain(a.type)) for a in schema.arguments)
    returns = tuple(replace(r, type=plain(r.type)) for r in schema.returns)
    return replace(schema, arguments=arguments, returns=returns)


def _placed(declared: Declared, found: Diagnostic) -> Diagnostic:
    """At the argument in the text, with the function beside."""
    signature, written = declared.definition.signature, declared.schema
    assert signature is not None
    assert written is not None
    names = QUOTED.findall(found.message)
    argument = next((a for a in written.arguments if a.name in names), None)
    parameter = next((p for p in signature.parameters if p.name in names), None)
    span = parameter.span if parameter else signature.span
    related = (Related(span, "the annotations" if parameter else "the function"),)
    message = f"{declared.definition.name}: {found.message}"
    return finding(
        found.code, message, span=in_schema(declared, argument), hint=found.hint, related=related
    )


def _op(schema: str, head: str, body: str = "return torch.empty_like(x)") -> str:
    return f'''
import torch
import opwright as ow
from opwright import Mutable

@ow.op("mylib::f", schema="{schema}")
def f({head}:
    {body}
'''


_GOOD = _op("f(Tensor x, SymInt n=3) -> Tensor", "x: torch.Tensor, n: int = 3) -> torch.Tensor")
_HEAD = "x: torch.Tensor, n: int = 3) -> torch.Tensor"
_ROWS = {
    "OW201": ("f(Tensor x, float n=3) -> Tensor", _HEAD),
    "OW202": ("f(Tensor x, int n=3) -> Tensor", _HEAD),
    "OW203": ("f(Tensor x) -> Tensor", _HEAD),
    "OW204": ("f(Tensor x, SymInt n=3, bool b=True) -> Tensor", _HEAD),
    "OW205": ("f(SymInt n, Tensor x) -> Tensor", "x: torch.Tensor, n: int) -> torch.Tensor"),
    "OW206": ("f(Tensor x, SymInt n=4) -> Tensor", _HEAD),
    "OW207": ("f(Tensor x, SymInt n) -> Tensor", _HEAD),
    "OW208": (
        "f(Tensor x, SymInt n=3) -> Tensor",
        "x: torch.Tensor, n: int) -> torch.Tensor",
    ),
    "OW209": ("f(Tensor x) -> Tensor", "x: Mutable[torch.Tensor]) -> torch.Tensor"),
    "OW210": (
        "f(Tensor(a!) x) -> Tensor",
        "x: torch.Tensor) -> torch.Tensor",
        "return x.zero_() + 1",
    ),
    "OW211": ("f(Tensor(a) x, SymInt n=3) -> Tensor", _HEAD),
    "OW212": (
        "f(Tensor x, SymInt n=3) -> Tensor",
        "x: torch.Tensor, *, n: int = 3) -> torch.Tensor",
    ),
    "OW213": ("f(Tensor x, *, SymInt n=3) -> Tensor", _HEAD),
    "OW214": ("f(Tensor x, SymInt k=3) -> Tensor", _HEAD),
    "OW215": ("f(Tensor x, SymInt n=3) -> (Tensor, Tensor)", _HEAD),
    "OW217": (
        "f(Tensor x, SymInt n=3) -> (Tensor y, Tensor z)",
        "x: torch.Tensor, n: int = 3) -> tuple[torch.Tensor, torch.Tensor]",
        "return x.clone(), x.clone()",
    ),
    "OW219": ("f(Tensor x, SymInt n, ...) -> Tensor", "x: torch.Tensor, n: int) -> torch.Tensor"),
    "OW220": (
        "f(Tensor x, *, SymInt n=3, float s=1.0) -> Tensor",
        "x: torch.Tensor, *, s: float = 1.0, n: int = 3) -> torch.Tensor",
    ),
}
_WHY = {
    "OW202": "`int` makes torch.compile specialise on every value and compile again for the next.",
    "OW206": "Which of two defaults counts depends on how the operator is called.",
    "OW209": "torch.compile drops or moves a write that the schema does not say.",
    "OW213": "A call by place works in Python and not through torch.ops.",
    "OW214": "Positional names may differ; who calls by keyword must use the schema's.",
}
OFF = {"OW207", "OW213", "OW214", "OW217", "OW220"}
"""Harmless, and off by default."""

RULES = tuple(
    Rule(
        code,
        _WHY.get(code, "The schema is what torch believes, the annotation what the code does."),
        bad=_op(*row),
        good=_GOOD,
        check=differing(code),
        default=code not in OFF,
    )
    for code, row in _ROWS.items()
)
