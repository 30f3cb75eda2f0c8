"""Findings as people and programs read them: one module a form, and the table of forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

from opwright.findings import Diagnostic
from opwright.lint.report.github import github
from opwright.lint.report.jsons import as_json
from opwright.lint.report.junit import junit
from opwright.lint.report.sarif import sarif
from opwright.lint.report.text import concise, text

Paths = Callable[[str], str]
"""How a report names a file."""

FORMATS = MappingProxyType(
    {
        "text": text,
        "concise": concise,
        "json": as_json,
        "github": github,
        "sarif": sarif,
        "junit": junit,
    }
)
"""Every form: from findings, and how files are named, to a text."""


def render(findings: Sequence[Diagnostic], form: str, paths: Paths) -> str:
    """All findings in one form, with a line end where there is anything."""
    return FORMATS[form](findings, paths)
