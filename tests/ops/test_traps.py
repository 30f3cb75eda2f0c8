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
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch.library import Library, custom_op, register_fake  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import opwright as ow  # noqa: E402
from opwright import Mutable  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_traps"
VERSION = tuple(map(int, torch.__version__.split(".")[:2]))
BEFORE_2_14 = VERSION < (2, 14)
since_2_13 = pytest.mark.skipif(VERSION < (2, 13), reason="torch 2.13 brought this trap")


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


B1_OURS = """
import sys, torch
import opwright as ow
from torch import Tensor

factor = sys.argv[1]

@ow.op("opwright_b1::two")
def two(x: Tensor) -> Tensor:
    return x * 2

@ow.op("opwright_b1::three")
def three(x: Tensor) -> Tensor:
    return x * 3

@ow.op("opwright_b1::f")
def f(x: Tensor) -> Tensor:
    return x.clone()

for each in (two, three, f):
    each.fake(lambda x: torch.empty_like(x))

times = {"two": two, "three": three}[factor]

@f.backward
def backward(ctx, grad):
    return times(grad)

x = torch.ones(1, requires_grad=True)
torch.compile(lambda x: f(x))(x).backward()
print(x.grad.item())
"""


def test_b01_cured_by_a_tag_that_names_what_is_registered(tmp_path: Path) -> None:
    assert run_in_process(B1_OURS, tmp_path, "two") == "2.0"
    assert run_in_process(B1_OURS, tmp_path, "three") == "3.0"


# B2: a kernel that runs under a dispatch mode runs with the Conjugate key excluded


def square(x: Tensor) -> Tensor:
    return (x * x.conj()).real.clone()


def square_fake(x: Tensor) -> Tensor:
    return torch.empty_like(x, dtype=x.real.dtype)


COMPLEX = torch.tensor([1 + 2j])


@since_2_13
def test_b02_plain_conjugation_is_lost_on_the_first_compiled_call(plain: Library) -> None:
    plain.define("square(Tensor x) -> Tensor")
    plain.impl("square", square, "CPU")
    register_fake(f"{NS}::square", square_fake, lib=plain)
    f = compiled(op("square"))
    assert op("square")(COMPLEX).item() == 5.0
    assert (f(COMPLEX).item(), f(COMPLEX).item()) == (-3.0, 5.0)
    with Watching():
        assert op("square")(COMPLEX).item() == -3.0


def test_b02_cured_the_kernel_runs_with_the_keys_of_an_ordinary_call() -> None:
    @ow.op(f"{NS}::ow_square")
    def ow_square(x: Tensor) -> Tensor:
        return square(x)

    ow_square.fake(square_fake)
    f = compiled(ow_square)
    assert (f(COMPLEX).item(), f(COMPLEX).item()) == (5.0, 5.0)
    with Watching():
        assert ow_square(COMPLEX).item() == 5.0
        assert op("ow_square")(COMPLEX).item() == 5.0


# B3: the dispatcher drops an argument that equals the schema's default


def test_b03_plain_the_python_default_wins_over_the_value_given(plain: Library) -> None:
    plain.define("scale(Tensor x, float s=2.0) -> Tensor")
    plain.impl("scale", lambda x, s=5.0: x * s, "CPU")
    assert op("scale")(torch.ones(1), 2.0).item() == 5.0


def test_b03_refused_a_kernel_with_another_default() -> None:
    @ow.op(f"{NS}::ow_scale")
    def ow_scale(x: Tensor, s: float = 2.0) -> Tensor:
        return x * s

    def other(x: Tensor, s: float = 5.0) -> Tensor:
        return x * s

    with pytest.raises(ow.SchemaError, match=r"2\.0.*5\.0|5\.0.*2\.0"):
        ow_scale.kernel("cpu")(other)
    with pytest.raises(ow.SchemaError, match=r"2\.0.*5\.0|5\.0.*2\.0"):
        ow_scale.fake(other)
    with pytest.raises(ow.SchemaError):
        ow.op(f"{NS}::ow_scale_2", schema="ow_scale_2(Tensor x, float s=2.0) -> Tensor")(other)
    assert op("ow_scale")(torch.ones(1), 2.0).item() == 2.0


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
    breaks = pytest.raises(RuntimeError, match="the same structure as the inputs")
    with breaks if BEFORE_2_14 else nullcontext():
        cat([x, x * 2]).sum().backward()


def test_b04_cured_a_list_and_an_omitted_default() -> None:
    @ow.op(f"{NS}::ow_cat")
    def ow_cat(xs: list[Tensor], dim: int = 0) -> Tensor:
        return torch.cat(xs, dim)

    ow_cat.fake(lambda xs, dim=0: torch.cat(xs, dim))
    ow_cat.backward(lambda ctx, grad: (list(grad.split(1)), None))

    def doubled(x: Tensor) -> Tensor:
        return ow_cat([x, x * 2])

    for f in (doubled, lambda x: op("ow_cat")([x, x * 2]), compiled(doubled)):
        x = torch.ones(1, requires_grad=True)
        (f(x) * torch.tensor([1.0, 10.0])).sum().backward()
        assert x.grad is not None
        assert x.grad.item() == 21.0


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


def test_b05_cured_a_none_in_the_list() -> None:
    @ow.op(f"{NS}::ow_cat_given")
    def ow_cat_given(xs: list[Tensor | None]) -> Tensor:
        return torch.cat([x for x in xs if x is not None])

    ow_cat_given.fake(lambda xs: torch.cat([x for x in xs if x is not None]))
    ow_cat_given.backward(lambda ctx, grad: [grad * 3, None])
    for f in (ow_cat_given, op("ow_cat_given"), compiled(lambda xs: ow_cat_given(xs))):
        x = torch.ones(1, requires_grad=True)
        f([x, None]).backward()
        assert x.grad is not None
        assert x.grad.item() == 3.0


# B6: tensors where the dispatcher does not look


def test_b06_plain_a_hidden_tensor_has_a_gradient_in_eager_only(plain: Library) -> None:
    plain.define("bag(Tensor[]? xs) -> Tensor")
    plain.impl("bag", lambda xs: xs[0] * 2, "CompositeExplicitAutograd")
    register_fake(f"{NS}::bag", lambda xs: torch.empty_like(xs[0]), lib=plain)
    x = torch.ones(1, requires_grad=True)
    assert op("bag")([x]).requires_grad
    assert not compiled(lambda x: op("bag")([x]))(x).requires_grad


def test_b06_refused_a_gradient_through_a_hidden_tensor() -> None:
    @ow.op(f"{NS}::ow_bag")
    def ow_bag(xs: list[Tensor] | None) -> Tensor:
        return torch.zeros(1) if xs is None else xs[0] * 2

    ow_bag.fake(lambda xs: torch.empty(1))
    x = torch.ones(1, requires_grad=True)
    for f in (ow_bag, op("ow_bag"), compiled(lambda xs: ow_bag(xs))):
        with pytest.raises(Exception, match=r"'xs'.*Tensor\[\]\?"):
            f([x])
        assert f([x.detach()]).item() == 2.0
        assert f(None).item() == 0.0


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


def test_b07_refused_to_write_a_tensor_that_requires_grad() -> None:
    @ow.op(f"{NS}::ow_double_")
    def ow_double_(x: Mutable[Tensor]) -> None:
        x.mul_(2)

    def written(x: Tensor) -> Tensor:
        y = x * 1
        ow_double_(y)
        return y

    x = torch.ones(1, requires_grad=True)
    for f in (written, lambda x: op("ow_double_")(x * 1), compiled(written)):
        with pytest.raises(Exception, match="writes 'x', which requires grad"):
            f(x)
    with torch.no_grad():
        assert (written(x).item(), compiled(written)(x).item()) == (2.0, 2.0)


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


def test_b08_cured_every_write_moves_the_version_counter() -> None:
    @ow.op(f"{NS}::ow_numpy_double_")
    def ow_numpy_double_(x: Mutable[Tensor]) -> None:
        numpy_double_(x)

    for f in (ow_numpy_double_, op("ow_numpy_double_")):
        for context in (torch.enable_grad, torch.no_grad, torch.inference_mode):
            w, x = torch.ones(1, requires_grad=True), torch.ones(1)
            y = w * x
            with context():
                f(x)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.backward()


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


def test_b09_refused_an_undeclared_alias() -> None:
    @ow.op(f"{NS}::ow_same")
    def ow_same(x: Tensor) -> Tensor:
        return x

    @ow.op(f"{NS}::ow_view")
    def ow_view(x: Tensor) -> Tensor:
        return x[:1]

    for handle in (ow_same, ow_view):
        handle.fake(lambda x: torch.empty(1))
        for f in (handle, handle.overload):
            with pytest.raises(RuntimeError, match=r"test_traps\.py.*shares memory with .* 'x'"):
                f(torch.zeros(2))


# B10: ambient autocast reaches the kernel in eager only


def test_b10_plain_autocast_differs_between_eager_and_compiled() -> None:
    @custom_op(f"{NS}::b10_mm", mutates_args=())
    def mm(x: Tensor) -> Tensor:
        return x @ x

    mm.register_fake(torch.empty_like)
    x = torch.ones(2, 2)
    with torch.autocast("cpu", torch.bfloat16):
        assert (mm(x).dtype, compiled(mm)(x).dtype) == (torch.bfloat16, torch.float32)


def test_b10_cured_a_kernel_sees_autocast_in_neither_or_by_its_rule() -> None:
    @ow.op(f"{NS}::ow_mm")
    def ow_mm(x: Tensor) -> Tensor:
        return x @ x

    ow_mm.fake(lambda x: torch.empty_like(x))
    ways = [ow_mm, op("ow_mm"), compiled(lambda x: ow_mm(x))]
    x = torch.ones(2, 2)
    for expected in (torch.float32, torch.bfloat16):
        with torch.autocast("cpu", torch.bfloat16):
            assert {f(x).dtype for f in ways} == {expected}
            with torch.inference_mode():
                assert {f(x).dtype for f in ways} == {expected}
        if expected is torch.float32:
            ow_mm.autocast("cpu", torch.bfloat16)
            torch._dynamo.reset()


# B11: leaf_function keeps one state for all calls


@since_2_13
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


def test_b11_cured_an_operator_keeps_its_state_with_the_call() -> None:
    @ow.op(f"{NS}::ow_sine")
    def ow_sine(x: Tensor) -> Tensor:
        return x.sin()

    ow_sine.fake(lambda x: torch.empty_like(x))
    ow_sine.backward(lambda ctx, grad: grad * ctx.saved_tensors[0].cos(), save=("x",))
    f = compiled(lambda x: ow_sine(x))
    inputs = torch.ones(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    first, second = (f(x) for x in inputs)
    first.backward()
    second.backward()
    assert [x.grad.item() for x in inputs] == [torch.cos(x).item() for x in inputs]


# B12: torch's own equality of schemas


def test_b12_plain_unequal_schemas_are_equal() -> None:
    whole, symbolic = (torch._C.parse_schema(f"f({kind} x) -> ()") for kind in ("int", "SymInt"))
    assert whole == symbolic
    assert whole == torch._C.parse_schema("f(ScalarType x) -> ()")
    with pytest.raises(RuntimeError, match="unhashable type"):
        hash(torch._C.parse_schema("f(int[] x=[1, 2]) -> ()"))


def test_b12_cured_schemas_compare_and_hash_by_what_they_say() -> None:
    texts = [f"f({kind} x) -> ()" for kind in ("int", "SymInt", "ScalarType", "int[]", "SymInt[]")]
    assert len({ow.parse(text) for text in texts}) == len(texts)
    assert {ow.parse("f(int[] x=[1, 2]) -> ()"), ow.parse("f(int[] x=[1,2]) -> ()")} == {
        ow.parse("f(int[] x=[1, 2]) -> ()")
    }


# B13: infer_schema writes string defaults as they are


def backslash(x: Tensor, sep: str = "a\\b") -> Tensor:
    return x.clone()


def test_b13_plain_a_string_default_comes_back_as_another() -> None:
    inferred = torch.library.infer_schema(backslash, mutates_args=())
    assert torch._C.parse_schema(f"f{inferred}").arguments[1].default_value == "a\x08"


def test_b13_cured_a_string_default_comes_back_as_it_was() -> None:
    inferred = str(ow.infer(backslash))
    assert torch._C.parse_schema(inferred).arguments[1].default_value == "a\\b"


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


@pytest.mark.filterwarnings("ignore::opwright.ops.registry.SchemaChanged")
def test_b14_cured_a_replaced_operator_has_its_own_signature() -> None:
    from torch.fx.operator_schemas import get_signature_for_torch_op

    def register(kernel: Callable[..., Any]) -> list[str]:
        handle = ow.op(f"{NS}::ow_changes")(kernel)
        (signature,) = get_signature_for_torch_op(handle.overload)
        return list(signature.parameters)

    def first() -> Callable[..., Any]:
        def changes(x: Tensor, n: int) -> Tensor:
            return x.clone()

        return changes

    def second() -> Callable[..., Any]:
        def changes(y: Tensor) -> Tensor:
            return y.clone()

        changes.__qualname__ = first().__qualname__  # the same function, edited
        return changes

    assert register(first()) == ["x", "n"]
    assert register(second()) == ["y"]


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


def test_b15_cured_autocast_with_keyword_arguments_and_a_second_one_refused() -> None:
    @ow.op(f"{NS}::ow_scale_by")
    def ow_scale_by(x: Tensor, *, by: Tensor, s: float = 1.0) -> Tensor:
        return x * by * s

    ow_scale_by.fake(lambda x, *, by, s=1.0: torch.empty_like(x))
    ow_scale_by.autocast("cpu", torch.bfloat16)
    x = torch.ones(1)
    with torch.autocast("cpu", torch.bfloat16):
        for f in (
            ow_scale_by,
            op("ow_scale_by"),
            compiled(lambda x, by, s: ow_scale_by(x, by=by, s=s)),
        ):
            if f in (ow_scale_by, op("ow_scale_by")):
                assert f(x, by=x, s=2.0).dtype is torch.bfloat16
            else:
                assert f(x, x, 2.0).dtype is torch.bfloat16
    with pytest.raises(ow.SchemaError, match="already"):
        ow_scale_by.autocast("cpu", torch.float16)


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


@since_2_13
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


@dataclass
class Factors:
    """The same value as a structure: its fields are arguments."""

    by: int
    causal: bool = False


def test_b16_cured_a_structure_is_saved_and_loaded() -> None:
    @ow.op(f"{NS}::ow_by")
    def ow_by(x: Tensor, factors: Factors) -> Tensor:
        return x * factors.by

    ow_by.fake(lambda x, factors: torch.empty_like(x))

    class Module(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return ow_by(x, Factors(3))

    for strict in (False, True):
        assert saved_and_loaded(Module(), torch.ones(1), strict=strict)(torch.ones(1)).item() == 3.0


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


def test_b17_refused_a_written_list_of_optionals() -> None:
    def ow_bump_all(xs: Mutable[list[Tensor | None]]) -> None:
        bump_all(xs)

    with pytest.raises(ow.SchemaError, match=r"xs"):
        ow.op(f"{NS}::ow_bump_all")(ow_bump_all)


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


def test_b18_cured_what_the_backward_needs_is_kept_by_autograd() -> None:
    @ow.op(f"{NS}::ow_exp")
    def ow_exp(x: Tensor) -> Tensor:
        return x.exp()

    ow_exp.fake(lambda x: torch.empty_like(x))
    ow_exp.backward(lambda ctx, grad: grad * ctx.saved_tensors[0], save=("output",))
    assert torch.allclose(twice(ow_exp, "inductor"), twice(ow_exp))
