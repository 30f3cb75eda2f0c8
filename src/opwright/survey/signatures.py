"""The head of a Python function in the words of a schema, as far as its annotations say it.

Knows that annotations may be missing: each parameter stands for itself.
"""

from __future__ import annotations

import ast

from opwright.findings import Severity
from opwright.frozen import replace
from opwright.hints.constants import constant
from opwright.hints.lower import Single, lower
from opwright.hints.model import MISSING, Function, Hint, Instance, Name, Symbol
from opwright.hints.model import Default as HintDefault
from opwright.hints.model import Kind as HintKind
from opwright.hints.model import Parameter as HintParameter
from opwright.hints.resolve import Scope
from opwright.schema.kinds import Type
from opwright.schema.literal import Symbol as SchemaSymbol
from opwright.schema.literal import Value
from opwright.schema.model import REQUIRED, Return
from opwright.survey.facts import (
    UNKNOWN,
    Kind,
    Language,
    Parameter,
    ParameterDefault,
    Signature,
)

TENSOR = Name("torch.Tensor")
KINDS = {
    HintKind.POSITIONAL_ONLY: Kind.POSITIONAL,
    HintKind.POSITIONAL: Kind.POSITIONAL,
    HintKind.VAR_POSITIONAL: Kind.VARARGS,
    HintKind.KEYWORD_ONLY: Kind.KEYWORD,
    HintKind.VAR_KEYWORD: Kind.VARKEYWORDS,
}


def signature_of(function: Function) -> Signature:
    """The signature of a `def`."""
    return Signature(
        name=function.name,
        parameters=tuple(_parameter(parameter) for parameter in function.parameters),
        returns=None if function.returns is None else _returns(function.returns),
        span=function.span,
        language=Language.PYTHON,
        shown_returns="" if function.returns is None else str(function.returns),
    )


def signature_of_lambda(node: ast.Lambda, scope: Scope) -> Signature:
    """The signature of a lambda: names and defaults."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    first = zip(positional, [*defaults, *given.defaults], strict=True)
    last = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    rows: list[tuple[ast.arg, Kind, ast.expr | None]] = [
        *((argument, Kind.POSITIONAL, default) for argument, default in first),
        *((argument, Kind.VARARGS, None) for argument in [given.vararg] if argument),
        *((argument, Kind.KEYWORD, default) for argument, default in last),
        *((argument, Kind.VARKEYWORDS, None) for argument in [given.kwarg] if argument),
    ]
    span = scope.module.span
    parameters = tuple(
        Parameter(
            a.arg, None, span(a), kind, _default(MISSING if d is None else constant(d, scope))
        )
        for a, kind, d in rows
    )
    return Signature("the lambda", parameters, None, span(node), Language.PYTHON)


def _parameter(parameter: HintParameter) -> Parameter:
    kind = KINDS[parameter.kind]
    return Parameter(
        name=parameter.name,
        type=_type(parameter),
        span=parameter.span,
        kind=kind,
        default=_default(parameter.default),
        shown="" if parameter.hint is None else str(parameter.hint),
    )


def _type(parameter: HintParameter) -> Type | None:
    """What the annotation means; None where it is missing, refused or several arguments."""
    if parameter.hint is None or parameter.kind in (HintKind.VAR_POSITIONAL, HintKind.VAR_KEYWORD):
        return None
    alone = replace(parameter, default=MISSING, kind=HintKind.POSITIONAL)
    inferred = lower(Function("f", (alone,), TENSOR), "f")
    refused = any(found.severity is Severity.ERROR for found in inferred.findings)
    match inferred.bindings:
        case (Single(),) if not refused and len(inferred.schema.arguments) == 1:
            return inferred.schema.arguments[0].type
    return None


def _returns(hint: Hint) -> tuple[Return, ...] | None:
    inferred = lower(Function("f", (), hint), "f")
    refused = (f for f in inferred.findings if f.severity is Severity.ERROR and f.code != "OW111")
    return None if any(refused) else inferred.schema.returns


def _default(value: HintDefault) -> ParameterDefault:
    """A Python default as a schema holds it."""
    match value:
        case _ if value is MISSING:
            return REQUIRED
        case Symbol(path):
            return SchemaSymbol(path.rpartition(".")[2])
        case Instance("torch.device", ((_, str(text)),)):
            return text
        case None | bool() | int() | float() | complex() | str():
            return value
        case tuple():
            return _sequence(value)
        case _:
            return UNKNOWN


def _sequence(values: tuple[HintDefault, ...]) -> ParameterDefault:
    parts: list[Value] = []
    for value in values:
        part = _default(value)
        if part is UNKNOWN or part is REQUIRED:
            return UNKNOWN
        parts.append(part)
    return tuple(parts)
