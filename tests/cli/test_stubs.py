"""`opwright stubs`, run as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.program import Ran, run
from stubs.sample import write_library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_library(tmp_path)
    return tmp_path


def test_without_a_place_the_stubs_are_printed(folder: Path) -> None:
    ran = run("stubs", "mylib", "--namespace", "cpplib", cwd=folder)
    assert ran.code == 0
    assert ran.out.splitlines()[-6:] == [
        "class _cpplib_ops(_Namespace):",
        "    g: _cpplib_g",
        '    """cpplib::g(Tensor x, int dim=-1) -> Tensor',
        "    mylib/g.cpp:3",
        "    cpplib::g.out(Tensor x, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)",
        '    mylib/g.cpp:4"""',
    ]
    assert "other::odd" in ran.err


def test_an_accessor_is_written_checked_and_removed(folder: Path) -> None:
    command = ("stubs", "mylib", "--namespace", "mylib", "--accessor", "ops.py")
    assert run(*command, cwd=folder)[:2] == (0, "wrote 1 files\n")
    assert run(*command, cwd=folder)[:2] == (0, "nothing to change\n")
    assert run(*command, "--check", cwd=folder)[:2] == (0, "")
    source = folder / "mylib" / "__init__.py"
    source.write_text(source.read_text("utf-8").replace("n: int = 1", "n: int = 2"), "utf-8")
    stale = run(*command, "--check", cwd=folder)
    assert stale.code == 1
    assert "+    def foo(x: Tensor, n: int = 2, *, alpha: float = 1.0) -> Tensor:" in stale.out
    assert run("stubs", "--accessor", "ops.py", "--remove", cwd=folder).code == 0
    assert "foo" not in (folder / "ops.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give PATHS to read, or --live NAMESPACE, or --all"),
        (("mylib", "--typings", "t"), "--typings, --install and --in-place go with --torch-ops"),
        (
            ("mylib", "--torch-ops", "--install", "--in-place"),
            "give one of --typings, --install and --in-place",
        ),
        (
            ("mylib", "--torch-ops", "--accessor", "x.py"),
            "--accessor and --torch-ops are two kinds of stubs: run it twice",
        ),
        (("--remove",), "say what to remove: --torch-ops or --accessor FILE"),
        (("mylib", "--import", "mylib"), "--import goes with --live NAMESPACE or --all"),
        (
            ("mylib", "--namespace", "none"),
            "no operators found in mylib: they are found by how they are registered",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: tuple[str, ...], said: str, folder: Path
) -> None:
    ran = run("stubs", *arguments, cwd=folder)
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == f"Error: {said}"


def heads(stubs: str) -> list[str]:
    """The calls of a stub, without docstrings and places."""
    return [line for line in stubs.splitlines() if "def __call__" in line]


@pytest.mark.torch
class TestLive:
    def live(self, folder: Path, *arguments: str) -> Ran:
        return run("stubs", "--live", *arguments, cwd=folder)

    def test_an_imported_module_registers(self, folder: Path) -> None:
        library = folder / "plain.py"
        library.write_text(
            "import torch\n"
            "@torch.library.custom_op('plain::twice', mutates_args=())\n"
            "def twice(x: torch.Tensor) -> torch.Tensor:\n"
            "    'Two of x.'\n"
            "    return x + x\n",
            "utf-8",
        )
        ran = self.live(folder, "plain", "--import", "plain")
        assert ran.code == 0
        assert "class _plain_ops(_Namespace):\n    twice: _plain_twice\n" in ran.out
        assert "Two of x." in ran.out
        assert "plain.py:2" in ran.out

    def test_what_is_live_says_what_the_source_says(self, folder: Path) -> None:
        source_file = folder / "mylib" / "__init__.py"
        ours, _, _ = source_file.read_text("utf-8").partition("@torch.library")
        source_file.write_text(ours, "utf-8")  # torch refuses some of the others
        live = self.live(folder, "mylib", "--import", "mylib").out
        source = run("stubs", "mylib", "--namespace", "mylib", cwd=folder).out
        assert "act: Literal['relu', 'gelu']" in live
        assert heads(live) == heads(source)

    def test_a_namespace_that_nobody_registered_is_refused(self, folder: Path) -> None:
        ran = self.live(folder, "plian")
        assert ran.code == 2
        assert ran.err == (
            "Error: nothing is registered in `plian`: give --import MODULE for what registers it\n"
        )

    def test_torch_ops_are_typed_in_the_workspace(self, folder: Path) -> None:
        for wanted in ("wrote 45 files\n", "nothing to change\n"):
            ran = self.live(folder, "aten", "--torch-ops")
            assert (ran.code, ran.out.startswith(wanted[:4])) == (0, True)
        stub = folder / "typings" / "torch-stubs" / "_ops.pyi"
        assert "    aten: _aten_ops\n" in stub.read_text("utf-8")
        assert self.live(folder, "aten", "--torch-ops", "--check").code == 0
        assert run("stubs", "--torch-ops", "--remove", cwd=folder).code == 0
        assert not (folder / "typings").exists()
