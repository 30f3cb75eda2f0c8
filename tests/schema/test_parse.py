"""What a text is read as, and every fault of a text with its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import strategies
from opwright.findings import SchemaError
from opwright.schema.model import REQUIRED, Alias, Argument, Base, List, Maybe, Schema, Symbol
from opwright.schema.parse import canonical, parse

CANONICAL = [
    # What is written, and the canonical spelling of it.
    ("f()->()", "f() -> ()"),
    ("  f ( )  ->  ( ) ", "f() -> ()"),
    ("\nf(int x, # the number\n  int y\n) -> ()\n", "f(int x, int y) -> ()"),
    ("f(int x) \\\n -> int", "f(int x) -> int"),
    ("ns::f.out(int x) -> (int)", "ns::f.out(int x) -> int"),
    ("ns : : f(int x) -> int y", "ns::f(int x) -> int y"),
    ("f(Tensor(z!) x) -> Tensor(z!)", "f(Tensor(a!) x) -> Tensor(a!)"),
    ("f(Tensor(b|q! -> c|*) x, Tensor(q) y) -> ()", "f(Tensor(a|b! -> c|*) x, Tensor(a) y) -> ()"),
    ("f(Tensor(q -> r|q) x) -> ()", "f(Tensor(a -> a|b) x) -> ()"),
    ("f(Tensor(*) x) -> Tensor(* -> *)", "f(Tensor(*) x) -> Tensor(*)"),
    ("f(Tensor(x|*) y) -> ()", "f(Tensor(a|*) y) -> ()"),
    ("f(Tensor! x) -> ()", "f(Tensor! x) -> ()"),
    ("f(Tensor(a!)[] x, Tensor[](b) y, Tensor(c!)?[] z) -> ()",) * 2,
    ("f(Tensor(a!)[2](b)? x) -> ()",) * 2,
    ("f(int[2] x=1) -> ()", "f(int[2] x=[1, 1]) -> ()"),
    ("f(int[0] x=1) -> ()", "f(int[0] x=[]) -> ()"),
    ("f(bool[2] x=True) -> ()", "f(bool[2] x=[True, True]) -> ()"),
    ("f(int[][2] x, int?? y) -> ()", "f(int[][2] x, int? y) -> ()"),
    (
        "f(float x=1, float[] y=[1,.5,1e-6]) -> ()",
        "f(float x=1.0, float[] y=[1.0, 0.5, 1e-06]) -> ()",
    ),
    ("f(float x=- 1, float? y=1) -> ()", "f(float x=-1.0, float? y=1) -> ()"),
    ("f(float x=-0.0) -> ()",) * 2,
    ("f(float x=0.10000000000000001) -> ()", "f(float x=0.1) -> ()"),
    ("f(int x=007) -> ()", "f(int x=7) -> ()"),
    ("f(int x=Mean) -> ()",) * 2,
    (
        "f(Scalar x=1, Scalar y=1., Scalar z=1e3) -> ()",
        "f(Scalar x=1, Scalar y=1.0, Scalar z=1000.0) -> ()",
    ),
    ("f(complex x=1j, complex y=-2.5j) -> ()", "f(complex x=1.0j, complex y=-2.5j) -> ()"),
    ('f(str x=\'a"b\', str y="\\101\\n") -> ()', 'f(str x="a\\"b", str y="A\\n") -> ()'),
    ("f(str x='''a\nb''') -> ()", 'f(str x="a\\nb") -> ()'),
    ("f(str x='\\303\\251\r') -> ()", 'f(str x="é\\015") -> ()'),
    ('f(Device x="cpu", Device? y="cuda:0") -> ()',) * 2,
    (
        "f(ScalarType x=long, ScalarType? y=6) -> ()",
        "f(ScalarType x=int64, ScalarType? y=float32) -> ()",
    ),
    ("f(ScalarType[] x=[half,1]) -> ()", "f(ScalarType[] x=[float16, int8]) -> ()"),
    (
        "f(MemoryFormat x=0, Layout y=0) -> ()",
        "f(MemoryFormat x=contiguous_format, Layout y=strided) -> ()",
    ),
    ("f(Layout x=2, ScalarType y=99) -> ()", "f(Layout x=2, ScalarType y=99) -> ()"),
    ("f(None x, NoneType y) -> ()", "f(NoneType x, NoneType y) -> ()"),
    ("f(Tensor x=None) -> ()",) * 2,
    ("f(*, int x, *, int y) -> ()", "f(*, int x, int y) -> ()"),
    ("f(int x, *) -> ()", "f(int x) -> ()"),
    ("f(int x=1, *, int y) -> ()",) * 2,
    ("f(int x, ...) -> ...",) * 2,
    ("f(...) -> (...)", "f(...) -> ..."),
    ("f() -> (int, ...)",) * 2,
    ("f() -> ((int, str))",) * 2,
    ("f((int, str)? x, () y) -> ((int) z)",) * 2,
    ("f(Dict(str, int[])(a) x, Union(int, str)? y, Future(Tensor) z) -> ()",) * 2,
    ("f(__torch__.torch.classes.a.B x, my.mod.Cls y, t z) -> ()",) * 2,
    ("f(Union(Union(int, str), float?) x, Union(int?, NoneType) y) -> ()",) * 2,
    ("f(int self, int from, int lambda, int async) -> ()",) * 2,
]


@pytest.mark.parametrize(("text", "expected"), CANONICAL, ids=lambda text: repr(text)[:60])
def test_the_canonical_spelling(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected
    assert parse(expected) == parse(text)


def test_a_text_is_read_as_these_values() -> None:
    text = "ns::f.o(Tensor(b!)? x, *, SymInt[2] k=[1, 2], ScalarType d=half) -> (Tensor(b!) y)"
    schema = parse(text, file="ops.py")
    assert (schema.namespace, schema.overload, schema.qualname) == ("ns", "o", "ns::f.o")
    assert schema.arguments == (
        Argument("x", Maybe(Base("Tensor", Alias(("a",), writes=True))), REQUIRED),
        Argument("k", List(Base("SymInt"), 2), (1, 2), kw_only=True),
        Argument("d", Base("ScalarType"), Symbol("float16"), kw_only=True),
    )
    assert (schema.returns[0].name, str(schema.returns[0].type)) == ("y", "Tensor(a!)")
    assert schema.mutable
    assert not parse("f(Tensor(a) x) -> Tensor(a)").mutable


def test_a_name_can_stand_beside_the_text() -> None:
    assert str(parse("(Tensor x) -> ()", name="ns::f.o")) == "ns::f.o(Tensor x) -> ()"
    assert str(parse("g() -> ()", name="ns::f")) == "g() -> ()"


FAULTS = [
    # A text and every fault of it: column, code, sentence.
    ("", [(1, "OW002", "expected the name of an operator but the text ends")]),
    ("f", [(2, "OW002", "expected `(` but the text ends")]),
    ("f(", [(3, "OW002", "expected a type but the text ends")]),
    ("f()", [(4, "OW002", "expected `->` but the text ends")]),
    ("f() ->", [(7, "OW002", "expected a type but the text ends")]),
    ("f() -> int int int", [(16, "OW002", "expected nothing after the returns but found `int`")]),
    ("f(x) -> ()", [(4, "OW002", "expected the name of the argument but found `)`")]),
    ("f(int x,) -> ()", [(9, "OW002", "expected a type but found `)`")]),
    ("f(int x y) -> ()", [(9, "OW002", "expected `,` or `)` but found `y`")]),
    (
        "f(int[ x) -> ()",
        [
            (8, "OW002", "expected `]` or a size but found `x`"),
            (16, "OW002", "expected `)` but the text ends"),
        ],
    ),
    ("f(int[1.5] x) -> ()", [(7, "OW002", "this is no size of a list")]),
    (
        "f(int[2 x) -> ()",
        [
            (9, "OW002", "expected `]` but found `x`"),
            (17, "OW002", "expected `)` but the text ends"),
        ],
    ),
    ("f(Tensor?(a!) x) -> ()", [(10, "OW002", "expected the name of the argument but found `(`")]),
    (
        "f(Tensor(a x) -> ()",
        [
            (12, "OW002", "expected `)` but found `x`"),
            (20, "OW002", "expected `)` but the text ends"),
        ],
    ),
    ("f(Tensor(!) x) -> ()", [(10, "OW002", "expected the name of an alias set but found `!`")]),
    (
        "f(Dict(int x) -> ()",
        [
            (12, "OW002", "expected `,` or `)` but found `x`"),
            (20, "OW002", "expected `)` but the text ends"),
        ],
    ),
    (
        "f(int[] x=[1) -> ()",
        [
            (13, "OW002", "expected `,` or `]` but found `)`"),
            (20, "OW002", "expected `)` but the text ends"),
        ],
    ),
    (
        "f(int x=, int y=-a) -> ()",
        [
            (9, "OW002", "expected a default value but found `,`"),
            (18, "OW002", "expected a number but found `a`"),
        ],
    ),
    ("f(int x=class) -> ()", [(9, "OW002", "expected a default value but found `class`")]),
    (
        "f(..., int x) -> (..., int)",
        [(8, "OW002", "nothing may follow `...`"), (24, "OW002", "nothing may follow `...`")],
    ),
    ("f:g() -> ()", [(3, "OW002", "expected `:` but found `g`")]),
    ("f.g.h() -> ()", [(4, "OW002", "expected `(` but found `.`")]),
    ("f(int x)\n-> ()", [(1, "OW002", "a line may not break outside the brackets")]),
    ("f(int x; int y) -> ()", [(8, "OW001", "`;` is unreadable here")]),
    ("é::f() -> ()", [(1, "OW001", "`é` is unreadable here")]),
    ("f(int x\x00) -> ()", [(8, "OW001", "'\\x00' is unreadable here")]),
    ('f(str x="a) -> ()', [(9, "OW001", "this text in quotes is not closed")]),
    (
        "f(Tensr x, Int y, SymFloat z) -> Foo",
        [
            (3, "OW003", "torch has no type 'Tensr'"),
            (12, "OW003", "torch has no type 'Int'"),
            (19, "OW003", "torch has no type 'SymFloat'"),
            (34, "OW003", "torch has no type 'Foo'"),
        ],
    ),
    ("f(Union(int, SymInt) x) -> ()", [(3, "OW003", "these types of a Union are one to torch")]),
    ("f(Union(int, Any) x) -> ()", [(3, "OW003", "these types of a Union are one to torch")]),
    ("f(Future(int, int) x) -> ()", [(3, "OW003", "Future takes one type, not 2")]),
    ("f(Dict(int[], int) x) -> ()", [(3, "OW003", "a Dict has no keys of type int[]")]),
    ("f(NoneType? x) -> ()", [(3, "OW003", "NoneType? says None twice")]),
    ("f(Scalar.x y) -> ()", [(3, "OW003", "torch has no type 'Scalar.x'")]),
    ("class() -> ()", [(1, "OW004", "torch does not read 'class' as a name")]),
    ("f.default() -> ()", [(1, "OW004", "torch keeps the overload name 'default' for itself")]),
    ("f.__x() -> ()", [(1, "OW004", "torch keeps the overload name '__x' for itself")]),
    (
        "f(int if) -> int in",
        [
            (7, "OW004", "torch does not read 'if' as a name"),
            (18, "OW004", "torch does not read 'in' as a name"),
        ],
    ),
    (
        "f(int x=1.5, bool y=1, str z=True) -> ()",
        [
            (9, "OW006", "x: int cannot hold 1.5"),
            (21, "OW006", "y: bool cannot hold 1"),
            (30, "OW006", "z: str cannot hold True"),
        ],
    ),
    ("f(int x=None) -> ()", [(9, "OW006", "x: int cannot hold None")]),
    ("f(QScheme x=1) -> ()", [(13, "OW006", "x: QScheme cannot hold 1")]),
    (
        "f(int[] x=None, int[] y=1) -> ()",
        [(11, "OW006", "x: int[] cannot hold None"), (25, "OW006", "y: int[] cannot hold 1")],
    ),
    ('f(str[] x=["a"]) -> ()', [(11, "OW006", "x: torch reads no default for str[]")]),
    ("f(int[]? x=[1]) -> ()", [(12, "OW006", "x: torch reads no default for int[]? but None")]),
    (
        "f(float x=1e999, float y=5e-324, float z=1e-400) -> ()",
        [
            (11, "OW007", "x: a schema cannot hold inf: torch fails to read it back"),
            (26, "OW007", "y: a schema cannot hold 5e-324: torch fails to read it back"),
            (42, "OW007", "the number is too small for torch to read it back"),
        ],
    ),
    (
        "f(int x=9223372036854775808) -> ()",
        [(9, "OW007", "x: 9223372036854775808 does not fit 64 bits")],
    ),
    (f"f(int x={'9' * 401}) -> ()", [(9, "OW007", "a number of 401 digits does not fit 64 bits")]),
    (f"f(int x={'9' * 200}) -> ()", [(9, "OW007", "x: a number of 665 bits does not fit 64 bits")]),
    ("f(int x=1E5) -> ()", [(9, "OW007", "torch reads only the digits before the E of 1E5")]),
    (
        r'f(str x="\x41", str y="\400") -> ()',
        [
            (9, "OW007", "torch does not read the escape '\\\\x'"),
            (23, "OW007", "torch does not read the escape '\\\\4'"),
        ],
    ),
    (r'f(str x="\351") -> ()', [(9, "OW007", "the octal escapes are no UTF-8")]),
    (
        "f(str x='\udc80', str y='\\n\udc80') -> ()",
        [
            (9, "OW007", "x: the text holds half a character (a lone surrogate)"),
            (20, "OW007", "the text holds half a character (a lone surrogate)"),
        ],
    ),
    (
        "f(int[2] x=Mean) -> ()",
        [(12, "OW007", "torch reads no bare word as the default of a list")],
    ),
    ("f(int[5000] x=1) -> ()", [(15, "OW007", "torch would repeat the default 5000 times")]),
    ("f(int x, int x) -> ()", [(14, "OW008", "two arguments have the name 'x'")]),
    (
        "f(int x=1, int y) -> ()",
        [(16, "OW009", "'y' has no default but stands after 'x', which has one")],
    ),
    ("f(int x=1, ...) -> ()", [(9, "OW011", "'x' has a default in a schema with `...`")]),
]


@pytest.mark.parametrize(("text", "expected"), FAULTS, ids=lambda text: repr(text)[:60])
def test_every_fault_is_told_at_its_place(text: str, expected: list[tuple[int, str, str]]) -> None:
    with pytest.raises(SchemaError) as caught:
        parse(text)
    found = caught.value.findings
    assert [(f.span.column, f.code, f.message) for f in found] == expected
    assert {f.span.line for f in found} <= {1, 2}
    assert all(f.span.end_column >= f.span.column for f in found)


def test_a_fault_is_shown_with_its_file_a_caret_and_a_remedy() -> None:
    with pytest.raises(SchemaError) as caught:
        parse("f(\n  Tensor x,\n  Tensr y) -> ()", file="ops.yaml")
    assert str(caught.value) == (
        "ops.yaml:3:3: OW003 torch has no type 'Tensr'\n"
        "    Tensr y) -> ()\n"
        "    ^\n"
        "  hint: write `Tensor`"
    )


def test_a_long_line_is_shown_in_part() -> None:
    with pytest.raises(SchemaError) as caught:
        parse(f"f({''.join(f'int x{n}, ' for n in range(99))}Tensr y{', int z' * 99}\t) -> ()")
    shown = str(caught.value).splitlines()
    assert max(map(len, shown)) < 120
    caret = next(n for n, line in enumerate(shown) if line.strip() == "^")
    assert shown[caret - 1][shown[caret].index("^") :].startswith("Tensr y, int z, ")
    last = [n for n, line in enumerate(shown) if line.strip() == "^"][-1]
    assert shown[last - 1].startswith("  ...")


def test_not_more_than_twenty_faults_are_told() -> None:
    with pytest.raises(SchemaError) as caught:
        parse(f"f({', '.join('Tensr x' for _ in range(50))}) -> ()")
    found = caught.value.findings
    assert len(found) == 21
    assert (found[-1].code, found[-1].message) == (
        "OW013",
        "more than 20 faults; the rest is not shown",
    )


@settings(max_examples=strategies.examples(200, 20_000), deadline=None)
@given(strategies.schemas())
def test_what_is_printed_is_read_back(schema: Schema) -> None:
    text = str(schema)
    assert parse(text) == schema
    assert canonical(text) == text
