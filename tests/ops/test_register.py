"""`op`: what is registered, what it computes in eager and compiled code, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

import opwright as ow  # noqa: E402
from opwright import Mutable, Out  # noqa: E402
from opwright.ops import private, registry  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_register"
BACKENDS = ("eager", "aot_eager", "inductor")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """No operator of this file outlives its test."""
    yield
    for name in [name for name in registry.names() if name.startswith(f"{NS}::")]:
        registry.remove(name)
    torch._dynamo.reset()


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
    ("double_out", double_out, None, out, "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
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
    for called in (handle, torch_name, torch_name.default):
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
    with pytest.raises(RuntimeError, match="^no kernel today$"):
        ow.op(f"{NS}::f")(scale_shift)
    assert not private.exists(f"{NS}::f")
    assert registry.entry(f"{NS}::f") is None
    monkeypatch.undo()
    f = ow.op(f"{NS}::f")(scale_shift)
    assert f(torch.ones(1)).item() == 2.0
