"""Every rule by its code: the only list of them. A rule is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from opwright.lint.rule import Rule

MODULES = {
    "schema_text": "OW001 OW002 OW003 OW004 OW005 OW006 OW007 OW008 OW009 OW011",
    "annotated": "OW101 OW102 OW103 OW105 OW106 OW107 OW111",
    "carried": "OW112 OW113 OW114 OW117",
    "handwritten_schema": "OW201 OW202 OW203 OW204 OW205 OW206 OW207 OW208 OW209 OW210 OW211 OW212"
    " OW213 OW214 OW215 OW217 OW219 OW220",
    "lacking_argument": "OW301 OW311",
    "required_extra": "OW302",
    "order_of_arguments": "OW303",
    "defaults_differ": "OW304 OW305",
    "keyword_only": "OW306",
    "types_of_parameters": "OW307 OW309 OW310",
    "returns_of_function": "OW308",
    "setup_context": "OW320",
    "backward_gradients": "OW321 OW322",
    "written_undeclared": "OW401 OW402 OW407",
    "input_returned": "OW403",
    "mutates_args": "OW404 OW405",
    "nothing_written": "OW406",
    "library_dropped": "OW501",
    "library_whole": "OW502",
    "defined_twice": "OW503",
    "no_fake": "OW504",
    "two_fakes": "OW506",
    "keyword_tensor": "OW507",
    "undefined_operator": "OW505",
    "unknown_operator": "OW601",
    "arguments_of_calls": "OW602 OW603 OW604",
    "sizes_given": "OW605",
    "cpp_signature": "OW701 OW702 OW703",
}
"""The modules of rules, in the order in which their rules run, and the codes of each."""


class Catalog(Mapping[str, Rule]):
    """Rules by their codes; a module is loaded with the first of its rules."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._homes = {code: name for name, codes in modules.items() for code in codes.split()}
        self._loaded: dict[str, Rule] = {}

    def __getitem__(self, code: str) -> Rule:
        if code not in self._loaded:
            module = import_module(f"opwright.lint.rules.{self._homes[code]}")
            self._loaded |= {rule.code: rule for rule in module.RULES}
        return self._loaded[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


RULES = Catalog(MODULES)
