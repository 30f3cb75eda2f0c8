"""The one lock that is held while operators are registered, added to, or prepared for a first call.

Knows threads and forks only.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType


class Lock:
    """A lock that its holder may take again, and that no child process inherits locked."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):  # a thread of the parent may hold it
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()


lock = Lock()
