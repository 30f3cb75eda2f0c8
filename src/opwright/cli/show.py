"""How results look: plain lines in a pipe, rich text on a terminal, JSON when asked for."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from opwright.findings import Diagnostic, Severity
from opwright.frozen import fields_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}


def on_terminal() -> bool:
    """Whether a person reads our output."""
    return sys.stdout.isatty()


def console() -> Console:
    """Where rich writes; imported only here, so that a pipe does not pay for it."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False, emoji=False, markup=False)


def print_json(value: object) -> None:
    """One JSON document, for programs and people alike."""
    import json

    print(json.dumps(value, indent=2, ensure_ascii=False))


def plain(finding: Diagnostic) -> str:
    """A finding in one line, for grep.

    >>> print(plain(Diagnostic("OW003", "there is no type 'tensor'", "write `Tensor`")))
    OW003 there is no type 'tensor'; write `Tensor`
    """
    where = f"{finding.span}: " if str(finding.span) else ""
    hint = f"; {finding.hint}" if finding.hint else ""
    return " ".join(f"{where}{finding.code} {finding.message}{hint}".splitlines())


def record(finding: Diagnostic) -> dict[str, object]:
    """A finding as JSON has it; what is not known is left out."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        **({"hint": finding.hint} if finding.hint else {}),
        **({"excerpt": finding.excerpt} if finding.excerpt else {}),
        **{key: value for key, value in fields_of(finding.span).items() if value},
        **({"related": [_related(finding)]} if finding.related else {}),
    }


def _related(finding: Diagnostic) -> list[dict[str, object]]:
    return [
        {"message": other.message, **{k: v for k, v in fields_of(other.span).items() if v}}
        for other in finding.related
    ]


def fancy(finding: Diagnostic) -> Text:
    """A finding for a terminal: the code in the colour of its weight, the excerpt, the hint."""
    from rich.text import Text

    text = Text()
    text.append(f"{finding.code} ", COLOURS[finding.severity])
    text.append(finding.message)
    if finding.excerpt:
        caret = " " * (finding.span.column - 1) + "^"
        text.append(f"\n  {finding.excerpt}").append(f"\n  {caret}", COLOURS[finding.severity])
    if finding.hint:
        text.append("\n  hint: ", "bold").append(finding.hint)
    return text


def wrapped(schema: str, width: int) -> str:
    """A schema in lines of that width, broken only between arguments.

    >>> print(wrapped("f(Tensor x, Tensor y, Tensor z) -> Tensor", 24))
    f(Tensor x, Tensor y,
      Tensor z) -> Tensor
    """
    lines = [""]
    for part in re.findall(r".+?(?:, |$)", schema):
        if lines[-1].strip() and len(lines[-1] + part.rstrip()) > width:
            lines.append("  ")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


_PARTS = (
    r"(?P<name>^[^(]+)|(?P<writes>\([^()]*!\)|\([a-z|*]\))"
    r"|(?P<default>=[^,()]+)|(?P<type>\b[A-Z]\w*)"
)
_STYLES = {"name": "bold", "writes": "bold yellow", "default": "green", "type": "cyan"}


def coloured(schema: str) -> Text:
    """A schema for a terminal: its name, types, alias marks and defaults told apart."""
    from rich.text import Text

    text = Text(schema)
    for part in re.finditer(_PARTS, schema):
        text.stylize(_STYLES[str(part.lastgroup)], part.start(), part.end())
    return text


def findings(found: Iterable[Diagnostic]) -> None:
    """Print findings as the reader of the output likes them."""
    if not on_terminal():
        for finding in found:
            print(plain(finding))
        return
    screen = console()
    for finding in found:
        screen.print(fancy(finding))
