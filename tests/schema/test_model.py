"""The values: what they print, when two are equal, and the rules that none can break."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest
from hypothesis import given, settings

import strategies
from opwright.findings import SchemaError
from opwright.schema.kinds import aliases, depth, nodes, plain, rebuilt
from opwright.schema.letters import lettered
from opwright.schema.literal import literal
from opwright.schema.model import (
    DEPTH,
    REQUIRED,
    Alias,
    Apply,
    Argument,
    Base,
    List,
    Maybe,
    Return,
    Schema,
    Symbol,
    Type,
)
from opwright.schema.parse import parse

TENSOR, INT = Base("Tensor"), Base("int")


def x(
    kind: Type = INT, default: object = REQUIRED, name: str = "x", kw_only: bool = False
) -> Argument:
    return Argument(name, kind, default, kw_only)  # type: ignore[arg-type]


def nested(levels: int) -> Type:
    kind: Type = INT
    for _ in range(levels - 1):
        kind = List(kind)
    return kind


BROKEN = [
    # What is constructed, and everything that is wrong with it.
    (("1f",), ["OW004 '1f' is no name of an operator"]),
    (("a::b::c",), ["OW004 'a::b::c' is no name of an operator"]),
    (("ns::class",), ["OW004 'ns::class' is no name of an operator"]),
    (("f", "a b"), ["OW004 'a b' is no name of an overload"]),
    (("f", "default"), ["OW004 torch keeps the overload name 'default' for itself"]),
    (("f", "", (x(name="é"),)), ["OW004 torch does not read 'é' as a name"]),
    (("f", "", (), (Return(INT, "if"),)), ["OW004 torch does not read 'if' as a name"]),
    (("f", "", (x(), x())), ["OW008 two arguments have the name 'x'"]),
    (
        ("f", "", (x(default=1), x(name="y"))),
        ["OW009 'y' has no default but stands after 'x', which has one"],
    ),
    (
        ("f", "", (x(kw_only=True), x(name="y"))),
        ["OW010 positional 'y' stands after keyword-only 'x'"],
    ),
    (
        ("f", "", (x(default=1),), (), True),
        ["OW011 'x' has a default in a schema with `...`"],
    ),
    (("f", "", (x(Base("Foo", None)),)), ["OW003 torch has no type 'Foo'"]),
    (("f", "", (x(Base("a b")),)), ["OW003 torch has no type 'a b'"]),
    (("f", "", (x(Apply("Foo", (INT,))),)), ["OW003 torch has no type 'Foo'"]),
    (("f", "", (x(List(List(INT, 2))),)), ["OW003 the size of int[2] stands inside another type"]),
    (("f", "", (x(nested(DEPTH + 1)),)), ["OW005 more than 50 types stand inside each other"]),
    (("f", "", (), (Return(nested(9000)),)), ["OW005 more than 50 types stand inside each other"]),
    (("f", "", (x(default=(1,)),)), ["OW006 x: int cannot hold [1]"]),
    (
        ("f", "", (x(Base("str"), "\ud800"),)),
        ["OW007 x: the text holds half a character (a lone surrogate)"],
    ),
    (
        ("f", "", (x(Base("complex"), 1 + 2j),)),
        ["OW007 x: torch reads no complex default with a real part"],
    ),
    (
        ("f", "", (x(Base("float"), float("nan")),)),
        ["OW007 x: a schema cannot hold nan: torch fails to read it back"],
    ),
    (("f", "", (x(List(INT), (1, 2**63)),)), ["OW007 x: 9223372036854775808 does not fit 64 bits"]),
    (
        ("f", "", (x(Base("Tensor", Alias())),)),
        ["OW012 `Tensor`: such an alias annotation cannot be written"],
    ),
    (
        ("f", "", (x(Base("Tensor", Alias(("a",), after=()))),)),
        ["OW012 `Tensor(a -> )`: such an alias annotation cannot be written"],
    ),
    (
        ("f", "", (x(Apply("", (INT,), Alias(("a",)))),)),
        ["OW012 `(int)(a)`: such an alias annotation cannot be written"],
    ),
    (
        ("1f", "", (x(default=True), x(default=1.5), x(Base("Foo")))),
        [
            "OW004 '1f' is no name of an operator",
            "OW009 'x' has no default but stands after 'x', which has one",
            "OW008 two arguments have the name 'x'",
            "OW008 two arguments have the name 'x'",
            "OW006 x: int cannot hold True",
            "OW006 x: int cannot hold 1.5",
            "OW003 torch has no type 'Foo'",
        ],
    ),
]


@pytest.mark.parametrize(("parts", "expected"), BROKEN, ids=[row[1][0] for row in BROKEN])
def test_a_schema_that_breaks_a_rule_is_not_made(
    parts: tuple[object, ...], expected: list[str]
) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema(*parts)  # type: ignore[arg-type]
    assert [f"{f.code} {f.message}" for f in caught.value.findings] == expected


def test_the_deepest_type_can_be_printed_walked_hashed_copied_and_read() -> None:
    schema = Schema("f", "", (x(nested(DEPTH)),), (Return(nested(DEPTH)),))
    kind = schema.arguments[0].type
    assert depth(kind) == DEPTH == len([*nodes(kind)])
    assert parse(str(schema)) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema == copy.deepcopy(schema)
    assert hash(schema) == hash(parse(str(schema)))
    assert plain(kind) == rebuilt(kind, lambda node: node) == kind
    assert repr(schema)


UNEQUAL = [
    (x(Base("bool"), True), x(Base("bool"), 1)),
    (x(Base("Scalar"), 1), x(Base("Scalar"), 1.0)),
    (x(Base("float"), 0.0), x(Base("float"), -0.0)),
    (x(), x(kw_only=True)),
    (x(INT, None), x(INT)),
    (x(Base("str"), "a"), x(Base("str"), Symbol("a"))),
]


@pytest.mark.parametrize(("one", "other"), UNEQUAL, ids=str)
def test_arguments_that_are_written_otherwise_are_not_equal(one: Argument, other: Argument) -> None:
    assert one != other
    assert len({one, other, replace(one)}) == 2
    assert one != str(one)


def test_sound_parts_make_the_same_schema() -> None:
    made = parse("ns::f.o(Tensor(a!) x, int n=3) -> Tensor(a!)")
    again = Schema.of_sound(made.name, made.overload, made.arguments, made.returns)
    assert again == made
    assert str(again) == str(made)
    assert hash(again) == hash(made)


def test_required_is_a_name_of_its_own() -> None:
    assert repr(REQUIRED) == "REQUIRED"
    assert pickle.loads(pickle.dumps(x())).default is REQUIRED
    assert x().required
    assert not x(default=None).required


def test_an_error_can_be_pickled() -> None:
    with pytest.raises(SchemaError) as caught:
        parse("f(Foo x) -> ()")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.findings == caught.value.findings
    assert str(again) == str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (-3, "-3"),
        (1e22, "1e+22"),
        (0.1, "0.1"),
        (1j, "1.0j"),
        (-2j, "-2.0j"),
        ('a"\\\n\t\x00é\x7f', '"a\\"\\\\\\n\\t\\000é\\177"'),
        ((), "[]"),
        ((1, Symbol("Mean")), "[1, Mean]"),
    ],
    ids=repr,
)
def test_a_default_is_written(value: object, text: str) -> None:
    assert literal(value) == text  # type: ignore[arg-type]


def test_more_sets_than_letters() -> None:
    kinds = [Base("Tensor", Alias((f"s{n}",))) for n in range(30)]
    found = [str(kind) for kind in lettered(kinds)]
    assert found[0] == "Tensor(a)"
    assert found[25:28] == ["Tensor(z)", "Tensor(a1)", "Tensor(b1)"]
    assert lettered(lettered(kinds)) == lettered(kinds)


@settings(max_examples=strategies.examples(200, 10_000), deadline=None)
@given(strategies.schemas())
def test_other_letters_make_the_same_schema(schema: Schema) -> None:
    new = {letter: f"z{ord(letter) * 7 % 31}_" for letter in "abcdefghijklmnop"}

    def rename(node: Type) -> Type:
        if isinstance(node, Maybe) or node.alias is None:
            return node
        before = tuple(new.get(name, name) for name in node.alias.before)
        after = tuple(new.get(name, name) for name in node.alias.after or ())
        return replace(node, alias=Alias(before, node.alias.writes, after))

    arguments = tuple(replace(a, type=rebuilt(a.type, rename)) for a in schema.arguments)
    returns = tuple(replace(r, type=rebuilt(r.type, rename)) for r in schema.returns)
    assert replace(schema, arguments=arguments, returns=returns) == schema
    assert all(
        alias.names for a in schema.arguments for alias in aliases(a.type) if str(alias) != "!"
    )
