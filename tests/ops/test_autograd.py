"""Gradients, batching and forward-mode tangents of operators: written formulas, checked and run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

import opwright as ow  # noqa: E402
from opwright import Mutable  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]

NS = "opwright_autograd"


def double(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.double, requires_grad=True)


def overload(name: str) -> Any:
    return getattr(getattr(torch.ops, NS), name)


def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(f, backend="aot_eager", fullgraph=True)


# A formula of every form --------------------------------------------------------------------------


@ow.op(f"{NS}::mul")
def mul(x: Tensor, *, weight: Tensor, scale: float = 2.0) -> Tensor:
    return x * weight * scale


@mul.fake
def mul_fake(x: Tensor, *, weight: Tensor, scale: float = 2.0) -> Tensor:
    return torch.empty_like(x)


@mul.backward(save=("x", "weight", "scale"))
def mul_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    x, weight = ctx.saved_tensors
    return grad * weight * ctx.scale, grad * x * ctx.scale, None


@ow.op(f"{NS}::split")
def split(xs: list[Tensor | None], bias: Tensor | None = None) -> tuple[list[Tensor], Tensor]:
    given = [x * 2 if bias is None else x * 2 + bias for x in xs if x is not None]
    return given, torch.stack(given).sum(0)


@split.fake
def split_fake(xs: list[Tensor | None], bias: Tensor | None = None) -> tuple[list[Tensor], Tensor]:
    given = [torch.empty_like(x) for x in xs if x is not None]
    return given, torch.empty_like(given[0])


@split.setup_context
def split_context(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.given = [x is not None for x in inputs.xs]
    assert inputs[1] is inputs.bias
    ctx.biased = inputs.bias is not None


@split.backward
def split_backward(ctx: Any, grads: list[Tensor], grad: Tensor) -> Any:
    rest = iter(grads)
    xs = [(next(rest) + grad) * 2 if given else None for given in ctx.given]
    assert len(ctx.needs_input_grad[0]) == len(xs)
    bias = sum(g + grad for g in grads) if ctx.biased else None
    return xs, bias


@dataclass
class Layer:
    """A structure with two tensors and what is none."""

    weight: Tensor
    scale: float = 3.0
    bias: Tensor | None = None


class Pair(NamedTuple):
    """Named results."""

    value: Tensor
    total: Tensor


@ow.op(f"{NS}::apply_layer")
def apply_layer(x: Tensor, layer: Layer, power: int = 1) -> Pair:
    value = x * layer.weight * layer.scale
    value = value if layer.bias is None else value + layer.bias
    return Pair(value, value.sum())


@apply_layer.fake
def apply_layer_fake(x: Tensor, layer: Layer, power: int = 1) -> Pair:
    return Pair(torch.empty_like(x), x.new_empty(()))


@apply_layer.setup_context
def apply_layer_context(ctx: Any, inputs: Any, output: Any) -> None:
    assert isinstance(inputs.layer, Layer)
    assert isinstance(output, Pair)
    ctx.save_for_backward(inputs.x, inputs.layer.weight)
    ctx.scale, ctx.biased = inputs.layer.scale, inputs.layer.bias is not None


@apply_layer.backward
def apply_layer_backward(ctx: Any, grad: Tensor, total: Tensor) -> tuple[Tensor, Layer, None]:
    x, weight = ctx.saved_tensors
    grad = grad + total
    bias = grad if ctx.biased else None
    assert [type(flag) for flag in ctx.needs_input_grad] == [bool] * 3
    assert not ctx.needs_input_grad[2]
    return grad * weight * ctx.scale, Layer(grad * x * ctx.scale, 0.0, bias), None


CALLS: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "keyword-only": (lambda x, w: mul(x, weight=w), (double(1, 2), double(3, 4))),
    "keyword-only, torch.ops": (
        lambda x, w: overload("mul")(x, weight=w, scale=5.0),
        (double(1, 2), double(3, 4)),
    ),
    "lists": (
        lambda x, y, b: (*split([x, None, y], b)[0], split([y, x])[1]),
        (double(1, 2), double(3, 4), double(5, 6)),
    ),
    "structure": (
        lambda x, w, b: tuple(apply_layer(x, Layer(w, 2.0, b))),
        (double(1, 2), double(3, 4), double(5, 6)),
    ),
    "structure without": (
        lambda x, w: apply_layer(x, Layer(w), power=2).value,
        (double(1, 2), double(3, 4)),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_gradients_are_right(name: str) -> None:
    call, inputs = CALLS[name]
    for _ in range(2):  # the second time the shortcuts are open
        assert torch.autograd.gradcheck(call, inputs)
        assert torch.autograd.gradgradcheck(call, inputs)


def grads(call: Callable[..., Any], inputs: tuple[Tensor, ...]) -> list[Tensor]:
    out = call(*inputs)
    parts = out if isinstance(out, tuple) else (out,)
    return list(torch.autograd.grad(sum((p**2).sum() for p in parts), inputs))


@pytest.mark.parametrize("name", CALLS)
def test_compiled_gradients_are_the_same(name: str) -> None:
    call, inputs = CALLS[name]
    assert all(map(torch.allclose, grads(compiled(call), inputs), grads(call, inputs)))


@pytest.mark.parametrize("name", CALLS)
def test_functorch_gradients_are_the_same(name: str) -> None:
    call, inputs = CALLS[name]
    detached = tuple(tensor.detach() for tensor in inputs)

    def loss(*given: Tensor) -> Tensor:
        out = call(*given)
        return sum((p**2).sum() for p in (out if isinstance(out, tuple) else (out,)))

    every = tuple(range(len(inputs)))
    found = torch.func.grad(loss, every)(*detached)
    assert all(map(torch.allclose, found, grads(call, inputs)))
    batch = tuple(torch.stack([tensor, tensor + 1, tensor * 2]) for tensor in detached)
    mapped = torch.vmap(torch.func.grad(loss, every))(*batch)
    for place, row in enumerate(zip(*batch, strict=True)):
        alone = torch.func.grad(loss, every)(*row)
        assert all(torch.allclose(m[place], a) for m, a in zip(mapped, alone, strict=True))
    second = torch.func.jacrev(torch.func.grad(loss))(*detached)
    assert torch.allclose(second, torch.autograd.functional.hessian(loss, detached)[0][0])


@pytest.mark.parametrize("name", CALLS)
def test_a_tangent_is_refused_and_never_dropped(name: str) -> None:
    call, inputs = CALLS[name]
    detached = tuple(tensor.detach() for tensor in inputs)
    call(*detached)
    with pytest.raises(NotImplementedError, match="jvp"):
        torch.func.jvp(call, detached, detached)


# What is refused ----------------------------------------------------------------------------------


def fresh(name: str, **options: Any) -> Any:
    """A new operator of two tensors, keyword-only number and one result."""

    def kernel(x: Tensor, y: Tensor | None, *, n: int = 1) -> Tensor:
        return x * n if y is None else x * y * n

    handle = ow.op(f"{NS}::{name}", **options)(kernel)
    handle.fake(lambda x, y, *, n=1: torch.empty_like(x))
    return handle


def one_too_few(ctx: Any, grad: Tensor) -> Any:
    return (grad,)


def one_too_many(ctx: Any, grad: Tensor) -> Any:
    if ctx.needs_input_grad[1]:
        return grad, grad, None
    return grad, None, None, None


def without_context(grad: Tensor) -> Any:
    return grad, None, None


@pytest.mark.parametrize(
    ("backward", "options", "message"),
    [
        (one_too_few, {}, r"one_too_few \(.*test_autograd.py:\d+\) gives 1 gradient, but "
                          r"opwright_autograd::refused has 3 parameters \(x, y, n\)"),
        (one_too_many, {}, r"one_too_many \(.*\) gives 4 gradients, but .* has 3 parameters"),
        (without_context, {}, r"without_context .* cannot be called with ctx and 1 gradient"),
        (mul_backward, {"save": ("x", "z")}, "has no argument or result 'z' to save"),
    ],
)  # fmt: skip
def test_a_formula_that_does_not_fit_is_refused(
    backward: Callable[..., Any], options: dict[str, Any], message: str
) -> None:
    handle = fresh("refused")
    with pytest.raises(ow.SchemaError, match=message):
        handle.backward(**options)(backward) if options else handle.backward(backward)
    with pytest.raises(RuntimeError, match="has no backward formula"):
        handle(double(1), None).backward()


@pytest.mark.parametrize("many", [False, True])
def test_the_number_of_gradients_is_checked_when_it_runs(many: bool) -> None:
    handle = fresh("counted")
    count = 4 if many else 1
    handle.backward(lambda ctx, grad: tuple([grad] + [None] * (count - 1)))
    message = rf"lambda.*test_autograd.py.* gives {count} gradients?, but .*counted has 3"
    for f in (handle, handle.overload, compiled(lambda x, y: handle(x, y))):
        with pytest.raises(RuntimeError, match=message):
            f(double(1), None).backward()


def test_gradients_of_keyword_only_numbers_may_be_left_out() -> None:
    handle = fresh("left_out")
    handle.backward(lambda ctx, grad: (grad * 7, None))
    x = double(1)
    handle(x, None).backward()
    assert x.grad is not None
    assert x.grad.item() == 7.0


@pytest.mark.parametrize(
    "names", ["context", "ctx, inputs", "ctx, args, output", "ctx, inputs, kwargs, output"]
)
def test_a_setup_context_with_other_parameters_is_refused(names: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def setup({names}): pass", scope)
    with pytest.raises(ow.SchemaError, match=r"write `def setup_context\(ctx, inputs, output\)`"):
        fresh("context").setup_context(scope["setup"])


def test_keyword_only_inputs_come_apart_as_in_torch() -> None:
    seen = []

    def setup_context(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        seen.append((len(inputs), keyword_only_inputs))

    handle = fresh("apart")
    handle.setup_context(setup_context)
    handle.backward(lambda ctx, grad: (grad, None))
    handle(double(1), None, n=3)
    handle.overload(double(1), None)
    assert seen == [(2, {"n": 3}), (2, {"n": 1})]


def test_both_ways_to_save_are_one_too_many() -> None:
    handle = fresh("both")
    handle.setup_context(lambda ctx, inputs, output: None)
    with pytest.raises(ow.SchemaError, match="both a setup_context and save"):
        handle.backward(save=("x",))(lambda ctx, grad: (grad, None))


def test_an_operator_without_a_formula_says_so_when_a_gradient_is_asked() -> None:
    handle = fresh("formless")
    message = "opwright_autograd::formless, which has no backward formula"
    for f in (handle, handle.overload):
        out = f(double(1), None)
        assert out.requires_grad
        with pytest.raises(RuntimeError, match=message):
            out.backward()
    with pytest.raises(Exception, match=message):
        compiled(lambda x: handle(x, None))(double(1)).backward()


def test_an_operator_that_is_not_differentiable_has_no_gradient() -> None:
    handle = fresh("constant", differentiable=False)
    for f in (handle, handle.overload, compiled(lambda x, y: handle(x, y))):
        assert not f(double(1), double(2)).requires_grad
    with pytest.raises(ow.SchemaError, match="differentiable=False"):
        handle.backward(lambda ctx, grad: (grad, None))


def test_no_gradient_flows_through_a_written_argument() -> None:
    def write(out: Mutable[Tensor], x: Tensor) -> None:
        out.copy_(x)

    refusing = ow.op(f"{NS}::write")(write)
    silent = ow.op(f"{NS}::write_constant", differentiable=False)(write)
    for f in (refusing, refusing.overload):
        with pytest.raises(RuntimeError, match="writes 'out', so no gradient flows through it"):
            f(torch.zeros(1), torch.ones(1, requires_grad=True))
    for f in (silent, silent.overload):
        out = torch.zeros(1)
        f(out, torch.ones(1, requires_grad=True))
        assert out.item() == 1.0
    with pytest.raises(ow.SchemaError, match="writes 'out', so it has no gradient"):
        refusing.backward(lambda ctx: (None, None))


def test_a_list_gradient_of_another_length_names_the_argument() -> None:
    @ow.op(f"{NS}::total")
    def total(xs: list[Tensor]) -> Tensor:
        return torch.stack(xs).sum(0)

    total.backward(lambda ctx, grad: ([grad],))
    with pytest.raises(RuntimeError, match=r"the gradient of 'xs' \(Tensor\[\], 2 given\) is 1"):
        total([double(1), double(2)]).backward()


def test_another_formula_takes_effect() -> None:
    handle = fresh("again")
    for factor in (2.0, 3.0):
        handle.backward(lambda ctx, grad, factor=factor: (grad * factor, None))
        for f in (handle, handle, handle.overload):
            x = double(1)
            f(x, None).backward()
            assert x.grad is not None
            assert x.grad.item() == factor


def test_nothing_is_built_before_it_is_needed() -> None:
    handle = fresh("lazy")
    handle.backward(lambda ctx, grad: (grad, None))
    handle(torch.ones(1), None)
    recorder = handle.core.differentiate
    assert (recorder._dispatched, recorder._straight) == (None, None)
    handle(double(1), None)
    assert recorder._dispatched is not None


# vmap ---------------------------------------------------------------------------------------------


def test_a_batching_rule_is_used_at_every_level() -> None:
    seen = []
    handle = fresh("batched")

    @handle.vmap
    def rule(info: Any, in_dims: Any, x: Tensor, y: Tensor | None, *, n: int = 1) -> Any:
        seen.append((info.batch_size, in_dims))
        assert y is not None
        moved = [t if d is None else t.movedim(d, 0) for t, d in ((x, in_dims[0]), (y, in_dims[1]))]
        return handle(*moved, n=n), 0

    x, y = torch.rand(4, 3), torch.rand(3, 4)
    out = torch.vmap(lambda x, y: handle(x, y, n=2), (0, 1))(x, y)
    assert torch.allclose(out, x * y.t() * 2)
    assert seen == [(4, (0, 1, None))]
    twice = torch.vmap(torch.vmap(lambda x, y: handle(x, y)), (0, 1))(x, y)
    assert torch.allclose(twice, x * y.t())
    assert len(seen) == 3


@pytest.mark.parametrize("wrong", [lambda out: out, lambda out: (out, 0, 1)])
def test_a_batching_rule_gives_a_pair(wrong: Callable[[Any], Any]) -> None:
    handle = fresh("no_pair")
    handle.vmap(lambda info, in_dims, x, y, n=1: wrong(x))
    with pytest.raises(RuntimeError, match=r"a vmap rule returns the pair \(output, out_dims\)"):
        torch.vmap(lambda x: handle(x, None))(torch.ones(2, 2))


def test_lists_are_mapped_element_by_element() -> None:
    x, b = torch.rand(4, 3), torch.rand(3)
    parts, total = torch.vmap(lambda x: split([x, None, x], b))(x)
    assert all(torch.allclose(part, x * 2 + b) for part in parts)
    assert torch.allclose(total, (x * 2 + b) * 2)


def test_a_written_argument_is_written_for_each_element() -> None:
    @ow.op(f"{NS}::accumulate", differentiable=False)
    def accumulate(out: Mutable[Tensor], x: Tensor) -> None:
        out.add_(x)

    def f(out: Tensor, x: Tensor) -> Tensor:
        accumulate(out, x)
        return out

    out = torch.zeros(3, 2)
    torch.vmap(f)(out, torch.ones(3, 2))
    assert out.tolist() == [[1.0, 1.0]] * 3
    with pytest.raises(RuntimeError, match="writes 'out', which is not batched"):
        torch.vmap(f, (None, 0))(out[0], torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="over no elements"):
        torch.vmap(f)(out[:0], out[:0])


# Autocast -----------------------------------------------------------------------------------------


def test_autocast_casts_lists_and_leaves_double_alone() -> None:
    seen = []

    @ow.op(f"{NS}::look", differentiable=False)
    def look(xs: list[Tensor], n: Tensor | None = None) -> Tensor:
        seen.append([x.dtype for x in (*xs, n) if x is not None])
        return xs[0].clone()

    look.autocast("cpu", torch.bfloat16)
    with torch.autocast("cpu"):
        look([torch.ones(1), torch.ones(1).double()], torch.ones(1, dtype=torch.int64))
    assert seen == [[torch.bfloat16, torch.float64, torch.int64]]
    with pytest.raises(ValueError, match="'mars' has no autocast"):
        look.autocast("mars", torch.bfloat16)
