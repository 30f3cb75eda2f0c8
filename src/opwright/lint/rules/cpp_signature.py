"""A C++ function against the schema that it is registered for."""

from __future__ import annotations

from collections.abc import Iterator

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.lint.places import schema_place
from opwright.lint.rule import Rule
from opwright.schema.kinds import Apply, Base, List, Maybe, Type
from opwright.schema.model import Return, Schema
from opwright.survey.facts import Language, Role, Signature
from opwright.survey.index import Index, Operator

TOLD = ("Autograd", "Autocast", "Functionalize", "BackendSelect", "ADInplaceOrView")
"""Dispatch keys whose kernels may take a key set first."""


def _functions(index: Index) -> Iterator[tuple[Operator, Signature, Schema]]:
    """C++ functions with the schema that they are registered for."""
    for operator in index.operators.values():
        schema = operator.schema
        if schema is None or schema.varargs or schema.varrets:
            continue
        for declared in operator.declared:
            signature = declared.definition.signature
            if declared.handwritten and signature and signature.language is Language.CPP:
                yield operator, signature, schema
        for one in operator.roles(Role.KERNEL, Role.FAKE):
            keyed = one.key.startswith(TOLD)
            if one.signature and one.signature.language is Language.CPP and not keyed:
                yield operator, one.signature, schema


def counts(index: Index) -> Iterator[Diagnostic]:
    for operator, signature, schema in _functions(index):
        if len(signature.parameters) != len(schema.arguments):
            message = (
                f"{signature.name} takes {len(signature.parameters)} arguments, the schema of "
                f"{operator.name} has {len(schema.arguments)}"
            )
            yield finding("OW701", message, span=signature.span, related=schema_place(operator))


def types(index: Index) -> Iterator[Diagnostic]:
    for operator, signature, schema in _functions(index):
        if len(signature.parameters) != len(schema.arguments):
            continue
        for parameter, argument in zip(signature.parameters, schema.arguments, strict=True):
            if parameter.type is not None and not takes(parameter.type, argument.type):
                message = (
                    f"{parameter.name or 'a parameter'!s} of {signature.name} is "
                    f"`{parameter.shown}`, the schema of {operator.name} says `{argument}`"
                )
                related = schema_place(operator, argument)
                yield finding("OW702", message, span=parameter.span, related=related)


def returns(index: Index) -> Iterator[Diagnostic]:
    for operator, signature, schema in _functions(index):
        if signature.returns is not None and not gives(signature.returns, schema.returns):
            message = (
                f"{signature.name} returns `{signature.shown_returns}`, the schema of "
                f"{operator.name} says `{shown(schema.returns)}`"
            )
            yield finding("OW703", message, span=signature.span, related=schema_place(operator))


def shown(returns: tuple[Return, ...]) -> str:
    return str(returns[0]) if len(returns) == 1 else f"({', '.join(map(str, returns))})"


def gives(function: tuple[Return, ...], schema: tuple[Return, ...]) -> bool:
    return len(function) == len(schema) and all(
        takes(one.type, other.type) for one, other in zip(function, schema, strict=True)
    )


def takes(cpp: Type, schema: Type) -> bool:
    """Whether a C++ type is the one of a schema type; `int64_t` may stand for `SymInt`.

    >>> takes(Base("int"), Base("SymInt")), takes(Base("SymInt"), Base("int"))
    (True, False)
    """
    match cpp, schema:
        case Base(name), Base(other):
            return name == other or other in WIDER.get(name, ())
        case (Maybe(of), Maybe(inner)) | (List(of), List(inner)):
            return takes(of, inner)
        case Apply(name, parts), Apply(other, wanted) if len(parts) == len(wanted):
            return name == other and all(map(takes, parts, wanted))
        case _:
            return False


WIDER = {
    "int": ("SymInt", "ScalarType", "Layout", "MemoryFormat", "DeviceIndex"),
    "bool": ("SymBool",),
    "ScalarType": ("int",),
    "Layout": ("int",),
    "MemoryFormat": ("int",),
}
"""C++ types that torch lets stand for others: enums travel as integers."""

_CPP = """
#include <torch/library.h>

{function}

TORCH_LIBRARY(mylib, m) {{
  m.def("scale_(Tensor(a!) x, float by) -> ()", &scale_);
}}
"""

RULES = (
    Rule(
        "OW701",
        "torch compares the function with the schema when the library is loaded, and refuses "
        "another number of arguments; the stable ABI reads past the end instead.",
        bad={"ops.cpp": _CPP.format(function="void scale_(at::Tensor x) { x.mul_(2); }")},
        good={
            "ops.cpp": _CPP.format(function="void scale_(at::Tensor x, double by) { x.mul_(by); }")
        },
        check=counts,
    ),
    Rule(
        "OW702",
        "An argument that arrives as one type and is taken as another is an error when the "
        "library is loaded, and undefined with the stable ABI.",
        bad={
            "ops.cpp": _CPP.format(function="void scale_(at::Tensor x, int64_t by) { x.mul_(by); }")
        },
        good={
            "ops.cpp": _CPP.format(function="void scale_(at::Tensor x, double by) { x.mul_(by); }")
        },
        check=types,
    ),
    Rule(
        "OW703",
        "The results of the function must be those of the schema, in number and type.",
        bad={
            "ops.cpp": _CPP.format(
                function="at::Tensor scale_(at::Tensor x, double by) { return x.mul_(by); }"
            )
        },
        good={
            "ops.cpp": _CPP.format(function="void scale_(at::Tensor x, double by) { x.mul_(by); }")
        },
        check=returns,
    ),
)
