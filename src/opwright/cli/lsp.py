"""`opwright lsp`: the language server, as editors start it."""

from __future__ import annotations

import click

from opwright.cli.exits import Exit


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Taken for granted; editors like to say it.")
def command(stdio: bool) -> Exit:
    """Answer an editor on standard input and output, by the Language Server Protocol."""
    try:
        from opwright.editor.server import serve
    except ModuleNotFoundError as missing:
        if missing.name not in ("pygls", "lsprotocol"):
            raise
        hint = "pip install 'opwright[lsp]'"
        raise click.ClickException(f"the language server needs pygls: {hint}") from None
    serve()
    return Exit.CLEAN
