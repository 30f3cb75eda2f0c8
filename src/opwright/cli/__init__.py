"""The command line: `opwright`. Each command is a file, loaded when the command is used."""

from __future__ import annotations

import atexit
import gc

LOADED = 50_000
"""More objects than a start makes, all of them to stay."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command line and give the exit code; only bugs get out as exceptions."""
    gc.set_threshold(LOADED)  # looking for garbage among what is being loaded finds none
    atexit.register(gc.freeze)  # nor need anyone look for it in a process that ends
    from opwright.cli import app

    return app.main(arguments)
