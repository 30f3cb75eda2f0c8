"""torch reads what we read, and reads our print into the schema that it reads from the original."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, example, given, settings

import strategies
from opwright.findings import SchemaError
from opwright.schema.fit import DTYPES
from opwright.schema.kinds import nodes
from opwright.schema.model import Base, Schema
from opwright.schema.parse import parse

torch = pytest.importorskip("torch")
from schema.torch_reading import fields, read, registered_texts, yaml_texts  # noqa: E402

pytestmark = pytest.mark.torch

UNREAD = {
    "static_runtime::clamp_nan_to_num(Tensor input, Scalar? min, Scalar? max, float? nan, "
    "float? posinf, float? posinf) -> Tensor": "two arguments are called posinf: a slip in torch",
}
"""Registered schemas that we refuse, and why."""


@pytest.mark.parametrize(
    ("texts", "least"), [(yaml_texts, 2584), (registered_texts, 4374)], ids=["yaml", "registered"]
)
def test_every_schema_of_torch_is_read_printed_and_read_back(texts: object, least: int) -> None:
    assert callable(texts)
    found = texts()
    refused = []
    for text in found:
        try:
            schema = parse(text)
        except SchemaError:
            refused.append(text)
            continue
        printed = str(schema)
        assert parse(printed) == schema
        assert str(parse(printed)) == printed
        assert fields(torch._C.parse_schema(printed)) == fields(torch._C.parse_schema(text)), text
    assert len(found) >= least
    assert refused == [text for text in UNREAD if text in found]


def test_the_list_of_exceptions_is_needed() -> None:
    for text in UNREAD:
        assert read(text) is not None
        with pytest.raises(SchemaError, match="OW008"):
            parse(text)


DIFFERENT = [
    ("f(Tensor(a!) x) -> ()", "f(Tensor x) -> ()"),
    ("f(Tensor(a!) x) -> ()", "f(Tensor(a) x) -> ()"),
    ("f(Tensor(a) x) -> Tensor(a)", "f(Tensor(a) x) -> Tensor(b)"),
    ("f(Tensor(a) x) -> Tensor(a)", "f(Tensor(a) x) -> Tensor(*)"),
    ("f(Tensor(a -> *) x) -> ()", "f(Tensor(a) x) -> ()"),
    ("f(int[2] x) -> ()", "f(int[] x) -> ()"),
    ("f(int[2] x) -> ()", "f(int[3] x) -> ()"),
    ("f(int x=1) -> ()", "f(int x=2) -> ()"),
    ("f(int x=1) -> ()", "f(int x) -> ()"),
    ("f(float x=0.0) -> ()", "f(float x=-0.0) -> ()"),
    ("f(Scalar x=1) -> ()", "f(Scalar x=1.0) -> ()"),
    ("f(Scalar x=1) -> ()", "f(Scalar x=True) -> ()"),
    ("f(int x) -> ()", "f(*, int x) -> ()"),
    ("f(int x) -> ()", "f(SymInt x) -> ()"),
    ("f(Layout x) -> ()", "f(MemoryFormat x) -> ()"),
    ("f(int x) -> ()", "f(int y) -> ()"),
    ("f(int x) -> ()", "g(int x) -> ()"),
    ("f(int x) -> ()", "f.a(int x) -> ()"),
    ("f(int x) -> ()", "f(int x, ...) -> ()"),
    ("f() -> int", "f() -> (int, int)"),
    ("f() -> int", "f() -> int x"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda text: text)
def test_the_oracle_sees_a_difference_and_so_do_we(one: str, other: str) -> None:
    assert fields(torch._C.parse_schema(one)) != fields(torch._C.parse_schema(other))
    assert parse(one) != parse(other)


def test_the_dtypes_are_torchs() -> None:
    for number, name in enumerate(DTYPES):
        text = f"f(ScalarType x={name}) -> ()"
        assert torch._C.parse_schema(text).arguments[0].default_value == number
        assert isinstance(getattr(torch, name), torch.dtype) or name.startswith("bits")
    with pytest.raises(RuntimeError):
        torch._C.parse_schema("f(ScalarType x=float31) -> ()")


@settings(max_examples=strategies.examples(300, 20_000), deadline=None)
@given(strategies.schemas())
def test_torch_reads_the_print_of_any_schema(schema: Schema) -> None:
    text = str(schema)
    assert parse(text) == schema
    assert len(torch._C.parse_schema(text).arguments) == len(schema.arguments)


# Accept and refuse as torch does ---------------------------------------------------------------

REFUSED = [
    # A text that torch reads and we refuse, the code, the reason.
    ("f(int x, int x) -> ()", "OW008", "one of the two can never be given by name"),
    ("f(int x=None) -> ()", "OW006", "torch never checks a default against its type"),
    ('f(int x="a") -> ()', "OW006", "torch never checks a default against its type"),
    ("f(int x=1.5) -> ()", "OW006", "torch never checks a default against its type"),
    ("f(int x=long) -> ()", "OW006", "a word of another type"),
    ("f(bool x=1) -> ()", "OW006", "torch never checks a default against its type"),
    ("f(str x=Mean) -> ()", "OW006", "a word of another type"),
    ("f(complex x=2.0) -> ()", "OW006", "torch drops the last character and reads 2j"),
    ('f(ScalarType x="float32") -> ()', "OW006", "torch keeps the text and fails at the call"),
    ('f(Device? x="no device") -> ()', "OW006", "torch keeps the text and fails at the call"),
    ('f(Device x="cuda:1000") -> ()', "OW006", "torch wraps the index"),
    ("f(int[]? x=3) -> ()", "OW006", "torch keeps a number where a list is meant"),
    ("f(Tensor? x=3) -> ()", "OW006", "torch never checks a default against its type"),
    ("f(complex x=1e999) -> ()", "OW007", "torch drops the last character and reads 1e99j"),
    ("f(int x=1E5) -> ()", "OW007", "torch reads 1"),
    ("f(int x=0x10) -> ()", "OW002", "torch reads 0"),
    ("f(int[0x2] x) -> ()", "OW002", "torch reads a size of 0"),
    ("f(int[1e5] x) -> ()", "OW002", "torch reads a size of 1"),
    ("f(int[3000000000] x) -> ()", "OW002", "torch wraps the size"),
    ("f(int[2000] x=1) -> ()", "OW007", "a default of a thousand numbers, from ten characters"),
    ("f(int x=1, int[] y) -> ()", "OW009", "Python cannot call it; torch reads it for old files"),
    ("f(Tensor(*|) x) -> ()", "OW002", "torch reads nothing after a wildcard, not even a name"),
    (f"f({'(' * 60}int{')' * 60} x) -> ()", "OW005", "torch crashes the process at 10,000"),
    ("f(int" + "[]" * 60 + " x) -> ()", "OW005", "torch crashes the process at 10,000"),
    ("f(str x='\udc80') -> ()", "OW007", "torch cannot be given half a character at all"),
]


@pytest.mark.parametrize(("text", "code", "reason"), REFUSED, ids=lambda part: repr(part)[:40])
def test_what_torch_reads_and_we_refuse(text: str, code: str, reason: str) -> None:
    assert reason
    assert read(text) is not None or "half a character" in reason
    with pytest.raises(SchemaError) as caught:
        parse(text)
    assert [finding.code for finding in caught.value.findings] == [code]


READ = [
    # A text that we read and torch refuses until something is registered with it.
    ("f(__torch__.torch.classes.mylib.Thing x) -> ()", "a class registered by C++"),
    ("f(MyModule.Thing x) -> ()", "an opaque type registered by Python"),
    ("f(_mylib.Thing x) -> ()", "an opaque type registered by Python"),
    ('f(Device x="mydevice:0") -> ()', "a backend that gave itself a name"),
]


@pytest.mark.parametrize(("text", "reason"), READ, ids=lambda part: part)
def test_what_we_read_and_torch_only_knows_later(text: str, reason: str) -> None:
    assert reason
    assert read(text) is None
    assert str(parse(text)) == text


_REGISTERED_LATER = re.compile(r"\A(?:__torch__|_\w*|[A-Z]\w*)\.|\A[a-z]", re.ASCII)


def _explained(text: str, ours: Schema | SchemaError, theirs: object) -> bool:
    """Whether a disagreement is one of the pinned kinds."""
    if isinstance(ours, Schema):
        return _needs_registering(ours)
    codes = {finding.code for finding in ours.findings}
    hexadecimal = re.search(r"0[xX]", text) is not None
    size = any("size of a list" in finding.message for finding in ours.findings)
    wildcard = re.search(r"\*\s*\|", text) is not None
    allowed = {"OW005", "OW006", "OW007", "OW008", "OW009"}
    if hexadecimal or size or wildcard:
        allowed |= {"OW001", "OW002", "OW003", "OW004"}
    return codes <= allowed


def _needs_registering(schema: Schema) -> bool:
    kinds = [part.type for part in (*schema.arguments, *schema.returns)]
    names = [n.name for kind in kinds for n in nodes(kind) if isinstance(n, Base) and "." in n.name]
    devices = [a for a in schema.arguments if a.type == Base("Device") and a.default is not None]
    return bool(devices) or any(not name[0].islower() for name in names)


WORDS = re.compile(r'\s+|[A-Za-z_]\w*|\d+\.?\d*(?:e-?\d+)?j?|"[^"]*"|->|\.\.\.|.', re.DOTALL)
CORPUS = [
    WORDS.findall(text)
    for text in (
        *(text for text in (*yaml_texts(), *registered_texts()) if len(text) < 160),
        *(text for text, *_ in DIFFERENT),
        *("f(Tensor!? x, Union(int, str) u, Dict(str, int[])(a) d) -> ((int, int))",) * 60,
        *("f((int, Tensor?[]) t, ScalarType s=float, float? r=1e-5, ...) -> ...",) * 60,
        *("f(complex c=1j, Scalar s=1., float[3] z=[1, 2.5, -3]) -> Future(Tensor)",) * 60,
        *("f(Tensor(a! -> b|*) x, Tensor[](a|b) y, int[2] k=3) -> (Tensor(a), int, ...)",) * 60,
        *("a.b(None x, MemoryFormat m=contiguous_format, Layout l=strided) -> bool y",) * 60,
        *("ns::f.out(Generator? g=None, *, str s='\\n\\101', ScalarType[] q=[half]) -> int[2]",)
        * 60,
    )
]

seen = {"accepted": 0, "refused": 0, "explained": 0}


@settings(
    max_examples=strategies.examples(2_000, 100_000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(strategies.mutations(CORPUS) | strategies.garbage)
@example("f(Tensor x, int n=3) -> (Tensor, int)")
@example("f(Tensor x, int n=3) ->")
@example("f(int x=0x10) -> ()")
def check_parity(text: str) -> None:
    theirs = read(text)
    try:
        ours: Schema | SchemaError = parse(text)
    except SchemaError as refusal:
        ours = refusal
    if isinstance(ours, Schema) and theirs is not None:
        seen["accepted"] += 1
        if not re.search(r"Scalar\s*\?\s*\?", text):  # torch makes a Union of one type of it
            assert fields(torch._C.parse_schema(str(ours))) == fields(theirs)
        assert parse(str(ours)) == ours
    elif isinstance(ours, SchemaError) and theirs is None:
        seen["refused"] += 1
    else:
        seen["explained"] += 1
        assert _explained(text, ours, theirs), f"only {'torch' if theirs else 'we'} read it"


def test_we_accept_and_refuse_what_torch_does() -> None:
    check_parity()
    assert seen["accepted"] > 50
    assert seen["refused"] > 50
    assert seen["explained"] > 0


@pytest.mark.parametrize(
    "text",
    ["f(int x) -> ()", "f(int x=0x10) -> ()", "f(int x;) -> ()"],
)
def test_the_explanations_do_not_cover_everything(text: str) -> None:
    agreed = parse("f(int x) -> ()")
    assert not _explained(text, agreed, None)
    with pytest.raises(SchemaError) as caught:
        parse("f(int x")
    assert not _explained("f(int x", caught.value, agreed)
