"""`opwright schema`: read schema strings, print them as they should be written."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

import opwright
from opwright import Diagnostic, Schema, SchemaError
from opwright.cli import show
from opwright.cli.exits import Exit, verdict


@click.command("schema")
@click.argument("strings", nargs=-1, required=True, metavar="STRING...")
@show.as_json_option
def command(strings: tuple[str, ...], as_json: bool) -> Exit:
    """Read each schema STRING and print it in canonical form; `-` stands for lines of input."""
    found: list[Diagnostic] = []
    records: list[dict[str, object]] = []
    for text in _texts(strings):
        try:
            schema = opwright.parse(text)
        except SchemaError as error:
            found += error.findings
            records.append({"text": text, "findings": [*map(show.record, error.findings)]})
            if not as_json:
                show.findings(error.findings)
            continue
        records.append({"text": text, "canonical": str(schema)})
        if not as_json:
            _print(schema)
    if as_json:
        show.print_json(records)
    return verdict(found=bool(found))


def _texts(strings: tuple[str, ...]) -> Iterator[str]:
    for text in strings:
        if text == "-":
            yield from (line for line in _given().splitlines() if line.strip())
        else:
            yield text


def _given() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"standard input is not UTF-8 text: {error.reason}") from None


def _print(schema: Schema) -> None:
    if show.on_terminal():
        show.console().print(show.coloured(str(schema)))
    else:
        print(schema)
