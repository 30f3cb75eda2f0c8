"""What a sound schema still cannot do: what torch's compiler, autograd and export do not carry.

Knows schemas and where their annotations stand; refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic, Span
from opwright.hints.model import Function
from opwright.schema.kinds import Apply, Base, List, Maybe, Type, aliases, nodes
from opwright.schema.model import Argument, Return, Schema


def remarks(schema: Schema, function: Function) -> Iterator[Diagnostic]:
    """The findings on a schema that can be registered.

    >>> from opwright.schema.model import Argument
    >>> unseen = Argument("xs", Maybe(List(Base("Tensor"))))
    >>> for found in remarks(Schema("f", arguments=(unseen,)), Function("f", (), None)):
    ...     print(found)
    OW114 'xs' of f: autograd does not see the tensors of a Tensor[]?
      hint: pass a list that may be empty, `list[Tensor]`, if gradients are needed
    """
    spans = {parameter.name: parameter.span for parameter in function.parameters}
    for argument in schema.arguments:
        span = spans.get(argument.name.partition("__")[0], function.span)
        for code, message, hint in (*unseen(argument.type), *implicit(argument)):
            yield finding(code, f"{argument.name!r} of {schema.qualname}: {message}", hint, span)
    yield from _on_returns(schema, function.returns_span)


def unseen(kind: Type) -> Iterator[tuple[str, str, str]]:
    """Who cannot see into an argument of this type: code, message and hint.

    >>> [code for code, _, _ in unseen(List(List(Base("SymInt"))))]
    ['OW113']
    """
    bare = _bare(kind)
    if bare not in _SEEN and any(_bare(node) == "Tensor" for node in nodes(kind)):
        message = f"autograd does not see the tensors of a {bare}"
        yield "OW114", message, _ADVICE.get(bare, _ELSE)
    if bare.rstrip("?") in _UNSAVED:
        hint = "pass it flat, if the operator is exported"
        yield "OW113", f"torch.export cannot save a {bare}", hint
    if (who := _dropping(kind)) is not None:
        yield "OW117", f"{who} of torch 2.13 and 2.14 cannot pass on a {bare}", _FLAT


def implicit(argument: Argument) -> Iterator[tuple[str, str, str]]:
    """Whether None is the default of what is not optional: torch takes it, type checkers do not.

    >>> [code for code, _, _ in implicit(Argument("x", Base("Tensor"), None))]
    ['OW116']
    """
    if argument.default is None and not isinstance(argument.type, Maybe):
        yield "OW116", "None is its default, but no value of its annotation", _OPTIONAL


_OPTIONAL = "give it `| None`"
_ELSE = "pass flat lists of tensors, if gradients are needed"
_ADVICE = {"Tensor[]?": "pass a list that may be empty, `list[Tensor]`, if gradients are needed"}
_FLAT = "pass tensors and numbers, if the operator is compiled ahead of time"
_DROPPED = {
    "Tensor[][]": "AOTInductor",
    "SymBool": "AOTInductor",
    "complex": "AOTInductor and the C++ wrapper",
}


def _dropping(kind: Type) -> str | None:
    """Who generates C++ that cannot hold a constant of this type, as tried on both versions."""
    if isinstance(kind, Apply) and kind.name == "Dict":
        return "AOTInductor and the C++ wrapper"
    return _DROPPED.get(_bare(kind))


_SEEN = frozenset({"Tensor", "Tensor?", "Tensor[]", "Tensor?[]"})
_UNSAVED = frozenset(
    {
        *("SymInt?[]", "int?[]", "float?[]", "bool?[]", "str?[]", "complex[]"),
        *("Scalar[]", "Scalar?[]", "Device[]", "ScalarType[]", "SymInt[][]", "int[][]"),
    }
)


def _bare(kind: Type) -> str:
    """The type's text without sizes and alias marks."""
    match kind:
        case Maybe(of):
            return f"{_bare(of)}?"
        case List(of):
            return f"{_bare(of)}[]"
        case Base(name):
            return name
        case Apply():
            return str(kind)


def _on_returns(schema: Schema, span: Span) -> Iterator[Diagnostic]:
    subject = f"the result of {schema.qualname}"
    for returned in schema.returns:
        if isinstance(returned.type, Apply):
            message = f"{subject}: torch.export cannot save a tuple of one"
            yield finding("OW113", message, "return the tensor alone", span)
    if any(_aliasing(returned) for returned in schema.returns) and not _compiles(schema):
        message = f"{subject}: torch.compile refuses a result that aliases an argument"
        yield finding("OW112", message, _COMPILABLE, span)


_COMPILABLE = (
    "return None, or write the first argument alone and return it, or write keyword-only `Out`"
    " tensors and return exactly them"
)


def _aliasing(returned: Return) -> bool:
    return any(True for _ in aliases(returned.type))


def _compiles(schema: Schema) -> bool:
    """Whether the aliases have the form that torch tags `inplace` or `out`."""
    written = [argument for argument in schema.arguments if argument.writes]
    same = [a.type for a in written] == [r.type for r in schema.returns]
    if not same or not all(isinstance(argument.type, Base) for argument in written):
        return False
    first: Argument = schema.arguments[0]
    inplace = len(written) == 1 and written[0] is first and not first.kw_only
    return inplace or all(argument.kw_only for argument in written)
