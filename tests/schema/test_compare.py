"""Each difference between a handwritten schema and the annotations is one finding."""

# ruff: noqa: E501 - a row of the table stands on one line

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import strategies
from opwright.findings import Severity
from opwright.schema.compare import compare
from opwright.schema.kinds import Alias, Base, Maybe, Type, aliases, rebuilt
from opwright.schema.model import REQUIRED, Argument, List, Return, Schema
from opwright.schema.parse import parse

AGREE = [
    ("f(Tensor(a!) x) -> Tensor(a!)", "f(Tensor(z!) x) -> Tensor(z!)"),
    ("f(Tensor! x) -> ()", "f(Tensor(a!) x) -> ()"),
    ("f(Tensor! x, Tensor! y) -> ()", "f(Tensor(a!) x, Tensor(b!) y) -> ()"),
    ("f(Tensor(a|b) x, Tensor(b) y) -> ()", "f(Tensor(c|d) x, Tensor(c) y) -> ()"),
    ("f(Tensor(a -> *) x) -> Tensor(*)", "f(Tensor(q -> *) x) -> Tensor(*)"),
    ("f(int[2] x=1) -> ()", "f(int[2] x=[1, 1]) -> ()"),
    ("f(int x=Mean) -> ()", "f(int x=1) -> ()"),
    ("f(int[2] x=[Mean, 2]) -> ()", "f(int[2] x=[1, 2]) -> ()"),
    ("f(float? x=1) -> ()", "f(float? x=1.0) -> ()"),
    ("f(ScalarType x=float) -> ()", "f(ScalarType x=float32) -> ()"),
    ("f(Tensor x) -> ()", "ns::f(Tensor x) -> ()"),
]


@pytest.mark.parametrize(("written", "inferred"), AGREE, ids=lambda text: text)
def test_they_agree(written: str, inferred: str) -> None:
    assert compare(parse(written), parse(inferred)) == []
    assert compare(parse(inferred), parse(written)) == []


DIFFER = [
    # Written by hand, meant by the annotations, every finding.
    ("f(int n) -> ()", "f(SymInt n) -> ()", ["OW202 'n' is `int` in the schema, `SymInt` by its annotation: compiled anew for each value"]),
    ("f(int[]? n) -> ()", "f(SymInt[]? n) -> ()", ["OW202 'n' is `int[]?` in the schema, `SymInt[]?` by its annotation: compiled anew for each value"]),
    ("f(SymInt n) -> ()", "f(int n) -> ()", ["OW201 'n' is `SymInt` in the schema, `int` by its annotation"]),
    ("f(float n) -> ()", "f(SymInt n) -> ()", ["OW201 'n' is `float` in the schema, `SymInt` by its annotation"]),
    ("f(Tensor x) -> ()", "f(Tensor? x) -> ()", ["OW201 'x' is `Tensor` in the schema, `Tensor?` by its annotation"]),
    ("f(SymInt[] x) -> ()", "f(SymInt[2] x) -> ()", ["OW201 'x' is `SymInt[]` in the schema, `SymInt[2]` by its annotation"]),
    ("f(Dict(str, int) x) -> ()", "f(Dict(str, SymInt) x) -> ()", ["OW202 'x' is `Dict(str, int)` in the schema, `Dict(str, SymInt)` by its annotation: compiled anew for each value"]),
    ("f(Tensor x) -> ()", "f(Tensor x, Tensor y) -> ()", ["OW203 the schema lacks `Tensor y`, which the function takes"]),
    ("f(Tensor x, Tensor y) -> ()", "f(Tensor y) -> ()", ["OW204 the schema has `Tensor x`, which the function does not take"]),
    ("f(Tensor x, *, int a) -> ()", "f(Tensor x, *, int b) -> ()", ["OW203 the schema lacks `int b`, which the function takes", "OW204 the schema has `int a`, which the function does not take"]),
    ("f(Tensor x, Tensor y) -> ()", "f(Tensor y, Tensor x) -> ()", ["OW205 the schema passes x, y, the function takes y, x"]),
    ("f(Tensor x, Tensor y, *, Tensor z) -> ()", "f(Tensor x, Tensor z, Tensor y) -> ()", ["OW205 the schema passes x, y, the function takes x, z, y", "OW213 'z' is keyword-only in the schema, positional in the function"]),
    ("f(int x=1) -> ()", "f(int x=2) -> ()", ["OW206 the default of 'x' is 1 in the schema, 2 in the function"]),
    ("f(Scalar x=1) -> ()", "f(Scalar x=1.0) -> ()", ["OW206 the default of 'x' is 1 in the schema, 1.0 in the function"]),
    ("f(Scalar x=True) -> ()", "f(Scalar x=1) -> ()", ["OW206 the default of 'x' is True in the schema, 1 in the function"]),
    ("f(float x=0.0) -> ()", "f(float x=-0.0) -> ()", ["OW206 the default of 'x' is 0.0 in the schema, -0.0 in the function"]),
    ("f(int[] x=[1, 2]) -> ()", "f(int[] x=[1]) -> ()", ["OW206 the default of 'x' is [1, 2] in the schema, [1] in the function"]),
    ('f(str? x=None) -> ()', 'f(str? x="a") -> ()', ["OW206 the default of 'x' is None in the schema, \"a\" in the function"]),
    ("f(int x) -> ()", "f(int x=2) -> ()", ["OW207 'x' must be given by the schema, the function has 2"]),
    ("f(int x=2) -> ()", "f(int x) -> ()", ["OW208 'x' is 2 by default in the schema, required in the function"]),
    ("f(Tensor x) -> ()", "f(Tensor(a!) x) -> ()", ["OW209 the schema does not say that 'x' is written: `Tensor` in the schema, `Tensor(a!)` by its annotation"]),
    ("f(Tensor(a!) x) -> ()", "f(Tensor x) -> ()", ["OW210 only the schema says that 'x' is written: `Tensor(a!)` in the schema, `Tensor` by its annotation"]),
    ("f(Tensor(a) x) -> Tensor(a)", "f(Tensor x) -> Tensor", ["OW211 return 1 shares memory with 'x' in the schema, with nothing by the annotations"]),
    ("f(Tensor(a) x, Tensor(b) y) -> Tensor(b)", "f(Tensor(a) x, Tensor(b) y) -> Tensor(a)", ["OW211 return 1 shares memory with 'y' in the schema, with 'x' by the annotations"]),
    ("f(Tensor(a!)[] x) -> ()", "f(Tensor[](a!) x) -> ()", ["OW211 'x' is `Tensor(a!)[]` in the schema, `Tensor[](a!)` by the annotations"]),
    ("f(Tensor(a) x) -> ()", "f(Tensor x) -> ()", ["OW211 'x' is `Tensor(a)` in the schema, `Tensor` by the annotations"]),
    ("f(Tensor(a -> *) x) -> ()", "f(Tensor(a) x) -> ()", ["OW211 'x' is `Tensor(a -> *)` in the schema, `Tensor(a)` is meant"]),
    ("f(Tensor(a|b) x, Tensor(a) y, Tensor(b) z) -> ()", "f(Tensor(a|b) x, Tensor(a) y, Tensor(a) z) -> ()", ["OW211 'z' shares memory with 'x' in the schema, with 'x', 'y' by the annotations"]),
    ("f(Tensor(a|b) x, Tensor(a|b) y, Tensor(b|c) z) -> ()", "f(Tensor(a|b) x, Tensor(a|c) y, Tensor(a|b) z) -> ()", ["OW211 'y' is `Tensor(a|b)` in the schema, `Tensor(a|c)` by the annotations"]),
    ("f(Tensor x, *, int n) -> ()", "f(Tensor x, int n) -> ()", ["OW213 'n' is keyword-only in the schema, positional in the function"]),
    ("f(Tensor x, int n) -> ()", "f(Tensor x, *, int n) -> ()", ["OW212 'n' is keyword-only in the function, positional in the schema"]),
    ("f(*, int a, int b) -> ()", "f(*, int b, int a) -> ()", ["OW220 keyword-only: a, b in the schema, b, a in the function"]),
    ("f(Tensor x, Tensor other) -> ()", "f(Tensor x, Tensor y) -> ()", ["OW214 the schema calls it 'other', the function 'y'"]),
    ("f(Tensor x) -> Tensor", "f(Tensor x) -> (Tensor, Tensor)", ["OW215 the returns differ in number: (Tensor) in the schema, (Tensor, Tensor) by the annotation"]),
    ("f(Tensor x) -> Tensor", "f(Tensor x) -> Tensor?", ["OW201 return 1 is `Tensor` in the schema, `Tensor?` by its annotation"]),
    ("f(Tensor x) -> (Tensor a, Tensor b)", "f(Tensor x) -> (Tensor a, Tensor)", ["OW217 return 2 is called 'b' in the schema, without a name in the function"]),
    ("a::f(Tensor x) -> ()", "b::f(Tensor x) -> ()", ["OW218 the schema names `a::f`, the function is `b::f`"]),
    ("f.out(Tensor x) -> ()", "f(Tensor x) -> ()", ["OW218 the schema names `f.out`, the function is `f`"]),
    ("f(Tensor x, ...) -> ()", "f(Tensor x) -> ()", ["OW219 only one of schema and annotations takes or gives any number of values (`...`)"]),
    (
        "f(Tensor x, int n=3) -> Tensor",
        "f(Tensor(a!) x, SymInt n=4) -> ()",
        [
            "OW209 the schema does not say that 'x' is written: `Tensor` in the schema, `Tensor(a!)` by its annotation",
            "OW202 'n' is `int` in the schema, `SymInt` by its annotation: compiled anew for each value",
            "OW206 the default of 'n' is 3 in the schema, 4 in the function",
            "OW215 the returns differ in number: (Tensor) in the schema, () by the annotation",
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "inferred", "expected"), DIFFER, ids=lambda part: str(part)[:50]
)
def test_each_difference_is_one_finding(written: str, inferred: str, expected: list[str]) -> None:
    found = compare(parse(written), parse(inferred))
    assert [f"{finding.code} {finding.message}" for finding in found] == expected
    assert all(finding.hint for finding in found)
    assert compare(parse(inferred), parse(written)), "the other way round there is a difference too"


def test_what_weighs_how_much() -> None:
    weights: dict[Severity, set[str]] = {severity: set() for severity in Severity}
    for written, inferred, _ in DIFFER:
        for finding in compare(parse(written), parse(inferred)):
            weights[finding.severity].add(finding.code)
    assert weights[Severity.WARNING] == {"OW202"}
    assert weights[Severity.NOTE] == {"OW207", "OW213", "OW214", "OW217", "OW220"}
    assert len(weights[Severity.ERROR]) == 13


@settings(max_examples=strategies.examples(200, 10_000), deadline=None)
@given(strategies.schemas())
def test_a_schema_agrees_with_itself(schema: Schema) -> None:
    assert compare(schema, schema) == []


def _changed(schema: Schema, draw: st.DataObject) -> Schema:
    """The schema with one thing changed."""
    argument = draw.draw(st.sampled_from(schema.arguments))
    change = draw.draw(st.sampled_from(["type", "name", "kw_only", "default", "alias", "gone"]))
    new = _change(argument, change)
    arguments = tuple(new if a is argument else a for a in schema.arguments)
    if change == "gone":
        arguments = tuple(a for a in schema.arguments if a is not argument)
    return replace(schema, arguments=arguments)


def _change(argument: Argument, change: str) -> Argument:
    match change:
        case "type":
            return replace(argument, type=List(Base("Tensor"), 77), default=REQUIRED)
        case "name":
            return replace(argument, name="renamed_")
        case "kw_only":
            return replace(argument, kw_only=not argument.kw_only)
        case "default" if argument.default is not REQUIRED:
            return replace(argument, default=REQUIRED)
        case "default":
            return replace(argument, type=Maybe(Base("str")), default="other_")
        case _:
            return replace(argument, type=rebuilt(argument.type, _other_marks))


def _other_marks(node: Type) -> Type:
    if isinstance(node, Maybe) or node.alias is None:
        return node
    return replace(node, alias=Alias(("fresh_",), not node.alias.writes, ("*",)))


@settings(max_examples=strategies.examples(300, 20_000), deadline=None)
@given(strategies.schemas().filter(lambda schema: bool(schema.arguments)), st.data())
def test_one_change_is_found(schema: Schema, data: st.DataObject) -> None:
    try:
        other = _changed(schema, data)
    except ValueError:
        assume(False)
    assume(other != schema)
    assert compare(schema, other)
    assert compare(other, schema)


@settings(max_examples=strategies.examples(300, 20_000), deadline=None)
@given(
    st.lists(strategies.marks, min_size=2, max_size=4),
    st.lists(strategies.marks, min_size=2, max_size=4),
)
def test_no_finding_means_the_same_sharing(one: list[Alias], other: list[Alias]) -> None:
    def schema(marks: list[Alias]) -> Schema:
        kinds = [Base("Tensor", mark) for mark in marks]
        arguments = tuple(Argument(f"x{n}", kind) for n, kind in enumerate(kinds[:2]))
        return Schema("f", "", arguments, tuple(Return(kind) for kind in kinds[2:]))

    left, right = schema(one), schema(other)
    if any(
        str(alias) == "!"
        for part in (*left.arguments, *right.arguments, *left.returns, *right.returns)
        for alias in aliases(part.type)
    ):
        return
    assert (compare(left, right) == []) == (left == right)
