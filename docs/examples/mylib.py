"""Three functions of a library; two of them can be operators."""

from typing import Literal

from torch import Tensor

from opwright import Mutable


def rms_norm_(
    out: Mutable[Tensor], x: Tensor, weight: Tensor | None = None, eps: float = 1e-6
) -> None:
    """Write the normalised rows of `x` to `out`."""


def resize(x: Tensor, size: tuple[int, int], mode: Literal["nearest", "bilinear"]) -> Tensor:
    """Scale images."""


def scaled(x: Tensor, scales: dict[str, float]) -> Tensor:
    """A dict has no schema type."""
