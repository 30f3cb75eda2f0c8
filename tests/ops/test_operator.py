"""The class form: one core with the decorator, and a disagreement names both sides."""

# ruff: noqa: N805 - the functions of an operator class take no `self`
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

import opwright as ow  # noqa: E402
from opwright.ops import private, registry  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("clean"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_operator"


def define(**body: Any) -> Any:
    """The class statement `class Op(ow.Operator)` with this body."""
    return type(ow.Operator)("Op", (ow.Operator,), {"name": f"{NS}::f", **body})


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # opcheck of torch 2.14 itself
def test_everything_about_one_operator_in_one_place() -> None:
    class Sine(ow.Operator):
        name = f"{NS}::sine"
        autocast = {"cpu": torch.bfloat16}  # noqa: RUF012

        def signature(x: Tensor, by: float = 1.0) -> Tensor: ...

        def cpu(x, by):
            return x.sin() * by

        def fake(x, by):
            return torch.empty_like(x)

        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs.x)
            ctx.by = inputs.by

        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x.cos() * ctx.by, None

        @staticmethod
        def _private() -> None: ...

    assert repr(Sine.handle) == f"<operator {NS}::sine(Tensor x, float by=1.0) -> Tensor>"
    x = torch.randn(3, requires_grad=True)
    for use in (
        Sine,
        torch.compile(lambda x, by: Sine(x, by), fullgraph=True, backend="aot_eager"),
    ):
        out = use(x, 2.0)
        assert torch.equal(out, x.sin() * 2)
        (grad,) = torch.autograd.grad(out.sum(), x)
        torch.testing.assert_close(grad, x.cos() * 2)
    with torch.autocast("cpu"):
        assert Sine(x).dtype == torch.bfloat16
    assert set(torch.library.opcheck(Sine.handle.overload, (x, 2.0)).values()) == {"SUCCESS"}


def test_without_signature_the_annotated_kernels_must_say_the_same() -> None:
    def cpu(x: Tensor, by: float = 1.0) -> Tensor:
        return x * by

    def cuda(x: Tensor, by: float = 1.0) -> Tensor:
        return x * by

    def other(x: Tensor, by: float = 2.0) -> Tensor:
        return x * by

    assert (
        str(define(cpu=cpu, cuda=cuda).handle.schema)
        == f"{NS}::f(Tensor x, float by=1.0) -> Tensor"
    )
    registry.remove(f"{NS}::f")
    with pytest.raises(ow.SchemaError) as refused:
        define(cpu=cpu, cuda=other)
    assert str(refused.value) == (
        "OW516 'cpu' and 'cuda' of Op are annotated differently\n"
        f"  - cpu: {NS}::f(Tensor x, float by=1.0) -> Tensor\n"
        f"  + cuda: {NS}::f(Tensor x, float by=2.0) -> Tensor\n"
        "  hint: annotate them alike, or a `signature`"
    )
    assert not private.exists(f"{NS}::f")


def signature(x: Tensor, by: float = 1.0) -> Tensor: ...


REFUSED = [
    (
        {"cpu": lambda x, by: x, "cudaa": lambda x, by: x, "signature": signature},
        "OW515 'cudaa' in Op is no device, dispatch key or role\n"
        "  hint: write `cuda`, or begin it with an underscore",
    ),
    (
        {"signature": signature},
        "OW515 Op has no kernel\n  hint: write `def cpu(...)`, or `def kernel(...)`",
    ),
    (
        {"cpu": lambda x, by: x},
        "OW101 nothing in Op is annotated\n  hint: write `def signature(x: Tensor, ...): ...`",
    ),
    (
        {"signature": signature, "cpu": lambda x, by=2.0: x},
        "OW304 the default of 'by' is 2.0 in the kernel 'cpu' of opwright_operator::f, 1.0 in the "
        "operator\n  hint: write `by=1.0`, or leave the default out",
    ),
    (
        {"signature": signature, "meta": lambda x, by: x},
        "OW513 a kernel for 'meta' is what tells shapes\n  hint: write it as the operator's `fake`",
    ),
    (
        {"signature": signature, "cpu": lambda x, by: x, "fake": lambda x: x},
        "OW301 the fake of opwright_operator::f lacks 'by'\n  hint: add `by`",
    ),
    (
        {"signature": signature, "cpu": lambda x, by: x, "backward": lambda ctx, g, h: g},
        "OW522",
    ),
]


@pytest.mark.parametrize(
    ("body", "message"), REFUSED, ids=[row[1].splitlines()[0] for row in REFUSED]
)
def test_a_class_that_cannot_be_an_operator_registers_nothing(
    body: dict[str, Any], message: str
) -> None:
    with pytest.raises(ow.SchemaError) as refused:
        define(**body)
    shown = "\n".join(str(type(f)(f.code, f.message, f.hint)) for f in refused.value.findings)
    assert shown.startswith(message)
    assert not private.exists(f"{NS}::f")


def test_a_class_without_a_name_is_a_base_for_others() -> None:
    class Base(ow.Operator):
        def kernel(x: Tensor) -> Tensor:
            return x + 1

        def fake(x: Tensor) -> Tensor:
            return torch.empty_like(x)

    class One(Base):
        name = f"{NS}::one"

    class Two(Base):
        name = f"{NS}::two"

        def cpu(x):
            return x + 2

    assert (One(torch.zeros(1)).item(), Two(torch.zeros(1)).item()) == (1.0, 2.0)
    assert not hasattr(Base, "handle")
