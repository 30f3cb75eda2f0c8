"""Operators in Opwright's class form: which function of a class body is what.

Knows class bodies; what the functions do is for `targets` to read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opwright.frozen import frozen, replace
from opwright.hints.constants import constant
from opwright.hints.resolve import Definition, External, Scope
from opwright.schema.model import REQUIRED
from opwright.survey.facts import UNKNOWN, Role, Signature

BASE = External("opwright.Operator")
ROLES = {
    "fake": Role.FAKE,
    "setup_context": Role.SETUP_CONTEXT,
    "backward": Role.BACKWARD,
    "vmap": Role.VMAP,
}
"""Functions with a meaning of their own; any other is the kernel of a device, `kernel` of all."""


@frozen
class Body:
    """A class body that is an operator."""

    name: str
    source: Definition
    """The function whose annotations say what the operator is."""
    functions: tuple[tuple[str, Definition], ...]
    schema: ast.expr | None = None


def is_operator(node: ast.ClassDef, scope: Scope) -> bool:
    return any(scope.meaning(base) == BASE for base in node.bases)


def read_class(node: ast.ClassDef, scope: Scope) -> Body | None:
    """The operator of a class; None where it has no name or no annotated function."""
    inside = scope.child(node)
    values = dict(_assigned(node))
    name = constant(values["name"], inside) if "name" in values else None
    functions = {
        statement.name: Definition(statement, inside)
        for statement in node.body
        if isinstance(statement, ast.FunctionDef) and not statement.name.startswith("_")
    }
    wanted = ("signature", *(each for each in functions if each not in ROLES))
    source = next(
        (functions[n] for n in wanted if n in functions and _annotated(functions[n])), None
    )
    if not isinstance(name, str) or source is None:
        return None
    rest = tuple((n, f) for n, f in functions.items() if n != "signature")
    return Body(name, source, rest, values.get("schema"))


def _assigned(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for statement in node.body:
        match statement:
            case ast.Assign([ast.Name(name)], value):
                yield name, value
            case ast.AnnAssign(ast.Name(name), _, value) if value is not None:
                yield name, value


def _annotated(found: Definition) -> bool:
    assert isinstance(found.node, ast.FunctionDef)
    return found.node.returns is not None


def called_with_all(signature: Signature, source: Signature) -> Signature:
    """The head of a kernel that needs no defaults: the class form gives every argument."""
    names = {parameter.name for parameter in source.parameters}
    parameters = tuple(
        replace(p, default=UNKNOWN) if p.default is REQUIRED and p.name in names else p
        for p in signature.parameters
    )
    return replace(signature, parameters=parameters)
