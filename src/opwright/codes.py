"""Every code that a finding can carry: one line of title, and how much it weighs by default.

A code is never reused. Knows nothing of what the rules look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from opwright.findings import Diagnostic, Fix, Related, Severity, Span
from opwright.frozen import frozen


@frozen
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
    Code("OW014", "JSON that is no schema"),
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
    Code("OW115", "mutates_args that names no parameter"),
    Code("OW116", "None as the default of what is not optional", Severity.WARNING),
    Code("OW117", "a type that AOTInductor cannot pass on", Severity.NOTE),
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
    Code("OW217", "the return names differ", Severity.NOTE),
    Code("OW218", "the operator names differ"),
    Code("OW219", "variable arguments or returns (`...`) differ"),
    Code("OW220", "the keyword-only arguments stand in another order", Severity.NOTE),
    # A function against the schema that it is registered for.
    Code("OW301", "the function lacks an argument of the schema"),
    Code("OW302", "the function requires an argument that the schema lacks"),
    Code("OW303", "the function takes the arguments in another order"),
    Code("OW304", "the function's default differs from the schema's"),
    Code("OW305", "the function requires what the schema gives a default"),
    Code("OW306", "keyword-only in the function, positional in the schema"),
    Code("OW307", "the function is annotated with another type", Severity.WARNING),
    Code("OW308", "the function returns another number of values"),
    Code("OW309", "optional in one place alone", Severity.NOTE),
    Code("OW310", "the function gives a positional argument another name", Severity.NOTE),
    Code("OW311", "`*args` hides arguments of the schema", Severity.NOTE),
    Code("OW320", "setup_context does not take what torch gives it"),
    Code("OW321", "backward returns a wrong number of gradients"),
    Code("OW322", "backward takes a wrong number of gradients"),
    # What a body does with its arguments.
    Code("OW401", "written, but the schema does not say so"),
    Code("OW402", "the schema says written, the body never writes", Severity.NOTE),
    Code("OW403", "an input is returned, and the schema does not say so"),
    Code("OW404", "mutates_args that torch refuses"),
    Code("OW405", 'mutates_args is "unknown"', Severity.WARNING),
    Code("OW406", "returns nothing and writes nothing"),
    Code("OW407", "the storage or size of a parameter is changed"),
    # Registering.
    Code("OW501", "nothing keeps the Library object alive", Severity.WARNING),
    Code("OW502", "the namespace is claimed whole", Severity.WARNING),
    Code("OW503", "one operator is defined with different schemas"),
    Code("OW504", "an operator that returns tensors has no fake kernel", Severity.WARNING),
    Code("OW505", "registered for an operator that is defined nowhere", Severity.NOTE),
    Code("OW506", "two fake kernels, of which one counts", Severity.WARNING),
    Code("OW507", "a keyword-only tensor where torch takes none"),
    Code("OW510", "a name that no operator can have"),
    Code("OW511", "the name is taken"),
    Code("OW512", "an argument that cannot be registered"),
    Code("OW513", "neither a device type nor a dispatch key"),
    Code("OW514", "what others registered is not overridden"),
    Code("OW515", "an operator class without kernel, or with a name that means nothing"),
    Code("OW516", "implementations of one operator that are annotated differently"),
    Code("OW517", "what torch defines but cannot compile"),
    Code("OW521", "a backward for an operator that has no gradient"),
    Code("OW522", "a backward that takes another number of gradients"),
    Code("OW523", "a backward that gives another number of gradients"),
    Code("OW524", "a setup_context that does not fit"),
    Code("OW525", "saves what the operator does not have"),
    Code("OW526", "a backward for an operator that is not differentiable"),
    Code("OW527", "autocast registered twice for a device"),
    # Call sites.
    Code("OW601", "there is no such operator", Severity.WARNING),
    Code("OW602", "the call gives too many arguments"),
    Code("OW603", "the call gives a keyword that the operator does not take"),
    Code("OW604", "the call lacks an argument"),
    Code("OW605", "a size is given for a float", Severity.NOTE),
    # C++.
    Code("OW701", "the C++ function has another number of parameters"),
    Code("OW702", "a C++ parameter has another type"),
    Code("OW703", "the C++ function returns something else"),
    # Reading.
    Code("OW900", "a file that cannot be read"),
    Code("OW901", "a file that is no Python"),
    Code("OW902", "a function that is not there"),
    Code("OW903", "an operator of a function that is not in these files"),
    Code("OW904", "mutates_args that is not written out", Severity.WARNING),
    Code("OW910", "a comment that silences nothing", Severity.WARNING),
    Code("OW911", "settings or a baseline that cannot be used"),
)

CODES: Mapping[str, Code] = MappingProxyType({row.code: row for row in ROWS})

_NOWHERE = Span()


def finding(
    code: str,
    message: str,
    hint: str = "",
    span: Span = _NOWHERE,
    *,
    related: Iterable[Related] = (),
    severity: Severity | None = None,
    fix: Fix | None = None,
    excerpt: str = "",
) -> Diagnostic:
    """A finding with the weight that its code has, unless said otherwise.

    >>> finding("OW202", "`int` is written").severity.value
    'warning'
    """
    weight = CODES[code].severity if severity is None else severity
    return Diagnostic(code, message, hint, span, weight, tuple(related), excerpt, fix)
