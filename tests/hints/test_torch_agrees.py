"""Whatever `torch.library.infer_schema` reads, we read with the same meaning."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest

from opwright import Schema, SchemaError, infer, parse
from opwright.hints import meaning
from opwright.hints.values import path_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def theirs(function: Any, mutates_args: Any = ()) -> Schema:
    text = torch.library.infer_schema(function, mutates_args=mutates_args, op_name="f")
    return parse(text)


def ours(function: Any, mutates_args: Any = ()) -> Schema:
    return infer(function, name="f", mutates_args=mutates_args)


def annotated(returns: Any, **parameters: Any) -> Any:
    """A function with these annotations; `(annotation, default)` gives a default too."""

    def f() -> None: ...

    def parameter(name: str, given: Any) -> inspect.Parameter:
        hint, default = given if isinstance(given, tuple) else (given, inspect.Parameter.empty)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Parameter(name, kind, annotation=hint, default=default)

    f.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter(name, given) for name, given in parameters.items()], return_annotation=returns
    )
    return f


def supported() -> dict[Any, str]:
    from torch._library.infer_schema import SUPPORTED_PARAM_TYPES

    return dict(SUPPORTED_PARAM_TYPES)


def returned() -> dict[Any, str]:
    from torch._library.infer_schema import SUPPORTED_RETURN_TYPES

    return dict(SUPPORTED_RETURN_TYPES)


def test_every_parameter_type_that_torch_reads() -> None:
    table = supported()
    assert len(table) >= 54
    for annotation in table:
        function = annotated(torch.Tensor, x=annotation)
        assert ours(function) == theirs(function), annotation


def test_every_return_type_that_torch_reads() -> None:
    table = returned()
    assert len(table) >= 7
    for annotation in table:
        function = annotated(annotation, x=torch.Tensor)
        assert ours(function) == theirs(function), annotation
    for pair in itertools.product(table, repeat=2):
        function = annotated(tuple[pair], x=torch.Tensor)  # type: ignore[valid-type]
        assert ours(function) == theirs(function), pair
    for annotation in table:
        function = annotated(tuple[annotation], x=torch.Tensor)  # type: ignore[valid-type]
        assert ours(function) == theirs(function), annotation


DEFAULTS = {
    "int": [3, -1, 0, 2**62],
    "float": [1.0, 0.5, 1e-6, 3, -2.5],
    "bool": [True, False],
    "str": ["", "cpu", "it's", "é"],
    "int | None": [None, 3],
    "float | None": [None, 1.5],
    "torch.Tensor | None": [None],
    "torch.Tensor": [None],
    "torch.dtype": ["torch.float32", "torch.half"],
    "torch.device": ["'cpu'", "torch.device('cuda:0')"],
    "torch.types.Number": [2, 2.5, True],
}


def test_every_default_that_torch_writes() -> None:
    count = 0
    for text, defaults in DEFAULTS.items():
        for default in defaults:
            value = eval(default) if isinstance(default, str) and text != "str" else default
            function = annotated(torch.Tensor, x=(eval(text), value))
            assert ours(function) == theirs(function), (text, default)
            count += 1
    assert count == 28


# Where torch's text means something else than the annotations, or nothing at all.
WRONG = {
    ("int", "1.5"): "no int",
    ("int", "None"): "no int; a kernel that is called without it would get None",
    ("torch.Tensor", "0"): "no tensor; torch fails when the operator is called",
    ("bool", "1"): "no bool",
    ("float", "True"): "no float",
    ("float", "float('inf')"): "torch writes `inf`, which it cannot read",
    ("str", "'a\"b'"): "torch does not escape the quote",
    ("int", "True"): "torch writes `True` where the dispatcher gives 1",
}


MEANT = {("str", "'a\"b'"), ("int", "True")}


@pytest.mark.parametrize(("annotation", "default"), WRONG)
def test_where_torch_is_wrong(annotation: str, default: str) -> None:
    """Torch makes a text of each; ours is a finding, or for a text what was meant."""
    function = annotated(torch.Tensor, x=(eval(annotation), eval(default)))
    written = torch.library.infer_schema(function, mutates_args=(), op_name="f")
    assert written.endswith("-> Tensor")
    if (annotation, default) in MEANT:
        assert ours(function).arguments[0].default == eval(default)
    else:
        with pytest.raises(SchemaError, match=r"OW10[67]"):
            ours(function)


def test_nothing_returned_and_nothing_written_is_torch_s_other_mistake() -> None:
    """Under `torch.compile` the call is dropped."""
    function = annotated(None, x=torch.Tensor)
    assert str(theirs(function)) == "f(Tensor x) -> ()"
    with pytest.raises(SchemaError, match="OW111"):
        ours(function)


def written(
    x: torch.Tensor, y: torch.Tensor | None, z: list[torch.Tensor], n: int, *, out: torch.Tensor
) -> None: ...


NAMES = ("x", "y", "z", "out")
WRITES = [
    *itertools.chain.from_iterable(itertools.combinations(NAMES, n) for n in range(1, 5)),
    "unknown",
]


@pytest.mark.parametrize("mutates_args", WRITES, ids=str)
def test_what_is_written(mutates_args: Any) -> None:
    assert ours(written, mutates_args) == theirs(written, mutates_args)
    assert ours(written, mutates_args).mutable


@pytest.mark.parametrize(
    ("mutates_args", "message"),
    [
        (("n",), "OW109 'n' of f: Mutable[int] marks what is not a tensor"),
        (("x", "m"), "OW115 mutates_args of written names 'm', which is no parameter"),
        ("x", "OW115 mutates_args of written is 'x'"),
    ],
)
def test_what_torch_refuses_to_write_we_refuse(mutates_args: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"mutat|must either be"):
        theirs(written, mutates_args)
    with pytest.raises(SchemaError) as raised:
        ours(written, mutates_args)
    assert message in [f"{one.code} {one.message}" for one in raised.value.findings]


def test_the_oracle_sees_a_difference() -> None:
    """The control."""
    left, right = annotated(torch.Tensor, x=int), annotated(torch.Tensor, x=float)
    assert ours(left) != theirs(right)
    assert ours(written, ("x",)) != theirs(written, ("y",))


def test_what_is_read_without_torch_is_read_with_it() -> None:
    """The names of the first table are torch's own: each class has its path there."""
    paths = [path for path in meaning.NAMES if path.startswith("torch.")]
    assert len(paths) >= 10
    for path in paths:
        found = torch
        for part in path.split(".")[1:]:
            found = getattr(found, part)
        assert path_of(found) == path


OPAQUE = {
    "torch.Generator": "Generator",
    "torch.Generator | None": "Generator?",
    "torch.Stream": "Stream",
    "torch.layout": "Layout",
    "torch.memory_format": "MemoryFormat",
    "torch.Size": "SymInt[]",
    "torch.nn.Parameter": "Tensor",
    "torch.SymInt": "SymInt",
}


@pytest.mark.parametrize("annotation", OPAQUE)
def test_what_torch_refuses_or_gets_wrong(annotation: str) -> None:
    function = annotated(torch.Tensor, x=eval(annotation))
    schema = ours(function)
    assert str(schema) == f"f({OPAQUE[annotation]} x) -> Tensor"
    assert [str(one.real_type) for one in torch._C.parse_schema(str(schema)).arguments]
    if annotation == "torch.Generator":  # an opaque type that nobody registered
        assert str(theirs(function).arguments[0].type) == "torch._C.Generator"
    else:
        with pytest.raises(ValueError, match="unsupported type"):
            theirs(function)


def test_jaxtyping() -> None:
    jaxtyping = pytest.importorskip("jaxtyping")
    function = annotated(torch.Tensor, x=jaxtyping.Float[torch.Tensor, "b n"])
    assert str(ours(function)) == "f(Tensor x) -> Tensor"
