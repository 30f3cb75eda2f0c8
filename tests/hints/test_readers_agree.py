"""The two readers give the same values for one function: live, and from its text."""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opwright.hints.live import read
from opwright.hints.lower import lower
from opwright.hints.model import Function, Name, Unknown, Unresolved
from opwright.hints.resolve import Definition, Sources
from opwright.hints.source import read_function
from strategies import examples

from . import test_defaults, test_meaning, test_structure
from .writing import write


def from_text(module: types.ModuleType, name: str) -> Function:
    """Read the last function of this name in the text of a module that was written."""
    assert module.__file__ is not None
    text = "".join(linecache.getlines(module.__file__))
    scope = Sources().open(Path(module.__file__), text.encode())
    nodes = [n for n in scope.module.tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    return read_function(Definition(nodes[-1], scope))


def told(value: Any) -> Any:
    """A value without the words in which each reader tells what it could not read."""
    match value:
        case Unresolved(_, reason):
            return Unresolved("", reason)
        case Unknown():
            return Unknown("")
        case float() if value != value:
            return "nan"
        case tuple():
            return tuple(map(told, value))
        case _ if is_dataclass(value) and not isinstance(value, type):
            compared = [field.name for field in fields(value) if field.compare]
            return replace(value, **{name: told(getattr(value, name)) for name in compared})
        case _:
            return value


def both(text: str) -> tuple[Function, Function]:
    module = write(text)
    return told(read(module.f)), told(from_text(module, "f"))


def signatures() -> Iterator[tuple[str, str]]:
    """Every row of the tables that the analyzer is tested with."""
    for table in (test_meaning.MEANINGS, test_meaning.REFUSALS):
        yield from ((test_meaning.CLASSES, f"(x: {row}) -> Tensor") for row in table)
    for table in (test_defaults.HELD, test_defaults.FAULTS):
        yield from ((test_defaults.CLASSES, f"(x: {row}) -> Tensor") for row in table)
    for table in (test_structure.FLATTENED, test_structure.REFUSED):
        yield from ((test_structure.CLASSES, f"({row}) -> Tensor") for row in table)
    yield from (("", f"(y: Mutable[Tensor]) -> {row}") for row in test_structure.RETURNS)
    keys = "class TD(TypedDict):\n    y: Tensor\n"
    for table in (test_structure.ALIASES, test_structure.RETURN_FAULTS, test_structure.VARIANTS):
        yield from ((keys, f"({row}") for row in table)


SIGNATURES = dict.fromkeys(signatures())
assert len(SIGNATURES) > 250


@pytest.mark.parametrize(("classes", "signature"), SIGNATURES, ids=[s for _, s in SIGNATURES])
def test_readers_agree_on_every_table(classes: str, signature: str) -> None:
    live, source = both(f"{classes}\ndef f{signature}: ...")
    assert source == live


ATOMS = """
int; float; bool; str; complex; Tensor; torch.Tensor; torch.dtype; Any; Scalar; list['int'];
Rank; Act; Cfg; Pair; T; dict; Nowhere.X; Literal[1, 'a', Act.RELU]; torch.Size; numbers.Number;
Plain; Number; List; Nowhere
"""
# Python itself refuses some combinations when it evaluates them (`None | None`, `"int" | None`,
# `Optional[Final[int]]`); a text has no such moment, so they are left to the tables.
FORMS = """
list[{}]; Optional[{}]; {} | None; Sequence[{}]; tuple[{}, ...]; Mutable[{}]; Annotated[{}, 1];
Iterable[{}]; Union[{}, int]; tuple[{}, {}]; Out[{}]; Json[{}]; Annotated[{}, Aliases('x')];
Callable[[{}], None]; Const[{}]; Dict[str, {}]
"""


def words(table: str) -> st.SearchStrategy[str]:
    return st.sampled_from([word.strip() for word in table.split(";")])


ANNOTATIONS = st.recursive(
    words(ATOMS),
    lambda inner: st.builds(lambda form, part: form.replace("{}", part), words(FORMS), inner),
    max_leaves=4,
)


@settings(max_examples=examples(150, 3_000), deadline=None)
@given(st.lists(ANNOTATIONS, min_size=2, max_size=4))
def test_readers_agree_on_generated_annotations(annotations: list[str]) -> None:
    parameters = ", ".join(f"p{n}: {text}" for n, text in enumerate(annotations[1:]))
    live, source = both(f"{test_meaning.CLASSES}\ndef f({parameters}) -> {annotations[0]}: ...")
    assert source == live


def test_a_difference_would_be_seen() -> None:
    live, source = both("def f(x: int, *, n: float = 2.0) -> Tensor: ...")
    assert source == live
    (first, second) = source.parameters
    changes = (
        replace(first, hint=Name("float")),
        replace(first, default=1),
        replace(first, name="y"),
    )
    for changed in changes:
        assert replace(source, parameters=(changed, second)) != live
    assert both("def f(x: int) -> Tensor: ...")[0] != both("def f(x: bool) -> Tensor: ...")[1]


def test_the_schema_is_the_same_either_way() -> None:
    module = write(f"{test_structure.CLASSES}\ndef f(cfg: Outer, *, n: int = -3) -> Tensor: ...")
    live, source = lower(read(module.f), "a::f"), lower(from_text(module, "f"), "a::f")
    assert str(source.schema) == str(live.schema)
    assert str(live.schema).startswith("a::f(float cfg__inner__scale, ")
