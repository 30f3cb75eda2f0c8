"""`opwright infer`: the schema of each operator, or of each annotated function, or why not."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from opwright.cli import answers, show
from opwright.cli.answers import Answer
from opwright.cli.exits import Exit, verdict
from opwright.cli.progress import Bar
from opwright.cli.target import find
from opwright.findings import Severity
from opwright.frozen import replace

if TYPE_CHECKING:
    from rich.table import Table


@click.command("infer")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--all", "every", is_flag=True, help="Every annotated function, not only operators.")
@click.option("--live", is_flag=True, help="Import the module and read its live functions.")
@click.option("--notes", is_flag=True, help="Show notes, too: guesses and habits.")
@show.as_json_option
def command(targets: tuple[str, ...], every: bool, live: bool, notes: bool, as_json: bool) -> Exit:
    """Print the canonical schema of each operator in a TARGET, or why it has none.

    A TARGET is a file, a folder, an installed module (`torchao`), or a function of either
    (`torchao.ops:f`, `ops.py:f`). Source is read; only --live imports it.
    """
    tally = Tally()
    found = tally.counting(_answers(targets, every=every, live=live))
    if not notes:
        found = map(_without_notes, found)
    if as_json:
        show.print_json([_record(answer) for answer in found])
    elif show.on_terminal():
        _print_laid_out(found)
    else:
        _print_plain(found)
    tally.close(operators=not (every or live))
    return Exit.UNUSABLE if tally.unreadable else verdict(found=tally.wrong > 0)


def _answers(targets: Iterable[str], *, every: bool, live: bool) -> Iterator[Answer]:
    for target in [find(text) for text in targets]:
        if live:
            yield from answers.live(target)
        elif target.function:
            yield answers.named(target)
        else:
            look = answers.annotated if every else answers.registered
            with Bar(f"reading {target.path}") as bar:
                for answer in look(target, bar):
                    bar.make_way()
                    yield answer


def _without_notes(answer: Answer) -> Answer:
    kept = (found for found in answer.findings if found.severity is not Severity.NOTE)
    return replace(answer, findings=tuple(kept))


class Tally:
    """How many answers there were, and of which kind."""

    def __init__(self) -> None:
        self.inferred = self.refused = self.wrong = self.unreadable = 0

    def counting(self, found: Iterable[Answer]) -> Iterator[Answer]:
        """Pass answers on and count them."""
        for answer in found:
            self.unreadable += answer.unreadable
            self.inferred += answer.schema is not None
            self.refused += answer.schema is None and not answer.unreadable
            self.wrong += answer.wrong
            yield answer

    def close(self, *, operators: bool) -> None:
        """Tell a person at a terminal the sum, and anyone that nothing was found."""
        if not self.inferred + self.refused and not self.unreadable:
            hint = "; --all reads every annotated function" if operators else ""
            click.echo(f"nothing found{hint}", err=True)
        elif show.on_terminal():
            counts = [f"{self.inferred} inferred", f"{self.refused} refused"]
            if self.unreadable:
                counts.append(f"{self.unreadable} files unreadable")
            click.echo(", ".join(counts))


def _record(answer: Answer) -> dict[str, object]:
    span = answer.span
    return {
        **({"name": answer.name} if answer.name else {}),
        **({"file": span.file} if span.file else {}),
        **({"line": span.line, "column": span.column} if span.line else {}),
        "schema": None if answer.schema is None else str(answer.schema),
        "findings": [*map(show.record, answer.findings)],
    }


def _print_plain(found: Iterable[Answer]) -> None:
    for answer in found:
        if answer.schema is not None:
            where = f"{answer.span}: " if str(answer.span) else ""
            print(f"{where}{answer.schema}")
        show.findings(answer.findings)


def _print_laid_out(found: Iterable[Answer]) -> None:
    """One block a file: the line of each operator, its schema, what is wrong below it."""
    from rich.text import Text

    screen = show.console()
    for file, group in itertools.groupby(found, lambda answer: answer.span.file):
        if file:
            screen.print(Text(file, "underline"), soft_wrap=True)
        screen.print(_block(group, screen.width - GUTTER))
        screen.print()


GUTTER = 8  # columns for the number of a line


def _block(group: Iterable[Answer], width: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim", no_wrap=True, width=GUTTER - 2)
    table.add_column(overflow="fold")
    for answer in group:
        line = str(answer.span.line or "")
        if answer.schema is not None:
            table.add_row(line, show.coloured(show.wrapped(str(answer.schema), width)))
        elif answer.name:
            table.add_row(line, Text(answer.name, "bold"))
        for finding in answer.findings:
            table.add_row(str(finding.span.line or ""), show.fancy(finding))
    return table
