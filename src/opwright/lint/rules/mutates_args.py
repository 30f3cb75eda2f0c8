"""`mutates_args` that names no parameter, or says "unknown"."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Edit, Fix, Related, Span
from opwright.lint.rule import Rule
from opwright.schema.kinds import holds_tensors
from opwright.survey.facts import UNKNOWN, Definition, Signature
from opwright.survey.index import Index


def _definitions(index: Index) -> Iterator[tuple[Definition, Signature]]:
    for fact in index.facts:
        if isinstance(fact, Definition) and fact.signature is not None and fact.mutates_span.line:
            yield fact, fact.signature


def names(index: Index) -> Iterator[Diagnostic]:
    for definition, signature in _definitions(index):
        if definition.mutates_text is not None:
            yield _one_string(definition, definition.mutates_text)
            continue
        if definition.mutates is UNKNOWN or not definition.mutates:
            continue
        own = {parameter.name: parameter for parameter in signature.parameters}
        for name in definition.mutates:
            parameter = own.get(name)
            if parameter is None:
                near = difflib.get_close_matches(name, own, n=1)
                hint = f'write `"{near[0]}"`' if near else f"the parameters are {', '.join(own)}"
                said = f"mutates_args of {definition.name} names {name!r}, which is no parameter"
            elif not holds_tensors(parameter.type):
                hint, said = (
                    f"take `{name}` out",
                    (f"mutates_args of {definition.name} names {name!r}, which holds no tensor"),
                )
            else:
                continue
            related = (Related(signature.span, "the function"),)
            yield finding("OW404", said, span=definition.mutates_span, hint=hint, related=related)


def _one_string(definition: Definition, text: str) -> Diagnostic:
    right = f'("{text}",)' if text else "()"
    return finding(
        "OW404",
        f"mutates_args of {definition.name} is the string {text!r}: torch wants a sequence",
        span=definition.mutates_span,
        hint=f"write `mutates_args={right}`",
        fix=Fix("Write a sequence", (Edit(definition.mutates_span, right),)),
    )


def unknown(index: Index) -> Iterator[Diagnostic]:
    for definition, signature in _definitions(index):
        if not definition.mutates_all:
            continue
        body = definition.body
        found = [] if body is None else list(dict.fromkeys(w.parameter for w in body.writes))
        text = "{" + ", ".join(f'"{name}"' for name in found) + "}" if found else "()"
        message = (
            f'mutates_args of {definition.name} is "unknown": every tensor counts as written, '
            "and a backward that saved one fails"
        )
        yield finding(
            "OW405",
            message,
            span=definition.mutates_span,
            hint=f"write `mutates_args={text}`, which is what the body writes",
            related=(Related(signature.span, "the function"),),
            fix=_fix(definition.mutates_span, text) if body and not body.escapes else None,
        )


def _fix(span: Span, text: str) -> Fix:
    return Fix("Name what the body writes", (Edit(span, text),), safe=False)


_DEFINE = """
import torch

@torch.library.custom_op("mylib::fill", mutates_args={writes})
def fill(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    y.fill_(1)
    return x + 1

@fill.register_fake
def _(x, y):
    return torch.empty_like(x)
"""

RULES = (
    Rule(
        "OW404",
        "mutates_args is a sequence of names of parameters that hold tensors. Anything else is an "
        "error when the operator is registered; one string in brackets is no sequence.",
        bad=_DEFINE.format(writes='("y")'),
        good=_DEFINE.format(writes='("y",)'),
        check=names,
        fixes="turns one string into a sequence",
    ),
    Rule(
        "OW405",
        'With "unknown" every tensor counts as written: versions of inputs that are only read go '
        "up, and a later backward that saved one of them dies.",
        bad=_DEFINE.format(writes='"unknown"'),
        good=_DEFINE.format(writes='("y",)'),
        check=unknown,
        fixes="names what the body writes (unsafe)",
    ),
)
