"""`op`: what is registered, what it computes in eager and compiled code, and what is refused."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

import opwright as ow  # noqa: E402
from opwright import Mutable, Out  # noqa: E402
from opwright.ops import private, registry  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("clean"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_register"
TAGGED = hasattr(torch.Tag, "out")
GIVEN_BACK = "Tensor(a!)" if TAGGED else "()"
BACKENDS = ("eager", "aot_eager", "inductor")


def scale_shift(x: Tensor, shift: Tensor | None = None, by: float = 2.0) -> Tensor:
    y = x * by
    return y if shift is None else y + shift


def scale_(x: Mutable[Tensor], by: float = 2.0) -> None:
    x.mul_(by)


def double_out(x: Tensor, *, out: Out[Tensor]) -> Out[Tensor]:
    torch.mul(x, 2, out=out)
    return out


def functional(f: Any) -> Callable[[Tensor], Tensor]:
    return lambda x: f(x + 1, by=3.0) + f(x, x) + 1


def mutable(f: Any) -> Callable[[Tensor], Tensor]:
    def run(x: Tensor) -> Tensor:
        y = x + 1
        f(y, 3.0)
        f(y)
        return y * 2

    return run


def out(f: Any) -> Callable[[Tensor], Tensor]:
    def run(x: Tensor) -> Tensor:
        into = torch.empty_like(x)
        return f(x, out=into) + into

    return run


OPS: list[tuple[str, Any, Any, Any, str]] = [
    (
        "scale_shift", scale_shift, lambda x, shift, by: torch.empty_like(x), functional,
        "(Tensor x, Tensor? shift=None, float by=2.0) -> Tensor",
    ),
    ("scale_", scale_, None, mutable, "(Tensor(a!) x, float by=2.0) -> ()"),
    ("double_out", double_out, None, out, f"(Tensor x, *, Tensor(a!) out) -> {GIVEN_BACK}"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "f", "fake", "use", "schema"), OPS, ids=[row[0] for row in OPS])
def test_same_numbers_by_handle_by_name_and_compiled(
    name: str, f: Any, fake: Any, use: Any, schema: str
) -> None:
    handle = ow.op(f"{NS}::{name}")(f)
    if fake is not None:
        handle.fake(fake)
    assert str(handle.schema) == f"{NS}::{name}{schema}"
    x = torch.randn(3, 4)
    expected = use(f)(x)
    torch_name = getattr(getattr(torch.ops, NS), name)
    by_name = () if schema.endswith("()") and use is out else (torch_name, torch_name.default)
    for called in (handle, *by_name):  # where a schema gives nothing back, the handle alone does
        for _ in range(3):
            torch.testing.assert_close(use(called)(x), expected, rtol=0, atol=0)
    for backend in BACKENDS:
        compiled = torch.compile(use(handle), backend=backend, fullgraph=True)
        for _ in range(2):
            torch.testing.assert_close(compiled(x), expected)


@pytest.mark.parametrize(("name", "f", "fake", "use", "schema"), OPS, ids=[row[0] for row in OPS])
def test_opcheck_passes(name: str, f: Any, fake: Any, use: Any, schema: str) -> None:
    handle = ow.op(f"{NS}::{name}")(f)
    if fake is not None:
        handle.fake(fake)
    x = torch.randn(3, 4)
    kwargs = {"out": torch.empty(3, 4)} if "out" in schema else {}
    report = torch.library.opcheck(handle.overload, (x,), kwargs)
    assert len(report) == 4
    assert set(report.values()) == {"SUCCESS"}


def test_a_schema_that_disagrees_registers_nothing() -> None:
    before = torch._C._dispatch_get_all_op_names()
    with pytest.raises(ow.SchemaError) as refused:
        ow.op(f"{NS}::f", schema="f(Tensor x, float by=3.0) -> Tensor")(scale_shift)
    assert [found.code for found in refused.value.findings] == ["OW203", "OW206"]
    assert torch._C._dispatch_get_all_op_names() == before
    assert registry.entry(f"{NS}::f") is None


def test_a_failing_definition_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no kernel today")

    monkeypatch.setattr("opwright.ops.core.Core.add_kernel", fail)
    with pytest.raises(RuntimeError, match=r"^no kernel today$"):
        ow.op(f"{NS}::f")(scale_shift)
    assert not private.exists(f"{NS}::f")
    assert registry.entry(f"{NS}::f") is None
    monkeypatch.undo()
    f = ow.op(f"{NS}::f")(scale_shift)
    assert f(torch.ones(1)).item() == 2.0


# One function, two operators --------------------------------------------------------------------


def halve(x: Tensor, by: float = 2.0, *, out: Out[Tensor] | None = None) -> Tensor:
    return torch.div(x, by, out=out)


def moments(
    x: Tensor, mean: Out[Tensor] | None = None, square: Out[Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    if mean is None or square is None:
        return x.mean(0), (x * x).mean(0)
    torch.mean(x, 0, out=mean)
    torch.mean(x * x, 0, out=square)
    return mean, square


def test_an_optional_out_makes_two_operators_behind_one_handle() -> None:
    f = ow.op(f"{NS}::halve")(halve)
    f.fake(lambda x, by: torch.empty_like(x))
    assert str(f.schema) == f"{NS}::halve(Tensor x, float by=2.0) -> Tensor"
    assert f.out is not None
    written = f"{NS}::halve.out(Tensor x, float by=2.0, *, Tensor(a!) out) -> ()"
    assert str(f.out.schema) == written
    x, into = torch.randn(3), torch.empty(3)

    def use(x: Tensor, into: Tensor) -> Tensor:
        return f(x) + f(x, 4.0, out=into) + into

    expected = x / 2 + x / 4 + x / 4
    for run in (use, *(torch.compile(use, backend=b, fullgraph=True) for b in BACKENDS)):
        into.zero_()
        torch.testing.assert_close(run(x, into), expected)
        torch.testing.assert_close(into, x / 4)
    assert f(x, out=into) is into
    assert torch.ops.opwright_register.halve.out(x, out=into) is None
    for overload, kwargs in ((f.overload, {}), (f.out.overload, {"out": into})):
        assert set(torch.library.opcheck(overload, (x,), kwargs).values()) == {"SUCCESS"}


def test_several_outs_are_given_together() -> None:
    f = ow.op(f"{NS}::moments")(moments)
    assert f.out is not None
    assert str(f.out.schema) == (
        f"{NS}::moments.out(Tensor x, *, Tensor(a!) mean, Tensor(b!) square) -> "
        f"{'(Tensor(a!), Tensor(b!))' if TAGGED else '()'}"
    )
    x, mean, square = torch.randn(4, 2), torch.empty(2), torch.empty(2)
    assert all(map(torch.equal, f(x), moments(x)))
    for _ in range(3):
        assert f(x, mean, square=square)[1] is square
    assert torch.equal(mean, x.mean(0))
    with pytest.raises(
        ValueError, match=r"^opwright_register::moments takes all of mean, square or"
    ):
        f(x, mean=mean)
    fake = f.fake(lambda x, mean=None, square=None: (x.new_empty(2), x.new_empty(2)))
    assert fake is not None


def test_both_operators_go_when_one_function_is_replaced() -> None:
    ow.op(f"{NS}::halve")(halve)

    def halve_again(x: Tensor) -> Tensor:
        return x / 2

    halve_again.__qualname__ = halve.__qualname__
    with pytest.warns(UserWarning, match="another schema"):
        f = ow.op(f"{NS}::halve")(halve_again)
    assert f.out is None
    assert not private.exists(f"{NS}::halve.out")


# Under Dynamo -----------------------------------------------------------------------------------


@pytest.mark.parametrize("eager_first", [True, False])
def test_one_node_in_the_graph_and_no_recompile(eager_first: bool) -> None:
    f = ow.op(f"{NS}::scale_shift")(scale_shift)
    f.fake(lambda x, shift, by: torch.empty_like(x))
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
        return graph

    use = torch.compile(lambda x: f(x, by=3.0), backend=backend, fullgraph=True)
    x = torch.randn(3)
    if eager_first:
        assert torch.equal(f(x, by=3.0), x * 3)
    for _ in range(3):
        assert torch.equal(use(x), x * 3)
        assert torch.equal(f(x, by=3.0), x * 3)
    assert graphs == [[f.overload]]


# Before torch had the tags ----------------------------------------------------------------------


def test_without_tags_the_handle_gives_the_argument_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class OldTag:
        pt2_compliant_tag = torch.Tag.pt2_compliant_tag

    monkeypatch.setattr("opwright.ops.tags.torch", types.SimpleNamespace(Tag=OldTag))

    @ow.op(f"{NS}::double_")
    def double_(x: Mutable[Tensor]) -> Mutable[Tensor]:
        return x.mul_(2)

    f = ow.op(f"{NS}::double_out")(double_out)
    assert str(double_.schema) == f"{NS}::double_(Tensor(a!) x) -> ()"
    assert str(f.schema) == f"{NS}::double_out(Tensor x, *, Tensor(a!) out) -> ()"
    x, into = torch.ones(2), torch.empty(2)
    for _ in range(3):
        assert double_(x) is x
        assert f(x, out=into) is into
    assert x.tolist() == [8.0, 8.0]

    def use(x: Tensor) -> Tensor:
        y = double_(x + 1)
        return f(y, out=torch.empty_like(x)) + y

    for backend in ("eager", "aot_eager"):
        compiled = torch.compile(use, backend=backend, fullgraph=True)
        assert torch.equal(compiled(x), use(x))
    for overload, kwargs in ((double_.overload, {}), (f.overload, {"out": into})):
        assert set(torch.library.opcheck(overload, (x,), kwargs).values()) == {"SUCCESS"}


@pytest.mark.skipif(not TAGGED, reason="torch has no such tags before 2.13")
def test_with_tags_the_operator_gives_the_argument_back() -> None:
    @ow.op(f"{NS}::double_")
    def double_(x: Mutable[Tensor]) -> Mutable[Tensor]:
        return x.mul_(2)

    assert str(double_.schema) == f"{NS}::double_(Tensor(a!) x) -> Tensor(a!)"
    assert torch.Tag.inplace in double_.overload.tags
    x = torch.ones(2)
    for called in (double_, torch.ops.opwright_register.double_):
        assert called(x) is x
    compiled = torch.compile(lambda x: double_(x + 1) * 2, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(x), (x + 1) * 4)
    assert set(torch.library.opcheck(double_.overload, (x,)).values()) == {"SUCCESS"}


# What can be an operator ------------------------------------------------------------------------


def base(x: Tensor, n: int, by: float = 2.0) -> Tensor:
    return x * by + n


@functools.wraps(base)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    return base(*args, **kwargs) + 100


def positional(x: Tensor, /, n: int, *, by: float = 2.0) -> Tensor:
    return x * by + n


class Callables:
    def __call__(self, x: Tensor, n: int, by: float = 2.0) -> Tensor:
        return x * by + n

    def method(self, x: Tensor, n: int, by: float = 2.0) -> Tensor:
        return x * by + n


CALLABLES = {
    "partial": (functools.partial(base, by=3.0), "(Tensor x, SymInt n, *, float by=3.0)"),
    "object": (Callables(), "(Tensor x, SymInt n, float by=2.0)"),
    "method": (Callables().method, "(Tensor x, SymInt n, float by=2.0)"),
    "wrapped": (wrapped, "(Tensor x, SymInt n, float by=2.0)"),
    "positional": (positional, "(Tensor x, SymInt n, *, float by=2.0)"),
}


@pytest.mark.parametrize("kind", CALLABLES)
def test_anything_that_can_be_called_can_be_an_operator(kind: str) -> None:
    subject, arguments = CALLABLES[kind]
    f = ow.op(f"{NS}::{kind}")(subject)
    assert str(f.schema) == f"{NS}::{kind}{arguments} -> Tensor"
    x = torch.randn(3)
    for _ in range(3):
        assert torch.equal(f(x, 1), subject(x, 1))
        assert torch.equal(f(x, n=2, by=5.0), subject(x, n=2, by=5.0))
