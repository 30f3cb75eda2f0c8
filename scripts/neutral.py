#!/usr/bin/env python3
"""Type-check a code base with and without our stubs: which findings come, which go.

    scripts/neutral.py .corpora/torchao-0.18.0/torchao           stubs of one operator of others
    scripts/neutral.py --own .corpora/torchao-0.18.0/torchao     stubs of those that it declares
    scripts/neutral.py --tools mypy ty -- SOURCE                 with these tools

The code base is copied, checked, given `typings/`, and checked again. Exit code 1 if a tool finds
anything where it found nothing before. With the stubs of others there must be nothing: the rest of
`torch` gets no worse. With its own, what is new are wrong uses of operators, and what follows from
their types.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TYPINGS = "typings"
FOREIGN = Path(__file__).resolve().parents[1] / "docs" / "examples" / "editors.py"
PYTHON = sys.executable
PYRIGHT = ("--pythonpath", PYTHON, "--level", "error")

TOOLS = {
    "pyright": ("pyright", *PYRIGHT),
    "basedpyright": ("basedpyright", *PYRIGHT),
    "mypy": ("mypy", "--python-executable", PYTHON, "--no-incremental", "--no-error-summary"),
    "ty": ("ty", "check", "--output-format", "concise", "--python", sys.prefix),
    "pyrefly": ("pyrefly", "check", "--output-format", "min-text"),
}
"""Every tool as it is called, without the code base."""

CONFIGURED = {
    "pyrefly.toml": f'python-interpreter-path = "{PYTHON}"\nproject-excludes = ["{TYPINGS}/**"]\n',
    "ty.toml": f'[environment]\nextra-paths = ["{TYPINGS}"]\n',
}
"""What a workspace says so that its tools look into `typings/`; pyright does by itself."""

_FINDING = re.compile(r"(?P<place>[^\s:]+\.pyi?:\d+(?::\d+)?)(?:-\d+)?:?(?: - |:? )(?P<said>.*)")


class Finding(NamedTuple):
    """One error of a tool: where, and what it says."""

    place: str
    said: str


def findings(text: str) -> Counter[Finding]:
    r"""The errors in the output of any of the tools.

    >>> for finding in findings("a.py:1:2: error: no\n  /x/b.py:3:4 - error: bad\nnot one"):
    ...     print(finding)
    Finding(place='a.py:1:2', said='error: no')
    Finding(place='/x/b.py:3:4', said='error: bad')
    """
    found = (_FINDING.search(line) for line in text.splitlines())
    return Counter(
        Finding(each["place"], each["said"])
        for each in found
        if each and not re.match(r"(note|information|warning|info)\b", each["said"])
    )


def appeared(before: Counter[Finding], after: Counter[Finding]) -> list[Finding]:
    """What a tool says where it said nothing before: the order of a union is no finding.

    >>> before, same = Finding("a:1:2", "int | str"), Finding("a:1:2", "str | int")
    >>> appeared(Counter([before]), Counter([same, Finding("b:1", "")]))
    [Finding(place='b:1', said='')]
    """
    places = Counter(finding.place for finding in before.elements())
    found = []
    for finding in after.elements():
        places[finding.place] -= 1
        if places[finding.place] < 0:
            found.append(finding)
    return found


def check(tool: str, folder: Path, source: str) -> Counter[Finding]:
    """What a tool reports in a folder. mypy looks for stub packages on Python's own path only."""
    command = [f"{sysconfig.get_path('scripts')}/{TOOLS[tool][0]}", *TOOLS[tool][1:], source]
    environment = os.environ | {"PYTHONPATH": str(folder / TYPINGS)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode not in (0, 1):
        raise SystemExit(f"{tool} failed with {done.returncode}:\n{said[-2000:]}")
    return findings(said)


def prepare(source: Path, folder: Path) -> str:
    """Copy a code base into a folder of its own; the name that the tools are given."""
    shutil.copytree(source, folder / source.name)  # makes the folder, too
    for name, text in CONFIGURED.items():
        (folder / name).write_text(text, "utf-8")
    (folder / TYPINGS).mkdir()
    return source.name


def add_stubs(folder: Path, operators: Path) -> None:
    """Write the stubs of what is declared somewhere into a folder."""
    program = "import sys; from opwright.cli import main; sys.exit(main())"
    command = [PYTHON, "-c", program, "stubs", str(operators.resolve()), "--torch-ops"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=[*TOOLS])
    parser.add_argument("--own", action="store_true", help="stubs of its own operators")
    parser.add_argument("--show", type=int, default=20, help="how many findings to print")
    options = parser.parse_args(arguments)
    worse = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        source = prepare(options.source, folder)
        before = {tool: check(tool, folder, source) for tool in options.tools}
        add_stubs(folder, options.source if options.own else FOREIGN)
        for tool in options.tools:
            after = check(tool, folder, source)
            new, gone = appeared(before[tool], after), appeared(after, before[tool])
            print(f"{tool}: {before[tool].total()} before, {len(new)} new, {len(gone)} gone")
            for finding in new[: options.show]:
                print(f"  new  {finding.place} {finding.said}")
            worse += len(new)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
