"""Schemas go to JSON and come back the same; the published JSON Schema says what the form is."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings

import strategies
from opwright import exchange
from opwright.findings import SchemaError
from opwright.schema.model import Schema
from opwright.schema.parse import parse

PUBLISHED = Path(__file__).resolve().parents[2] / "docs" / "schema.json"


def test_the_form_of_a_schema() -> None:
    schema = parse(
        "ns::f.out(Tensor(a!)[2] x, Union(int, str)? u, *, int? n=3) -> (Tensor(a!) y, int)"
    )
    written = {"before": ["a"], "writes": True, "after": ["a"]}
    tensor = {"kind": "base", "name": "Tensor", "alias": written}
    union = {
        "kind": "apply",
        "name": "Union",
        "of": [{"kind": "base", "name": "int"}, {"kind": "base", "name": "str"}],
    }
    assert exchange.dump(schema) == {
        "name": "ns::f",
        "overload": "out",
        "arguments": [
            {"name": "x", "type": {"kind": "list", "of": tensor, "size": 2}, "kw_only": False},
            {"name": "u", "type": {"kind": "optional", "of": union}, "kw_only": False},
            {
                "name": "n",
                "type": {"kind": "optional", "of": {"kind": "base", "name": "int"}},
                "kw_only": True,
                "default": {"kind": "int", "value": 3},
            },
        ],
        "returns": [{"type": tensor, "name": "y"}, {"type": {"kind": "base", "name": "int"}}],
        "varargs": False,
        "varrets": False,
    }


DEFAULTS = [
    ("Tensor? x=None", {"kind": "none"}),
    ("bool x=True", {"kind": "bool", "value": True}),
    ("int x=-9223372036854775808", {"kind": "int", "value": -(2**63)}),
    ("float x=1.0", {"kind": "float", "value": 1.0}),
    ("float x=-0.0", {"kind": "float", "value": -0.0}),
    ("complex x=-2.5j", {"kind": "complex", "imag": -2.5}),
    ('str x="\\000é\\""', {"kind": "str", "value": '\x00é"'}),
    ("ScalarType x=bfloat16", {"kind": "symbol", "name": "bfloat16"}),
    (
        "int[] x=[1, Mean]",
        {
            "kind": "list",
            "items": [{"kind": "int", "value": 1}, {"kind": "symbol", "name": "Mean"}],
        },
    ),
]


@pytest.mark.parametrize(("argument", "form"), DEFAULTS, ids=lambda part: str(part)[:40])
def test_a_default_keeps_its_kind(argument: str, form: object) -> None:
    schema = parse(f"f({argument}) -> ()")
    assert repr(exchange.dump(schema)["arguments"][0].get("default")) == repr(form)
    assert str(exchange.loads(exchange.dumps(schema))) == str(schema) == f"f({argument}) -> ()"


@settings(max_examples=strategies.examples(200, 10_000), deadline=None)
@given(strategies.schemas())
def test_json_comes_back_the_same(schema: Schema) -> None:
    text = exchange.dumps(schema)
    assert exchange.loads(text) == schema
    assert exchange.loads(exchange.dumps(schema, indent=2).encode()) == schema
    assert exchange.load(json.loads(text)) == schema == exchange.load(exchange.dump(schema))
    assert str(exchange.loads(text)) == str(schema)


GOOD = exchange.dump(parse("f(int[] x=[1]) -> Tensor(a!)"))
SPOILT = [
    # What is changed, to what, and what is said of it.
    (("name",), 3, "OW014 name: Input should be a valid string"),
    (("varargs",), "no", "OW014 varargs: Input should be a valid boolean"),
    (("arguments",), None, "OW014 arguments: Input should be a valid list"),
    (("more",), 1, "OW014 more: Extra inputs are not permitted"),
    (
        ("arguments", 0, "default", "items", 0, "value"),
        True,
        "OW014 arguments.0.default.list.items.0.int.value: Input should be a valid integer",
    ),
    (
        ("arguments", 0, "type", "kind"),
        "tree",
        "OW014 arguments.0.type: Input tag 'tree' found using 'kind' does not match any of the "
        "expected tags: 'base', 'optional', 'list', 'apply'",
    ),
    (("name",), "a b", "OW004 'a b' is no name of an operator"),
    (("arguments", 0, "name"), "if", "OW004 torch does not read 'if' as a name"),
    (("arguments", 0, "type", "of", "name"), "Foo", "OW003 torch has no type 'Foo'"),
    (("arguments", 0, "default"), {"kind": "str", "value": "a"}, 'OW006 x: int[] cannot hold "a"'),
]


@pytest.mark.parametrize(("path", "value", "message"), SPOILT, ids=lambda part: str(part)[:40])
def test_what_is_no_schema_is_refused(
    path: tuple[object, ...], value: object, message: str
) -> None:
    form = copy.deepcopy(GOOD)
    place: object = form
    for step in path[:-1]:
        place = place[step]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]
    for read in (exchange.load, lambda form: exchange.loads(json.dumps(form))):
        with pytest.raises(SchemaError) as caught:
            read(form)
        found = caught.value.findings[0]
        # pydantic calls a list an array where the text was JSON
        assert f"{found.code} {found.message}".replace("valid array", "valid list") == message


@pytest.mark.parametrize("data", [None, 3, [], "f() -> ()"], ids=repr)
def test_data_of_another_kind_is_refused(data: object) -> None:
    with pytest.raises(SchemaError, match=r"^OW014 Input should be a valid dictionary$"):
        exchange.load(data)


def test_the_published_json_schema_is_current() -> None:
    assert PUBLISHED.read_text("utf-8") == json.dumps(exchange.json_schema(), indent=2) + "\n"


def test_every_form_is_in_the_json_schema() -> None:
    found = exchange.json_schema()
    assert found["title"] == "An operator schema"
    assert {*found["$defs"]} >= {"ArgumentForm", "BaseForm", "ListForm", "ValueForm"} - {
        "ValueForm"
    }
    assert all(form["additionalProperties"] is False for form in found["$defs"].values())


@pytest.mark.torch
def test_every_registered_schema_comes_back() -> None:
    pytest.importorskip("torch")
    from schema.test_torch_agrees import UNREAD
    from schema.torch_reading import registered_texts

    schemas = [parse(text) for text in registered_texts() if text not in UNREAD]
    assert len(schemas) >= 4373
    for schema in schemas:
        assert exchange.loads(exchange.dumps(schema)) == schema
        assert exchange.load(exchange.dump(schema)) == schema
