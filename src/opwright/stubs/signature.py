"""The head of a Python function that takes what an operator takes, as text.

Knows how a schema is called from Python. Where an annotation does not say all that the schema says,
the schema's own words stand beside it: `Annotated[int, "int dim=0"]`. Checkers see the plain type.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator

from opwright.never import assert_never
from opwright.schema.kinds import Base, List, Maybe, Type
from opwright.schema.literal import Symbol, Value
from opwright.schema.model import REQUIRED, Argument, Schema
from opwright.schema.spell import name_of_rest, reworded
from opwright.stubs.accepts import gives, plain, takes
from opwright.stubs.operators import Operator

WORDS_OF_TORCH = frozenset({"ScalarType", "Layout", "MemoryFormat", "QScheme"})
"""The types whose defaults are names in `torch`."""

UNWRITTEN = "..."
"""How a default looks that Python has no word for."""


def parameters(operator: Operator) -> str:
    """The parameters, with annotations and defaults.

    >>> from opwright.schema.parse import parse
    >>> print(parameters(Operator(parse("f(Tensor(a!) x, *, ScalarType? t=None) -> ()"))))
    x: Annotated[Tensor, "Tensor(a!) x"], *, t: torch.dtype | None = None
    """
    return ", ".join(_parameters(operator))


def _parameters(operator: Operator) -> Iterator[str]:
    schema = operator.schema
    names = [_name(argument, schema) for argument in schema.arguments]
    star = f"*{name_of_rest(names)}: Any" if schema.varargs else "*"
    starred = False
    for name, argument in zip(names, schema.arguments, strict=True):
        if argument.kw_only and not starred:
            starred = True
            yield star
        yield f"{name}: {_annotated(argument, operator)}"
    if schema.varargs and not starred:
        yield star


def _name(argument: Argument, schema: Schema) -> str:
    """The name, or one like it where Python keeps the word for itself."""
    name, taken = argument.name, {each.name for each in schema.arguments}
    while keyword.iskeyword(name) or (name in taken and name != argument.name):
        name += "_"
    return name


def _annotated(argument: Argument, operator: Operator) -> str:
    kind = Maybe(argument.type) if argument.default is None else argument.type
    annotation = operator.narrowed.get(argument.name) or takes(kind)
    default = "" if argument.default is REQUIRED else default_text(argument.default, argument.type)
    if not _says_all(argument, default):
        annotation = with_words(annotation, str(argument))
    return f"{annotation} = {default}" if default else annotation


def _says_all(argument: Argument, default: str) -> bool:
    """Whether name, annotation and default, read as an author's, mean this very argument."""
    if keyword.iskeyword(argument.name) or UNWRITTEN in default:
        return False
    return plain(argument.type) and not reworded(argument)


def with_words(annotation: str, words: str) -> str:
    """An annotation with the schema's words beside it."""
    return f"Annotated[{annotation}, {json.dumps(words, ensure_ascii=False)}]"


def attribute(name: str) -> str:
    """The attribute of that name; one that Python keeps for itself gets an underscore more.

    >>> attribute("out"), attribute("from"), attribute("from_")
    ('out', 'from_', 'from__')
    """
    return f"{name}_" if keyword.iskeyword(name.rstrip("_")) else name


def default_text(value: Value, kind: Type) -> str:
    """A default as Python writes it; `...` where Python has no such word.

    >>> default_text((1, 1), List(Base("SymInt"))), default_text(Symbol("half"), Base("ScalarType"))
    ('(1, 1)', 'torch.half')
    """
    inner = kind.of if isinstance(kind, Maybe) else kind
    match value:
        case Symbol(name):
            known = isinstance(inner, Base) and inner.name in WORDS_OF_TORCH
            return f"torch.{name}" if known else UNWRITTEN
        case tuple():
            item = inner.of if isinstance(inner, List) else inner
            inside = ", ".join(default_text(part, item) for part in value)
            return f"({inside}{',' * (len(value) == 1)})"
        case None | bool() | int() | float() | complex() | str():
            return repr(value)
        case _:
            assert_never(value)


def result(schema: Schema) -> str:
    """The annotation of what the operator gives back.

    >>> from opwright.schema.parse import parse
    >>> result(parse("f(Tensor x) -> (Tensor, Tensor?)"))
    'tuple[Tensor, Tensor | None]'
    >>> result(parse("f(Tensor x) -> (Tensor y, int n)"))
    'Annotated[tuple[Tensor, int], "(Tensor y, int n)"]'
    """
    given = _given(schema)
    if not schema.varrets and all(r.name is None and plain(r.type) for r in schema.returns):
        return given
    words = [*map(str, schema.returns), *["..."] * schema.varrets]
    bare = len(words) == 1 and not words[0].startswith("(")
    return with_words(given, words[0] if bare else f"({', '.join(words)})")


def _given(schema: Schema) -> str:
    if schema.varrets:
        return "Any"
    match schema.returns:
        case ():
            return "None"
        case (one,):
            return gives(one.type)
        case several:
            return f"tuple[{', '.join(gives(each.type) for each in several)}]"
