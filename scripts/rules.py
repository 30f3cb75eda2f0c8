#!/usr/bin/env python3
"""Write the pages of the linter's rules from the rules themselves.

scripts/rules.py            write docs/rules.md and docs/rules/*.md
scripts/rules.py --check    exit with 1 where they are not what the rules say
"""

from __future__ import annotations

import sys
from pathlib import Path

from opwright.lint.catalog import RULES
from opwright.lint.document import explained, overview

DOCS = Path(__file__).resolve().parent.parent / "docs"


def pages() -> dict[Path, str]:
    """Every page with its text."""
    found = {DOCS / "rules" / f"{code}.md": explained(rule) for code, rule in RULES.items()}
    return {DOCS / "rules.md": overview(RULES.values()), **found}


def stale() -> list[Path]:
    """Pages that are missing, differ, or belong to no rule."""
    wanted = pages()
    there = {*(DOCS / "rules").glob("*.md")}
    wrong = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    return wrong + sorted(there - set(wanted))


def main() -> int:
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"{path.relative_to(DOCS.parent)} is stale: run scripts/rules.py")
        return 1 if stale() else 0
    (DOCS / "rules").mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text)
    for path in stale():
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
