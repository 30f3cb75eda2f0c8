"""Keyword-only tensors where torch.library takes none."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.places import in_schema, schema_place
from opwright.lint.rule import Rule
from opwright.schema.kinds import holds_tensors
from opwright.schema.model import Argument, Schema
from opwright.survey.facts import Role
from opwright.survey.index import Index, Operator

OWN = "opwright."
"""Opwright's own forms take them."""
DEFINES = ("torch.library.custom_op", "torch.library.triton_op")


def check(index: Index) -> Iterator[Diagnostic]:
    for operator in index.defined.values():
        schema, home = operator.schema, operator.home
        argument = None if schema is None else _keyword_tensor(schema)
        if argument is None or home is None:
            continue
        if home.definition.via in DEFINES:
            message = f"{operator.name}: torch refuses the keyword-only tensor {argument.name!r}"
            yield finding("OW507", message, span=in_schema(home, argument), hint=HINT)
        elif not home.definition.via.startswith(OWN):
            yield from _registered(operator, argument)


HINT = "make it positional"


def _registered(operator: Operator, argument: Argument) -> Iterator[Diagnostic]:
    """Backwards and batching rules of an operator that has such an argument."""
    for one in operator.roles(Role.BACKWARD, Role.VMAP):
        message = (
            f"torch registers no {one.role.value} for {operator.name}, whose tensor "
            f"{argument.name!r} is keyword-only"
        )
        place = schema_place(operator, argument)
        yield finding("OW507", message, span=one.span, hint=HINT, related=place)


def _keyword_tensor(schema: Schema) -> Argument | None:
    """A keyword-only argument that holds a tensor and is no `out`, which torch knows."""
    named = [a for a in schema.arguments if a.kw_only and holds_tensors(a.type)]
    return next((a for a in named if not a.writes), None)


_OP = """
import torch

@torch.library.custom_op("mylib::add", mutates_args=())
def add(x: torch.Tensor, {mark}y: torch.Tensor) -> torch.Tensor:
    return x + y

@add.register_fake
def _(x, {mark}y):
    return torch.empty_like(x)
"""

RULES = (
    Rule(
        "OW507",
        "`custom_op`, `register_autograd` and `register_vmap` raise for an operator with a "
        "keyword-only tensor. `Library.define` takes it, and so does Opwright.",
        bad=_OP.format(mark="*, "),
        good=_OP.format(mark=""),
        check=check,
    ),
)
