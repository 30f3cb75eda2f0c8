"""Findings as people and programs read them: one module a form, and the table of forms."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import MappingProxyType

from opwright.findings import Diagnostic

Paths = Callable[[str], str]
"""How a report names a file."""

FORMATS = MappingProxyType(
    {
        "text": "text.text",
        "concise": "text.concise",
        "json": "jsons.as_json",
        "github": "github.github",
        "sarif": "sarif.sarif",
        "junit": "junit.junit",
    }
)
"""Each form: the module and the function that write it, loaded when it is asked for."""


def render(findings: Sequence[Diagnostic], form: str, paths: Paths) -> str:
    """All findings in one form, with a line end where there is anything."""
    module, name = FORMATS[form].split(".")
    write = getattr(importlib.import_module(f"opwright.lint.report.{module}"), name)
    return str(write(findings, paths))
