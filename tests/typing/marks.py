"""What each mark is to a type checker; read by mypy, pyright and jedi, never run."""

from typing import Annotated

from typing_extensions import reveal_type

from opwright import Aliases, Const, Json, Mutable, Opaque, Out, Scalar


class Tensor:
    def add_(self, other: "Tensor") -> "Tensor":
        return other


class Cfg:
    def scale(self) -> float:
        return 1.0


def operator(
    written: Mutable[Tensor],
    many: Mutable[list[Tensor]],
    out: Out[Tensor | None],
    n: Const[int],
    cfg: Json[Cfg],
    state: Opaque[Cfg],
    factor: Scalar,
) -> Annotated[Tensor, Aliases("written")]:
    reveal_type(written)  #: Tensor
    reveal_type(many)  #: list[Tensor]
    reveal_type(out)  #: Tensor | None
    reveal_type(n)  #: int
    reveal_type(cfg)  #: Cfg
    reveal_type(state)  #: Cfg
    reveal_type(factor)  #: int | float | bool | complex
    return written


reveal_type(operator(Tensor(), [Tensor()], None, 3, Cfg(), Cfg(), 2.5))  #: Tensor
operator(3, [3], 3, "n", 3, 3, "factor")
