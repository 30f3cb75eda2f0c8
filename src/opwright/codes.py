"""Every code that a finding can carry: one line of title, and how much it weighs by default.

A code is never reused. Knows nothing of what the rules look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from opwright.findings import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """One row of the table: `OW008`, what it says in one line, and its default weight."""

    code: str
    title: str
    severity: Severity = Severity.ERROR


ROWS = (
    # The text of a schema.
    Code("OW001", "unreadable character or string"),
    Code("OW002", "the schema does not follow the grammar"),
    Code("OW003", "a type that torch does not have"),
    Code("OW004", "a name that torch cannot read"),
    Code("OW005", "types nested too deep"),
    Code("OW006", "a default that the type cannot hold"),
    Code("OW007", "a default that torch cannot read back"),
    Code("OW008", "two arguments with one name"),
    Code("OW009", "a required argument after one with a default"),
    Code("OW010", "a positional argument after a keyword-only one"),
    Code("OW011", "defaults together with `...`"),
    Code("OW012", "an alias set that cannot be written"),
    Code("OW013", "more faults than are shown"),
    # An annotated function.
    Code("OW101", "a parameter or result without an annotation"),
    Code("OW102", "an annotation that has no schema type"),
    Code("OW103", "an annotation that cannot be read"),
    Code("OW104", "not a function"),
    Code("OW105", "a parameter that no schema has"),
    Code("OW106", "a default that does not fit its annotation"),
    Code("OW107", "a default that no schema can hold"),
    Code("OW108", "a parameter name that no schema can hold"),
    Code("OW109", "a mark on what it cannot mark"),
    Code("OW110", "a result that aliases no parameter"),
    Code("OW111", "nothing is returned and nothing written"),
    Code("OW112", "a result that torch.compile refuses", Severity.WARNING),
    Code("OW113", "a type that torch.export cannot save", Severity.NOTE),
    Code("OW114", "tensors that autograd does not see", Severity.NOTE),
    # A handwritten schema against the annotations.
    Code("OW201", "the argument types differ"),
    Code("OW202", "`int` is written where the annotation means `SymInt`", Severity.WARNING),
    Code("OW203", "the schema lacks an argument"),
    Code("OW204", "the schema has an argument too many"),
    Code("OW205", "the arguments stand in another order"),
    Code("OW206", "the defaults differ"),
    Code("OW207", "the schema requires what the annotations give a default", Severity.NOTE),
    Code("OW208", "the schema gives a default that the annotations lack"),
    Code("OW209", "the schema does not say that an argument is written"),
    Code("OW210", "the schema says that an argument is written, the annotation does not"),
    Code("OW211", "the alias sets differ"),
    Code("OW212", "keyword-only in the annotations, positional in the schema"),
    Code("OW213", "keyword-only in the schema, positional in the annotations", Severity.NOTE),
    Code("OW214", "the positional names differ", Severity.NOTE),
    Code("OW215", "the number of returns differs"),
    Code("OW216", "the return types differ"),
    Code("OW217", "the return names differ", Severity.NOTE),
    Code("OW218", "the operator names differ"),
    Code("OW219", "variable arguments or returns (`...`) differ"),
    Code("OW220", "the keyword-only arguments stand in another order", Severity.NOTE),
)

CODES: Mapping[str, Code] = MappingProxyType({row.code: row for row in ROWS})
