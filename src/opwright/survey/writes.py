"""What defining calls say beside the name: the writes, the annotations, an inferred schema.

Knows `mutates_args` and `infer_schema`; knows nothing of where operators are registered.
"""

from __future__ import annotations

import ast
from typing import Literal

from opwright.findings import Diagnostic
from opwright.frozen import replace
from opwright.hints.constants import constant
from opwright.hints.lower import lower
from opwright.hints.model import MISSING, Function
from opwright.hints.model import Unknown as NotConstant
from opwright.hints.resolve import Meaning, Scope, Written
from opwright.survey.facts import UNKNOWN, Unknown
from opwright.survey.forms import INFER_PATHS, Form
from opwright.survey.site import Place, Site, given_by
from opwright.survey.targets import dotted_path


def inferred(node: ast.expr, scope: Scope) -> tuple[Meaning | None, ast.expr | None]:
    """The function behind `name + infer_schema(fn, mutates_args=...)`, and what it writes."""
    for part in ast.walk(node):
        found = _inferring(part, scope) if isinstance(part, (ast.Call, ast.Name)) else None
        if found is not None:
            call, where = found
            site = Site(call, call, where, None, Place())
            function = site.at(0, "prototype_function")
            if function is not None:
                return given_by(function, where), site.at(1, "mutates_args")
    return None, None


def _inferring(node: ast.expr, scope: Scope) -> tuple[ast.Call, Scope] | None:
    if isinstance(node, ast.Name):
        meaning = scope.meaning(node)
        if not isinstance(meaning, Written) or not isinstance(meaning.node, ast.Call):
            return None
        node, scope = meaning.node, meaning.scope
    if isinstance(node, ast.Call) and dotted_path(node.func, scope) in INFER_PATHS:
        return node, scope
    return None


def faults_of(function: Function | None, name: str) -> tuple[Diagnostic, ...]:
    """What annotations cannot mean; a default that only running tells is nobody's fault."""
    if function is None:
        return ()
    known = tuple(
        replace(p, default=MISSING) if isinstance(p.default, NotConstant) else p
        for p in function.parameters
    )
    return lower(replace(function, parameters=known), name).findings


Names = tuple[str, ...] | Literal[Unknown.UNKNOWN]


def mutates_of(form: Form, node: ast.expr | None, scope: Scope) -> Names | None:
    """`mutates_args` of a form that has it; none given is nothing written."""
    if not form.mutates:
        return None
    return () if node is None else names_of(node, scope)


def names_of(node: ast.expr, scope: Scope) -> Names:
    """The names in `mutates_args`; UNKNOWN where they are not written out."""
    match node:
        case ast.Constant(None) | ast.Dict([]):
            return ()
        case ast.Constant(str(text)):
            return UNKNOWN if text == "unknown" else tuple(filter(None, (text,)))
        case ast.Set(parts) | ast.Tuple(parts) | ast.List(parts):
            names = [constant(part, scope) for part in parts]
            known = tuple(name for name in names if isinstance(name, str))
            return known if len(known) == len(names) else UNKNOWN
        case ast.BoolOp(ast.Or(), [first, *rest]):
            return names_of(first, scope) or names_of(rest[-1], scope)
    meaning = given_by(node, scope)
    if isinstance(meaning, Written) and meaning.node is not node:
        return names_of(meaning.node, meaning.scope)
    return UNKNOWN
