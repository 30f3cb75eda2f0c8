"""A Library object that nothing keeps alive."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.rule import Rule
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for library in index.libraries:
        if library.dropped:
            message = (
                f"this Library of {library.namespace!r} is gone when the function returns, and "
                "its operators with it"
            )
            hint = "keep it in a module variable"
            yield finding("OW501", message, span=library.span, hint=hint)


RULES = (
    Rule(
        "OW501",
        "What a Library object registers lives as long as the object. One that is made in a "
        "function and not kept takes its operators along when the function returns.",
        bad="""
import torch

def register():
    lib = torch.library.Library("mylib", "FRAGMENT")
    lib.define("zero_(Tensor(a!) x) -> ()")

register()
""",
        good="""
import torch

LIB = torch.library.Library("mylib", "FRAGMENT")

def register():
    LIB.define("zero_(Tensor(a!) x) -> ()")

register()
""",
        check=check,
    ),
)
