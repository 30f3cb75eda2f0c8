#!/usr/bin/env python3
"""Survey the corpora and write `docs/corpora.md`: operators found, inferred, refused, and why.

    scripts/report.py           write the page from the corpora that are here, all of them
    scripts/report.py --check   write nothing; fail where the page would change

Every refusal must have been looked at: `data/refusals.json` says of each why it is right. One
that is not in there, or one in there that no longer happens, fails the run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora import CORPORA, Corpus, say
from opwright.findings import Severity
from opwright.survey.operators import Operator, Unreadable, operators

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "corpora.md"
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Refusal:
    """One reason why an operator has no schema, or should not be registered as it is."""

    corpus: str
    operator: str
    code: str
    message: str

    @property
    def key(self) -> str:
        return f"{self.corpus}: {self.operator}: {self.code}"


@dataclass(frozen=True)
class Survey:
    """What one corpus holds."""

    corpus: Corpus
    files: int
    operators: tuple[Operator, ...]
    unreadable: tuple[Unreadable, ...]

    @property
    def refused(self) -> list[Operator]:
        return [one for one in self.operators if one.refused]

    @property
    def written(self) -> list[Operator]:
        return [one for one in self.operators if one.written is not None]

    def refusals(self) -> Iterator[Refusal]:
        for one in self.operators:
            for finding in one.findings:
                if finding.severity is Severity.ERROR:
                    yield Refusal(self.corpus.name, one.name, finding.code, finding.message)
        for file in self.unreadable:
            name = str(file.path.relative_to(self.corpus.folder))
            for finding in file.findings:
                yield Refusal(self.corpus.name, name, finding.code, finding.message)


def survey(corpus: Corpus) -> Survey:
    found = list(operators(corpus.folder))
    return Survey(
        corpus,
        sum(1 for _ in corpus.folder.rglob("*.py")),
        tuple(one for one in found if isinstance(one, Operator)),
        tuple(one for one in found if isinstance(one, Unreadable)),
    )


def judged(refusals: Iterable[Refusal]) -> tuple[dict[str, list[Refusal]], list[str]]:
    """Refusals by the reason why each is right, and what is wrong with the judgements."""
    reasons: Mapping[str, list[str]] = json.loads((DATA / "refusals.json").read_text())
    why = {key: reason for reason, keys in reasons.items() for key in keys}
    grouped: dict[str, list[Refusal]] = {reason: [] for reason in reasons}
    faults, seen = [], set()
    for refusal in refusals:
        seen.add(refusal.key)
        if refusal.key in why:
            grouped[why[refusal.key]].append(refusal)
        else:
            faults.append(f"not judged: {refusal.key}: {refusal.message}")
    faults += [f"judged, but gone: {key}" for key in why if key not in seen]
    return grouped, faults


# The page --------------------------------------------------------------------------------------


def page(surveys: Sequence[Survey], grouped: Mapping[str, list[Refusal]]) -> str:
    """The whole text of `docs/corpora.md`."""
    parts = [
        INTRODUCTION,
        "\n".join(table(surveys)),
        AGAINST_TORCH,
        "\n".join(against_torch()),
        "## Refusals, and why each is right",
        *(section(reason, refusals) for reason, refusals in grouped.items() if refusals),
    ]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """\
# What Opwright reads in the field

Written by `scripts/report.py`; the packages come from `scripts/corpora.py`. Each was read as text:
nothing of it was imported. *Found* are functions decorated with `torch.library.custom_op` or
`triton_op`, or given to a helper that registers them; *handwritten* are those that bring a schema
of their own, which was held against the annotations."""

AGAINST_TORCH = """\
## Held against torch

Where the package can be imported without a GPU, the schemas of `torch.library.infer_schema` for
the live functions were compared with ours, structurally: read from the live function, and read from
the source. Written by `scripts/differential.py`."""


def table(surveys: Sequence[Survey]) -> Iterator[str]:
    yield "| package | files | found | inferred | refused | handwritten |"
    yield "|---|--:|--:|--:|--:|--:|"
    total = [0] * 5
    for one in surveys:
        found, refused = len(one.operators), len(one.refused)
        row = [one.files, found, found - refused, refused, len(one.written)]
        total = [a + b for a, b in zip(total, row, strict=True)]
        yield f"| {one.corpus.name} {one.corpus.version} | {cells(row)} |"
    yield f"| all | {cells(total)} |"


def cells(numbers: Iterable[int]) -> str:
    return " | ".join(f"{number:,}" for number in numbers)


def against_torch() -> Iterator[str]:
    heads = ("package", "torch", "found", "imported", "torch infers", "live equal", "source equal")
    yield f"| {' | '.join(heads)} | refused |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    results = json.loads((DATA / "differential.json").read_text())
    for name, row in results.items():
        columns = ("found", "imported", "torch_reads", "live_equal", "source_equal")
        numbers = cells([*(row[column] for column in columns), len(row["refused"])])
        yield f"| {name} {row['version']} | {row['torch']} | {numbers} |"


def section(reason: str, refusals: Sequence[Refusal]) -> str:
    lines = [f"**{reason}** ({len(refusals)})", ""]
    return "\n".join(
        [*lines, *(f"- `{one.operator}`: {one.code} {one.message}" for one in refusals)]
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only see whether the page is right")
    options = parser.parse_args(arguments)
    missing = [corpus.name for corpus in CORPORA if not corpus.folder.is_dir()]
    if missing:
        say(f"run scripts/corpora.py --all first: {', '.join(missing)} not here")
        return 2
    surveys = []
    for corpus in CORPORA:
        surveys.append(survey(corpus))
        say(f"{corpus.name}: {len(surveys[-1].operators)} operators")
    grouped, faults = judged(refusal for one in surveys for refusal in one.refusals())
    text = page(surveys, grouped)
    if options.check and text != PAGE.read_text():
        faults.append(f"{PAGE.name} is not what the corpora give")
    if not options.check:
        PAGE.write_text(text)
    for fault in faults:
        say(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
