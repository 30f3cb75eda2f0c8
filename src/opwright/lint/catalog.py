"""Every rule by its code: the only list of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from opwright.lint.rule import Rule
from opwright.lint.rules import (
    annotated,
    arguments_of_calls,
    backward_gradients,
    carried,
    cpp_signature,
    defaults_differ,
    defined_twice,
    handwritten_schema,
    input_returned,
    keyword_only,
    lacking_argument,
    library_dropped,
    library_whole,
    mutates_args,
    no_fake,
    nothing_written,
    order_of_arguments,
    required_extra,
    returns_of_function,
    schema_text,
    setup_context,
    types_of_parameters,
    undefined_operator,
    unknown_operator,
    written_undeclared,
)

_MODULES = (
    schema_text,
    annotated,
    carried,
    handwritten_schema,
    lacking_argument,
    required_extra,
    order_of_arguments,
    defaults_differ,
    keyword_only,
    types_of_parameters,
    returns_of_function,
    setup_context,
    backward_gradients,
    written_undeclared,
    input_returned,
    mutates_args,
    nothing_written,
    library_dropped,
    library_whole,
    defined_twice,
    no_fake,
    undefined_operator,
    unknown_operator,
    arguments_of_calls,
    cpp_signature,
)

RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.code: rule for module in _MODULES for rule in module.RULES}
)
"""Every rule by its code."""
