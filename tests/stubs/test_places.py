"""Where stubs lie: written once, checked, removed; what is not ours is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from opwright.findings import SchemaError
from opwright.schema.parse import parse
from opwright.stubs.accessor import BEGIN, END, accessor, without
from opwright.stubs.installed import Torch
from opwright.stubs.operators import Namespace, Operator, gather
from opwright.stubs.package import ops_stub, package
from opwright.stubs.places import in_place, in_typings, installed, stale
from opwright.stubs.plan import Plan

OPS = """\
import types
class OpOverload:
    def name(self):
        return self._name
class OpOverloadPacket:
    def overloads(self):
        return []
class _Ops(types.ModuleType):
    __file__ = "_ops.py"
ops: _Ops = _Ops()
"""


@pytest.fixture
def torch(tmp_path: Path) -> Torch:
    """A torch of a few files."""
    folder = tmp_path / "site" / "torch"
    (folder / "_C").mkdir(parents=True)
    (folder / "_ops.py").write_text(OPS, "utf-8")
    (folder / "version.py").write_text(
        "from typing import Optional\n__version__ = '9.1'\n", "utf-8"
    )
    (folder / "_VF.pyi").write_text("x: int\n", "utf-8")
    (folder / "_C" / "__init__.pyi").write_text("y: int\n", "utf-8")
    return Torch(folder)


def namespaces(*texts: str) -> tuple[Namespace, ...]:
    return gather(Operator(parse(text)) for text in texts)


ONE = namespaces("mylib::f(Tensor x) -> Tensor")
TWO = namespaces("mylib::f(Tensor x, int n) -> Tensor")


def test_the_package_holds_all_stubs_of_torch_and_the_namespaces(torch: Torch) -> None:
    files = package(torch, ONE)
    assert sorted(files) == ["_C/__init__.pyi", "_VF.pyi", "_ops.pyi", "py.typed"]
    assert files["_C/__init__.pyi"] == b"y: int\n"
    text = files["_ops.pyi"].decode()
    assert text.splitlines()[1].startswith("# Written by `opwright stubs` for torch 9.1 (")
    assert "class _Ops(types.ModuleType):\n    mylib: _mylib_ops\n" in text
    assert "def name(self) -> str:" in text
    # A module that imports itself hides its own classes from pyright.
    assert "torch._ops import" not in text
    assert "def overloads(self) -> list[str]:" in text


def test_another_torch_makes_the_stub_stale(torch: Torch, tmp_path: Path) -> None:
    before = ops_stub(torch, ONE)
    (torch.folder / "_VF.pyi").write_text("x: str\n", "utf-8")
    assert ops_stub(Torch(torch.folder), ONE) != before


def test_a_torch_of_another_build_is_refused(torch: Torch) -> None:
    (torch.folder / "_ops.py").write_text("", "utf-8")
    with pytest.raises(SchemaError, match=r"^OW900 torch 9.1 has no `class _Ops` in "):
        ops_stub(torch, ONE)


Make = Callable[[Torch, Path, dict[str, bytes]], Plan]
PLACES: dict[str, Make] = {
    "typings": lambda torch, folder, files: in_typings(folder / "typings", files),
    "install": lambda torch, folder, files: installed(folder, torch.folder.parent, files),
    "in place": lambda torch, folder, files: in_place(torch, files),
}


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("place", PLACES)
def test_writing_is_idempotent_and_removing_leaves_no_trace(
    place: str, torch: Torch, tmp_path: Path
) -> None:
    make, before = PLACES[place], tree(tmp_path)
    assert make(torch, tmp_path, package(torch, ONE)).carry_out()
    written = tree(tmp_path)
    assert len(written) > len(before)
    # Torch itself now holds our stub in one of the places: its own stubs are still what is copied.
    again = make(torch, tmp_path, package(Torch(torch.folder), ONE))
    assert [*again.diff()] == []
    assert again.carry_out() == []
    assert tree(tmp_path) == written
    make(torch, tmp_path, {}).carry_out()
    assert tree(tmp_path) == before


@pytest.mark.parametrize("place", PLACES)
def test_what_is_stale_is_shown_as_a_diff(place: str, torch: Torch, tmp_path: Path) -> None:
    PLACES[place](torch, tmp_path, package(torch, ONE)).carry_out()
    plan = PLACES[place](torch, tmp_path, package(torch, TWO))
    lines = [*plan.diff()]
    assert "-    def __call__(_op, /, x: Tensor) -> Tensor: ..." in lines
    assert (
        '+    def __call__(_op, /, x: Tensor, n: Annotated[int, "int n"]) -> Tensor: ...' in lines
    )
    plan.carry_out()
    assert [*plan.diff()] == []


@pytest.mark.parametrize("place", PLACES)
def test_stubs_for_another_torch_are_told(place: str, torch: Torch, tmp_path: Path) -> None:
    PLACES[place](torch, tmp_path, package(torch, ONE)).carry_out()
    assert [*stale(tmp_path, torch)] == []
    (torch.folder / "version.py").write_text("__version__ = '9.2'\n", "utf-8")
    (found,) = stale(tmp_path, Torch(torch.folder))
    assert found.message == "these stubs were made for torch 9.1, and this is torch 9.2"
    assert found.span.file.endswith("_ops.pyi")


def test_the_pth_leads_to_the_workspace(torch: Torch, tmp_path: Path) -> None:
    installed(tmp_path, torch.folder.parent, package(torch, ONE)).carry_out()
    named = Path((torch.folder.parent / "opwright-stubs.pth").read_text("utf-8").strip())
    assert named == tmp_path.resolve() / ".opwright" / "typings"
    assert (named / "torch-stubs" / "_ops.pyi").is_file()


def test_a_stub_that_torch_no_longer_has_goes(torch: Torch, tmp_path: Path) -> None:
    in_typings(tmp_path / "typings", package(torch, ONE)).carry_out()
    (torch.folder / "_VF.pyi").unlink()
    in_typings(tmp_path / "typings", package(Torch(torch.folder), ONE)).carry_out()
    assert not (tmp_path / "typings" / "torch-stubs" / "_VF.pyi").exists()


def test_the_stubs_of_others_are_left_alone(torch: Torch, tmp_path: Path) -> None:
    theirs = tmp_path / "typings" / "torch-stubs"
    theirs.mkdir(parents=True)
    (theirs / "_ops.pyi").write_text("# by hand\n", "utf-8")
    with pytest.raises(SchemaError, match="was not written by `opwright stubs`"):
        in_typings(tmp_path / "typings", package(torch, ONE))


def test_one_environment_has_the_stubs_of_one_workspace(torch: Torch, tmp_path: Path) -> None:
    site = torch.folder.parent
    installed(tmp_path / "one", site, package(torch, ONE)).carry_out()
    with pytest.raises(SchemaError, match=r"has the stubs of another workspace: .*one"):
        installed(tmp_path / "other", site, package(torch, ONE))


# Accessor --------------------------------------------------------------------------------------


def test_the_text_around_the_block_is_its_owners() -> None:
    first = accessor(ONE, "import mylib._C\n")
    marked = first.replace(END, f"{END}\nextra = 1")
    second = accessor(TWO, marked)
    assert second.startswith("import mylib._C\n" + BEGIN)
    assert second.endswith(END + "\nextra = 1\n")
    assert "n: Annotated" in second
    assert accessor(TWO, second) == second
    assert without(second) == "import mylib._C\nextra = 1\n"


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}\n{END}\n{BEGIN}\n{END}"])
def test_markers_that_do_not_pair_up_are_refused(text: str) -> None:
    with pytest.raises(SchemaError, match=r"^ops.py:1: OW900 the markers do not pair up"):
        accessor(ONE, text, "ops.py")


def test_names_that_cannot_share_a_module_are_refused_at_once() -> None:
    clashing = namespaces("a::f() -> int", "b::f() -> int", "a::int() -> int")
    with pytest.raises(SchemaError) as refused:
        accessor(clashing)
    assert [found.message for found in refused.value.findings] == [
        "an accessor cannot hold 2 operators called 'f'",
        "an accessor cannot hold an operator called 'int': its annotations need the word",
    ]


def test_a_keyword_is_reached_by_getattr() -> None:
    text = accessor(namespaces("a::lambda() -> int"))
    assert '    lambda_ = getattr(torch.ops.a, "lambda")\n' in text
    compile(text, "ops.py", "exec")


@pytest.mark.torch
def test_at_run_time_an_accessor_gives_the_operators_themselves() -> None:
    torch = pytest.importorskip("torch")
    text = accessor(namespaces("aten::add.Tensor(Tensor self, Tensor other) -> Tensor"))
    names: dict[str, object] = {}
    exec(compile(text, "ops.py", "exec"), names)
    assert names["add"] is torch.ops.aten.add
