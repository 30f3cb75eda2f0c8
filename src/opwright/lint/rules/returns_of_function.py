"""A kernel or fake that returns another number of values than its schema says."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Related, Span
from opwright.lint.places import function_place, schema_place
from opwright.lint.rule import Rule
from opwright.lint.rules._functions import called, named
from opwright.schema.kinds import List
from opwright.schema.model import Return, Schema
from opwright.survey.facts import Implementation, Signature
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for operator, one, signature, schema in called(index):
        if schema.varrets:
            continue
        for count, span in _wrong(one, signature, schema):
            message = (
                f"{named(one, signature)} of {operator.name} returns {words(count)}, the schema "
                f"has {words(len(schema.returns))}"
            )
            related: tuple[Related, ...] = schema_place(operator)
            yield finding("OW308", message, span=span, related=related)


def _wrong(one: Implementation, signature: Signature, schema: Schema) -> Iterator[tuple[int, Span]]:
    """Counts that cannot be right, from the statements first, else from the annotation."""
    wanted = len(schema.returns)
    counts = one.body.counts if one.body is not None else ()
    wrong = [(count, span) for count, span in counts if not _may_be(count, schema.returns)]
    if wrong:
        yield wrong[0]
    elif signature.returns is not None and not counts:
        count = len(signature.returns)
        if count != wanted and not _is_list(signature.returns) and not _is_list(schema.returns):
            yield count, function_place(one)


def _may_be(count: int, returns: tuple[Return, ...]) -> bool:
    """Whether so many values in a `return` can be what the schema says; one may be anything."""
    if count == 1:
        return True
    return count == len(returns) or _is_list(returns)


def _is_list(returns: tuple[Return, ...]) -> bool:
    return len(returns) == 1 and isinstance(returns[0].type, List)


def words(count: int) -> str:
    return {0: "nothing", 1: "one value"}.get(count, f"{count} values")


RULES = (
    Rule(
        "OW308",
        "torch unpacks what a Python kernel returns by the schema: another number of values is an "
        "error in every call, for a fake under `torch.compile` only.",
        bad="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("split(Tensor x) -> (Tensor, Tensor)")

@torch.library.register_fake("mylib::split")
def _(x):
    return torch.empty_like(x), torch.empty_like(x), torch.empty_like(x)
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("split(Tensor x) -> (Tensor, Tensor)")

@torch.library.register_fake("mylib::split")
def _(x):
    return torch.empty_like(x), torch.empty_like(x)
""",
        check=check,
    ),
)
