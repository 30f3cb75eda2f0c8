"""Values on their way to a kernel: tuples, members, choices and structures arrive as annotated."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel
from typing_extensions import NotRequired

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch._dynamo.testing import CompileCounter  # noqa: E402

import opwright as ow  # noqa: E402
from opwright import Mutable  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("clean"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_arguments"
SEEN: list[Any] = []
"""What the kernels received last."""


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


class Act(str, enum.Enum):
    RELU = "relu"
    GELU = "gelu"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Plain(enum.Enum):
    A = object()
    B = frozenset((1,))


@dataclasses.dataclass
class Scaling:
    factor: float
    steps: int = 2


@dataclasses.dataclass(frozen=True)
class Config:
    scaling: Scaling
    act: Act = Act.RELU
    size: tuple[int, int] = (1, 1)


class Window(NamedTuple):
    left: int
    right: int = 0


class Options(TypedDict):
    scale: float
    shift: NotRequired[float]


class Model(BaseModel):
    rate: float
    rounds: int = 3


class Holder(NamedTuple):
    weight: Tensor
    by: float = 1.0


def note(x: Tensor, *values: Any) -> Tensor:
    SEEN[:] = values
    return x.clone()


def numbers(x: Tensor, n: int, f: float, b: bool, s: str, c: complex) -> Tensor:
    return note(x, n, f, b, s, c)


def lists(x: Tensor, n: list[int], f: list[float], b: list[bool], s: list[str]) -> Tensor:
    return note(x, n, f, b, s)


def words(x: Tensor, d: torch.dtype, e: torch.device, m: torch.memory_format) -> Tensor:
    return note(x, d, e, m)


def pair(x: Tensor, size: tuple[int, int] = (1, 1)) -> Tensor:
    return note(x, size)


def pair_or_one(x: Tensor, size: int | tuple[int, int] = 1) -> Tensor:
    return note(x, size)


def row(x: Tensor, sizes: tuple[int, ...], at: tuple[float, float] | None = None) -> Tensor:
    return note(x, sizes, at)


def choice(x: Tensor, mode: Literal["fast", "slow"] = "fast", n: Literal[1, 2] = 1) -> Tensor:
    return note(x, mode, n)


def members(
    x: Tensor, act: Act = Act.GELU, level: Level = Level.LOW, p: Plain | None = None
) -> Tensor:
    return note(x, act, level, p)


def member_list(x: Tensor, acts: list[Act]) -> Tensor:
    return note(x, acts)


def nested(x: Tensor, config: Config) -> Tensor:
    return note(x, config)


def maybe(x: Tensor, window: Window | None = None) -> Tensor:
    return note(x, window)


def options(x: Tensor, options: Options) -> Tensor:
    return note(x, options)


def model(x: Tensor, model: Model) -> Tensor:
    return note(x, model)


def holder(x: Tensor, *, holder: Holder) -> Tensor:
    note(x, holder.by)
    return x * holder.weight * holder.by


def tensors(x: Tensor, xs: list[Tensor], maybe: Tensor | None = None) -> Tensor:
    note(x, len(xs), maybe is None)
    return x + sum(xs)


ONE = torch.ones(2)
CALLS: list[tuple[Callable[..., Tensor], tuple[Any, ...], dict[str, Any], list[Any]]] = [
    (numbers, (1, 2.0, True, "é", 1j), {}, [1, 2.0, True, "é", 1j]),
    (numbers, (True, 2, 0, "a", 1), {}, [1, 2.0, False, "a", 1 + 0j]),
    (lists, ((1, 2), [1, 2.0], [True], ("a",)), {}, [[1, 2], [1.0, 2.0], [True], ["a"]]),
    (lists, ([], [], [], []), {}, [[], [], [], []]),
    (
        words, (torch.bfloat16, "cpu", torch.channels_last), {},
        [torch.bfloat16, torch.device("cpu"), torch.channels_last],
    ),
    (pair, ((3, 4),), {}, [(3, 4)]),
    (pair, ([3, 4],), {}, [(3, 4)]),
    (pair, (), {}, [(1, 1)]),
    (pair_or_one, (3,), {}, [(3, 3)]),
    (pair_or_one, ((3, 4),), {}, [(3, 4)]),
    (pair_or_one, (), {}, [(1, 1)]),
    (row, ((1, 2, 3),), {}, [(1, 2, 3), None]),
    (row, (torch.Size([1, 2]),), {"at": (1.0, 2.0)}, [(1, 2), (1.0, 2.0)]),
    (choice, ("slow", 2), {}, ["slow", 2]),
    (choice, (), {}, ["fast", 1]),
    (members, (), {}, [Act.GELU, Level.LOW, None]),
    (members, (Act.RELU,), {"level": Level.HIGH, "p": Plain.B}, [Act.RELU, Level.HIGH, Plain.B]),
    (member_list, ([Act.GELU, Act.RELU],), {}, [[Act.GELU, Act.RELU]]),
    (nested, (Config(Scaling(0.5)),), {}, [Config(Scaling(0.5))]),
    (
        nested, (Config(Scaling(1.5, 7), Act.GELU, (2, 3)),), {},
        [Config(Scaling(1.5, 7), Act.GELU, (2, 3))],
    ),
    (maybe, (), {}, [None]),
    (maybe, (Window(3),), {}, [Window(3, 0)]),
    (options, ({"scale": 2.0},), {}, [{"scale": 2.0}]),
    (options, ({"scale": 2.0, "shift": 1.0},), {}, [{"scale": 2.0, "shift": 1.0}]),
    (model, (Model(rate=0.5),), {}, [Model(rate=0.5, rounds=3)]),
    (holder, (), {"holder": Holder(ONE * 3, 2.0)}, [2.0]),
    (tensors, ([ONE, ONE],), {}, [2, True]),
    (tensors, ((ONE, ONE), ONE), {}, [2, False]),
]  # fmt: skip
IDS = [f"{f.__name__}-{args}-{kwargs}" for f, args, kwargs, _ in CALLS]


def exactly(values: list[Any]) -> list[Any]:
    """Values with their types, which `==` does not tell apart: `1 == True == 1.0`."""
    return [(type(v), exactly(v) if isinstance(v, (list, tuple)) else v) for v in values]


@pytest.mark.parametrize(("f", "args", "kwargs", "seen"), CALLS, ids=IDS)
def test_a_kernel_receives_what_its_annotations_say(
    f: Callable[..., Tensor], args: tuple[Any, ...], kwargs: dict[str, Any], seen: list[Any]
) -> None:
    handle = ow.op(f"{NS}::{f.__name__}")(f)
    handle.fake(lambda x, *args, **kwargs: torch.empty_like(x))
    x = torch.randn(2)
    expected = f(x, *args, **kwargs)
    for _ in range(3):  # through the dispatcher, then straight
        SEEN.clear()
        torch.testing.assert_close(handle(x, *args, **kwargs), expected)
        assert exactly(SEEN) == exactly(seen)
    compiled = torch.compile(
        lambda x: handle(x, *args, **kwargs) + 1, backend="aot_eager", fullgraph=True
    )
    SEEN.clear()
    torch.testing.assert_close(compiled(x), expected + 1)
    assert exactly(SEEN) == exactly(seen)


def test_the_table_covers_every_codec() -> None:
    from typing import get_args

    from opwright.hints import codec, inferred

    found = str([inferred(f, name="mylib::f").bindings for f, *_ in CALLS])
    named = [part.strip(" '\"") for part in get_args(codec.Codec)[0].__forward_arg__.split("|")] \
        if get_args(codec.Codec) else codec.Codec.split(" | ")  # fmt: skip
    missing = [name for name in named if f"{name}(" not in found]
    assert missing == ["JsonText", "OpaqueObject"]


REFUSED: list[tuple[Callable[..., Tensor], tuple[Any, ...], str]] = [
    (pair, ((1, 2, 3),), "'size' of opwright_arguments::pair takes 2 values, not 3"),
    (choice, ("medium",), "'mode' of opwright_arguments::choice takes one of 'fast', 'slow', "
     "not 'medium'"),
    (choice, ("fast", True), "'n' of opwright_arguments::choice takes one of 1, 2, not True"),
    (members, ("tanh",), "'act' of opwright_arguments::members takes one of Act.RELU, Act.GELU, "
     "not 'tanh'"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_a_value_that_the_annotation_excludes_is_refused(
    f: Callable[..., Tensor], args: tuple[Any, ...], message: str
) -> None:
    handle = ow.op(f"{NS}::{f.__name__}")(f)
    for _ in range(2):
        with pytest.raises(ValueError, match="takes") as refused:
            handle(torch.ones(1), *args)
        assert str(refused.value) == message
    handle(torch.ones(1))


def test_named_results_come_back_named() -> None:
    class Stats(NamedTuple):
        mean: Tensor
        count: int

    @dataclasses.dataclass
    class Parts:
        low: Tensor
        high: Tensor

    @ow.op(f"{NS}::stats")
    def stats(x: Tensor) -> Stats:
        return Stats(x.mean(), 3)

    @ow.op(f"{NS}::parts")
    def parts(x: Tensor) -> Parts:
        return Parts(x[:1].clone(), x[1:].clone())

    assert str(stats.schema) == f"{NS}::stats(Tensor x) -> (Tensor mean, SymInt count)"
    stats.fake(lambda x: Stats(x.new_empty(()), 3))
    parts.fake(lambda x: Parts(x.new_empty(1), x.new_empty(x.shape[0] - 1)))
    x = torch.arange(3.0)
    for _ in range(3):
        assert stats(x) == Stats(torch.tensor(1.0), 3)
        assert isinstance(stats(x), Stats)
        assert torch.equal(parts(x).high, x[1:])
    use = torch.compile(
        lambda x: (stats(x).mean, parts(x).high, stats(x).count),
        backend="aot_eager",
        fullgraph=True,
    )
    mean, high, count = use(x)
    assert (mean.item(), count) == (1.0, 3)
    assert torch.equal(high, x[1:])
    assert isinstance(torch.ops.opwright_arguments.stats(x), tuple)


def test_sequences_come_back_as_annotated() -> None:
    class Parts(NamedTuple):
        first: Tensor
        rest: tuple[Tensor, ...]

    @ow.op(f"{NS}::both")
    def both(x: Tensor) -> tuple[list[Tensor], tuple[Tensor, ...]]:
        return [x + 1], (x + 2, x + 3)

    @ow.op(f"{NS}::named")
    def named(x: Tensor) -> Parts:
        return Parts(x + 1, (x + 2,))

    @ow.op(f"{NS}::single")
    def single(x: Tensor) -> tuple[Tensor]:
        return (x + 1,)

    x = torch.zeros(1)
    for _ in range(3):
        for context in (torch.no_grad, torch.inference_mode):
            with context():
                assert both(x) == ([x + 1], (x + 2, x + 3))
                assert exactly([*both(x)]) == exactly([[x + 1], (x + 2, x + 3)])
                assert named(x) == Parts(x + 1, (x + 2,))
                assert single(x) == (x + 1,)


@pytest.mark.parametrize("kind", ["number", "structure"])
def test_an_integer_that_comes_from_a_size_stays_dynamic(kind: str) -> None:
    def count(x: Tensor, n: int) -> Tensor:
        return x * n

    def steps(x: Tensor, scaling: Scaling) -> Tensor:
        return x * scaling.steps

    f = ow.op(f"{NS}::{kind}")(count if kind == "number" else steps)
    f.fake(lambda x, _: torch.empty_like(x))
    counter = CompileCounter()

    @torch.compile(backend=counter, fullgraph=True, dynamic=True)
    def use(x: Tensor) -> Tensor:
        n = x.shape[0]
        return f(x, n if kind == "number" else Scaling(1.0, n))

    for size in (2, 3, 4, 5):
        assert torch.equal(use(torch.ones(size)), torch.full((size,), float(size)))
    assert counter.frame_count == 1


def shadows(
    type: Tensor,
    len: int,
    map: list[int],
    all: float,
    int: str,
    float: bool,
    out: Scaling,
    *,
    self: Mutable[Tensor],
) -> tuple[Tensor, Tensor]:
    self.add_(1)
    return type + len, type * all


def test_parameters_may_be_called_like_what_the_generated_code_uses() -> None:
    f = ow.op(f"{NS}::shadows")(shadows)
    x, y = torch.ones(2), torch.zeros(2)
    for turn in range(1, 4):
        first, second = f(x, 3, [1], all=2.0, int="a", float=True, out=Scaling(1.0), self=y)
        assert (first.tolist(), second.tolist(), y.tolist()) == ([4.0] * 2, [2.0] * 2, [turn] * 2)
    cell = f.core.cell
    assert cell["_ow_a_type"](x), "the shortcut was open"
