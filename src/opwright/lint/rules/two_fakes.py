"""A fake kernel in Python beside a Meta kernel in C++."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Related
from opwright.lint.rule import Rule
from opwright.survey.facts import Implementation, Language, Role
from opwright.survey.index import Index, Operator


def check(index: Index) -> Iterator[Diagnostic]:
    for operator in index.operators.values():
        compiled = _first(operator, Language.CPP)
        python = _first(operator, Language.PYTHON)
        if compiled is not None and python is not None:
            message = (
                f"{operator.name} has a fake kernel here and a Meta kernel in C++: the one that "
                "is loaded last counts"
            )
            related = (Related(compiled.span, "the Meta kernel"),)
            hint = "keep one of them"
            yield finding("OW506", message, span=python.span, hint=hint, related=related)


def _first(operator: Operator, language: Language) -> Implementation | None:
    """The first fake of a language that nothing makes conditional."""
    fakes = operator.roles(Role.FAKE)
    return next((one for one in fakes if one.language is language and not one.guards), None)


_CPP = """
#include <torch/library.h>

at::Tensor twice(const at::Tensor& x) { return x + x; }

TORCH_LIBRARY(mylib, m) { m.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("twice", &twice); }
"""
_FAKE = """
import torch

@torch.library.register_fake("mylib::twice")
def _(x):
    return torch.empty_like(x)
"""

RULES = (
    Rule(
        "OW506",
        "A fake that is registered in Python takes the place of a Meta kernel, or the other way "
        "round: what a program compiles to depends on the order in which libraries are loaded.",
        bad={
            "ops.cpp": _CPP + 'TORCH_LIBRARY_IMPL(mylib, Meta, m) { m.impl("twice", &twice); }\n',
            "ops.py": _FAKE,
        },
        good={"ops.cpp": _CPP, "ops.py": _FAKE},
        check=check,
    ),
)
