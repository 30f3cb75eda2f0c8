"""What an author holds: typed and documented, it adds kernels and fakes, and refuses wrong ones."""

from __future__ import annotations

import inspect
import pickle
import pydoc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch.library import Library  # noqa: E402

import opwright as ow  # noqa: E402
from opwright import Mutable  # noqa: E402
from opwright.ops import private, registry  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("clean"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_handle"


def scale(x: Tensor, by: float = 2.0, *, shift: int = 0) -> Tensor:
    """Scale and shift."""
    return x * by + shift


# What it looks like -----------------------------------------------------------------------------


def test_it_looks_like_the_function() -> None:
    f = ow.op(f"{NS}::scale")(scale)
    assert inspect.signature(f) == inspect.signature(scale)
    assert (f.__name__, f.__doc__, f.__module__) == ("scale", "Scale and shift.", __name__)
    assert f.name == f"{NS}::scale"
    assert f.overload is torch.ops.opwright_handle.scale.default
    shown = pydoc.plain(pydoc.render_doc(f))
    assert "scale(x: 'Tensor', by: 'float' = 2.0, *, shift: 'int' = 0) -> 'Tensor'" in shown
    assert "Scale and shift." in shown


def test_in_a_class_it_stays_what_it_is() -> None:
    f = ow.op(f"{NS}::scale")(scale)

    class Holder:
        op = f

    assert Holder().op is f
    assert Holder.op(torch.ones(1), 3.0).item() == 3.0


def test_python_says_what_is_wrong_with_a_call() -> None:
    f = ow.op(f"{NS}::scale")(scale)
    wanted = r"^scale\(\) missing 1 required positional argument: 'x'$"
    for _ in range(2):
        with pytest.raises(TypeError, match=wanted):
            f()  # type: ignore[call-arg]


# Kernels and fakes ------------------------------------------------------------------------------


def test_kernels_are_added_for_several_devices_and_replaced() -> None:
    f = ow.op(f"{NS}::scale")(scale)
    x = torch.ones(1)
    by_name = torch.ops.opwright_handle.scale

    @f.kernel("cpu", "cuda")
    def first(x: Tensor, by: float, *, shift: int) -> Tensor:
        return x + 10

    for _ in range(3):
        assert (f(x).item(), by_name(x).item()) == (11.0, 11.0)

    @f.kernel("cpu")
    def second(x: Tensor, by: float, *, shift: int) -> Tensor:
        return x + 20

    for _ in range(3):
        assert (f(x).item(), by_name(x).item()) == (21.0, 21.0)
    assert private.has_kernel(f.name, "CUDA")

    @f.kernel("SparseCPU")
    def sparse(x: Tensor, by: float, *, shift: int) -> Tensor:
        return x.to_dense() + 30

    assert f(x.to_sparse()).item() == 31.0
    assert f(x).item() == 21.0


def test_a_kernel_for_one_device_only_serves_that_one() -> None:
    f = ow.op(f"{NS}::scale", device="cuda")(scale)
    for _ in range(2):
        with pytest.raises(NotImplementedError, match="CPU"):
            f(torch.ones(1))


def test_a_composite_function_is_taken_apart() -> None:
    @ow.op(f"{NS}::composite", device="CompositeImplicitAutograd")
    def composite(x: Tensor) -> Tensor:
        return x.sin() * 2

    x = torch.ones(2, requires_grad=True)
    composite(x).sum().backward()
    assert torch.equal(x.grad, 2 * x.detach().cos())
    use = torch.compile(lambda x: composite(x), backend="aot_eager", fullgraph=True)
    assert torch.equal(use(x), composite(x))
    assert torch.equal(torch.vmap(composite)(x.detach()), composite(x.detach()))


def test_a_library_of_the_callers() -> None:
    library = Library(NS, "FRAGMENT")
    f = ow.op(f"{NS}::scale", library=library)(scale)
    assert f(torch.ones(1)).item() == 2.0
    assert f"{NS}::scale" in library._op_defs
    registry.remove(f.name)
    assert private.exists(f.name), "what the caller owns is not taken away"
    library._destroy()
    assert not private.exists(f.name)


DISAGREEING: list[tuple[str, Callable[..., Any], str]] = [
    (
        "another default", lambda x, by=3.0, *, shift=0: x.clone(),
        "OW304 the default of 'by' is 3.0 in {who}, 2.0 in the operator\n"
        "  hint: write `by=2.0`, or leave the default out",
    ),
    (
        "another type of default", lambda x, by=2.0, *, shift=False: x.clone(),
        "OW304 the default of 'shift' is False in {who}, 0 in the operator\n"
        "  hint: write `shift=0`, or leave the default out",
    ),
    ("one too few", lambda x, *, shift: x.clone(), "OW301 {who} lacks 'by'\n  hint: add `by`"),
    (
        "one too many", lambda x, by, z, *, shift: x.clone(),
        "OW302 {who} takes 'z', which it is not given\n  hint: the operator gives it (x, by)",
    ),
    (
        "another order", lambda by, x, *, shift: x.clone(),
        "OW303 {who} takes (by, x), the operator gives (x, by)",
    ),
    (
        "keyword-only", lambda x, *, by, shift: x.clone(),
        "OW306 'by' is keyword-only in {who}, not in the operator",
    ),
    (
        "no keyword", lambda x, by: x.clone(),
        "OW301 {who} lacks the keyword 'shift'\n  hint: add `*, shift`",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("case", "wrong", "message"), DISAGREEING, ids=[r[0] for r in DISAGREEING])
def test_an_implementation_that_disagrees_is_refused(
    case: str, wrong: Callable[..., Any], message: str
) -> None:
    f = ow.op(f"{NS}::scale")(scale)
    for add, who in ((f.kernel("cpu"), "the kernel for cpu"), (f.fake, "the fake")):
        with pytest.raises(ow.SchemaError) as refused:
            add(wrong)
        (found,) = refused.value.findings
        line = wrong.__code__.co_firstlineno
        told = message.format(who=f"{who} of {f.name}")
        assert str(found) == f"{__file__}:{line}: {told}"
    assert f(torch.ones(1)).item() == 2.0


def test_annotations_of_an_implementation_are_held_against_the_schema() -> None:
    f = ow.op(f"{NS}::scale")(scale)

    def wrong(x: Mutable[Tensor], by: float, *, shift: float) -> Tensor:
        return x

    with pytest.raises(ow.SchemaError) as refused:
        f.kernel("cpu")(wrong)
    assert sorted(found.code for found in refused.value.findings) == ["OW201", "OW209"]


AGREEING: list[Callable[..., Any]] = [
    lambda x, by, *, shift: x.clone(),
    lambda x, by=2, *, shift=0: x.clone(),
    lambda x, by, shift: x.clone(),
    lambda x, *args, **kwargs: x.clone(),
    lambda *args, **kwargs: args[0].clone(),
    lambda x, _, *, shift: x.clone(),
    lambda x, _by, **_: x.clone(),
]


@pytest.mark.parametrize("fine", AGREEING)
def test_an_implementation_may_be_written_in_other_ways(fine: Callable[..., Any]) -> None:
    f = ow.op(f"{NS}::scale")(scale)
    f.kernel("cpu")(fine)
    f.fake(fine)
    for _ in range(3):
        assert f(torch.ones(1), 3.0, shift=1).item() == 1.0


# Names ------------------------------------------------------------------------------------------

BAD_NAMES = [
    ("scale", "'scale' has no namespace", "write `namespace::name`, such as `mylib::scale`"),
    (
        "my lib::f", "the namespace 'my lib' of 'my lib::f' is not an identifier",
        "use ASCII letters, digits and underscores: `namespace::name`",
    ),
    (
        "a::b.c.d", "the overload 'c.d' of 'a::b.c.d' is not an identifier",
        "use ASCII letters, digits and underscores: `namespace::name`",
    ),
    (
        "a::f.default", "the overload of 'a::f.default' has no name of its own",
        "leave `.default` out",
    ),
    ("aten::f", "'aten' belongs to torch", "use a namespace of your own"),
    ("a::name", "'name' is an attribute of `torch.ops.a` itself", "choose another name"),
    ("a::__init__", "'__init__' is an attribute of `torch.ops.a` itself", "choose another name"),
    ("a::for", "the name of 'a::for' is a Python keyword", "write `for_`"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "message", "hint"), BAD_NAMES, ids=[row[0] for row in BAD_NAMES])
def test_a_name_that_torch_cannot_take_is_refused(name: str, message: str, hint: str) -> None:
    with pytest.raises(ow.SchemaError) as refused:
        ow.op(name)(scale)
    assert str(refused.value) == f"OW510 {message}\n  hint: {hint}"


def test_a_device_that_is_none_is_refused() -> None:
    with pytest.raises(ow.SchemaError) as refused:
        ow.op(f"{NS}::scale", device="cudaa")(scale)
    assert str(refused.value) == (
        "OW513 'cudaa' is no device type and no dispatch key\n  hint: write 'cuda'"
    )


# Operators of others ----------------------------------------------------------------------------


@pytest.fixture
def foreign() -> Iterator[Library]:
    library = Library(NS, "FRAGMENT")
    library.define("foreign(Tensor x, int n=3) -> Tensor")
    library.impl("foreign", lambda x, n=3: x + n, "CPU")
    yield library
    library._destroy()


def test_an_operator_of_others_gets_a_handle(foreign: Library) -> None:
    f = ow.existing(f"{NS}::foreign")
    assert str(f.schema) == f"{NS}::foreign(Tensor x, int n=3) -> Tensor"
    assert f(torch.ones(1), n=4).item() == 5.0
    f.fake(lambda x, n: torch.empty_like(x))
    f.kernel("SparseCPU")(lambda x, n: x.to_dense() + n)
    assert f(torch.ones(1).to_sparse()).item() == 4.0
    use = torch.compile(lambda x: f(x) + 1, backend="aot_eager", fullgraph=True)
    assert use(torch.ones(1)).item() == 5.0


def test_what_others_registered_is_not_overridden(foreign: Library) -> None:
    f = ow.existing(f"{NS}::foreign")
    with pytest.raises(ow.SchemaError, match="has a kernel at CPU already, which Opwright did not"):
        f.kernel("cpu")(lambda x, n: x)
    assert f(torch.ones(1)).item() == 4.0
    relu = ow.existing("aten::relu")
    with pytest.raises(ow.SchemaError, match="aten::relu is torch's own: what it does is never"):
        relu.kernel("SparseCsrCPU")(lambda self: self)
    with pytest.raises(ow.SchemaError, match="never overridden"):
        relu.fake(lambda self: self)
    assert relu(torch.tensor([-1.0])).item() == 0.0


def test_an_argument_that_is_a_keyword_is_called_but_not_given_a_kernel() -> None:
    random = ow.existing("aten::random_.from")
    for _ in range(2):
        assert 3 <= random(torch.ones(2), 3, 5).min() < 5
    library = Library(NS, "FRAGMENT")
    library.define("lambdas(Tensor x, float lambda) -> Tensor")
    with pytest.raises(ow.SchemaError) as refused:
        ow.existing(f"{NS}::lambdas").kernel("cpu")(lambda x, lambda_: x)
    told = (
        f"OW510 'lambda' of {NS}::lambdas is a Python keyword, so no kernel can take it\n"
        "  hint: write `lambda_`"
    )
    assert str(refused.value) == told
    library._destroy()
    with pytest.raises(ow.SchemaError) as refused:

        @ow.op(f"{NS}::lambdas", schema="lambdas(Tensor x, float lambda) -> Tensor")
        def lambdas(x: Tensor, lambda_: float) -> Tensor:
            return x

    assert str(refused.value) == told


def test_our_own_operator_is_found_as_its_handle() -> None:
    f = ow.op(f"{NS}::scale")(scale)
    assert ow.existing(f"{NS}::scale") is f


MISSING = [
    (f"{NS}::scal", f"nothing registered '{NS}::scal'; did you mean '{NS}::scale'?"),
    (f"{NS}::zebra", f"nothing registered '{NS}::zebra'; '{NS}' has scale"),
    (
        "no_such_space::f",
        "nothing registered an operator in 'no_such_space': was the package or shared library that "
        "registers 'no_such_space::f' imported?",
    ),
]


@pytest.mark.parametrize(("name", "message"), MISSING, ids=[row[0] for row in MISSING])
def test_an_operator_that_is_not_there_says_why_and_what_is_near(name: str, message: str) -> None:
    ow.op(f"{NS}::scale")(scale)
    with pytest.raises(LookupError) as missing:
        ow.existing(name)
    assert str(missing.value) == message


# Results ----------------------------------------------------------------------------------------


WRONG_RESULTS: list[tuple[Callable[..., Any], str]] = [
    (lambda x: None, "its result is None, the schema says Tensor"),
    (lambda x: 3, "its result is of type int, the schema says Tensor"),
    (
        lambda x: x,
        "its result shares memory with the argument 'x', which the schema does not say; return a "
        "clone, or annotate it `Annotated[Tensor, Aliases('x')]`",
    ),
    (
        lambda x: x[:1],
        "its result shares memory with the argument 'x', which the schema does not say; return a "
        "clone, or annotate it `Annotated[Tensor, Aliases('x')]`",
    ),
]


@pytest.mark.parametrize(("kernel", "message"), WRONG_RESULTS, ids=[r[1] for r in WRONG_RESULTS])
def test_a_wrong_result_names_the_kernel(kernel: Callable[..., Any], message: str) -> None:
    @ow.op(f"{NS}::wrong")
    def wrong(x: Tensor) -> Tensor:
        return x.clone()

    x = torch.ones(2)
    wrong(x)  # learns what is plain; the kernel is then replaced
    wrong.kernel("cpu")(kernel)
    with pytest.raises(RuntimeError) as refused:
        wrong(x)
    line = kernel.__code__.co_firstlineno
    assert f"the kernel of {NS}::wrong ({__file__}:{line}): {message}" in str(refused.value)


def test_a_handle_is_found_again_by_name_when_unpickled() -> None:
    assert pickle.loads(pickle.dumps(module_level)) is module_level


@ow.op("opwright_handle_kept::module_level")
def module_level(x: Tensor) -> Tensor:
    return x + 1
