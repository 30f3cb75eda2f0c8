"""One operator, two definitions with different schemas."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Related
from opwright.lint.places import in_schema
from opwright.lint.rule import Rule
from opwright.survey.index import Declared, Index, alike


def check(index: Index) -> Iterator[Diagnostic]:
    for operator in index.defined.values():
        read = [declared for declared in operator.declared if declared.schema is not None]
        for other in read[1:]:
            first = next((one for one in read if _differ(one, other)), None)
            if first is None:
                continue
            message = (
                f"{operator.name} is `{other.schema}` here, and `{first.schema}` elsewhere: which "
                "one holds depends on what is loaded"
            )
            related = (Related(in_schema(first), f"the other: `{first.schema}`"),)
            yield finding("OW503", message, span=in_schema(other), related=related)


def _differ(one: Declared, other: Declared) -> bool:
    """Whether two definitions give one operator different schemas and can both be loaded."""
    if one is other or one.schema is None or other.schema is None:
        return False
    if one.definition.guards != other.definition.guards and _same_file(one, other):
        return False  # `#if` and `else` of one file choose between them
    return not alike(one.schema, other.schema)


def _same_file(one: Declared, other: Declared) -> bool:
    return one.definition.span.file == other.definition.span.file


RULES = (
    Rule(
        "OW503",
        "An operator has one schema. Two definitions fail when both are loaded, and where only "
        "one is, the callers of the other break.",
        bad={
            "a.py": """
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("fill(Tensor(a!) x, int n) -> ()")
""",
            "b.py": """
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("fill(Tensor(a!) x, float n) -> ()")
""",
        },
        good={
            "a.py": """
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("fill(Tensor(a!) x, int n) -> ()")
""",
            "b.py": """
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
lib.define("fill.float(Tensor(a!) x, float n) -> ()")
""",
        },
        check=check,
    ),
)
