"""Findings as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from opwright.findings import Diagnostic, Fix, Span
from opwright.frozen import fields_of


def as_json(findings: Sequence[Diagnostic], paths: Callable[[str], str]) -> str:
    """A list of records; what is not known is left out."""
    records = [_record(found, paths) for found in findings]
    return f"{json.dumps(records, indent=2, ensure_ascii=False)}\n"


def _record(found: Diagnostic, paths: Callable[[str], str]) -> dict[str, object]:
    record: dict[str, object] = {
        "code": found.code,
        "severity": found.severity.value,
        "message": found.message,
        **_place(found.span, paths),
    }
    if found.hint:
        record["hint"] = found.hint
    if found.related:
        record["related"] = [
            {"message": other.message, **_place(other.span, paths)} for other in found.related
        ]
    if found.fix is not None:
        record["fix"] = _fix(found.fix, paths)
    return record


def _place(span: Span, paths: Callable[[str], str]) -> dict[str, object]:
    known = {name: value for name, value in fields_of(span).items() if value}
    return known | ({"file": paths(span.file)} if span.file else {})


def _fix(fix: Fix, paths: Callable[[str], str]) -> dict[str, object]:
    edits = [{"text": edit.text, **_place(edit.span, paths)} for edit in fix.edits]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}
