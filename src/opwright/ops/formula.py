"""What an author says of an operator's gradient, and whether it fits the operator.

Knows signatures and return statements; knows nothing of how autograd records.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, TypeAlias

from opwright.findings import Diagnostic, Span
from opwright.ops.plan import Plan
from opwright.schema.model import Schema, nodes
from opwright.survey.returns import Returned, returned

Run: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Formula:
    """How the gradient is computed, and what it needs of the forward.

    `save` names arguments or results that are kept for the backward: tensors come back in
    `ctx.saved_tensors`, in the order named, everything else is an attribute of `ctx`.
    """

    backward: Run | None = None
    setup_context: Run | None = None
    save: tuple[str, ...] = ()

    def functions(self) -> tuple[Run, ...]:
        """What the author wrote of it."""
        return tuple(one for one in (self.backward, self.setup_context) if one is not None)


NO_FORMULA = Formula()


def result_names(schema: Schema) -> tuple[str, ...]:
    """What `save` calls the results: their own names, or `output`, or `output0`, `output1`, ..."""
    several = len(schema.returns) > 1
    return tuple(
        part.name or (f"output{place}" if several else "output")
        for place, part in enumerate(schema.returns)
    )


def parameters(plan: Plan) -> tuple[str, ...]:
    """The names that the author's functions speak of: a structure is one parameter."""
    return tuple(binding.name for binding in plan.bindings)


def keyword_only(plan: Plan) -> tuple[str, ...]:
    """Those of them that go by keyword only, which come last."""
    given = plan.signature.parameters
    return tuple(name for name in parameters(plan) if given[name].kind is Parameter.KEYWORD_ONLY)


def gradient_counts(plan: Plan) -> set[int]:
    """How many gradients a backward may give: one for each parameter.

    Those of keyword-only arguments may be left out where none of these holds a tensor.
    """
    whole = len(plan.bindings)
    tensors = any(
        getattr(node, "name", "") == "Tensor"
        for argument in plan.schema.arguments
        if argument.kw_only
        for node in nodes(argument.type)
    )
    return {whole} if tensors else {whole, whole - len(keyword_only(plan))}


def miscounted(plan: Plan, backward: Run, count: int) -> str:
    """The sentence about a backward that gives another number of gradients."""
    names = parameters(plan)
    return (
        f"{where(backward)} gives {count} gradient{'s' * (count != 1)}, but {plan.schema.qualname} "
        f"has {len(names)} parameter{'s' * (len(names) != 1)} ({', '.join(names)})"
    )


# Does it fit? -----------------------------------------------------------------------------------


def check(plan: Plan, formula: Formula) -> Iterator[Diagnostic]:
    """Everything about a formula that can be seen not to fit its operator."""
    yield from _differentiable(plan)
    if formula.backward is not None:
        yield from _takes_gradients(plan, formula.backward)
        yield from _counts(plan, formula.backward)
    if formula.setup_context is not None:
        yield from _context(plan, formula.setup_context, formula.save)
    yield from _saves(plan, formula.save)


def _differentiable(plan: Plan) -> Iterator[Diagnostic]:
    schema = plan.schema
    written = [argument.name for argument in schema.arguments if argument.writes]
    if written:
        yield Diagnostic(
            "OW521",
            f"{schema.qualname} writes {', '.join(map(repr, written))}, so it has no gradient",
            "give the formula to a functional operator, and write its result",
        )
    if not schema.returns:
        yield Diagnostic("OW521", f"{schema.qualname} returns nothing, so it has no gradient")


def _takes_gradients(plan: Plan, backward: Run) -> Iterator[Diagnostic]:
    """`backward(ctx, grad, ...)`: one gradient for each result."""
    count = len(plan.schema.returns)
    if not _accepts(backward, count + 1):
        names = ", ".join(["ctx", *(f"grad_{name}" for name in result_names(plan.schema))])
        yield Diagnostic(
            "OW522",
            f"{where(backward)} cannot be called with ctx and {count} gradient"
            f"{'s' * (count != 1)}, one for each result of {plan.schema.qualname}",
            f"write `def backward({names})`",
            _place(backward),
        )


def _counts(plan: Plan, backward: Run) -> Iterator[Diagnostic]:
    """Only a tuple is counted: a backward with one expression may compute a tuple."""
    fitting = gradient_counts(plan)
    for way, span in _ways_out(backward):
        if way.count not in fitting:
            yield Diagnostic(
                "OW523",
                miscounted(plan, backward, way.count),
                "return one for each parameter, None where there is none",
                span,
            )


def _context(plan: Plan, setup_context: Run, save: Sequence[str]) -> Iterator[Diagnostic]:
    """The names are torch's, which calls by keyword; a leading underscore says `unused`."""
    given = [name.lstrip("_") for name in parameters_of(setup_context)]
    plain, apart = ["ctx", "inputs", "output"], ["ctx", "inputs", "keyword_only_inputs", "output"]
    if given != plain and not (given == apart and keyword_only(plan)):
        yield Diagnostic(
            "OW524",
            f"{where(setup_context)} takes ({', '.join(given)})",
            f"write `def setup_context({', '.join(plain)})`; `inputs` goes by place and by name",
            _place(setup_context),
        )
    if save:
        yield Diagnostic(
            "OW524",
            f"{plan.schema.qualname} has both a setup_context and save={tuple(save)!r}",
            "save everything in setup_context, or everything by name",
            _place(setup_context),
        )


def _saves(plan: Plan, names: Sequence[str]) -> Iterator[Diagnostic]:
    known = [*(argument.name for argument in plan.schema.arguments), *result_names(plan.schema)]
    for name in names:
        if name not in known:
            yield Diagnostic(
                "OW525",
                f"{plan.schema.qualname} has no argument or result {name!r} to save",
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
