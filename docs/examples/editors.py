"""A library with one operator, for the page on editors."""

from torch import Tensor

import opwright as ow


@ow.op("mylib::scale")
def scale(x: Tensor, by: float = 2.0, *, times: int = 1) -> Tensor:
    """Multiply `x` by `by`, several times."""
    return x * by**times
