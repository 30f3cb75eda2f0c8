"""`opwright explain`: what a code of a finding means."""

from __future__ import annotations

import click

from opwright.cli import show
from opwright.codes import CODES, Code


@click.command("explain")
@click.argument("code", required=False)
@show.as_json_option
def command(code: str | None, as_json: bool) -> None:
    """Say what the CODE of a finding means; without one, list all codes."""
    if code is not None:
        tell(code, as_json=as_json)
    elif as_json:
        show.print_json([_record(row) for row in CODES.values()])
    else:
        for row in CODES.values():
            print(_line(row))


def tell(code: str, *, as_json: bool = False) -> None:
    """Print the page of a rule, or the one line of a code that has no rule."""
    from opwright.lint.catalog import RULES
    from opwright.lint.document import explained

    row = _find(code)
    rule = RULES.get(row.code)
    if as_json:
        show.print_json([_record(row) | ({"why": rule.why} if rule else {})])
    elif rule is None:
        print(_line(row))
    elif show.on_terminal():
        from rich.markdown import Markdown

        show.console().print(Markdown(explained(rule)))
    else:
        print(explained(rule), end="")


def _line(row: Code) -> str:
    return f"{row.code} {row.severity.value:8} {row.title}"


def _record(row: Code) -> dict[str, str]:
    return {"code": row.code, "severity": row.severity.value, "title": row.title}


def _find(code: str) -> Code:
    if row := CODES.get(code.upper()):
        return row
    from difflib import get_close_matches

    near = get_close_matches(code.upper(), CODES, n=3, cutoff=0.5)
    hint = f"; do you mean {' or '.join(near)}?" if near else "; `opwright explain` lists all codes"
    raise click.BadParameter(f"there is no code {code!r}{hint}", param_hint="CODE")
