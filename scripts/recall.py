#!/usr/bin/env python3
"""Break correct operators of the corpora one thing at a time, and count what the linter finds.

scripts/recall.py               write docs/recall.md
scripts/recall.py torchao       print what is not found in these corpora

Each break is one edit of one file: a parameter dropped, a default changed, a gradient too many. It
is found when a finding that was not there before has the right code and stands at the right line.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from opwright.findings import Diagnostic, Span
from opwright.lint.engine import judged, settled, survey
from opwright.lint.places import argument_spans
from opwright.lint.settings import Project, Settings
from opwright.lint.surveying import Surveyed, Surveyor, Wanted
from opwright.schema.kinds import Base, Type
from opwright.schema.model import REQUIRED, Schema
from opwright.survey.facts import (
    Call,
    Definition,
    Implementation,
    Kind,
    Language,
    Role,
    Signature,
    Text,
)
from opwright.survey.index import Index, Operator

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ROOT / ".corpora"
PAGE = ROOT / "docs" / "recall.md"
MOST = 150
"""Breaks of one corpus that are tried: of more, every second, every third, ..."""

Edit = tuple[int, int, str]
"""Characters from, to, and what comes instead."""


@dataclass(frozen=True)
class Break:
    """One edit: what it does, the codes that may tell it, and the lines where they must stand."""

    kind: str
    codes: tuple[str, ...]
    file: str
    edits: tuple[Edit, ...]
    lines: tuple[tuple[str, int, int], ...]
    operator: str


@dataclass
class Tree:
    """A package: what was read of it, and the texts of its files."""

    files: list[Surveyed]
    project: Project
    texts: dict[str, str] = field(default_factory=dict)
    trees: dict[str, ast.Module] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Tree:
        project = Project(folder, Settings(extend_select=("OW309",)))
        files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]
        kept = [f for f in files if f.endswith((".py", ".cpp", ".cu", ".h", ".cc", ".cuh"))]
        return cls(survey(kept, Wanted(), {}, lambda done, total: None, jobs=1), project)

    @property
    def index(self) -> Index:
        return Index(tuple(fact for one in self.files for fact in one.facts))

    def text(self, file: str) -> str:
        if file not in self.texts:
            self.texts[file] = Path(file).read_bytes().decode()
        return self.texts[file]

    def function(self, signature: Signature) -> ast.FunctionDef | None:
        """The `def` behind a signature."""
        file = signature.span.file
        if file not in self.trees:
            self.trees[file] = ast.parse(self.text(file))
        for node in ast.walk(self.trees[file]):
            named = isinstance(node, ast.FunctionDef) and node.name == signature.name
            if named and node.lineno <= signature.span.line <= node.body[0].lineno:
                return node
        return None

    def found(self) -> list[Diagnostic]:
        return settled(judged(self.index, self.project), self.files, self.project)

    def broken(self, one: Break) -> list[Diagnostic]:
        """What is found after a break."""
        text = self.text(one.file)
        for start, end, new in sorted(one.edits, reverse=True):
            text = text[:start] + new + text[end:]
        again = Surveyor(Wanted()).survey(one.file, text.encode())
        if not isinstance(again, Surveyed):  # a file that only calls
            again = Surveyor(Wanted()).parse(one.file, text.encode())
        files = [again if known.file == one.file else known for known in self.files]
        return Tree(files, self.project).found() + list(again.findings)


# Places


def offset(text: str, line: int, column: int) -> int:
    """The character at a line and a column in bytes, as `ast` counts."""
    at = 0
    for _ in range(line - 1):
        at = text.index("\n", at) + 1
    row = text[at:].split("\n", 1)[0]
    return at + len(row.encode()[:column].decode())


def node_span(text: str, node: ast.AST) -> tuple[int, int]:
    start = offset(text, node.lineno, node.col_offset)  # type: ignore[attr-defined]
    return start, offset(text, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def at_text(text: str, schema: Text, start: int, end: int) -> tuple[int, int] | None:
    """Where a part of a schema stands in its file; None where it is not spelled out."""
    if not schema.whole(start, end):
        return None
    span = schema.span(start, end)
    row = text.split("\n")[: span.line]
    at = sum(len(line) + 1 for line in row[:-1]) + span.column - 1
    return (
        (at, at + end - start) if text[at : at + end - start] == schema.value[start:end] else None
    )


# Breaks of Python functions


@dataclass(frozen=True)
class Head:
    """The parameters of a `def`, as text: each positional one with where it begins and ends."""

    text: str
    node: ast.FunctionDef

    @property
    def positional(self) -> list[ast.arg]:
        return [*self.node.args.posonlyargs, *self.node.args.args]

    def default(self, number: int) -> ast.expr | None:
        given = self.node.args.defaults
        place = number - (len(self.positional) - len(given))
        return given[place] if place >= 0 else None

    def span(self, number: int) -> tuple[int, int]:
        start, end = node_span(self.text, self.positional[number])
        default = self.default(number)
        return start, end if default is None else node_span(self.text, default)[1]

    @property
    def lines(self) -> tuple[int, int]:
        return self.node.lineno, self.node.body[0].lineno

    @property
    def plain(self) -> bool:
        """Whether there is nothing but positional parameters."""
        given = self.node.args
        return not (given.vararg or given.kwarg or given.kwonlyargs)

    @property
    def first_statement(self) -> int:
        """Where a statement can be put in, its indentation written."""
        return offset(self.text, self.node.body[0].lineno, 0)

    @property
    def indent(self) -> str:
        return " " * self.node.body[0].col_offset


def of_head(head: Head, schema: Schema) -> Iterator[tuple[str, tuple[str, ...], tuple[Edit, ...]]]:
    """Breaks of the parameters of a function that the dispatcher calls."""
    names = [arg.arg for arg in head.positional]
    arguments = [a for a in schema.arguments if not a.kw_only]
    if not head.plain or len(names) != len(arguments) or not names:
        return
    last = len(names) - 1
    if last:
        yield "parameter dropped", ("OW301",), ((head.span(last - 1)[1], head.span(last)[1], ""),)
    end = head.span(last)[1]
    yield "parameter added", ("OW302",), ((end, end, ", *, zz_more"),)
    for one in range(last):
        if (head.default(one) is None) == (head.default(one + 1) is None):
            # Under another name, types and defaults tell it.
            other = () if {*names} == {a.name for a in arguments} else ("OW304", "OW307")
            yield "order swapped", ("OW303", *other), tuple(_swapped(head, one))
            break
    start = head.span(last)[0]
    # Under another name it is an argument that the function lacks.
    code = "OW306" if names[last] == arguments[last].name else "OW301"
    yield "keyword-only", (code,), ((start, start, "*, "),)
    yield from _defaults(head, schema)
    yield from _types(head, schema)


def _swapped(head: Head, one: int) -> Iterator[Edit]:
    first, second = head.span(one), head.span(one + 1)
    yield (*first, head.text[slice(*second)])
    yield (*second, head.text[slice(*first)])


def _defaults(
    head: Head, schema: Schema
) -> Iterator[tuple[str, tuple[str, ...], tuple[Edit, ...]]]:
    arguments = [a for a in schema.arguments if not a.kw_only]
    given = [n for n in range(len(arguments)) if head.default(n) is not None]
    for number in given:
        default = head.default(number)
        if arguments[number].default is REQUIRED or not isinstance(default, ast.Constant):
            continue
        other = OTHER.get(type(default.value))
        if other is not None:
            yield "default changed", ("OW304",), ((*node_span(head.text, default), other(default)),)
            break
    if given and arguments[given[0]].default is not REQUIRED:
        end = node_span(head.text, head.positional[given[0]])[1]
        yield "default dropped", ("OW305",), ((end, head.span(given[0])[1], ""),)


OTHER: dict[type, Callable[[ast.Constant], str]] = {
    bool: lambda node: str(not node.value),
    int: lambda node: str(node.value + 1),  # type: ignore[operator]
    float: lambda node: str(node.value + 1),  # type: ignore[operator]
    str: lambda node: repr(f"{node.value}_"),
    type(None): lambda node: "17",
}


def _types(head: Head, schema: Schema) -> Iterator[tuple[str, tuple[str, ...], tuple[Edit, ...]]]:
    arguments = [a for a in schema.arguments if not a.kw_only]
    for argument, parameter in zip(arguments, head.positional, strict=True):
        if parameter.annotation is not None and argument.type == Base("Tensor"):
            span = node_span(head.text, parameter.annotation)
            yield "type changed", ("OW307",), ((*span, "float"),)
            return


def of_body(head: Head, schema: Schema) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Statements that break a kernel: a write nobody declared, an input given back."""
    written = {argument.name for argument in schema.arguments if argument.writes}
    tensors = [a.name for a in schema.arguments if a.type == Base("Tensor")]
    own = {arg.arg for arg in head.positional}
    free = [name for name in tensors if name not in written and name in own]
    if not free:
        return
    yield "method that writes", ("OW401",), f"{free[0]}.zero_()"
    yield "item assigned", ("OW401",), f"{free[-1]}[0] = 1"
    yield "augmented assignment", ("OW401",), f"{free[0]} += 1"
    yield "view written", ("OW401",), f"zz = {free[0]}.view(-1); zz[0] = 1"
    yield "out= given", ("OW401",), f"import torch as zz; zz.add(1, 1, out={free[-1]})"
    if [returned.type for returned in schema.returns] == [Base("Tensor")]:
        yield "input returned", ("OW403",), f"return {free[0]}"
        yield "view returned", ("OW403",), f"return {free[0]}.t()"


def returns_of(node: ast.FunctionDef) -> Iterator[ast.Tuple]:
    for part in ast.walk(node):
        value = part.value if isinstance(part, ast.Return) else None
        if isinstance(value, ast.Tuple) and len(value.elts) > 1:
            yield value


# All breaks of a tree


def breaks(tree: Tree) -> Iterator[Break]:
    index = tree.index
    for operator in index.operators.values():
        if operator.schema is not None:
            files = registering(operator)
            every = _of_operator(tree, operator, operator.schema)
            yield from (one for one in every if one.file in files)
    for call in index.calls:
        operators = index.overloads.get(call.name.partition(".")[0], ())
        if any(op.schema is not None for op in operators) and not call.guarded:
            yield from _of_call(tree, call, operators)


def registering(operator: Operator) -> set[str]:
    """The files that register it: a break of any other would be read from disk, unbroken."""
    facts = (*(declared.definition for declared in operator.declared), *operator.implementations)
    return {fact.span.file for fact in facts}


def _of_operator(tree: Tree, operator: Operator, schema: Schema) -> Iterator[Break]:
    for declared in operator.declared:
        definition = declared.definition
        if definition.language is Language.PYTHON and definition.signature is not None:
            yield from _of_kernel(tree, operator, schema, definition.signature)
            yield from _of_mutates(tree, operator, definition)
        if definition.text is not None:
            yield from _of_text(tree, operator, definition, definition.text, schema)
    own = {d.definition.signature.span for d in operator.declared if d.definition.signature}
    for one in operator.implementations:
        if one.language is not Language.PYTHON or one.signature is None:
            continue
        if one.signature.span in own:
            continue  # the function that the schema comes from: a change of it changes both
        if one.role is Role.BACKWARD:
            yield from _of_backward(tree, operator, one)
        elif one.role is Role.SETUP_CONTEXT:
            yield from _of_setup(tree, operator, one.signature)
        elif one.role in (Role.KERNEL, Role.FAKE) and not one.key.startswith("Autograd"):
            yield from _of_called(tree, operator, schema, one)


def _head(tree: Tree, signature: Signature) -> Head | None:
    node = tree.function(signature)
    return None if node is None else Head(tree.text(signature.span.file), node)


def _of_called(
    tree: Tree, operator: Operator, schema: Schema, one: Implementation
) -> Iterator[Break]:
    assert one.signature is not None
    head = _head(tree, one.signature)
    if head is None:
        return
    file, lines = one.signature.span.file, (one.signature.span.file, *head.lines)
    for kind, codes, edits in of_head(head, schema):
        yield Break(kind, codes, file, edits, (lines,), operator.name)
    if len(schema.returns) > 1:
        for value in returns_of(head.node):
            start = node_span(head.text, value.elts[-2])[1]
            end = node_span(head.text, value.elts[-1])[1]
            if len(value.elts) == len(schema.returns) > 2:
                place = (file, value.lineno, value.end_lineno or value.lineno)
                edit = ((start, end, ""),)
                yield Break("return dropped", ("OW308",), file, edit, (place,), operator.name)
            break
    if one.role is Role.KERNEL:
        yield from _of_kernel(tree, operator, schema, one.signature)


def _of_kernel(
    tree: Tree, operator: Operator, schema: Schema, signature: Signature
) -> Iterator[Break]:
    head = _head(tree, signature)
    if head is None or any(p.kind is Kind.VARARGS for p in signature.parameters):
        return
    file, line = signature.span.file, head.node.body[0].lineno
    for kind, codes, statement in of_body(head, schema):
        edit = (head.first_statement, head.first_statement, f"{head.indent}{statement}\n")
        yield Break(kind, codes, file, (edit,), ((file, line, line),), operator.name)


def _of_mutates(tree: Tree, operator: Operator, definition: Definition) -> Iterator[Break]:
    span = definition.mutates_span
    if not span.line or isinstance(definition.mutates, str) or not definition.mutates:
        return
    text = tree.text(span.file)
    start = offset(text, span.line, 0) + span.column - 1
    inside = re.compile(r"[\"'](\w+)[\"']").search(text, start)
    if inside is not None and definition.body is not None:
        place = ((span.file, span.line, span.end_line),)
        edit = ((inside.start(1), inside.end(1), "zz_none"),)
        yield Break("unknown in mutates_args", ("OW404",), span.file, edit, place, operator.name)


def _of_backward(tree: Tree, operator: Operator, one: Implementation) -> Iterator[Break]:
    assert one.signature is not None
    head = _head(tree, one.signature)
    if head is None:
        return
    file = one.signature.span.file
    for value in returns_of(head.node):
        if not any(isinstance(part, ast.Starred) for part in value.elts):
            end = node_span(head.text, value.elts[-1])[1]
            place = ((file, value.lineno, value.end_lineno or value.lineno),)
            edit = ((end, end, ", None"),)
            yield Break("gradient added", ("OW321",), file, edit, place, operator.name)
            start = node_span(head.text, value.elts[-2])[1]
            edit = ((start, end, ""),)
            if len(value.elts) > 2:
                yield Break("gradient dropped", ("OW321",), file, edit, place, operator.name)
            break
    if head.plain and head.positional:
        end = head.span(len(head.positional) - 1)[1]
        lines = ((file, *head.lines),)
        edit = ((end, end, ", zz_more"),)
        if head.default(len(head.positional) - 1) is None:
            yield Break("gradient taken", ("OW322",), file, edit, lines, operator.name)


def _of_setup(tree: Tree, operator: Operator, signature: Signature) -> Iterator[Break]:
    head = _head(tree, signature)
    if head is not None and len(head.positional) == 3 and head.plain:
        start, _ = node_span(head.text, head.positional[2])
        end = start + len(head.positional[2].arg)
        edit, lines = ((start, end, "zz_out"),), ((signature.span.file, *head.lines),)
        yield Break(
            "setup_context renamed", ("OW320",), signature.span.file, edit, lines, operator.name
        )


def _of_text(
    tree: Tree, operator: Operator, definition: Definition, text: Text, schema: Schema
) -> Iterator[Break]:
    """Breaks of a handwritten schema."""
    source, file = tree.text(text.file), text.file
    first = text.value.find("Tensor")
    place = at_text(source, text, first, first + 6) if first >= 0 else None
    if place is not None:
        span = text.span(first, first + 6)
        line = ((file, span.line, span.line),)
        edit = ((*place, "Tensr"),)
        yield Break("type misspelled", ("OW003",), file, edit, line, operator.name)
    if definition.language is Language.CPP:
        yield from _of_cpp(tree, operator, definition, text, schema)
    other = _functions_of(operator)
    number = re.compile(r"\bint (\w+)=(\d+)").search(text.value)
    place = at_text(source, text, number.start(2), number.end(2)) if number else None
    if other and number is not None and place is not None:
        edit = ((*place, str(int(number[2]) + 1)),)
        codes = ("OW206", "OW304", "OW503")
        defaulted = any(
            p.name == number[1] and p.default is not REQUIRED for p in other[0].parameters
        )
        if defaulted:
            yield Break("schema default changed", codes, file, edit, anywhere(tree), operator.name)
    close = _closing(text.value)
    place = at_text(source, text, close, close + 1) if close > 0 else None
    if other and place is not None and schema.arguments and not schema.arguments[-1].kw_only:
        more = (
            ", int zz_more=1" if schema.arguments[-1].default is not REQUIRED else ", int zz_more"
        )
        edit = ((place[0], place[0], more),)
        yield Break(
            "schema argument added",
            ("OW204", "OW301", "OW503"),
            file,
            edit,
            anywhere(tree),
            operator.name,
        )


def _closing(text: str) -> int:
    """The bracket that closes the arguments of a schema."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == ")" and depth == 0:
            return at
    return -1


def _functions_of(operator: Operator) -> list[Signature]:
    found = [
        one.signature
        for one in operator.implementations
        if one.signature is not None
        and one.language is Language.PYTHON
        and one.role in (Role.KERNEL, Role.FAKE)
        and not one.key.startswith("Autograd")
        and all(p.kind in (Kind.POSITIONAL, Kind.KEYWORD) for p in one.signature.parameters)
    ]
    own = [
        d.definition.signature
        for d in operator.declared
        if d.definition.signature is not None and d.definition.language is Language.PYTHON
    ]
    return found + own


def anywhere(tree: Tree) -> tuple[tuple[str, int, int], ...]:
    return tuple((one.file, 1, 10**9) for one in tree.files)


def _of_cpp(
    tree: Tree, operator: Operator, definition: Definition, text: Text, schema: Schema
) -> Iterator[Break]:
    """Breaks of a schema that C++ functions stand against, and of those functions."""
    signatures = [*_cpp_functions(operator)]
    if not signatures:
        return
    source, lines = tree.text(text.file), tuple(map(head_lines, signatures))
    for kind, codes, (start, end), new in _cpp_schema(text.value, schema, signatures):
        place = at_text(source, text, start, end)
        if place is not None:
            yield Break(kind, codes, text.file, ((*place, new),), lines, operator.name)
    for signature in signatures:
        file = signature.span.file
        code = tree.text(file)
        for kind, codes, edits in _cpp_head(code, schema, signature):
            yield Break(kind, codes, file, edits, (head_lines(signature),), operator.name)


def _cpp_functions(operator: Operator) -> Iterator[Signature]:
    """The C++ functions that an operator is registered with, each once."""
    found = [one.signature for one in operator.implementations]
    found += [declared.definition.signature for declared in operator.declared]
    named = [s for s in found if s is not None and s.language is Language.CPP]
    yield from {s.span: s for s in named if s.name != "a lambda"}.values()


def head_lines(signature: Signature) -> tuple[str, int, int]:
    """The lines of a function's head."""
    span = signature.span
    last = max([span.line, *(p.span.end_line for p in signature.parameters)])
    return span.file, span.line, last


CppText = tuple[str, tuple[str, ...], tuple[int, int], str]
CppHead = tuple[str, tuple[str, ...], tuple[Edit, ...]]


def _cpp_schema(text: str, schema: Schema, signatures: list[Signature]) -> Iterator[CppText]:
    """Breaks of the text: what, by which code, where, and what comes instead."""
    close = _closing(text)
    spans = argument_spans(text)
    given = [s for s in signatures if len(s.parameters) == len(spans) == len(schema.arguments)]
    if close > 0 and schema.arguments:
        marked = "" if schema.arguments[-1].kw_only else "*, "
        yield (
            "C++: schema argument added",
            ("OW701",),
            (close, close),
            f", {marked}bool zz_more=True",
        )
    if len(spans) > 1:
        yield "C++: schema argument dropped", ("OW701",), (spans[-2][1], spans[-1][1]), ""
    for number, (start, end) in enumerate(spans):
        base = re.match(r"(Tensor|int|float|bool|str)\b(?![\[(?!])", text[start:end])
        known = any(s.parameters[number].type is not None for s in given)
        if base is not None and known and "=" not in text[start:end]:
            other = "float" if base[1] == "Tensor" else "Tensor"
            place = start, start + base.end()
            yield "C++: schema type changed", ("OW702",), place, other
            yield "C++: schema argument made a list", ("OW702",), place, f"{base[1]}[]"
            yield "C++: schema argument made optional", ("OW702",), place, f"{base[1]}?"
            break
    arrow = text.rfind("->") + 2
    if arrow > 1 and any(s.returns is not None for s in signatures):
        result = "int" if text[arrow:].strip() != "int" else "Tensor"
        yield "C++: schema return changed", ("OW703",), (arrow, len(text)), f" {result}"
        if len(schema.returns) > 1 and "," in text[arrow:]:
            last = text.rindex(","), text.rindex(")")
            yield "C++: schema return dropped", ("OW703",), last, ""


def _cpp_head(code: str, schema: Schema, signature: Signature) -> Iterator[CppHead]:
    """Breaks of a function's parameters and result."""
    spans = [span_in(code, p.span) for p in signature.parameters]
    if not spans or len(spans) != len(schema.arguments):
        return
    end = spans[-1][1]
    yield "C++: parameter added", ("OW701",), ((end, end, ", int64_t zz_more"),)
    if len(spans) > 1:
        yield "C++: parameter dropped", ("OW701",), ((spans[-2][1], end, ""),)
    for one, other in zip(range(len(spans)), range(1, len(spans)), strict=False):
        kinds = [signature.parameters[n].type for n in (one, other)]
        if None not in kinds and kinds[0] != kinds[1] and plain_swap(kinds):
            first, second = spans[one], spans[other]
            swapped = ((*first, code[slice(*second)]), (*second, code[slice(*first)]))
            yield "C++: order swapped", ("OW702",), swapped
            break
    for parameter, (start, stop) in zip(signature.parameters, spans, strict=True):
        if parameter.type == Base("Tensor") and parameter.name:
            retyped = f"std::optional<at::Tensor> {parameter.name}"
            yield "C++: parameter made optional", ("OW702",), ((start, stop, retyped),)
            listed = f"std::vector<at::Tensor> {parameter.name}"
            yield "C++: parameter made a list", ("OW702",), ((start, stop, listed),)
            yield "C++: type changed", ("OW702",), ((start, stop, f"double {parameter.name}"),)
            break
    yield from _cpp_result(code, signature)


def plain_swap(kinds: list[Type | None]) -> bool:
    """Whether torch tells two types apart: `int64_t` may stand for several."""
    return {Base("Tensor")} & {*kinds} != set()


def _cpp_result(code: str, signature: Signature) -> Iterator[CppHead]:
    """The result before a function's name, where it stands there as it was read."""
    name, _ = span_in(code, signature.span)
    written = re.compile(r"\s*".join(map(re.escape, signature.shown_returns.split())) + r"\s*\Z")
    found = written.search(code, 0, name) if signature.shown_returns else None
    if found is not None and signature.returns:
        place = found.start(), found.start() + len(found.group().rstrip())
        yield "C++: return changed", ("OW703",), ((*place, "int64_t"),)
        yield "C++: return dropped", ("OW703",), ((*place, "void"),)


def span_in(text: str, span: Span) -> tuple[int, int]:
    """The characters of a place."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    end = starts[span.end_line - 1] + span.end_column - 1
    return starts[span.line - 1] + span.column - 1, end


def _of_call(tree: Tree, call: Call, operators: tuple[Operator, ...]) -> Iterator[Break]:
    text = tree.text(call.span.file)
    end = offset(text, call.span.end_line, 0) + call.span.end_column - 2
    start = offset(text, call.span.line, 0) + call.span.column - 1
    lines = ((call.span.file, call.span.line, call.span.end_line),)
    if text[end] != ")" or call.open:
        return
    before = re.sub(r"#[^\n]*\Z", "", text[start:end].rstrip()).rstrip()
    glue = "" if before.endswith(("(", ",")) else ", "
    at = end
    known = ((at, at, f"{glue}zz_none=1"),)
    yield Break("unknown keyword", ("OW603",), call.span.file, known, lines, call.name)
    if not call.keywords:
        more = ((at, at, glue + ", ".join(["1"] * 40)),)
        yield Break("too many arguments", ("OW602",), call.span.file, more, lines, call.name)
    opening = text.find("(", start)
    required = all(
        op.schema is not None and any(a.default is REQUIRED for a in op.schema.arguments)
        for op in operators
    )
    if required and (call.positional or call.keywords) and "(" not in text[start:opening]:
        edit = ((opening + 1, end, ""),)
        yield Break("arguments dropped", ("OW604",), call.span.file, edit, lines, call.name)
    name = call.name.partition("::")[2].partition(".")[0]
    place = text.find(f".{name}", start, opening + 1)
    if place >= 0 and len(name) > 6:
        edit = ((place + 3, place + 4, ""),)
        yield Break("operator misspelled", ("OW601",), call.span.file, edit, lines, call.name)


# Counting


def is_found(one: Break, before: set[tuple[str, str, str]], after: list[Diagnostic]) -> bool:
    for found in after:
        if found.code in one.codes and key(found) not in before:
            for file, first, last in one.lines:
                if found.span.file == file and first <= found.span.line <= last + 1:
                    return True
    return False


def key(found: Diagnostic) -> tuple[str, str, str]:
    return found.code, found.span.file, found.message


def run(folder: Path) -> Iterator[tuple[Break, bool]]:
    """Every break of a corpus, and whether it is found."""
    tree = Tree.of(folder)
    before = {key(found) for found in tree.found()}
    every = list(breaks(tree))
    for one in every[:: max(1, -(-len(every) // MOST))]:
        yield one, is_found(one, before, tree.broken(one))


def folders(names: list[str]) -> list[Path]:
    there = sorted(path for path in CORPORA.iterdir() if path.is_dir())
    return [path for path in there if not names or any(name in path.name for name in names)]


def counted(folder: Path) -> list[tuple[str, bool, str]]:
    """Every break of a corpus in short: its kind, whether it is found, what it is."""
    return [
        (
            one.kind,
            good,
            f"- {folder.name}: {one.kind}, {one.operator}, `{Path(one.file).relative_to(folder)}`",
        )
        for one, good in run(folder)
    ]


def main() -> int:
    tried: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    missed: list[str] = []
    # The largest first: it takes as long as all others together.
    every = sorted(folders(sys.argv[1:]), key=lambda folder: folder.name[0] != "f")
    with ProcessPoolExecutor() as pool:
        rows_of = [row for rows in pool.map(counted, every) for row in rows]
    for kind, good, told in rows_of:
        tried[kind] += 1
        hit[kind] += good
        missed += [] if good else [told]
    total, found = sum(tried.values()), sum(hit.values())
    rows = [f"| {kind} | {tried[kind]} | {hit[kind]} |" for kind in sorted(tried)]
    rows.append(f"| all | {total} | {found} ({found / max(total, 1):.1%}) |")
    text = "\n".join([HEAD, *rows, "", "## Not found", "", *(sorted(missed) or ["Nothing."])])
    if sys.argv[1:]:
        print(text)
    else:
        PAGE.write_text(f"{text}\n")
    return 0


HEAD = """# Recall of the linter

Operators of real packages, broken one thing at a time: each row is a kind of break, how often it
could be tried, and how often a new finding with the right code stood at the right line. Of a
package with more than 150 possible breaks an even sample was tried. Written by `scripts/recall.py`.

| break | tried | found |
|---|--:|--:|"""


if __name__ == "__main__":
    sys.exit(main())
