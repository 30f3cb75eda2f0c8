"""What the rules about functions and their schemas share: which functions, which differences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from opwright.codes import finding
from opwright.findings import Diagnostic, Fix
from opwright.lint.agree import Difference, Sort, differences
from opwright.lint.places import function_place, schema_place
from opwright.schema.model import Schema
from opwright.survey.facts import Implementation, Language, Role, Signature
from opwright.survey.index import Index, Operator

CALLED = (Role.KERNEL, Role.FAKE)
"""Roles whose functions take exactly what the schema says."""

TOLD_KEYS = ("Autograd", "Functionalize", "FuncTorch", "Python", "ADInplaceOrView", "Autocast")
"""Dispatch keys whose kernels are wrappers: they may take `*args` and a key set first."""


def called(
    index: Index, language: Language = Language.PYTHON
) -> Iterator[tuple[Operator, Implementation, Signature, Schema]]:
    """Each function that the dispatcher calls with what a known schema says."""
    for operator in index.operators.values():
        schema = operator.schema
        if schema is None:
            continue
        for one in operator.roles(*CALLED):
            wrapper = one.key.startswith(TOLD_KEYS)
            if one.signature is not None and one.language is language and not wrapper:
                yield operator, one, one.signature, schema


@lru_cache(maxsize=4096)
def told(schema: Schema, signature: Signature) -> tuple[Difference, ...]:
    return tuple(differences(schema, signature))


def differing(
    index: Index, sort: Sort
) -> Iterator[tuple[Operator, Implementation, Signature, Difference]]:
    """Each difference of one sort between a Python function and its schema."""
    for operator, one, signature, schema in called(index):
        for difference in told(schema, signature):
            if difference.sort is sort:
                yield operator, one, signature, difference


def named(one: Implementation, signature: Signature) -> str:
    """How messages call a function: what it is for, and its name unless that is `_`.

    A kernel's device is said too.
    """
    role = f"{one.key} {one.role.value}" if one.role is Role.KERNEL and one.key else one.role.value
    return f"the {role}" if signature.name.strip("_") == "" else f"the {role} {signature.name!r}"


def at_function(
    code: str,
    operator: Operator,
    one: Implementation,
    difference: Difference,
    message: str,
    hint: str = "",
    fix: Fix | None = None,
) -> Diagnostic:
    """A finding at the parameter, or at the function that lacks it, with the schema beside."""
    span = difference.parameter.span if difference.parameter else function_place(one)
    related = schema_place(operator, difference.argument)
    return finding(code, message, span=span, hint=hint, related=related, fix=fix)
