"""A schema as a Python signature, as a stub line, and as a module of stubs.

Knows how Python writes functions; what the annotations are is known to `spell`.
"""

from __future__ import annotations

import inspect
import keyword
import re
import sys
from collections.abc import Iterable

from opwright.schema.literal import Symbol, Value
from opwright.schema.model import REQUIRED, Argument, Schema
from opwright.schema.spell import Spelling, name_of_rest, spell

HOMES = {
    "Aliases": "opwright",
    "Annotated": "typing",
    "Any": "typing",
    "Const": "opwright",
    "Mutable": "opwright",
    "NamedTuple": "typing",
    "Opaque": "opwright",
    "Scalar": "opwright",
    "Tensor": "torch",
}
"""The names that annotations use, and the modules that they come from."""


def signature(schema: Schema) -> inspect.Signature:
    """The signature from which the schema is inferred; annotations are texts, as if postponed.

    What no annotation can express (`Dict`, `Future`, ...) is spelt as the caller's type;
    `spell(schema).losses` names each such place. A dtype is torch's where torch is loaded, else
    a `Symbol`. Named returns name a class that `python` writes.

    >>> from opwright.schema.parse import parse
    >>> print(signature(parse("f(Tensor(a!) out, *, int[2] k=[1, 1], float eps=1e-6) -> ()")))
    (out: 'Mutable[Tensor]', *, k: 'tuple[Const[int], Const[int]]' = (1, 1), eps: 'float' = 1e-06) \
-> 'None'
    """
    spelling = spell(schema)
    parameters = [*_parameters(schema, spelling)]
    keyword_only = [p for p in parameters if p.kind is _KEYWORD]
    positional = [p for p in parameters if p.kind is not _KEYWORD]
    called = name_of_rest(spelling.names)
    rest = [inspect.Parameter(called, _REST, annotation="Any")] if schema.varargs else []
    return inspect.Signature(
        [*positional, *rest, *keyword_only], return_annotation=spelling.returns
    )


_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_REST = inspect.Parameter.VAR_POSITIONAL


def _parameters(schema: Schema, spelling: Spelling) -> Iterable[inspect.Parameter]:
    rows = zip(schema.arguments, spelling.names, spelling.annotations, strict=True)
    for argument, name, annotation in rows:
        kind = _KEYWORD if argument.kw_only else _POSITIONAL
        default = _python_value(argument, annotation)
        yield inspect.Parameter(name, kind, default=default, annotation=annotation)


def _python_value(argument: Argument, annotation: str) -> object:
    if argument.default is REQUIRED:
        return inspect.Parameter.empty
    value = _value(argument.default)
    return list(value) if isinstance(value, tuple) and annotation[:5] == "list[" else value


def _value(value: Value) -> object:
    match value:
        case Symbol("Mean"):
            return 1
        case Symbol(name):
            return getattr(sys.modules.get("torch"), name, value)
        case tuple():
            return tuple(_value(part) for part in value)
        case _:
            return value


def python(schema: Schema) -> str:
    """The stub of the operator: a `def`, before it the class of named results.

    >>> from opwright.schema.parse import parse
    >>> print(python(parse("ns::top(Tensor x, ScalarType? t=float32) -> (Tensor y, SymInt n)")))
    class TopResult(NamedTuple):
        y: Tensor
        n: int
    <BLANKLINE>
    <BLANKLINE>
    def top(x: Tensor, t: torch.dtype | None = torch.float32) -> TopResult: ...
    """
    spelling = spell(schema)
    name = schema.name.rpartition("::")[2] + (schema.overload and f"_{schema.overload}")
    name += "_" * keyword.iskeyword(name)
    line = f"def {name}({_parameter_texts(schema, spelling)}) -> {spelling.returns}: ..."
    if not spelling.fields:
        return line
    fields = "".join(f"    {field.name}: {field.annotation}\n" for field in spelling.fields)
    return f"class {spelling.returns}(NamedTuple):\n{fields}\n\n{line}"


def _parameter_texts(schema: Schema, spelling: Spelling) -> str:
    rows = zip(schema.arguments, spelling.names, spelling.annotations, strict=True)
    texts = {True: list[str](), False: list[str]()}
    for argument, name, annotation in rows:
        default = (
            ""
            if argument.default is REQUIRED
            else f" = {_default_text(argument.default, annotation)}"
        )
        texts[argument.kw_only].append(f"{name}: {annotation}{default}")
    star = (
        [f"*{name_of_rest(spelling.names)}: Any"]
        if schema.varargs
        else ["*"]
        if texts[True]
        else []
    )
    return ", ".join([*texts[False], *star, *texts[True]])


def _default_text(value: Value, annotation: str) -> str:
    if isinstance(value, tuple) and annotation[:5] == "list[":
        return f"[{', '.join(map(spelled, value))}]"
    return spelled(value)


def spelled(value: Value) -> str:
    """A default as Python writes it.

    >>> spelled((Symbol("half"),)), spelled(Symbol("Mean"))
    ('(torch.half,)', '1')
    """
    match value:
        case Symbol("Mean"):
            return "1"
        case Symbol(name):
            return f"torch.{name}"
        case tuple():
            return f"({', '.join(map(spelled, value))}{',' if len(value) == 1 else ''})"
        case _:
            return repr(value)


def module(schemas: Iterable[Schema]) -> str:
    """A module of stubs that `infer` reads back to the same schemas.

    >>> from opwright.schema.parse import parse
    >>> print(module([parse("scale(Tensor x, Scalar by) -> Tensor")]), end="")
    from __future__ import annotations
    <BLANKLINE>
    from opwright import Scalar
    from torch import Tensor
    <BLANKLINE>
    <BLANKLINE>
    def scale(x: Tensor, by: Scalar) -> Tensor: ...
    """
    stubs = "\n\n\n".join(python(schema) for schema in schemas)
    standard, others = (
        _imports("typing", stubs),
        [*_imports("opwright", stubs), *_imports("torch", stubs)],
    )
    if _uses("torch", stubs):
        others.insert(0, "import torch")
    groups = [
        "from __future__ import annotations",
        *map("\n".join, filter(None, (standard, others))),
    ]
    return "\n\n".join(groups) + f"\n\n\n{stubs}\n"


def _imports(home: str, stubs: str) -> list[str]:
    names = [name for name in HOMES if HOMES[name] == home and _uses(name, stubs)]
    return [f"from {home} import {', '.join(names)}"] if names else []


def _uses(name: str, stubs: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\b", stubs) is not None
