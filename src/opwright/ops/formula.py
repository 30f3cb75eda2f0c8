"""What an author says of an operator's gradient, and whether it fits the operator.

Knows signatures and return statements; knows nothing of how autograd records.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from opwright.findings import Diagnostic, Span
from opwright.schema.model import Schema, nodes
from opwright.survey.returns import Returned, returned

Run: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Formula:
    """How the gradient is computed, and what it needs of the forward.

    `save` names arguments or results that are kept for the backward: tensors come back in
    `ctx.saved_tensors`, in the order named, everything else is an attribute of `ctx`.
    """

    backward: Run
    setup_context: Run | None = None
    save: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """What the recording needs to know of an operator.

    `parameters` are the names that the author's functions speak of, and `counts` how many
    arguments of the schema stand behind each: 1, or the fields of a structure, for which `unpack`
    (arguments to parameters) and `pack` (one parameter's gradient to its arguments) are given.
    `defaults` are the Python values of the schema's defaults; `wrap` names a result's parts.
    """

    schema: Schema
    parameters: tuple[str, ...]
    counts: tuple[int, ...]
    defaults: tuple[object, ...]
    unpack: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    pack: Callable[[int, Any], Sequence[Any]] | None = None
    wrap: Callable[[Any], Any] | None = None


def result_names(schema: Schema) -> tuple[str, ...]:
    """What `save` calls the results: their own names, or `output`, or `output0`, `output1`, ..."""
    several = len(schema.returns) > 1
    return tuple(
        part.name or (f"output{place}" if several else "output")
        for place, part in enumerate(schema.returns)
    )


def keyword_only(site: Site) -> tuple[str, ...]:
    """The parameters that go by keyword only; a structure stands where its first field stands."""
    starts = [sum(site.counts[:place]) for place in range(len(site.counts))]
    arguments = site.schema.arguments
    return tuple(
        name
        for name, start, count in zip(site.parameters, starts, site.counts, strict=True)
        if count and arguments[start].kw_only
    )


def gradient_counts(site: Site) -> set[int]:
    """How many gradients a backward may give: one for each parameter.

    Those of keyword-only arguments may be left out where none of these holds a tensor.
    """
    whole = len(site.parameters)
    tensors = any(
        getattr(node, "name", "") == "Tensor"
        for argument in site.schema.arguments
        if argument.kw_only
        for node in nodes(argument.type)
    )
    return {whole} if tensors else {whole, whole - len(keyword_only(site))}


def miscounted(site: Site, backward: Run, count: int) -> str:
    """The sentence about a backward that gives another number of gradients."""
    parameters = ", ".join(site.parameters)
    return (
        f"{where(backward)} gives {count} gradient{'s' * (count != 1)}, but {site.schema.qualname} "
        f"has {len(site.parameters)} parameter{'s' * (len(site.parameters) != 1)} ({parameters})"
    )


# Does it fit? -----------------------------------------------------------------------------------


def check(site: Site, formula: Formula) -> Iterator[Diagnostic]:
    """Everything about a formula that can be seen not to fit its operator."""
    yield from _differentiable(site)
    yield from _takes_gradients(site, formula.backward)
    yield from _counts(site, formula.backward)
    if formula.setup_context is not None:
        yield from _context(site, formula)
    yield from _saves(site, formula.save)


def _differentiable(site: Site) -> Iterator[Diagnostic]:
    schema = site.schema
    written = [argument.name for argument in schema.arguments if argument.writes]
    if written:
        yield Diagnostic(
            "OW231",
            f"{schema.qualname} writes {', '.join(map(repr, written))}, so it has no gradient",
            "give the formula to a functional operator, and write its result",
        )
    if not schema.returns:
        yield Diagnostic("OW231", f"{schema.qualname} returns nothing, so it has no gradient")


def _takes_gradients(site: Site, backward: Run) -> Iterator[Diagnostic]:
    """`backward(ctx, grad, ...)`: one gradient for each result."""
    count = len(site.schema.returns)
    if not _accepts(backward, count + 1):
        names = ", ".join(["ctx", *(f"grad_{name}" for name in result_names(site.schema))])
        yield Diagnostic(
            "OW232",
            f"{where(backward)} cannot be called with ctx and {count} gradient"
            f"{'s' * (count != 1)}, one for each result of {site.schema.qualname}",
            f"write `def backward({names})`",
            _place(backward),
        )


def _counts(site: Site, backward: Run) -> Iterator[Diagnostic]:
    """Only a tuple is counted: a backward with one expression may compute a tuple."""
    fitting = gradient_counts(site)
    for way, span in _ways_out(backward):
        if way.count not in fitting:
            yield Diagnostic(
                "OW233",
                miscounted(site, backward, way.count),
                "return one for each parameter, None where there is none",
                span,
            )


def _context(site: Site, formula: Formula) -> Iterator[Diagnostic]:
    """The names are torch's, which calls by keyword; a leading underscore says `unused`."""
    assert formula.setup_context is not None
    given = [name.lstrip("_") for name in parameters_of(formula.setup_context)]
    plain, apart = ["ctx", "inputs", "output"], ["ctx", "inputs", "keyword_only_inputs", "output"]
    if given != plain and not (given == apart and keyword_only(site)):
        yield Diagnostic(
            "OW234",
            f"{where(formula.setup_context)} takes ({', '.join(given)})",
            f"write `def setup_context({', '.join(plain)})`; `inputs` goes by place and by name",
            _place(formula.setup_context),
        )
    if formula.save:
        yield Diagnostic(
            "OW234",
            f"{site.schema.qualname} has both a setup_context and save={formula.save!r}",
            "save everything in setup_context, or everything by name",
            _place(formula.setup_context),
        )


def _saves(site: Site, names: Sequence[str]) -> Iterator[Diagnostic]:
    known = [*(argument.name for argument in site.schema.arguments), *result_names(site.schema)]
    for name in names:
        if name not in known:
            yield Diagnostic(
                "OW235",
                f"{site.schema.qualname} has no argument or result {name!r} to save",
                f"save any of {', '.join(known)}",
            )


# What can be seen of a function -----------------------------------------------------------------


def where(function: Run) -> str:
    """How a message names a function: `backward of rms_norm (ops.py:12)`."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = getattr(function, "__qualname__", repr(function)).replace(".<locals>", "")
    return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"


def parameters_of(function: Run) -> list[str]:
    return list(inspect.signature(function).parameters)


def _accepts(function: Run, count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    return True


def _place(function: Run) -> Span:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Span() if code is None else Span(code.co_filename, code.co_firstlineno)


def _ways_out(function: Run) -> Iterator[tuple[Returned, Span]]:
    """The return values of a function whose text can be had, and where they stand in its file."""
    function = inspect.unwrap(function)
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or ""
    except (OSError, TypeError):
        return  # typed into a prompt, compiled, or built in: seen when it runs
    tree = _parsed("".join(lines))
    for way in returned(tree) if tree is not None else ():
        indent = len(lines[0]) - len(lines[0].lstrip())
        line = getattr(way.node, "lineno", 1) + first - 1
        yield way, Span(file, line, getattr(way.node, "col_offset", 0) + indent + 1)


def _parsed(text: str) -> ast.FunctionDef | ast.Lambda | None:
    """The one function in this text; the lines around a lambda may be half a statement."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return None
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    return found[0] if found and (len(found) == 1 or found[0] is tree.body[0]) else None
