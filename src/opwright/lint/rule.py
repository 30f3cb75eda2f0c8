"""What a rule is: its documentation, and a check over the index of a code base.

Knows nothing of files, settings or reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from opwright.codes import CODES, Code
from opwright.findings import Diagnostic, Related, Severity, Span
from opwright.frozen import frozen, replace

if TYPE_CHECKING:
    from opwright.survey.index import Index

Check: TypeAlias = "Callable[[Index], Iterable[Diagnostic]]"


@frozen
class Rule:
    """One rule: why it is there, code that breaks it, code that does not, and how it is found.

    `bad` and `good` are Python files, or mappings from file name to text.
    """

    code: str
    why: str
    bad: str | Mapping[str, str]
    good: str | Mapping[str, str]
    check: Check
    default: bool = True
    """Whether the rule runs unless asked for."""
    fixes: str = ""
    """What `--fix` does about it; empty where nothing can."""

    @property
    def row(self) -> Code:
        return CODES[self.code]

    @property
    def title(self) -> str:
        return self.row.title

    @property
    def severity(self) -> Severity:
        return self.row.severity


def placed(found: Diagnostic, span: Span, *related: Related) -> Diagnostic:
    """The finding at another place, with further places."""
    return replace(found, span=span, related=(*found.related, *related), excerpt="")
