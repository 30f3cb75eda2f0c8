"""How the program ends: the exit codes, and the two endings that no command decides."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What an exit code says."""

    CLEAN = 0
    FINDINGS = 1
    UNUSABLE = 2  # bad invocation or unreadable input
    INTERRUPTED = 130  # by Ctrl-C, as shells have it
    CUT = 141  # the reader of our output went away, as `| head` does


def verdict(*, found: bool) -> Exit:
    """Clean, or findings."""
    return Exit.FINDINGS if found else Exit.CLEAN
