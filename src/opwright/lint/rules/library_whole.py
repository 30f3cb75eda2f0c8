"""`Library(ns, "DEF")`: the namespace for one library alone."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Edit, Fix
from opwright.lint.rule import Rule
from opwright.survey.index import Index


def check(index: Index) -> Iterator[Diagnostic]:
    for library in index.libraries:
        if library.kind == "DEF":
            message = (
                f'"DEF" claims the namespace {library.namespace!r} whole: a second library of it, '
                "in any package, fails"
            )
            fix = Fix('Write "FRAGMENT"', (Edit(library.kind_span, '"FRAGMENT"'),))
            yield finding("OW502", message, span=library.span, hint='write `"FRAGMENT"`', fix=fix)


RULES = (
    Rule(
        "OW502",
        '"DEF" says that this is the only place that defines operators of a namespace. A reload, a '
        'second module or another package that does the same is an error; "FRAGMENT" never is.',
        bad="""
import torch

lib = torch.library.Library("mylib", "DEF")
""",
        good="""
import torch

lib = torch.library.Library("mylib", "FRAGMENT")
""",
        check=check,
        fixes='writes "FRAGMENT"',
    ),
)
