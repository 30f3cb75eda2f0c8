"""The program around the commands: their table, and every way it can end, without a traceback."""

from __future__ import annotations

import importlib
import os
import sys

import click

from opwright.cli.exits import Exit
from opwright.version import __version__

# The summaries stand here, so that help need not load the commands.
COMMANDS = {
    "infer": "canonical schemas of operators and annotated functions",
    "lint": "where schemas, functions and calls disagree, in Python and C++",
    "stubs": "typed `torch.ops` for editors and type checkers",
    "lsp": "language server on standard input and output",
    "schema": "canonical form of a schema string",
    "explain": "what the code of a finding means",
}


class Commands(click.Group):
    """The commands of the table; each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"opwright.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            for near in get_close_matches(args[0], COMMANDS, n=1):
                ctx.fail(f"there is no command {args[0]!r}; did you mean `opwright {near}`?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Exit:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python would complain again when it flushes what nobody reads any more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return Exit.CUT
        return Exit(code or Exit.CLEAN)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def program() -> None:
    """Type annotations to PyTorch operator schemas.

    Exit code 0: clean; 1: findings; 2: bad invocation or unreadable input.
    """


def main(arguments: list[str] | None = None) -> int:
    """Run a command line and give the exit code; only bugs get out as exceptions."""
    try:
        code = program.main(arguments, prog_name="opwright", standalone_mode=False)
    except click.ClickException as bad:
        bad.show()
        return Exit.UNUSABLE
    except (KeyboardInterrupt, click.Abort):
        print("interrupted", file=sys.stderr)
        return Exit.INTERRUPTED
    return code if isinstance(code, int) else Exit.CLEAN
