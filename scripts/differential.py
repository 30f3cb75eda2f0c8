#!/usr/bin/env python3
"""Import corpora on purpose and hold our schemas against those that torch inferred for the same
functions.

    scripts/differential.py torchao nvidia-physicsnemo

Needs torch, opwright and what the packages import. Counts what could be compared, what could not
and why; exit code 1 if any schema differs. The counts go to `scripts/data/differential.json`.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch._library import custom_ops, infer_schema

from corpora import CORPORA, Corpus, say
from opwright.findings import SchemaError
from opwright.hints import infer
from opwright.schema.compare import compare
from opwright.schema.parse import parse
from opwright.survey.operators import Operator, operators

RESULTS = Path(__file__).parent / "data" / "differential.json"


@dataclass
class Counts:
    """What happened to the operators of one corpus."""

    found: int = 0
    imported: int = 0
    torch_reads: int = 0
    live_equal: int = 0
    source_equal: int = 0
    refused: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    not_imported: Counter[str] = field(default_factory=Counter)


Known = dict[tuple[str, str], Callable[..., Any]]


def recording() -> Known:
    """Note each function that torch is asked to infer a schema for, under module and qualname."""
    known: Known = {}
    original = infer_schema.infer_schema

    def recorded(function: Callable[..., Any], *args: Any, **keywords: Any) -> str:
        known[function.__module__, function.__qualname__] = function
        return original(function, *args, **keywords)

    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if value is original:
                setattr(module, name, recorded)
    return known


def modules(found: Sequence[Operator]) -> Iterator[tuple[str, str]]:
    """The modules that register operators, and why one could not be imported."""
    names = {one.function.module for one in found if one.function is not None}
    for name in sorted(names):
        reason = imported(name)
        if reason:
            yield name, reason


def imported(name: str) -> str:
    """Import a module; the reason where that cannot be done."""
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:  # the packages' own code may raise anything
        return f"{type(error).__name__}: {error}".splitlines()[0][:100]
    return ""


def held(corpus: Corpus) -> Counts:
    """Import what a corpus registers and compare it operator by operator."""
    sys.path.insert(0, str(corpus.folder))
    counts = Counts()
    found = [one for one in operators(corpus.folder) if isinstance(one, Operator)]
    counts.found = len(found)
    known = recording()
    counts.not_imported.update(dict(modules(found)).values())
    for one in found:
        function = live(one, known)
        if function is not None:
            counts.imported += 1
            compare_one(one, function, counts)
    return counts


def live(one: Operator, known: Known) -> Callable[..., Any] | None:
    """The function that was registered, if it was."""
    if one.function is None:
        return None
    registered = custom_ops.OPDEFS.get(one.name)
    held = getattr(registered, "_init_fn", None)
    if held is not None and held.__name__ == one.function.name:
        return held
    return known.get((one.function.module, one.function.qualname))


def compare_one(one: Operator, function: Callable[..., Any], counts: Counts) -> None:
    mutates = "unknown" if one.mutates is None else one.mutates
    try:
        theirs = infer_schema.infer_schema(function, mutates_args=mutates, op_name=one.name)
    except ValueError:
        return  # what torch cannot read there is nothing to hold against
    counts.torch_reads += 1
    expected = parse(theirs, name=one.name)
    try:
        ours = infer(function, name=one.name, mutates_args=mutates)
    except SchemaError as error:
        counts.refused.append(f"{one.name} live: {error.findings[0].message}")
    else:
        differences = compare(expected, ours)
        counts.live_equal += not differences
        counts.faults += [f"{one.name} live: {d.message}" for d in differences]
    if one.schema is None:
        counts.refused.append(f"{one.name} source: {one.findings[0].message}")
    else:
        differences = compare(expected, one.schema)
        counts.source_equal += not differences
        counts.faults += [f"{one.name} source: {d.message}" for d in differences]


def main(arguments: Sequence[str]) -> int:
    warnings.simplefilter("ignore")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    faults = 0
    for corpus in CORPORA:
        if corpus.name not in arguments:
            continue
        say(f"{corpus.name} {corpus.version}")
        counts = held(corpus)
        faults += len(counts.faults)
        results[corpus.name] = shown(corpus, counts)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")
    return 1 if faults else 0


def shown(corpus: Corpus, counts: Counts) -> dict[str, object]:
    for reason, times in counts.not_imported.most_common():
        say(f"  {times} modules not imported: {reason}")
    for refusal in counts.refused:
        say(f"  refused: {refusal}")
    for fault in counts.faults:
        say(f"  differs: {fault}")
    numbers = {
        "version": corpus.version,
        "torch": torch.__version__.partition("+")[0],
        "found": counts.found,
        "imported": counts.imported,
        "torch_reads": counts.torch_reads,
        "live_equal": counts.live_equal,
        "source_equal": counts.source_equal,
        "refused": counts.refused,
        "differences": counts.faults,
    }
    say("  " + ", ".join(f"{k} {v}" for k, v in numbers.items() if not isinstance(v, list)))
    return numbers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
