"""There and back: a schema, the signature that means it, and the schema inferred from that."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opwright import Schema, infer, parse, signature
from opwright.hints import examine
from opwright.hints.live import read
from opwright.hints.lower import _at_once, _Lowering
from strategies import examples

from .test_defaults import HELD
from .test_meaning import CLASSES, MEANINGS
from .test_structure import CLASSES as STRUCTURES
from .test_structure import FLATTENED
from .writing import function


def signed(schema: Schema) -> Any:
    def f(*args: object, **kwargs: object) -> None: ...

    f.__signature__ = signature(schema)  # type: ignore[attr-defined]
    return f


WAYS = [*MEANINGS.values(), *(text.partition(" x")[0] for text in HELD.values())]
TYPES = sorted(set(WAYS))


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_comes_back(kind: str) -> None:
    schema = parse(f"ns::f({kind} x) -> Tensor")
    assert infer(signed(schema), name="ns::f") == schema


RETURNS = ["Tensor", "(Tensor, Tensor?)", "Tensor[]", "(Tensor, SymInt)", "((Tensor))", "float"]


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Schemas of the types that annotations express; marks get letters of their own."""
    kinds = draw(st.lists(st.sampled_from(TYPES), max_size=6))
    only = draw(st.integers(0, len(kinds)))
    parts = [kind.replace("(a!", f"({chr(97 + n)}!") for n, kind in enumerate(kinds)]
    named = [f"{kind} x{n}" for n, kind in enumerate(parts)]
    star = ["*"] if only < len(named) else []
    return parse(f"ns::f({', '.join(named[:only] + star + named[only:])}) -> {draw(_returns)}")


_returns = st.sampled_from(RETURNS)


@given(schemas())
@settings(max_examples=examples(60, 2000), deadline=None)
def test_a_schema_comes_back(schema: Schema) -> None:
    assert infer(signed(schema), name="ns::f") == schema


@pytest.mark.parametrize("written", HELD)
def test_a_default_comes_back(written: str) -> None:
    schema = parse(f"ns::f({HELD[written]}) -> Tensor")
    assert infer(signed(schema), name="ns::f") == schema


def test_what_was_met_before_means_what_it_meant() -> None:
    """The quick way and the whole way give one answer, wherever the quick way gives any."""
    texts = [f"{CLASSES}\ndef f(x: {kind}) -> Tensor: ..." for kind in MEANINGS]
    texts += [f"{STRUCTURES}\ndef f({text}) -> Tensor: ..." for text in FLATTENED]
    quick = 0
    for text in texts:
        found = read(function(text))
        whole = _Lowering(found, "f").inferred()
        if (at_once := _at_once(found, "f")) is not None:
            assert at_once == whole
            quick += 1
        assert Schema("f", "", whole.schema.arguments, whole.schema.returns) == whole.schema
    assert 60 < quick < len(texts)


def test_the_round_trip_can_fail() -> None:
    """The control."""
    schema = parse("ns::f(Tensor(a!) x, int n) -> Tensor")
    assert infer(signed(parse("ns::f(Tensor x, SymInt n) -> Tensor")), name="ns::f") != schema
    assert not examine(signed(schema), name="ns::f").findings
