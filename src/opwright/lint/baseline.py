"""Findings that a project knows and does not want to hear of again, kept in a file.

A finding is known by file, code and message, never by line: code above it may come and go.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError, Span

Key = tuple[str, str, str]
VERSION = 1


def write(path: Path, findings: Iterable[Diagnostic], relative: Callable[[str], str]) -> int:
    """Write all findings to a file; gives their number."""
    counted = Counter(_key(found, relative) for found in findings)
    rows = [
        {"file": file, "code": code, "message": message, "count": count}
        for (file, code, message), count in sorted(counted.items())
    ]
    text = json.dumps({"version": VERSION, "findings": rows}, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")
    return sum(counted.values())


def read(path: Path) -> Counter[Key]:
    """The known findings; raises `SchemaError` where the file is none of ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] != VERSION:
            raise ValueError(f"its version is {content['version']!r}, not {VERSION}")
        rows = content["findings"]
        return Counter({(r["file"], r["code"], r["message"]): int(r["count"]) for r in rows})
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"the baseline cannot be read: {error}"
        found = Diagnostic("OW911", message, "write it anew: `--write-baseline`", Span(str(path)))
    raise SchemaError([found])


def unknown(
    findings: Iterable[Diagnostic], known: Counter[Key], relative: Callable[[str], str]
) -> Iterator[Diagnostic]:
    """The findings that are not known; of three where two are known, the last."""
    left = Counter(known)
    for found in findings:
        key = _key(found, relative)
        if left[key] > 0:
            left[key] -= 1
        else:
            yield found


def _key(found: Diagnostic, relative: Callable[[str], str]) -> Key:
    return (relative(found.span.file), found.code, found.message)
