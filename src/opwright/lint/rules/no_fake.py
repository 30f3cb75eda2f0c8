"""An operator that returns tensors and has no fake kernel."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.places import in_schema
from opwright.lint.rule import Rule
from opwright.schema.kinds import Base, nodes
from opwright.schema.model import Schema
from opwright.survey.facts import Implementation, Role
from opwright.survey.index import Index, Operator

DERIVED = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "Meta", "")
"""Keys whose kernel also serves fake tensors."""


def check(index: Index) -> Iterator[Diagnostic]:
    for operator in index.defined.values():
        schema, home = operator.schema, operator.home
        if schema is None or home is None or not _returns_tensors(schema):
            continue
        if _is_served(operator) or not _is_plain(home.definition.via):
            continue
        message = (
            f"{operator.name} returns tensors and has no fake kernel: torch.compile refuses it"
        )
        hint = f'write `@torch.library.register_fake("{operator.name}")`'
        yield finding("OW504", message, span=in_schema(home), hint=hint)


def _is_plain(via: str) -> bool:
    """Whether an operator is defined by torch's own means: a helper may make the fake itself."""
    return via.startswith(PLAIN)


PLAIN = ("torch.", "Library.", "TORCH_LIBRARY", "STABLE_TORCH_LIBRARY", "registered")


def _is_served(operator: Operator) -> bool:
    if any(True for _ in operator.roles(Role.FAKE)):
        return True
    if any(declared.definition.via.endswith("triton_op") for declared in operator.declared):
        return True
    return any(_serves(one) for one in operator.roles(Role.KERNEL))


def _serves(one: Implementation) -> bool:
    return any(key in DERIVED or key == "?" for key in one.key.split(","))


def _returns_tensors(schema: Schema) -> bool:
    kinds = (node for returned in schema.returns for node in nodes(returned.type))
    return any(isinstance(node, Base) and node.name == "Tensor" for node in kinds)


RULES = (
    Rule(
        "OW504",
        "torch.compile and torch.export run a program on tensors without data. An operator "
        "without a fake kernel cannot say what its results look like there.",
        bad="""
import torch

@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2
""",
        good="""
import torch

@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@double.register_fake
def _(x):
    return torch.empty_like(x)
""",
        check=check,
    ),
)
