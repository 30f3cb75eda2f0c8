"""Renaming an argument everywhere at once: schema, kernels, fakes, backwards, calls by keyword.

Finds the places; who applies the edits keeps to all or none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from opwright.editor import operators
from opwright.editor.around import holds
from opwright.editor.code import Code
from opwright.editor.schema_text import inside_schema
from opwright.findings import Edit, Span
from opwright.hints.files import Module
from opwright.lint.places import argument_spans
from opwright.schema.model import readable
from opwright.survey.cpp_text import Source
from opwright.survey.cpp_types import span_of
from opwright.survey.facts import Call, Definition, Implementation, Language, Signature, Text
from opwright.survey.index import Operator

_CPP_WORD = re.compile(r"(?<!\.)(?<!->)(?<!::)\b[A-Za-z_]\w*\b(?!\s*::)")
_NAME = re.compile(r"(\w+)\s*(?:=.*)?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """The argument under the cursor: of which operator, called what, standing where."""

    operator: str
    name: str
    span: Span


def target_at(code: Code, file: str, line: int, column: int) -> Target | None:
    """The argument at a place: in a schema string, or a parameter of a registered function."""
    inside = inside_schema(code.facts(file), line, column)
    if inside is not None:
        for name, span in _in_schema(inside.text):
            if holds(span, line, column):
                return Target(inside.definition.name, name, span)
        return None
    for fact in code.facts(file):
        if isinstance(fact, (Definition, Implementation)) and _may_hold(
            code, fact.signature, file, line
        ):
            assert fact.signature is not None
            for name, span in _mentions(code, fact.signature):
                if span.file == file and holds(span, line, column):
                    return Target(fact.name, name, span)
    return None


def _may_hold(code: Code, signature: Signature | None, file: str, line: int) -> bool:
    """Whether a line, counted from 0, lies in a function of a file."""
    if signature is None or signature.span.file != file:
        return False
    heads = code.heads(file)
    node = heads.functions.get(signature.span.line) if heads else None
    return node is not None and node.lineno <= line + 1 <= (node.end_lineno or 0)


def edits(code: Code, target: Target, new: str) -> list[Edit]:
    """Every change that the new name needs; none where it is no name or already taken."""
    found = operators.overloads(code, target.operator)
    if not readable(new) or any(new in _names(operator) for operator in found):
        return []
    spans = [span for operator in found for span in _places(code, operator, target.name, new)]
    return [Edit(span, new) for span in dict.fromkeys(spans)]


def _names(operator: Operator) -> set[str]:
    """Every name that an argument of the operator has somewhere."""
    heads = operators.functions(operator)
    return {parameter.name for head in heads for parameter in head.parameters} | {
        argument.name for d in operator.declared if d.schema for argument in d.schema.arguments
    }


def _places(code: Code, operator: Operator, name: str, new: str) -> Iterator[Span]:
    for declared in operator.declared:
        if declared.definition.text is not None:
            yield from (s for n, s in _in_schema(declared.definition.text) if n == name)
    for signature in operators.functions(operator):
        yield from (s for n, s in _mentions(code, signature) if n == name)
    for signature in operators.functions(operator, Language.CPP):
        yield from _cpp_mentions(code, signature, name, new)
    for fact in code.index.facts:
        if isinstance(fact, Call) and fact.name == operator.name and name in fact.keywords:
            yield from _keywords(code, fact, name)


def _in_schema(text: Text) -> Iterator[tuple[str, Span]]:
    """The names of the arguments in a schema string, where they stand as they are."""
    for start, end in argument_spans(text.value):
        found = _NAME.search(text.value[start:end])
        if found and text.whole(start + found.start(1), start + found.end(1)):
            yield found[1], text.span(start + found.start(1), start + found.end(1))


def _mentions(code: Code, signature: Signature) -> Iterator[tuple[str, Span]]:
    """The parameters of a function, in its head and in its body."""
    heads = code.heads(signature.span.file)
    node = heads.functions.get(signature.span.line) if heads else None
    if heads is None or node is None:
        return
    module = heads.module
    names = frozenset(parameter.name for parameter in signature.parameters)
    for argument in _arguments(node):
        yield argument.arg, _word(module, argument, argument.arg)
    for part in node.body:
        yield from _uses(module, part, names)


def _cpp_mentions(code: Code, signature: Signature, name: str, new: str) -> Iterator[Span]:
    """The parameter `name` of a C++ function, in its head and in its body.

    Its name is the function's own affair, so it keeps it where `new` stands for something else.
    """
    source = Source.of(code.text(signature.span.file))
    start, end = _cpp_region(source, signature)
    words = {
        match.start(): match[0]
        for match in _CPP_WORD.finditer(source.code, start, end)
        if match[0] in (name, new)
    }
    if new not in words.values() and any(p.name == name for p in signature.parameters):
        for at in words:
            yield span_of(source, signature.span.file, at, at + len(name))


def _cpp_region(source: Source, signature: Signature) -> tuple[int, int]:
    """From the bracket that opens a function's parameters to the one that closes its body."""
    for name, opening in source.heads.get(signature.name, ()):
        if source.place(name) == (signature.span.line, signature.span.column):
            closing = source.partners.get(opening, opening)
            body = source.code.find("{", closing)
            return opening, source.partners.get(body, closing)
    return 0, 0


def _uses(module: Module, node: ast.AST, names: frozenset[str]) -> Iterator[tuple[str, Span]]:
    if isinstance(node, ast.Name) and node.id in names:
        yield node.id, module.span(node)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        names -= {argument.arg for argument in _arguments(node)}
    for child in ast.iter_child_nodes(node):
        yield from _uses(module, child, names)


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _word(module: Module, node: ast.AST, word: str) -> Span:
    """The first word of a node."""
    span = module.span(node)
    return Span(span.file, span.line, span.column, span.line, span.column + len(word))


def _keywords(code: Code, call: Call, name: str) -> Iterator[Span]:
    """`name` of `name=...` in a call."""
    heads = code.heads(call.span.file)
    for node in heads.calls.get(call.span.line, ()) if heads else ():
        if heads and heads.module.span(node).column == call.span.column:
            keywords = (keyword for keyword in node.keywords if keyword.arg == name)
            yield from (_word(heads.module, keyword, name) for keyword in keywords)
