"""What the tests of the registration core share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def clean(request: pytest.FixtureRequest) -> Iterator[None]:
    """No operator of the file's namespace, `NS`, outlives its test."""
    import torch

    from opwright.ops import registry

    yield
    mine = f"{request.module.NS}::"
    while left := [name for name in registry.names() if name.startswith(mine)]:
        registry.remove(left[0])
    torch._dynamo.reset()
