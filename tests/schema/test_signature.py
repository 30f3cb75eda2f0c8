"""The way back: the annotations that would infer a schema, and what they cannot say."""

# ruff: noqa: E501 - a row of the table stands on one line

from __future__ import annotations

import ast
import inspect
import sys
from types import ModuleType

import pytest
from hypothesis import example, given, settings

import strategies
from opwright.schema.model import Schema, Symbol
from opwright.schema.parse import parse
from opwright.schema.signature import module, python, signature
from opwright.schema.spell import spell

STUBS = [
    # A schema, its stub, and in words what the stub does not say.
    ("ns::f(Tensor x) -> Tensor", "def f(x: Tensor) -> Tensor: ...", []),
    ("f.out(Tensor(a!) out, Tensor? x=None) -> Tensor(a!)", "def f_out(out: Mutable[Tensor], x: Tensor | None = None) -> Mutable[Tensor]: ...", []),
    ("f(Tensor(a!)?[] x) -> ()", "def f(x: Mutable[list[Tensor | None]]) -> None: ...", []),
    ("f(Tensor(a!)[] x) -> ()", "def f(x: Mutable[list[Tensor]]) -> None: ...", []),
    ("f(Tensor(a!)? x) -> ()", "def f(x: Mutable[Tensor | None]) -> None: ...", []),
    ("f(Tensor(a) x) -> Tensor(a)", 'def f(x: Tensor) -> Annotated[Tensor, Aliases("x")]: ...', []),
    ("f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b)[])", 'def f(x: Tensor, y: Tensor) -> tuple[Annotated[Tensor, Aliases("x")], Annotated[list[Tensor], Aliases("y")]]: ...', []),
    ("f(Tensor(a) x, Tensor(b) y) -> Tensor(a|b)", 'def f(x: Tensor, y: Tensor) -> Annotated[Tensor, Aliases("x", "y")]: ...', []),
    ("f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))", 'def f(x: Mutable[Tensor], y: Mutable[Tensor]) -> tuple[Annotated[Tensor, Aliases("y")], Annotated[Tensor, Aliases("x")]]: ...', []),
    ("f(int n, SymInt m=3, int[] k=[1, 2]) -> SymInt", "def f(n: Const[int], m: int = 3, k: list[Const[int]] = [1, 2]) -> int: ...", []),
    ("f(SymInt[2] k=[1, 1], SymInt[1]? j=None) -> ()", "def f(k: tuple[int, int] = (1, 1), j: tuple[int] | None = None) -> None: ...", ["an operator that returns nothing and writes nothing"]),
    ("f(SymInt[1] k=[1]) -> Tensor", "def f(k: tuple[int] = (1,)) -> Tensor: ...", []),
    ("f(*, Scalar s=1.5, str t='a', Device d='cpu') -> Tensor", "def f(*, s: Scalar = 1.5, t: str = 'a', d: torch.device = 'cpu') -> Tensor: ...", []),
    ("f(ScalarType d=half, Layout l=strided, MemoryFormat? m=contiguous_format) -> Tensor", "def f(d: torch.dtype = torch.float16, l: torch.layout = torch.strided, m: torch.memory_format | None = torch.contiguous_format) -> Tensor: ...", []),
    ("f(Generator? g, Stream s, complex c=1j) -> bool", "def f(g: torch.Generator | None, s: torch.Stream, c: complex = 1j) -> bool: ...", []),
    ("f(my.mod.Cls x) -> Tensor", "def f(x: Opaque[my.mod.Cls]) -> Tensor: ...", []),
    ("f(Tensor x) -> (Tensor, int)", "def f(x: Tensor) -> tuple[Tensor, Const[int]]: ...", []),
    ("f(Tensor x) -> ((Tensor))", "def f(x: Tensor) -> tuple[Tensor]: ...", []),
    ("f(Tensor x) -> ((Tensor, Tensor))", "def f(x: Tensor) -> tuple[Tensor, Tensor]: ...", ["that `(Tensor, Tensor)` is one return"]),
    ("f(Tensor x) -> Tensor[2]", "def f(x: Tensor) -> tuple[Tensor, Tensor]: ...", ["that `Tensor[2]` is one return"]),
    ("ns::f.b_c(Tensor x) -> (Tensor y, int n)", "class FBCResult(NamedTuple):\n    y: Tensor\n    n: Const[int]\n\n\ndef f_b_c(x: Tensor) -> FBCResult: ...", []),
    ("f(Tensor x) -> (Tensor y, int)", "def f(x: Tensor) -> tuple[Tensor, Const[int]]: ...", ["the names of some returns"]),
    ("f(Dict(str, int) d, Future(Tensor) u, RRef(t) r, Union(int, str) v) -> Any", "def f(d: dict[str, Const[int]], u: torch.futures.Future[Tensor], r: torch.distributed.rpc.RRef[Any], v: Const[int] | str) -> Any: ...", ["that 'd' is `Dict(str, int)`", "that 'u' is `Future(Tensor)`", "that 'r' is `RRef(t)`", "that 'v' is `Union(int, str)`", "that return 1 is `Any`"]),
    ("f((int, str) x, () y, Await(int) w) -> Tensor", "def f(x: tuple[Const[int], str], y: tuple[()], w: Any) -> Tensor: ...", ["that 'x' is `(int, str)`", "that 'y' is `()`", "that 'w' is `Await(int)`"]),
    ("f(__torch__.torch.classes.a.B x, Storage s, NoneType n) -> Tensor", "def f(x: torch.ScriptObject, s: torch.UntypedStorage, n: None) -> Tensor: ...", ["that 'x' is `__torch__.torch.classes.a.B`", "that 's' is `Storage`", "that 'n' is `NoneType`"]),
    ("f(int[0] x, int[40] y) -> Tensor", "def f(x: list[Const[int]], y: list[Const[int]]) -> Tensor: ...", ["that 'x' is `int[0]`", "that 'y' is `int[40]`"]),
    ("f(int from, int from_, ...) -> ...", "def f(from__: Const[int], from_: Const[int], *args: Any) -> Any: ...", ["the name 'from', a keyword of Python", "`...` among the returns", "`...` among the arguments", "an operator that returns nothing and writes nothing"]),
    ("f(int args, int args_, ...) -> Tensor", "def f(args: Const[int], args_: Const[int], *args__: Any) -> Tensor: ...", ["`...` among the arguments"]),
    ("f(Tensor x) -> (Tensor _y, int n)", "def f(x: Tensor) -> tuple[Tensor, Const[int]]: ...", ["the names of some returns"]),
    ("f(Tensor x) -> (Tensor n, int n)", "def f(x: Tensor) -> tuple[Tensor, Const[int]]: ...", ["the names of some returns"]),
    ("f(SymInt[1] d=[-2, -1]) -> Tensor", "def f(d: tuple[int] = (-2, -1)) -> Tensor: ...", ["the default of `SymInt[1] d=[-2, -1]`"]),
    ("lambda(int x, *, int y) -> Tensor", "def lambda_(x: Const[int], *, y: Const[int]) -> Tensor: ...", []),
    ("f(int x=Mean, float? y=1, Tensor z=None, Layout l=3) -> Tensor", "def f(x: Const[int] = 1, y: float | None = 1, z: Tensor = None, l: torch.layout = 3) -> Tensor: ...", ["the default of `int x=Mean`", "the default of `float? y=1`", "the default of `Tensor z=None`", "the default of `Layout l=3`"]),
    ("f(Tensor(a) x) -> ()", "def f(x: Tensor) -> None: ...", ["the alias marks of `Tensor(a) x`", "an operator that returns nothing and writes nothing"]),
    ("f(Tensor! x) -> Tensor(b!)", "def f(x: Mutable[Tensor]) -> Tensor: ...", ["the alias marks of `Tensor! x`", "the alias marks of return 1, `Tensor(a!)`"]),
    ("f(Tensor(a!) x, Tensor(a!) y) -> ()", "def f(x: Mutable[Tensor], y: Mutable[Tensor]) -> None: ...", ["the alias marks of `Tensor(a!) x`", "the alias marks of `Tensor(a!) y`"]),
    ("f(Tensor(a -> *) x, Tensor[](b) y) -> Tensor(a)", "def f(x: Tensor, y: list[Tensor]) -> Tensor: ...", ["the alias marks of `Tensor(a -> *) x`", "the alias marks of `Tensor[](b) y`", "the alias marks of return 1, `Tensor(a)`"]),
    ("f(Tensor(a!) x) -> Tensor(a)", "def f(x: Mutable[Tensor]) -> Tensor: ...", ["the alias marks of return 1, `Tensor(a)`"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "stub", "losses"), STUBS, ids=lambda part: str(part)[:50])
def test_the_stub_of_a_schema_and_what_is_lost(text: str, stub: str, losses: list[str]) -> None:
    schema = parse(text)
    assert python(schema) == stub
    assert sorted(spell(schema).losses) == sorted(losses)


@pytest.mark.parametrize(("text", "stub", "losses"), STUBS, ids=lambda part: str(part)[:50])
def test_the_signature_is_that_of_the_stub(
    text: str, stub: str, losses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = ModuleType("torch")
    torch.__getattr__ = lambda name: name  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "torch", torch)
    namespace: dict[str, object] = {}
    exec(
        compile(module([parse(text)]).replace(": ...", ": pass"), "stub", "exec"),
        _Anything(namespace),
    )
    name = stub.rpartition("def ")[2].partition("(")[0]
    function = namespace[name]
    assert callable(function)
    assert _spelt(inspect.signature(function)) == _spelt(signature(parse(text)))


def _spelt(found: inspect.Signature) -> list[object]:
    rows: list[object] = [
        (p.name, p.kind, _quoted(p.annotation)) for p in found.parameters.values()
    ]
    return [*rows, _quoted(found.return_annotation)]


def _quoted(annotation: str) -> str:
    """The annotation with the quotes that Python itself writes."""
    return ast.unparse(ast.parse(annotation))


class _Anything(dict):  # type: ignore[type-arg]
    """A namespace in which the names of a stub need not be installed."""

    def __init__(self, seen: dict[str, object]) -> None:
        super().__init__(__name__="stub", __builtins__=__builtins__)
        self.seen = seen

    def __setitem__(self, name: str, value: object) -> None:
        self.seen[name] = value
        super().__setitem__(name, value)


def test_defaults_are_values() -> None:
    schema = parse("f(int n=3, int[] k=[1], SymInt[2] j=[1, 2], str? s=None, int r=Mean) -> Tensor")
    found = {name: p.default for name, p in signature(schema).parameters.items()}
    assert found == {"n": 3, "k": [1], "j": (1, 2), "s": None, "r": 1}
    assert signature(parse("f(int n) -> ()")).parameters["n"].default is inspect.Parameter.empty


def test_a_dtype_is_torchs_only_where_torch_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = parse("f(ScalarType d=half) -> Tensor")
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    sys.modules["torch"].float16 = "the dtype"  # type: ignore[attr-defined]
    assert signature(schema).parameters["d"].default == "the dtype"
    monkeypatch.delitem(sys.modules, "torch")
    assert signature(schema).parameters["d"].default == Symbol("float16")


def test_a_module_imports_what_its_stubs_use() -> None:
    schemas = [
        parse("f(Tensor(a!) x, Scalar s, ScalarType d) -> ()"),
        parse("g(int n) -> (Tensor y, int m)"),
    ]
    assert (
        module(schemas)
        == """from __future__ import annotations

from typing import NamedTuple

import torch
from opwright import Const, Mutable, Scalar
from torch import Tensor


def f(x: Mutable[Tensor], s: Scalar, d: torch.dtype) -> None: ...


class GResult(NamedTuple):
    y: Tensor
    m: Const[int]


def g(n: Const[int]) -> GResult: ...
"""
    )
    assert module([parse("f(int x) -> bool")]).splitlines()[2] == "from opwright import Const"
    assert module([parse("f(bool x) -> bool")]) == (
        "from __future__ import annotations\n\n\ndef f(x: bool) -> bool: ...\n"
    )


@settings(max_examples=strategies.examples(200, 10_000), deadline=None)
@given(strategies.schemas())
@example(parse("_0() -> (Tensor first, Tensor second)"))
def test_every_schema_has_a_signature_and_a_stub(schema: Schema) -> None:
    found = signature(schema)
    assert len(found.parameters) == len(schema.arguments) + schema.varargs
    tree = ast.parse(python(schema))
    assert isinstance(tree.body[-1], ast.FunctionDef)
    for text in (*[p.annotation for p in found.parameters.values()], found.return_annotation):
        ast.parse(text, mode="eval")
