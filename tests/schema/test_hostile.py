"""Whatever the text is, the answer is a schema or a `SchemaError`, in linearly many steps."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import HealthCheck, given, settings

import strategies
from opwright import exchange
from opwright.findings import SchemaError
from opwright.schema import scan
from opwright.schema.model import Schema
from opwright.schema.parse import parse
from opwright.schema.signature import python, signature

MEGABYTE = 1 << 20
UNITS = [
    *"()[]{}?!*|.,=:;#\"'\\ \n\t\x00aé9-",
    *("[]", "()", "(a)", "->", "...", "::", '""', '"""', "'''", '\\"', '"\\', "?[]", "[2]", "1e9"),
    *(
        "int x, ",
        "Dict(",
        "(int, ",
        "Union(int, ",
        "Tensor(a|",
        "# \n",
        "\\\n",
        "=1",
        "=[1, ",
        "a.",
    ),
    *("\ud800", "\U0001f600", "0x", "1.", ".5", "-", "- ", "int[]", "*, ", '="a", ', "False "),
]
FRAMES = [
    "{}",
    "f({}) -> ()",
    "f(int x={}) -> ()",
    "f(int{} x) -> ()",
    "f() -> {}",
    'f(str s="{}") -> ()',
]


def _answer(text: str) -> Schema | SchemaError:
    try:
        return parse(text)
    except SchemaError as refusal:
        _check(refusal, text)
        return refusal


def _check(refusal: SchemaError, text: str) -> None:
    assert refusal.findings
    for finding in refusal.findings:
        assert finding.code.startswith("OW0")
        assert 1 <= finding.span.column <= len(text) + 1
        assert 1 <= finding.span.line <= text.count("\n") + 1
    assert len(str(refusal)) < 40_000
    assert str(refusal).encode()


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_much_of_anything(unit: str) -> None:
    body = unit * (strategies.examples(1 << 11, MEGABYTE) // len(unit))
    answers = [_answer(frame.format(body)) for frame in FRAMES]
    assert any(isinstance(answer, SchemaError) for answer in answers)


@pytest.mark.parametrize("unit", ["[", ",", "\x00", " ", "'", "9", "é"], ids=ascii)
def test_a_megabyte_of_one_character(unit: str) -> None:
    assert isinstance(_answer(f"f(int{unit * MEGABYTE}"), SchemaError)


def _steps(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many words are looked at, and how many characters stand in them and before them."""
    words = characters = 0

    def counted(text: str, start: int) -> scan.Word:
        nonlocal words, characters
        word = word_at(text, start)
        words += 1
        characters += word.end - start
        return word

    word_at = scan.word_at
    with monkeypatch.context() as patch:
        patch.setattr(scan, "word_at", counted)
        _answer(text)
    return words, characters


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
@pytest.mark.parametrize("frame", FRAMES)
def test_every_character_is_looked_at_a_bounded_number_of_times(
    unit: str, frame: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = frame.format(unit * (1000 // len(unit)))
    words, characters = _steps(text, monkeypatch)
    assert 0 < words <= 2 * len(text) + 2
    assert characters <= 2 * len(text)


def test_the_count_sees_a_second_look(monkeypatch: pytest.MonkeyPatch) -> None:
    once = _steps("f(int x) -> ()", monkeypatch)
    looked = scan.Reader.take

    def twice(reader: scan.Reader) -> scan.Word:
        for _ in range(9):
            scan.word_at(reader.text, 0)
        return looked(reader)

    monkeypatch.setattr(scan.Reader, "take", twice)
    words, characters = _steps("f(int x) -> ()", monkeypatch)
    assert words > 5 * once[0]
    assert characters > 2 * len("f(int x) -> ()")


@settings(
    max_examples=strategies.examples(500, 50_000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(strategies.garbage)
def test_garbage_gets_an_answer(text: str) -> None:
    _answer(text)


WIDE = [
    f"f({', '.join(f'int x{n}' for n in range(4_000))}) -> ()",
    f"f(({', '.join(['int'] * 4_000)}) x) -> ()",
    f"f(int[] x=[{', '.join(['1'] * 4_000)}]) -> ()",
    f"f() -> ({', '.join(['Tensor'] * 4_000)})",
    f"f(Tensor({'|'.join(f'a{n}' for n in range(4_000))}) x) -> ()",
    f'f(str s="{"a" * MEGABYTE}") -> ()',
]


@pytest.mark.parametrize("text", WIDE, ids=lambda text: text[:20])
def test_what_is_accepted_can_be_used_however_wide(text: str) -> None:
    schema = parse(text)
    assert parse(str(schema)) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert exchange.loads(exchange.dumps(schema)) == schema
    assert hash(schema) == hash(parse(str(schema)))
    assert str(signature(schema))
    assert python(schema).endswith(": ...")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * MEGABYTE, '{"a":' * 100_000, "\x00", "null", "1e999", '"\\ud800"', "NaN"],
    ids=lambda text: text[:9],
)
def test_no_json_text_gets_another_exception(text: str) -> None:
    with pytest.raises(SchemaError, match="OW014"):
        exchange.loads(text)


def test_deep_json_is_refused() -> None:
    form = json.loads(exchange.dumps(parse("f(int x) -> ()")))
    for _ in range(200):
        form["arguments"][0]["type"] = {"kind": "optional", "of": form["arguments"][0]["type"]}
    assert exchange.load(form) == parse("f(int? x) -> ()")
    for _ in range(200):
        form["arguments"][0]["type"] = {"kind": "list", "of": form["arguments"][0]["type"]}
    with pytest.raises(SchemaError):
        exchange.load(form)
    for _ in range(20_000):
        form["arguments"][0]["type"] = {"kind": "list", "of": form["arguments"][0]["type"]}
    with pytest.raises(SchemaError):
        exchange.load(form)
