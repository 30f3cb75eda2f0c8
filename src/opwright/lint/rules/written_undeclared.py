"""What a kernel writes, against what its schema says that it writes."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Edit, Fix, Related, Span
from opwright.frozen import frozen
from opwright.lint.places import argument_spans, schema_place
from opwright.lint.rule import Rule
from opwright.schema.model import Argument, Schema
from opwright.survey.body import RESIZES
from opwright.survey.facts import UNKNOWN, Body, Handed, Kind, Role, Signature
from opwright.survey.index import Declared, Index, Operator


@frozen
class Function:
    """A kernel with its schema."""

    operator: Operator
    schema: Schema
    signature: Signature
    body: Body

    def argument(self, name: str) -> Argument | None:
        """The argument that a parameter stands for: by place, keyword-only by name."""
        positional = [a for a in self.schema.arguments if not a.kw_only]
        own = [p.name for p in self.signature.parameters if p.kind is Kind.POSITIONAL]
        if name in own and own.index(name) < len(positional):
            return positional[own.index(name)]
        return next((a for a in self.schema.arguments if a.name == name), None)


def kernels(index: Index) -> Iterator[Function]:
    """Every function that computes for an operator: kernels, and what `custom_op` decorates."""
    seen = set()
    for operator in index.operators.values():
        schema = operator.schema
        if schema is None:
            continue
        for signature, body in _functions(operator):
            if (operator.name, signature.span) not in seen:
                seen.add((operator.name, signature.span))
                yield Function(operator, schema, signature, body)


def _functions(operator: Operator) -> Iterator[tuple[Signature, Body]]:
    for declared in operator.declared:
        definition = declared.definition
        if definition.signature is not None and definition.body is not None:
            yield definition.signature, definition.body
    for one in operator.roles(Role.KERNEL):
        if (
            one.signature is not None
            and one.body is not None
            and not one.key.startswith("Autograd")
        ):
            yield one.signature, one.body


@frozen
class Found:
    """A write of a parameter: the words for it and its place."""

    parameter: str
    how: str
    span: Span
    related: tuple[Related, ...] = ()


def writes(index: Index, function: Function) -> Iterator[Found]:
    """Everything that a body writes: itself, or by an operator whose schema says so."""
    for write in function.body.writes:
        yield Found(write.parameter, write.how, write.span)
    for handed in function.body.handed:
        written = written_by(index, handed)
        if written is not None:
            yield Found(handed.parameter, f"{handed.operator} writes it", handed.span, written)


def written_by(index: Index, handed: Handed) -> tuple[Related, ...] | None:
    """Where the operator says that it writes what it is handed; None if it does not."""
    name = handed.operator
    schema = index.schema(name)
    if schema is None:
        first = handed.position == 0 and name.partition("::")[0] in ("aten", "prims")
        return () if first and _in_place(name) else None
    argument = _met(schema, handed)
    if argument is None or not argument.writes:
        return None
    operator = index.defined.get(name)
    return schema_place(operator, argument) if operator else ()


def _in_place(name: str) -> bool:
    base = name.partition("::")[2].partition(".")[0]
    return base.endswith("_") and not base.endswith("__")


def _met(schema: Schema, handed: Handed) -> Argument | None:
    if handed.keyword:
        return next((a for a in schema.arguments if a.name == handed.keyword), None)
    positional = [a for a in schema.arguments if not a.kw_only]
    return positional[handed.position] if handed.position < len(positional) else None


def undeclared(index: Index) -> Iterator[Diagnostic]:
    for function in kernels(index):
        told: set[str] = set()
        for found in writes(index, function):
            argument = function.argument(found.parameter)
            if argument is None or argument.writes or argument.name in told:
                continue
            if _resizes(found):
                continue
            told.add(argument.name)
            message = (
                f"{argument.name!r} of {function.operator.name} is written here ({found.how}), and "
                "the schema does not say so: torch.compile may drop the write"
            )
            related = (*schema_place(function.operator, argument), *found.related)
            hint, fix = _remedy(function, argument), _declare(function, argument)
            yield finding("OW401", message, span=found.span, hint=hint, related=related, fix=fix)


def _declare(function: Function, argument: Argument) -> Fix | None:
    """The argument declared as written, where that is one edit; callers must want it, too."""
    home = function.operator.home
    if home is None:
        return None
    definition = home.definition
    if definition.text is not None and home.schema is not None:
        return _mark(home, argument)
    names = definition.mutates
    if names is None or names is UNKNOWN or not definition.mutates_span.line:
        return None
    shown = ", ".join(f'"{name}"' for name in (*names, argument.name))
    edit = Edit(definition.mutates_span, f"{{{shown}}}")
    return Fix("Name it in mutates_args", (edit,), safe=False)


def _mark(home: Declared, argument: Argument) -> Fix | None:
    """`Tensor x` as `Tensor(a!) x`, with a letter that is free."""
    text, schema = home.definition.text, home.schema
    assert text is not None
    assert schema is not None
    number = [a.name for a in schema.arguments].index(argument.name)
    start, end = argument_spans(text.value)[number]
    at = text.value.find("Tensor", start, end) + len("Tensor")
    if at < len("Tensor") or text.value[at : at + 1] == "(" or not text.whole(at - 1, at):
        return None
    letter = next(c for c in "abcdefghijklmnopqrstuvwxyz" if f"({c}" not in text.value)
    span = text.span(at, at)
    return Fix("Mark it in the schema", (Edit(span, f"({letter}!)"),), safe=False)


def _remedy(function: Function, argument: Argument) -> str:
    home = function.operator.home
    if home is not None and home.definition.mutates is not None:
        return f'write `mutates_args={{"{argument.name}"}}`'
    if home is not None and home.definition.via == "opwright.op":
        return f"annotate `{argument.name}: Mutable[Tensor]`"
    return f"write `{str(argument).replace('Tensor', 'Tensor(a!)', 1)}` in the schema"


def _resizes(found: Found) -> bool:
    return any(found.how.strip("`").endswith(f".{name}(...)") for name in RESIZES)


def resized(index: Index) -> Iterator[Diagnostic]:
    for function in kernels(index):
        for found in writes(index, function):
            argument = function.argument(found.parameter)
            if argument is not None and _resizes(found):
                message = (
                    f"{found.how} changes the storage or size of {argument.name!r} of "
                    f"{function.operator.name}: no schema can say that, torch.compile goes wrong"
                )
                hint = "write into it with `copy_`, or return a new tensor"
                related = schema_place(function.operator, argument)
                yield finding("OW407", message, span=found.span, hint=hint, related=related)


def never_written(index: Index) -> Iterator[Diagnostic]:
    for function in kernels(index):
        home = function.operator.home
        if function.body.stub or (home is not None and home.definition.mutates_all):
            continue
        written = {found.parameter for found in writes(index, function)}
        touched = written | set(function.body.escapes)
        touched |= {h.parameter for h in function.body.handed if index.schema(h.operator) is None}
        for parameter in function.signature.parameters:
            argument = function.argument(parameter.name)
            if argument is not None and argument.writes and parameter.name not in touched:
                message = (
                    f"the schema of {function.operator.name} says that {argument.name!r} is "
                    f"written, and {function.signature.name!r} never writes it"
                )
                related = schema_place(function.operator, argument)
                yield finding("OW402", message, span=parameter.span, related=related)


_DEFINE = """
import torch

@torch.library.custom_op("mylib::fill", mutates_args={writes})
def fill(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    {body}
    return x + 1

@fill.register_fake
def _(x, y):
    return torch.empty_like(x)
"""

RULES = (
    Rule(
        "OW401",
        "torch.compile believes the schema. What it does not say is written may be computed once, "
        "moved or dropped, and eager mode and compiled code give different numbers. Writes are "
        "methods that end in `_`, `out=`, item and augmented assignment, `.data`, views of an "
        "argument, and what is passed on to an operator that writes it.",
        bad=_DEFINE.format(writes="()", body="y.view(-1)[0] = 1"),
        good=_DEFINE.format(writes='("y",)', body="y.view(-1)[0] = 1"),
        check=undeclared,
        fixes="declares the write (unsafe)",
    ),
    Rule(
        "OW402",
        "An argument that is declared as written costs copies and order; the body never writes it.",
        bad=_DEFINE.format(writes='("y",)', body="x = x + y"),
        good=_DEFINE.format(writes="()", body="x = x + y"),
        check=never_written,
    ),
    Rule(
        "OW407",
        "`set_` and `resize_` change what a tensor is, not what is in it. Functionalization has no "
        "words for that on an argument of an operator.",
        bad=_DEFINE.format(writes='("y",)', body="y.resize_(3)"),
        good=_DEFINE.format(writes='("y",)', body="y.fill_(3)"),
        check=resized,
    ),
)
