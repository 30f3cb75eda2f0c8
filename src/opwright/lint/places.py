"""Where findings point: into the text of a schema, at a parameter, at a body.

Knows spans; knows nothing of what is wrong there.
"""

from __future__ import annotations

from collections.abc import Iterator

from opwright.findings import Related, Span
from opwright.schema.model import Argument
from opwright.schema.scan import word_at
from opwright.survey.facts import Implementation, Signature
from opwright.survey.index import Declared, Operator

OPEN, CLOSE = frozenset("(["), frozenset(")]")


def argument_spans(text: str) -> list[tuple[int, int]]:
    """Where the arguments of a schema text stand, `*` left out.

    >>> text = "f(Tensor(a!) x, *, int[2] k=[1, 1]) -> ()"
    >>> [text[start:end] for start, end in argument_spans(text)]
    ['Tensor(a!) x', 'int[2] k=[1, 1]']
    """
    return [(a, b) for a, b in _parts(text) if text[a:b] not in ("", "*", "...")]


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """The parts between the top-level commas of the first brackets, bare of space."""
    at = text.find("(") + 1
    if not at:
        return
    depth, start, end = 0, None, at
    while (word := word_at(text, at)).kind != "end":
        if depth == 0 and word.text in (",", ")"):
            yield (end if start is None else start), end
            start = None
            if word.text == ")":
                return
        else:
            start, end = (word.start if start is None else start), word.end
        depth += (word.text in OPEN) - (word.text in CLOSE)
        at = word.end


def in_schema(declared: Declared, argument: Argument | None = None) -> Span:
    """Where a declaration writes an argument; without one, or where that is hidden, the whole."""
    definition = declared.definition
    if definition.text is None:
        return _in_signature(definition.signature, argument) or definition.span
    if argument is None or declared.schema is None:
        return definition.text.span()
    number = [a.name for a in declared.schema.arguments].index(argument.name)
    spans = argument_spans(definition.text.value)
    return definition.text.span(*spans[number]) if number < len(spans) else definition.text.span()


def _in_signature(signature: Signature | None, argument: Argument | None) -> Span | None:
    if signature is None:
        return None
    found = [p for p in signature.parameters if argument is not None and p.name == argument.name]
    return found[0].span if found else signature.span


def schema_place(operator: Operator, argument: Argument | None = None) -> tuple[Related, ...]:
    """The schema as the second place of a finding."""
    home = operator.home
    if home is None or home.schema is None:
        return ()
    said = f"the schema: `{argument}`" if argument else f"the schema: `{home.schema}`"
    return (Related(in_schema(home, argument), said),)


def function_place(one: Implementation) -> Span:
    """The function of an implementation, else its registration."""
    return one.signature.span if one.signature is not None else one.span
