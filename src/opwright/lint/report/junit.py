"""Findings as JUnit XML, which build servers show as failed tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from opwright.findings import Diagnostic

ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;"}


def junit(findings: Sequence[Diagnostic], paths: Callable[[str], str]) -> str:
    """A suite for each file, a failed case for each finding; without any, one that passed."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    count = len(findings)
    lines.append(f'<testsuites name="opwright" tests="{max(count, 1)}" failures="{count}">')
    if not findings:
        lines += ['<testsuite name="opwright" tests="1" failures="0">']
        lines += ['<testcase name="no findings" classname="opwright"/>', "</testsuite>"]
    ordered = sorted(findings, key=lambda found: paths(found.span.file))
    for file, group in groupby(ordered, key=lambda found: paths(found.span.file)):
        lines += _suite(file, list(group))
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(file: str, findings: list[Diagnostic]) -> Iterator[str]:
    count = len(findings)
    yield f'<testsuite name="{_escaped(file)}" tests="{count}" failures="{count}">'
    for found in findings:
        span, name = found.span, _escaped(file)
        case = f"{found.code} {span.line}:{span.column}"
        yield f'<testcase name="{case}" classname="{name}" file="{name}" line="{span.line}">'
        message, hint = _escaped(found.message), _escaped(found.hint)
        yield f'<failure type="{found.severity.value}" message="{message}">{hint}</failure>'
        yield "</testcase>"
    yield "</testsuite>"


def _escaped(text: str) -> str:
    """Text as XML can hold it; characters that XML has no place for become `?`."""
    return "".join(ESCAPES.get(char, char if char.isprintable() else "?") for char in text)
