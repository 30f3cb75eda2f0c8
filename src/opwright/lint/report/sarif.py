"""Findings as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import PurePath
from urllib.parse import quote

from opwright.codes import CODES, Code
from opwright.findings import Diagnostic, Fix, Severity, Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
Record = dict[str, object]


def sarif(findings: Sequence[Diagnostic], paths: Callable[[str], str]) -> str:
    """One run with the rules that found something and their results."""
    from opwright.version import __version__

    codes = sorted({found.code for found in findings})
    driver: Record = {
        "name": "opwright",
        "version": __version__,
        "rules": [_rule(CODES[code]) for code in codes],
    }
    run: Record = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found, codes.index(found.code), paths) for found in findings],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"


def _rule(row: Code) -> Record:
    return {
        "id": row.code,
        "shortDescription": {"text": row.title},
        "defaultConfiguration": {"level": LEVELS[row.severity]},
    }


def _result(found: Diagnostic, index: int, paths: Callable[[str], str]) -> Record:
    message = f"{found.message}\nhint: {found.hint}" if found.hint else found.message
    result: Record = {
        "ruleId": found.code,
        "ruleIndex": index,
        "level": LEVELS[found.severity],
        "message": {"text": message},
        "locations": [_location(found.span, paths)],
    }
    if found.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": other.message}, **_location(other.span, paths)}
            for number, other in enumerate(found.related)
        ]
    if found.fix is not None:
        result["fixes"] = [_fix(found.fix, paths)]
    return result


def _location(span: Span, paths: Callable[[str], str]) -> Record:
    physical: Record = {"artifactLocation": {"uri": uri(paths(span.file))}}
    if span.line:
        physical["region"] = _region(span)
    return {"physicalLocation": physical}


def _region(span: Span) -> Record:
    region: Record = {"startLine": span.line}
    if span.column:
        region["startColumn"] = span.column
    if span.end_line:
        region["endLine"] = span.end_line
    if span.end_column:
        region["endColumn"] = span.end_column
    return region


def uri(path: str) -> str:
    """A path as SARIF names files."""
    plain = PurePath(path)
    return plain.as_uri() if plain.is_absolute() else quote(plain.as_posix())


def _fix(fix: Fix, paths: Callable[[str], str]) -> Record:
    files: dict[str, list[Record]] = {}
    for edit in fix.edits:
        replacement: Record = {
            "deletedRegion": _region(edit.span),
            "insertedContent": {"text": edit.text},
        }
        files.setdefault(paths(edit.span.file), []).append(replacement)
    changes = [
        {"artifactLocation": {"uri": uri(file)}, "replacements": replacements}
        for file, replacements in files.items()
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}
