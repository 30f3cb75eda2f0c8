"""Stubs for every operator registered in torch, against importing torch."""

from __future__ import annotations

from collections.abc import Iterator

from benches import Row, Times
from benches.fresh import python

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
        python(f"import torch{STUBS}"),
        python("import torch"),
        Times(2),
    )
