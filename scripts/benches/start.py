"""What starting costs, against a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

from benches import Plus, Row

BARE = "python -c pass"
PROGRAM = "import sys; from opwright.cli import main; sys.exit(main({!r}))"


def rows() -> Iterator[Row]:
    bare = _python("pass")
    yield Row("import opwright", BARE, _python("import opwright"), bare, Plus(0.040))
    for arguments in (["--version"], ["explain", "OW001"]):
        ours = _python(PROGRAM.format(arguments))
        yield Row(f"opwright {arguments[0]}", BARE, ours, bare, Plus(0.100))


def _python(code: str) -> Callable[[], object]:
    line = [sys.executable, "-c", code]
    return lambda: subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
