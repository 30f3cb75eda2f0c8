"""Findings as commands that GitHub Actions shows beside the changed lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opwright.findings import Diagnostic, Severity

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY = {**DATA, ":": "%3A", ",": "%2C"}


def github(findings: Sequence[Diagnostic], paths: Callable[[str], str]) -> str:
    """One workflow command a finding."""
    return "".join(f"{_command(found, paths)}\n" for found in findings)


def _command(found: Diagnostic, paths: Callable[[str], str]) -> str:
    span = found.span
    fields = {
        "title": f"opwright ({found.code})",
        "file": paths(span.file),
        "line": span.line,
        "col": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    shown = ",".join(f"{name}={_escaped(str(v), PROPERTY)}" for name, v in fields.items() if v)
    message = f"{found.message}; {found.hint}" if found.hint else found.message
    return f"::{COMMANDS[found.severity]} {shown}::{_escaped(message, DATA)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)
