"""How a closed union ends: with what type checkers prove is never reached."""

from __future__ import annotations

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """Fail for a value that no case was for; `typing` has it from Python 3.11.

    >>> assert_never(3)
    Traceback (most recent call last):
    AssertionError: there is no case for 3
    """
    raise AssertionError(f"there is no case for {value!r}")
