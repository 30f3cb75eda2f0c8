"""`opwright schema`: read schema strings, print them as they should be written."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

import opwright
from opwright import Schema, SchemaError
from opwright.cli import show
from opwright.cli.exits import Exit, verdict


@click.command("schema")
@click.argument("strings", nargs=-1, required=True, metavar="STRING...")
@show.as_json_option
@click.option("--python", "as_python", is_flag=True, help="Print a module of annotated functions.")
def command(strings: tuple[str, ...], as_json: bool, as_python: bool) -> Exit:
    """Read each schema STRING and print it in canonical form; `-` stands for lines of input."""
    if as_json and as_python:
        raise click.UsageError("--json and --python exclude each other")
    read = [(text, _read(text)) for text in _texts(strings)]
    if as_json:
        show.print_json([_record(text, found) for text, found in read])
    elif as_python:
        _print_python([found for _, found in read])
    else:
        for _, found in read:
            _print(found)
    return verdict(found=any(isinstance(found, SchemaError) for _, found in read))


def _read(text: str) -> Schema | SchemaError:
    try:
        return opwright.parse(text)
    except SchemaError as error:
        return error


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


def _record(text: str, found: Schema | SchemaError) -> dict[str, object]:
    if isinstance(found, SchemaError):
        return {"text": text, "findings": [*map(show.record, found.findings)]}
    from opwright.exchange import dump

    return {"text": text, "canonical": str(found), "schema": dump(found)}


def _print(found: Schema | SchemaError) -> None:
    if isinstance(found, SchemaError):
        show.findings(found.findings)
    elif show.on_terminal():
        show.console().print(show.coloured(str(found)), soft_wrap=True)
    else:
        print(found)


def _print_python(read: list[Schema | SchemaError]) -> None:
    """The module on standard output; what is wrong beside it, so that the module stays one."""
    from opwright.schema.signature import module

    for found in read:
        if isinstance(found, SchemaError):
            for finding in found.findings:
                print(show.plain(finding), file=sys.stderr)
    if good := [found for found in read if isinstance(found, Schema)]:
        print(module(good), end="")
