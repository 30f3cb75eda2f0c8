"""Every trap of torch 2.13 that a registration layer meets: shown, then cured or refused.

The plain half asserts what torch does *wrong*; when it fails, torch has fixed the trap and the cure
can go. It stands beside the half that registers the same kernel through Opwright.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch.library import Library, custom_op, register_fake  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_traps"


@pytest.fixture
def plain() -> Iterator[Library]:
    """A bare torch library; what it defines is gone after the test."""
    library = Library(NS, "FRAGMENT")
    yield library
    library._destroy()
    torch._dynamo.reset()


def op(name: str) -> Any:
    """The operator that torch knows by this name."""
    return getattr(getattr(torch.ops, NS), name)


def compiled(f: Callable[..., Any], backend: str = "aot_eager") -> Callable[..., Any]:
    return torch.compile(f, backend=backend, fullgraph=True)


class Watching(TorchDispatchMode):
    """The smallest dispatch mode: it passes every call on."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


# B1: the on-disk cache of compiled code does not know the registered backward

B1_PLAIN = """
import sys, torch
from torch import Tensor
from torch.library import Library, custom_op

factor = sys.argv[1]
library = Library("opwright_b1", "FRAGMENT")
for name, by in (("two", 2), ("three", 3)):
    library.define(f"{name}(Tensor x) -> Tensor")
    library.impl(name, lambda x, by=by: x * by, "CompositeExplicitAutograd")
    torch.library.register_fake(f"opwright_b1::{name}", torch.empty_like, lib=library)

@custom_op("opwright_b1::f", mutates_args=())
def f(x: Tensor) -> Tensor:
    return x.clone()

f.register_fake(torch.empty_like)
f.register_autograd(lambda ctx, grad: getattr(torch.ops.opwright_b1, factor)(grad))

x = torch.ones(1, requires_grad=True)
torch.compile(lambda x: f(x))(x).backward()
print(x.grad.item())
"""


def run_in_process(script: str, cache: Path, *arguments: str) -> str:
    """Run a script with an Inductor cache of its own and give back what it prints."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments],
        env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_b01_plain_the_disk_cache_serves_the_old_backward(tmp_path: Path) -> None:
    assert run_in_process(B1_PLAIN, tmp_path, "two") == "2.0"
    assert run_in_process(B1_PLAIN, tmp_path, "three") == "2.0", "torch has fixed B1"


# B2: a kernel that runs under a dispatch mode runs with the Conjugate key excluded


def square(x: Tensor) -> Tensor:
    return (x * x.conj()).real.clone()


def square_fake(x: Tensor) -> Tensor:
    return torch.empty_like(x, dtype=x.real.dtype)


COMPLEX = torch.tensor([1 + 2j])


def test_b02_plain_conjugation_is_lost_on_the_first_compiled_call(plain: Library) -> None:
    plain.define("square(Tensor x) -> Tensor")
    plain.impl("square", square, "CPU")
    register_fake(f"{NS}::square", square_fake, lib=plain)
    f = compiled(op("square"))
    assert op("square")(COMPLEX).item() == 5.0
    assert (f(COMPLEX).item(), f(COMPLEX).item()) == (-3.0, 5.0)
    with Watching():
        assert op("square")(COMPLEX).item() == -3.0


# B3: the dispatcher drops an argument that equals the schema's default


def test_b03_plain_the_python_default_wins_over_the_value_given(plain: Library) -> None:
    plain.define("scale(Tensor x, float s=2.0) -> Tensor")
    plain.impl("scale", lambda x, s=5.0: x * s, "CPU")
    assert op("scale")(torch.ones(1), 2.0).item() == 5.0


# B4: a list of tensors and a default that is not given


def test_b04_plain_a_list_and_an_omitted_default_break_the_backward() -> None:
    @custom_op(f"{NS}::b4_cat", mutates_args=())
    def cat(xs: list[Tensor], dim: int = 0) -> Tensor:
        return torch.cat(xs, dim)

    cat.register_autograd(
        lambda ctx, grad: (list(grad.split(1)), None),
        setup_context=lambda ctx, inputs, output: None,
    )
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="the same structure as the inputs"):
        cat([x, x * 2]).sum().backward()


# B5: a list of optional tensors that holds a None


def test_b05_plain_a_none_in_the_list_cuts_the_gradient() -> None:
    @custom_op(f"{NS}::b5_cat", mutates_args=())
    def cat(xs: list[Tensor | None]) -> Tensor:
        return torch.cat([x for x in xs if x is not None])

    cat.register_autograd(
        lambda ctx, grad: [grad, None], setup_context=lambda ctx, inputs, output: None
    )
    x = torch.ones(1, requires_grad=True)
    assert not cat([x, None]).requires_grad
    assert cat([x, x]).requires_grad


# B6: tensors where the dispatcher does not look


def test_b06_plain_a_hidden_tensor_has_a_gradient_in_eager_only(plain: Library) -> None:
    plain.define("bag(Tensor[]? xs) -> Tensor")
    plain.impl("bag", lambda xs: xs[0] * 2, "CompositeExplicitAutograd")
    register_fake(f"{NS}::bag", lambda xs: torch.empty_like(xs[0]), lib=plain)
    x = torch.ones(1, requires_grad=True)
    assert op("bag")([x]).requires_grad
    assert not compiled(lambda x: op("bag")([x]))(x).requires_grad


# B7: a mutable argument that requires grad


def test_b07_plain_writing_a_tensor_that_requires_grad_loses_its_gradient() -> None:
    @custom_op(f"{NS}::b7_double_", mutates_args=("x",))
    def double_(x: Tensor) -> None:
        x.mul_(2)

    leaf = torch.ones(1, requires_grad=True)
    x = leaf * 1
    double_(x)
    x.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.item() == 1.0  # 2.0 is right


# B8: a kernel that writes through a pointer does not move the version counter


def numpy_double_(x: Tensor) -> None:
    array = x.numpy()
    array *= 2


def test_b08_plain_a_write_through_numpy_is_not_seen_by_autograd(plain: Library) -> None:
    plain.define("double_(Tensor(a!) x) -> ()")
    plain.impl("double_", numpy_double_, "CPU")
    w, x = torch.ones(1, requires_grad=True), torch.ones(1)
    y = w * x
    op("double_")(x)
    y.backward()
    assert x._version == 0
    assert w.grad is not None
    assert w.grad.item() == 2.0  # 1.0 is right; torch's own in-place ops raise here


# B9: an alias that the schema does not speak of


def write_the_result(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def written(x: Tensor) -> Tensor:
        f(x).add_(1)
        return x + 0

    return written


@pytest.mark.filterwarnings("ignore:.*must not also be an input:UserWarning")
def test_b09_plain_an_undeclared_alias_differs_between_eager_and_compiled(plain: Library) -> None:
    plain.define("same(Tensor x) -> Tensor")
    plain.impl("same", lambda x: x, "CPU")
    register_fake(f"{NS}::same", torch.empty_like, lib=plain)
    f = write_the_result(op("same"))
    assert (f(torch.zeros(1)).item(), compiled(f)(torch.zeros(1)).item()) == (1.0, 0.0)


# B10: ambient autocast reaches the kernel in eager only


def test_b10_plain_autocast_differs_between_eager_and_compiled() -> None:
    @custom_op(f"{NS}::b10_mm", mutates_args=())
    def mm(x: Tensor) -> Tensor:
        return x @ x

    mm.register_fake(torch.empty_like)
    x = torch.ones(2, 2)
    with torch.autocast("cpu", torch.bfloat16):
        assert (mm(x).dtype, compiled(mm)(x).dtype) == (torch.bfloat16, torch.float32)


# B11: leaf_function keeps one state for all calls


def test_b11_plain_two_forwards_then_two_backwards_of_a_leaf_function() -> None:
    from torch._dynamo.decorators import leaf_function

    @leaf_function
    def sine(x: Tensor) -> tuple[Tensor]:
        return (x.sin(),)

    sine.register_fake(lambda x: (torch.empty_like(x),))
    f = torch.compile(lambda x: sine(x)[0], backend="aot_eager")
    first, second = f(torch.ones(1, requires_grad=True)), f(torch.zeros(1, requires_grad=True))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        (first.backward(), second.backward())
    torch._dynamo.reset()


# B12: torch's own equality of schemas


def test_b12_plain_unequal_schemas_are_equal() -> None:
    whole, symbolic = (torch._C.parse_schema(f"f({kind} x) -> ()") for kind in ("int", "SymInt"))
    assert whole == symbolic
    assert whole == torch._C.parse_schema("f(ScalarType x) -> ()")
    with pytest.raises(RuntimeError, match="unhashable type"):
        hash(torch._C.parse_schema("f(int[] x=[1, 2]) -> ()"))


# B13: infer_schema writes string defaults as they are


def backslash(x: Tensor, sep: str = "a\\b") -> Tensor:
    return x.clone()


def test_b13_plain_a_string_default_comes_back_as_another() -> None:
    inferred = torch.library.infer_schema(backslash, mutates_args=())
    assert torch._C.parse_schema(f"f{inferred}").arguments[1].default_value == "a\x08"


# B14: a destroyed operator leaves its signature behind


def test_b14_plain_the_old_signature_outlives_the_operator() -> None:
    from torch.fx.operator_schemas import get_signature_for_torch_op

    old = Library(NS, "FRAGMENT")
    old.define("changes(Tensor x, int n) -> Tensor")
    get_signature_for_torch_op(op("changes").default)
    old._destroy()
    new = Library(NS, "FRAGMENT")
    new.define("changes(Tensor y) -> Tensor")
    (signature,) = get_signature_for_torch_op(op("changes").default)
    new._destroy()
    assert list(signature.parameters) == ["x", "n"]


# B15: autocast and keyword arguments


def test_b15_plain_autocast_refuses_keyword_arguments() -> None:
    @custom_op(f"{NS}::b15_scale", mutates_args=())
    def scale(x: Tensor, *, s: float = 1.0) -> Tensor:
        return x * s

    scale.register_autocast("cpu", torch.bfloat16)
    with (
        torch.autocast("cpu", torch.bfloat16),
        pytest.raises(AssertionError, match="do not support kwargs yet"),
    ):
        scale(torch.ones(1), s=2.0)


# B16: an object as a constant cannot be exported to a file


class Factor:
    """A value that torch is told to treat as opaque."""

    def __init__(self, by: int) -> None:
        self.by = by

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factor) and self.by == other.by

    def __hash__(self) -> int:
        return hash(self.by)

    def __fx_repr__(self) -> tuple[str, dict[str, type]]:
        return f"Factor({self.by})", {"Factor": Factor}


def saved_and_loaded(module: torch.nn.Module, *inputs: Tensor, strict: bool = False) -> Any:
    file = io.BytesIO()
    torch.export.save(torch.export.export(module, inputs, strict=strict), file)
    file.seek(0)
    return torch.export.load(file).module()


def test_b16_plain_an_opaque_constant_is_not_loaded_again(
    plain: Library, caplog: pytest.LogCaptureFixture
) -> None:
    from torch._library.opaque_object import get_opaque_type_name, register_opaque_type

    register_opaque_type(Factor, typ="value")
    plain.define(f"by(Tensor x, {get_opaque_type_name(Factor)} factor) -> Tensor")
    plain.impl("by", lambda x, factor: x * factor.by, "CPU")
    register_fake(f"{NS}::by", lambda x, factor: torch.empty_like(x), lib=plain)

    class Module(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return op("by")(x, Factor(3))

    with pytest.raises(RuntimeError, match="error when deserializing"):
        saved_and_loaded(Module(), torch.ones(1))
    assert "_custom_obj_0" in caplog.text


# B17: a written list of optional tensors


def bump_all(xs: list[Tensor | None]) -> None:
    for x in xs:
        if x is not None:
            x.add_(1)


def test_b17_plain_a_written_list_of_optionals_does_not_compile(plain: Library) -> None:
    plain.define("bump_all(Tensor(a!)?[] xs) -> ()")
    plain.impl("bump_all", bump_all, "CPU")
    register_fake(f"{NS}::bump_all", lambda xs: None, lib=plain)

    def f(x: Tensor) -> Tensor:
        op("bump_all")([x, None])
        return x + 0

    with pytest.raises(Exception, match="'dict' object has no attribute 'append'"):
        compiled(f)(torch.ones(1))


# B18: a tape kept behind Inductor's back


def test_b18_plain_a_hidden_tape_reads_a_buffer_that_inductor_used_again() -> None:
    tape: list[Tensor] = []

    @custom_op(f"{NS}::b18_exp", mutates_args=())
    def exp(x: Tensor) -> Tensor:
        tape.append(x.exp())
        return tape[-1]

    @custom_op(f"{NS}::b18_exp_backward", mutates_args=())
    def exp_backward(grad: Tensor) -> Tensor:
        return grad * tape.pop()

    exp.register_fake(torch.empty_like)
    exp_backward.register_fake(torch.empty_like)
    exp.register_autograd(lambda ctx, grad: exp_backward(grad))
    assert not torch.allclose(twice(exp, "inductor"), twice(exp))


def twice(f: Callable[[Tensor], Tensor], backend: str = "eager") -> Tensor:
    """The gradient of `f(f(2x) + 2x)`; Inductor writes the sum over the first result."""
    x = torch.linspace(0, 0.5, 64).requires_grad_()

    def chain(x: Tensor) -> Tensor:
        doubled = x * 2
        return f(f(doubled) + doubled)

    torch.compile(chain, backend=backend, fullgraph=True)(x).sum().backward()
    assert x.grad is not None
    return x.grad
