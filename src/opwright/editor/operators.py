"""The operators of a code base as an editor asks for them: schemas, and where everything stands.

Knows the index; nothing of cursors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from opwright.editor.code import Code
from opwright.findings import SchemaError, Severity, Span
from opwright.hints.lower import lower
from opwright.hints.resolve import Definition as Defined
from opwright.hints.resolve import Sources
from opwright.hints.source import read_function
from opwright.schema.model import Schema
from opwright.survey.facts import Call, Definition, Fact, Implementation, Language, Signature
from opwright.survey.index import Declared, Operator


def overloads(code: Code, name: str) -> list[Operator]:
    """The operators that a name means: the overload it names, else all of them."""
    index = code.index
    if "." in name:
        return [index.operators[name]] if name in index.operators else []
    found = [one for one in index.operators.values() if one.name.partition(".")[0] == name]
    return sorted(found, key=lambda one: one.name)


def namespaces(code: Code) -> list[str]:
    """The namespaces that have an operator."""
    return sorted({name.partition("::")[0] for name in code.index.operators})


def members(code: Code, namespace: str) -> list[str]:
    """The names in a namespace, without overloads."""
    names = (name.partition("::") for name in code.index.operators)
    return sorted({rest.partition(".")[0] for space, _, rest in names if space == namespace})


def schema_of(code: Code, declared: Declared) -> Schema | None:
    """The schema of a declaration; where it takes structures, read from the annotations."""
    definition = declared.definition
    if declared.schema is not None or definition.text is not None or definition.signature is None:
        return declared.schema
    return _inferred(code, definition, definition.signature)


def _inferred(code: Code, definition: Definition, signature: Signature) -> Schema | None:
    file = Path(signature.span.file)
    try:
        scope = Sources().open(file, code.text(str(file)).encode())
    except SchemaError:
        return None
    for node in scope.node.body:
        if isinstance(node, ast.FunctionDef) and node.lineno == signature.span.line:
            meant = lower(read_function(Defined(node, scope)), definition.name)
            refused = any(found.severity is Severity.ERROR for found in meant.findings)
            return None if refused else meant.schema
    return None


def schemas(code: Code, operator: Operator) -> list[Schema]:
    """The schemas of an operator's declarations, each once."""
    found = (schema_of(code, declared) for declared in operator.declared)
    return [*dict.fromkeys(schema for schema in found if schema is not None)]


def operators_at(code: Code, file: str, line: int) -> Iterator[Fact]:
    """The registrations whose decorator, call or function head is on a line, counted from 0."""
    for fact in code.facts_near(file, line):
        if isinstance(fact, (Definition, Implementation)):
            places = [fact.span, *([fact.signature.span] if fact.signature else [])]
            if any(p.file == file and p.line <= line + 1 <= p.end_line for p in places):
                yield fact


def definitions(code: Code, name: str) -> list[Span]:
    """Where an operator is declared; where nothing declares it here, where it is implemented."""
    found = overloads(code, name)
    declared = [each.definition.span for one in found for each in one.declared]
    return declared or [each.span for one in found for each in one.implementations]


def references(code: Code, name: str) -> list[Span]:
    """Everywhere that an operator is declared, implemented or called."""
    base = name.partition(".")[0]
    found = [
        fact.span
        for fact in code.index.facts
        if isinstance(fact, (Definition, Implementation, Call))
        and fact.name.partition(".")[0] == base
        and ("." not in name or fact.name in (name, base))
    ]
    return [*dict.fromkeys(found)]


# Functions -------------------------------------------------------------------------------------


def functions(operator: Operator, language: Language = Language.PYTHON) -> list[Signature]:
    """The functions of a language that are registered for an operator, each once."""
    heads = [each.definition.signature for each in operator.declared]
    heads += [each.signature for each in operator.implementations]
    return [*dict.fromkeys(each for each in heads if each and each.language is language)]


def parameter_names(code: Code, operator_name: str) -> Sequence[str]:
    """What the functions of an operator call their parameters, the definition's first."""
    for operator in overloads(code, operator_name):
        for signature in functions(operator):
            return [parameter.name for parameter in signature.parameters]
    return []


def shown(span: Span) -> str:
    """A place as hovering shows it.

    >>> shown(Span("/home/me/mylib/ops.py", 3, 1))
    'ops.py:3'
    """
    return f"{Path(span.file).name}:{span.line}"
