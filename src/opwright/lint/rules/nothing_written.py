"""An operator that returns nothing and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.places import in_schema
from opwright.lint.rule import Rule
from opwright.schema.kinds import Base, nodes
from opwright.schema.model import Schema
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for operator in index.defined.values():
        schema, home = operator.schema, operator.home
        if schema is None or home is None or schema.returns or schema.mutable or schema.varrets:
            continue
        if home.definition.via == "opwright.op" or not _takes_tensors(schema):
            continue
        message = (
            f"{operator.name} returns nothing and writes nothing: torch.compile drops the call"
        )
        hint = "say what it writes: `Tensor(a!)` in the schema, or mutates_args"
        yield finding("OW406", message, span=in_schema(home), hint=hint)


def _takes_tensors(schema: Schema) -> bool:
    """Operators without tensors are kept for their effect by other means."""
    kinds = (node for argument in schema.arguments for node in nodes(argument.type))
    return any(isinstance(node, Base) and node.name == "Tensor" for node in kinds)


RULES = (
    Rule(
        "OW406",
        "A call without results and without writes is dead code to torch.compile, and is dropped. "
        "If the operator writes an argument, the schema must say so.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("fill(Tensor x, Tensor value) -> ()")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("fill(Tensor(a!) x, Tensor value) -> ()")
""",
        check=check,
    ),
)
