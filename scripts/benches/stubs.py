"""Stubs for every operator registered in torch, against importing torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

from benches import Row, Times

STUBS = """
from opwright.ops.registered import registered
from opwright.stubs.installed import find_torch
from opwright.stubs.operators import gather
from opwright.stubs.package import package
assert len(package(find_torch(), gather(registered()))) > 40
"""


def rows() -> Iterator[Row]:
    yield Row(
        "import torch, then stubs for all of its operators",
        "import torch",
        _run(f"import torch{STUBS}"),
        _run("import torch"),
        Times(2),
    )


def _run(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)
