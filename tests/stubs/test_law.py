"""The law of stubs: read back by our own readers, a stub means the schemas it was written from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from opwright.schema.model import Schema
from opwright.schema.parse import parse
from opwright.stubs.operators import Operator, Unread, gather
from opwright.stubs.write import module
from strategies import NIGHTLY
from stubs.reading import Stub, read

SCHEMAS = (
    "f() -> ()",
    "f(Tensor self) -> Tensor",
    "f(Tensor _op, Tensor _op_) -> Tensor",
    "f(Tensor(a!) x, Tensor(b!)[] ys, Tensor? z=None) -> (Tensor(b!)[], Tensor(a!))",
    "f(Tensor(a) x) -> Tensor(a)",
    "f(Tensor(a) x) -> Tensor(a)[]",
    "f(Tensor(a -> *) x) -> Tensor(*)[]",
    "f(SymInt n, int m, SymInt[2] k=[1, 1], int[] l=[], SymInt[]? p=None) -> (SymInt, int)",
    "f(float x=0.1, float? y=1, float? z=1.5, Scalar s=1, *, complex c, bool b=True) -> Scalar",
    'f(float x=1., *, str s="a\\"\'\\n\\\\ \303\251", str? t=None) -> str',
    "f(ScalarType d=bfloat16, Layout? l=strided, MemoryFormat m=contiguous_format) -> ScalarType",
    'f(Device d="cuda:0", Device? e=None, int reduction=Mean, Generator? g=None) -> Device',
    "f(Tensor x=None, Generator g=None, ScalarType d=6) -> ()",
    "f(Tensor x, *, Tensor from, Tensor from_, int lambda=1) -> ()",
    "f(Dict(str, Tensor) d, (int, Tensor) p, Union(int, str) u, t x, Any y, Storage s) -> t",
    "f(Tensor x, ...) -> ...",
    "f(Tensor args, ...) -> Tensor",
    "f(...) -> (Tensor, ...)",
    "f(Tensor x) -> (Tensor values, SymInt n)",
    "f(Tensor x) -> Tensor?",
    "f((str, t)[] x) -> ((str, t)[])",
    "f(str[] a, bool[3] mask, Tensor?[] ts, Tensor[][] deep) -> (Tensor)",
    "f(__torch__.torch.classes.ns.C x, Stream s, QScheme q, Future(Tensor) w) -> SymBool",
)


def stub_of(schemas: Iterable[Schema]) -> str:
    """The text of a stub with these schemas."""
    return module(gather(map(Operator, schemas)))


def schemas_of(stubs: Iterable[Stub]) -> dict[str, Schema]:
    """The schemas of a stub by name; the call of each packet says the same as its overloads."""
    found: dict[str, Schema] = {}
    for stub in stubs:
        assert stub.calls == tuple(replace(each, overload="") for each in stub.overloads)
        found |= {each.qualname: each for each in stub.overloads}
    return found


@pytest.mark.parametrize("text", SCHEMAS)
def test_a_stub_means_its_schema(text: str) -> None:
    schema = parse(f"ns::{text}")
    assert schemas_of(read(stub_of([schema]))) == {"ns::f": schema}


def test_overloads_and_namespaces_are_told_apart() -> None:
    names = (
        "a::b_c",
        "a_b::c",
        "a_b::c.d",
        "a::b.c_d",
        "a::b.from",
        "a::b.from_",
        "a::lambda",
        "a::b",
    )
    names += ("a::b.Tensor", "a::b.int", "a::b.str", "a::str", "a::int")
    schemas = {name: parse(f"{name}(int x, str y, Tensor z) -> int") for name in names}
    assert schemas_of(read(stub_of(schemas.values()))) == schemas


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(Tensor(a!) x) -> ()", "f(Tensor x) -> ()"),
        ("f(int[2] x) -> ()", "f(int[] x) -> ()"),
        ("f(int x=1) -> ()", "f(int x=2) -> ()"),
        ("f(*, int x) -> ()", "f(int x) -> ()"),
        ("f(SymInt x) -> ()", "f(int x) -> ()"),
        ("f() -> (Tensor y)", "f() -> Tensor"),
    ],
)
def test_what_differs_is_read_as_different(one: str, other: str) -> None:
    stubs = [stub_of([parse(f"ns::{text}")]) for text in (one, other)]
    first, second = [schemas_of(read(stub)) for stub in stubs]
    assert first != second


def test_docstrings_are_not_what_is_read() -> None:
    schema = parse("ns::f(Tensor(a!) x, int n) -> ()")
    lying = stub_of([schema]).replace('"""ns::f(Tensor(a!) x, int n) -> ()"""', '"""No."""')
    assert "No." in lying
    assert schemas_of(read(lying)) == {"ns::f": schema}


@pytest.mark.torch
def test_every_operator_of_torch_is_read_back() -> None:
    pytest.importorskip("torch")
    from opwright.ops.registered import registered

    found = list(registered())
    schemas = {op.schema.qualname: op.schema for op in found if isinstance(op, Operator)}
    assert len(schemas) > 4000
    # The one that is refused has two arguments called `posinf`; no call could tell them apart.
    # Parts of torch that another test imported bring operators on opaque types, as `PyObject`.
    unread = {op.name for op in found if isinstance(op, Unread)}
    assert unread <= {"static_runtime::clamp_nan_to_num", "_dtensor::mesh_get_process_group"}
    assert len(schemas) + len(unread) == len(found)
    # Reading all takes half a minute: day by day it is every eighth packet.
    names = {*sorted({each.name for each in schemas.values()})[:: 1 if NIGHTLY else 8]}
    chosen = {key: each for key, each in schemas.items() if each.name in names}
    assert len(chosen) > 400
    assert schemas_of(read(stub_of(chosen.values()))) == chosen
