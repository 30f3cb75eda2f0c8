"""What authors see: real language servers on a project with our stubs."""

from __future__ import annotations

import html
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.program import run
from editor.client import Client, running
from stubs.sample import write_library

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

SCRIPTS = Path(sysconfig.get_path("scripts"))
SETTINGS = {"pythonPath": sys.executable, "analysis": {"typeCheckingMode": "standard"}}

WRONG = {
    "torch.ops.mylib.foo(1)": "reportArgumentType",
    "torch.ops.mylib.foo(x, m=3)": "reportCallIssue",
    "torch.ops.mylib.foo(x, 1, 2.0)": "reportCallIssue",
    'torch.ops.mylib.act(x, "relv")': "reportArgumentType",
    "torch.ops.mylib.misspelt(x)": "reportAttributeAccessIssue",
}
RIGHT = (
    "torch.ops.mylib.foo(x, 2, alpha=0.5).relu()",
    "torch.ops.mylib.foo.default(x=x)",
    'torch.ops.mylib.act(x, "relu", (1, 2))',
    "torch.ops.cpplib.g.out(x, out=x)",
    "torch.ops.other.odd(x, {})",
    "torch.ops.foreign.anything(1, 2)",
    "torch.nn.functional.relu(x).to(torch.float32)",
)
CALLS = "\n".join(["import torch", "x = torch.zeros(1)", *WRONG, *RIGHT]) + "\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the sample library, its accessor and stubs of `torch.ops`."""
    folder = tmp_path_factory.mktemp("proof")
    write_library(folder)
    for place in (["--torch-ops"], ["--accessor", "ops.py", "--namespace", "mylib"]):
        assert run("stubs", "mylib", *place, cwd=folder).code == 0
    (folder / "calls.py").write_text(CALLS, "utf-8")
    return folder


@pytest.fixture(scope="module")
def basedpyright(project: Path) -> Iterator[Client]:
    command = [str(SCRIPTS / "basedpyright-langserver"), "--stdio"]
    with running(command, project, SETTINGS) as client:
        yield client


@pytest.fixture(scope="module")
def jedi(project: Path) -> Iterator[Client]:
    with running([str(SCRIPTS / "jedi-language-server")], project) as client:
        yield client


def names(found: Any) -> set[str]:
    items = found["items"] if isinstance(found, dict) else found
    return {item["label"] for item in items}


def text_of(found: dict[str, Any]) -> str:
    """What hovering says, as it is shown: Markdown escapes are for the renderer."""
    contents = found["contents"]
    text = contents["value"] if isinstance(contents, dict) else str(contents)
    return re.sub(r"\\(.)", r"\1", html.unescape(text).replace("\xa0", " "))


def test_wrong_calls_are_errors_and_right_ones_are_not(basedpyright: Client) -> None:
    uri = basedpyright.open("calls.py")
    found = basedpyright.wait_for(uri, set(WRONG.values()))
    lines = CALLS.splitlines()
    errors = [each for each in found if each["severity"] == 1]
    assert {lines[each["range"]["start"]["line"]]: each["code"] for each in errors} == WRONG


def test_without_stubs_every_call_passes(tmp_path: Path) -> None:
    """The control: it is the stubs that make the errors."""
    (tmp_path / "calls.py").write_text(CALLS + "x = 1 + ''\n", "utf-8")
    command = [str(SCRIPTS / "basedpyright-langserver"), "--stdio"]
    with running(command, tmp_path, SETTINGS) as client:
        uri = client.open("calls.py")
        (only,) = client.wait_for(uri, {"reportOperatorIssue"})
        assert only["range"]["start"]["line"] == len(CALLS.splitlines())


def test_pyright_completes_and_explains_an_operator(basedpyright: Client) -> None:
    text = "import torch\ntorch.ops.mylib.\ntorch.ops.mylib.foo.\ntorch.ops.mylib.foo(\n"
    uri = basedpyright.open("new.py", text)
    offered = names(basedpyright.request("textDocument/completion", basedpyright.at(uri, 1, 16)))
    assert {"act", "cfg_", "foo"} <= offered
    assert "misspelt" not in offered
    overloads = names(basedpyright.request("textDocument/completion", basedpyright.at(uri, 2, 20)))
    assert "default" in overloads
    help_ = basedpyright.request("textDocument/signatureHelp", basedpyright.at(uri, 3, 20))
    (signature,) = help_["signatures"]
    assert signature["label"] == "(x: Tensor, n: int = 1, *, alpha: float = 1) -> Tensor"
    hover = text_of(basedpyright.request("textDocument/hover", basedpyright.at(uri, 3, 17)))
    assert "Scale x." in hover
    assert "mylib::foo(Tensor x, SymInt n=1, *, float alpha=1.0) -> Tensor" in hover
    assert "mylib/__init__.py:23" in hover


def test_jedi_completes_and_explains_the_accessor(jedi: Client) -> None:
    text = "import ops\nops.\nops.foo(\nops.foo\n"
    uri = jedi.open("new.py", text)
    offered = names(jedi.request("textDocument/completion", jedi.at(uri, 1, 4)))
    assert {"act", "cfg_", "foo"} <= offered
    (signature,) = jedi.request("textDocument/signatureHelp", jedi.at(uri, 2, 8))["signatures"]
    assert signature["label"] == "def foo(x: Tensor, n: int=1, *, alpha: float=1.0) -> Tensor"
    hover = text_of(jedi.request("textDocument/hover", jedi.at(uri, 3, 5)))
    assert "Scale x." in hover
    assert "mylib::foo(Tensor x, SymInt n=1" in hover
