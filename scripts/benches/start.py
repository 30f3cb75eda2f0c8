"""What starting costs, against a Python that does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from benches import Plus, Row
from benches.fresh import BARE, opwright, python


def rows() -> Iterator[Row]:
    bare = python("pass")
    yield Row("import opwright", BARE, python("import opwright"), bare, Plus(0.040))
    for arguments in (("--version",), ("explain", "OW001")):
        yield Row(f"opwright {arguments[0]}", BARE, opwright(*arguments), bare, Plus(0.100))
