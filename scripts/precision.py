#!/usr/bin/env python3
"""Lint the corpora and hold every finding against what a reader judged it to be.

scripts/precision.py            write docs/precision.md
scripts/precision.py --new      print the findings above a note that nobody has judged

The judgements are in scripts/data/judgements.json: a verdict and a reason for each finding, or for
all findings of one code in one corpus whose message holds some words.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from opwright.codes import CODES
from opwright.findings import Diagnostic, Severity
from opwright.lint.engine import Report, lint
from opwright.lint.settings import Project

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ROOT / ".corpora"
JUDGEMENTS = ROOT / "scripts" / "data" / "judgements.json"
PAGE = ROOT / "docs" / "precision.md"


@dataclass(frozen=True)
class Judgement:
    """What a reader found: for which findings, whether they are true, and why."""

    corpus: str
    code: str
    words: str
    true: bool
    why: str

    def covers(self, corpus: str, found: Diagnostic) -> bool:
        return (
            corpus.rpartition("-")[0] == self.corpus
            and found.code == self.code
            and (self.words in found.message or self.words in found.span.file)
        )


def judgements() -> list[Judgement]:
    return [Judgement(**row) for row in json.loads(JUDGEMENTS.read_text())]


def judged(corpus: str, found: Diagnostic, known: list[Judgement]) -> Judgement | None:
    return next((one for one in known if one.covers(corpus, found)), None)


def reports() -> Iterator[tuple[str, Report]]:
    """Each corpus with what the linter says of it."""
    for folder in sorted(CORPORA.iterdir()):
        if folder.is_dir():
            yield folder.name, lint([str(folder)], Project(folder))


def weighty(report: Report) -> list[Diagnostic]:
    return [found for found in report.findings if found.severity is not Severity.NOTE]


def page() -> str:
    """The table, and the findings that were judged false."""
    known = judgements()
    lines = [HEAD]
    totals: Counter[str] = Counter()
    wrong: list[str] = []
    for corpus, report in reports():
        by_code: dict[str, Counter[str]] = {}
        for found in weighty(report):
            verdict = judged(corpus, found, known)
            word = "unread" if verdict is None else "true" if verdict.true else "false"
            by_code.setdefault(found.code, Counter())[word] += 1
            totals[word] += 1
            if verdict is not None and not verdict.true:
                wrong.append(f"- {corpus} {found.code}: {found.message}: {verdict.why}")
        operators = len(report.index.defined)
        totals["operators"] += operators
        lines += rows(corpus, operators, by_code)
    lines.append(
        f"| all | {totals['operators']} | | | {totals['true']} | {totals['false']} "
        f"| {totals['unread']} |"
    )
    if wrong:
        lines += ["", "## False", "", *wrong]
    return "\n".join(lines) + "\n"


def rows(corpus: str, operators: int, by_code: dict[str, Counter[str]]) -> Iterator[str]:
    first = f"| {corpus} | {operators} "
    if not by_code:
        yield f"{first}| | | 0 | 0 | 0 |"
    for code, counts in sorted(by_code.items()):
        yield (
            f"{first}| {code} | {CODES[code].title} | {counts['true']} | {counts['false']} "
            f"| {counts['unread']} |"
        )
        first = "| | "


HEAD = """# Precision of the linter

What `opwright lint` says of real packages, notes left out. Every finding was looked at: *true*
means that the code is as the finding says, and that what the rule says of such code holds. Written
by `scripts/precision.py` from the packages that `scripts/corpora.py --all` downloads and the
verdicts in `scripts/data/judgements.json`. The operators of flashinfer are wrapped in a decorator
that today registers nothing: its findings are what would fail when it does.

| package | operators | code | what is wrong | true | false | not read |
|---|--:|---|---|--:|--:|--:|"""


def unread() -> int:
    known = judgements()
    count = 0
    for corpus, report in reports():
        for found in weighty(report):
            if judged(corpus, found, known) is None:
                count += 1
                print(corpus, found)
    return count


def main() -> int:
    if "--new" in sys.argv[1:]:
        return 1 if unread() else 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
