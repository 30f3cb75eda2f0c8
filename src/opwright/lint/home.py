"""Where the linter keeps what it remembers: a folder of the user, never one of the code base."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def default_folder() -> Path:
    """Where the user's caches are."""
    if given := os.environ.get("OPWRIGHT_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "opwright"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "opwright"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "opwright"
