"""How far a long run is: on standard error, only on a terminal, only when it takes a while."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 0.5  # seconds that a run may take without a word


class Bar:
    """Call it with how many are done of how many; used as a context it is gone at the end."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.begin = time.monotonic()
        self.shown: Progress | None = None
        self.closed = not sys.stderr.isatty()

    def __call__(self, done: int, of: int) -> None:
        if self.closed or time.monotonic() - self.begin < PATIENCE:
            return
        if self.shown is None:
            self.shown = _started(self.doing)
        self.shown.update(self.shown.task_ids[0], completed=done, total=of)

    def make_way(self) -> None:
        """Results are about to be printed: leave the terminal to them, if it is the same."""
        if sys.stdout.isatty():
            self.close()

    def close(self) -> None:
        """Take the bar away."""
        self.closed = True
        if self.shown is not None:
            self.shown.stop()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _started(doing: str) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    bar = Progress(console=screen, transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task(doing, total=None)
    bar.start()
    return bar
