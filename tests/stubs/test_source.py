"""What sources declare: schemas, docstrings, places, choices, and what could not be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from opwright.findings import Diagnostic
from opwright.stubs.operators import Operator, Unread, gather
from opwright.stubs.signature import parameters
from opwright.stubs.source import declared
from opwright.stubs.write import module
from stubs.reading import read
from stubs.sample import write_library


def found_in(path: Path) -> list[Operator]:
    return [each for each in declared([path]) if isinstance(each, Operator)]


def test_operators_come_from_python_and_cpp_with_what_their_authors_say(tmp_path: Path) -> None:
    source = write_library(tmp_path)
    found = {str(each.schema): each for each in found_in(source)}
    assert {text: (each.doc, each.file, each.line) for text, each in found.items()} == {
        "mylib::foo(Tensor x, SymInt n=1, *, float alpha=1.0) -> Tensor": (
            'Scale x.\n\nThe text has "quotes" and a \\ in it.',
            "mylib/__init__.py",
            23,
        ),
        "mylib::act(Tensor x, str act, SymInt[]? sizes=None) -> Tensor": (
            "",
            "mylib/__init__.py",
            32,
        ),
        'mylib::cfg_(Tensor(a!) out, float cfg__scale, str cfg__mode="up", int axis=0) -> ()': (
            "",
            "mylib/__init__.py",
            37,
        ),
        "other::pair(Tensor x, Tensor[] ys) -> (Tensor, Tensor)": ("", "mylib/__init__.py", 42),
        "other::written(Tensor x, int n) -> Tensor": ("", "mylib/__init__.py", 52),
        "cpplib::g(Tensor x, int dim=-1) -> Tensor": ("", "mylib/g.cpp", 3),
        "cpplib::g.out(Tensor x, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)": (
            "",
            "mylib/g.cpp",
            4,
        ),
    }


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "mylib::act",
            "x: Tensor, act: Literal['relu', 'gelu'], sizes: Sequence[Literal[1, 2]] | None = None",
        ),
        (
            "mylib::cfg_",
            'out: Annotated[Tensor, "Tensor(a!) out"], cfg__scale: float, '
            "cfg__mode: Literal['up', 'down'] = 'up', "
            'axis: Annotated[int, "int axis=0"] = 0',
        ),
    ],
)
def test_choices_and_structures_are_spelt_out(name: str, shown: str, tmp_path: Path) -> None:
    (operator,) = [op for op in found_in(write_library(tmp_path)) if op.schema.name == name]
    assert parameters(operator) == shown


def test_what_cannot_be_typed_is_there_all_the_same(tmp_path: Path) -> None:
    found = [*declared([write_library(tmp_path)])]
    (odd,) = [each for each in found if isinstance(each, Unread)]
    assert odd.name == "other::odd"
    assert [each.code for each in odd.findings] == ["OW102"]
    text = module(gather(each for each in found if not isinstance(each, Diagnostic)))
    assert "    odd: OpOverloadPacket\n" in text


def test_a_file_that_is_no_python_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    source = write_library(tmp_path)
    (source / "broken.py").write_text("@custom_op(\n", "utf-8")
    (finding,) = [each for each in declared([source]) if isinstance(each, Diagnostic)]
    assert (finding.code, Path(finding.span.file).name) == ("OW901", "broken.py")
    assert len(found_in(source)) == 7


CORPORA = Path(__file__).resolve().parents[2] / ".corpora"


def fetched_corpora() -> list[Path]:
    small = ("nvidia-physicsnemo", "torchao", "torchrec", "xformers", "quack")
    folders = CORPORA.iterdir() if CORPORA.is_dir() else ()
    return sorted(path for path in folders if path.name.startswith(small))


@pytest.mark.nightly
def test_stubs_of_the_corpora_are_read_back() -> None:
    count = 0
    for corpus in fetched_corpora():
        schemas = {each.schema.qualname: each.schema for each in found_in(corpus)}
        stub = module(gather(found_in(corpus)))
        back = {schema.qualname: schema for each in read(stub) for schema in each.overloads}
        assert back == schemas
        count += len(schemas)
    assert count > 150, "run scripts/corpora.py first"
