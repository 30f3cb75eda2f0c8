"""The language server, driven by a client over its pipes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from editor.client import Client, running
from opwright.lint import fix
from opwright.lint.catalog import RULES
from opwright.lint.engine import lint
from opwright.lint.settings import Project, Settings

SERVER = (sys.executable, "-c", "from opwright.cli import main; main(['lsp'])")

OPS = '''\
import torch
from torch import Tensor
from torch.library import Library, custom_op, register_fake

lib = Library("mylib", "FRAGMENT")
lib.define("scale(Tensor x, int number=3) -> Tensor")


@torch.library.impl(lib, "scale", "CPU")
def scale_cpu(x, number=3):
    """The number."""
    return x * number


@register_fake("mylib::scale")
def scale_fake(x, number=3):
    return torch.empty_like(x)


@custom_op("mylib::twice", mutates_args=())
def twice(x: Tensor, *, by: float = 2.0) -> Tensor:
    return x * by


@twice.register_fake
def _(x, *, by=2.0):
    return torch.empty_like(x)
'''
USE = """\
import torch
# \U0001d54f
word = "\U0001d54f"; y = torch.ops.mylib.scale(torch.ones(2), number=4)
z = torch.ops.mylib.twice(y)
"""
CPP = """\
TORCH_LIBRARY(cpplib, m) {
  m.def("g(Tensor x, int dim=-1) -> Tensor");
}
"""


def write_project(folder: Path) -> Path:
    for name, text in (("ops.py", OPS), ("use.py", USE), ("g.cpp", CPP)):
        (folder / name).write_bytes(text.encode())
    return folder


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server for all tests that leave the files as they are."""
    with running(SERVER, write_project(tmp_path_factory.mktemp("project"))) as client:
        client.wait_for(client.uri("g.cpp"), {"OW504"})  # all is read
        yield client


@pytest.fixture
def client(started: Client) -> Iterator[Client]:
    yield started
    started.close_all()
    # Definitions are looked up in what is there now, so this waits until all is as it was.
    started.request("textDocument/definition", started.at(started.uri("use.py"), 0, 0))


def place(text: str, marked: str) -> tuple[int, int]:
    """Line and UTF-16 column of the `|` in a piece of the text."""
    offset = text.index(marked.replace("|", "")) + marked.index("|")
    before = text[:offset]
    line = before.rpartition("\n")[2]
    return before.count("\n"), len(line.encode("utf-16-le")) // 2


def words(range_: dict[str, Any], text: str) -> str:
    """What a range of one line covers."""
    line = text.split("\n")[range_["start"]["line"]].encode("utf-16-le")
    start, end = (range_[side]["character"] * 2 for side in ("start", "end"))
    return line[start:end].decode("utf-16-le")


def labels(items: list[dict[str, Any]]) -> list[str]:
    return [item["label"] for item in items]


def test_hover_says_what_is_known_of_an_operator(client: Client) -> None:
    expected = (
        "```\nmylib::scale(Tensor x, int number=3) -> Tensor\n```\n\n"
        "- defined in `ops.py:6`\n"
        "- kernel for CPU: `scale_cpu` in `ops.py:9`\n"
        "- fake: `scale_fake` in `ops.py:15`"
    )
    ops, use = client.open("ops.py"), client.open("use.py")
    for uri, text, marked in (
        (use, USE, "torch.ops.mylib.sc|ale("),
        (ops, OPS, "def scale_|cpu"),
        (ops, OPS, '"scale(Ten|sor'),
    ):
        found = client.request("textDocument/hover", client.at(uri, *place(text, marked)))
        assert found["contents"]["value"] == expected, marked
    nothing = client.request("textDocument/hover", client.at(use, *place(USE, "wo|rd")))
    assert nothing is None


STRUCTURED = """\
from dataclasses import dataclass
import opwright as ow
from torch import Tensor


@dataclass
class Config:
    scale: float
    causal: bool = True


@ow.op("mylib::attend")
def attend(x: Tensor, config: Config) -> Tensor:
    return x * config.scale
"""
ATTEND = "mylib::attend(Tensor x, float config__scale, bool config__causal=True) -> Tensor"


def test_an_operator_of_structures_shows_its_flat_schema(client: Client) -> None:
    uri = client.open("structured.py", STRUCTURED)
    client.wait_for(uri, set())
    found = client.request("textDocument/hover", client.at(uri, *place(STRUCTURED, "def at|tend")))
    assert found["contents"]["value"].startswith(f"```\n{ATTEND}\n```")
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": everywhere}
    assert [each["label"] for each in client.request("textDocument/inlayHint", params)] == [ATTEND]
    other = client.open("calls.py", "torch.ops.mylib.attend(x, ")
    at = client.at(other, 0, len("torch.ops.mylib.attend(x, "))
    offered = labels(client.request("textDocument/completion", at))
    assert offered == ["config__scale=", "config__causal="]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch.ops.mylib.", ["scale", "twice"]),
        ("torch.ops.mylib.scale.", ["default"]),
        ("torch.ops.mylib.scale(", ["x=", "number="]),
        ("torch.ops.mylib.scale(f(1, 2), ", ["number="]),
        ("torch.ops.mylib.scale('(', ", ["number="]),
        ("torch.ops.mylib.twice(", ["x=", "by="]),
        ("torch.ops.mylib.twice(by=1, ", ["x="]),
        ("torch.opsi.", []),
        ("print(", []),
    ],
)
def test_a_half_typed_line_completes(line: str, expected: list[str], client: Client) -> None:
    uri = client.open("new.py", f"import torch\ndef f(:\n\U0001d54f = {line}")
    at = client.at(uri, 2, len(f"\U0001d54f = {line}".encode("utf-16-le")) // 2)
    assert labels(client.request("textDocument/completion", at)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("scale(Tensor x, ", ["MemoryFormat", "Tensor"]),
        ("scale(Tens", ["MemoryFormat", "Tensor"]),
        ("scale(Tensor ", ["x", "number"]),
        ("scale(Tensor x, int ", ["number"]),
        ("scale(Tensor x, int number=3) -> ", ["MemoryFormat", "Tensor"]),
    ],
)
def test_inside_a_schema_types_and_names_complete(
    written: str, expected: list[str], client: Client
) -> None:
    text = OPS.replace("scale(Tensor x, int number=3) -> Tensor", written)
    uri = client.open("ops.py", text)
    found = labels(
        client.request("textDocument/completion", client.at(uri, *place(text, f'"{written}|"')))
    )
    assert found == expected or set(expected) <= set(found)
    assert ("number" in found) == ("number" in expected)


def test_namespaces_complete(client: Client) -> None:
    uri = client.open("new.py", "torch.ops.")
    offered = labels(client.request("textDocument/completion", client.at(uri, 0, 10)))
    assert [name for name in offered if name != "aten"] == ["cpplib", "mylib"]


@pytest.mark.torch
def test_the_operators_of_torch_are_known_without_importing_it(client: Client) -> None:
    pytest.importorskip("torch")
    text = "torch.ops.aten.\ntorch.ops.aten.relu(\ntorch.ops.aten.add.\n"
    uri = client.open("new.py", text)
    offered = labels(client.request("textDocument/completion", client.at(uri, 0, 15)))
    assert len(offered) > 1000
    assert {"add", "relu", "softmax"} <= {*offered}
    help_ = client.request("textDocument/signatureHelp", client.at(uri, 1, 20))
    assert [each["label"] for each in help_["signatures"]] == ["aten::relu(Tensor self) -> Tensor"]
    overloads = labels(client.request("textDocument/completion", client.at(uri, 2, 19)))
    assert {"Tensor", "Scalar", "out"} <= {*overloads}
    hover = client.request("textDocument/hover", client.at(uri, 1, 17))
    assert hover["contents"]["value"] == "```\naten::relu(Tensor self) -> Tensor\n```"


def test_signature_help_follows_the_arguments(client: Client) -> None:
    uri = client.open("new.py", "torch.ops.mylib.scale(a, number=")
    for column, current in ((22, 0), (25, 1), (32, 1)):
        found = client.request("textDocument/signatureHelp", client.at(uri, 0, column))
        (signature,) = found["signatures"]
        assert signature["label"] == "mylib::scale(Tensor x, int number=3) -> Tensor"
        assert [each["label"] for each in signature["parameters"]] == ["Tensor x", "int number=3"]
        assert signature["activeParameter"] == current


def test_inlay_hints_show_what_nobody_wrote(client: Client) -> None:
    uri = client.open("ops.py")
    client.wait_for(uri, set())
    everywhere = {
        "start": {"line": 0, "character": 0},
        "end": {"line": 99, "character": 0},
    }
    params = {"textDocument": {"uri": uri}, "range": everywhere}
    (hint,) = client.request("textDocument/inlayHint", params)
    assert hint["label"] == "mylib::twice(Tensor x, *, float by=2.0) -> Tensor"
    assert hint["position"]["line"] == place(OPS, '|@custom_op("mylib')[0]


def test_definitions_and_references_cross_files(client: Client) -> None:
    uri = client.open("use.py")
    at = client.at(uri, *place(USE, "torch.ops.mylib.sc|ale("))
    (found,) = client.request("textDocument/definition", at)
    assert found["uri"] == client.uri("ops.py")
    assert words(found["range"], OPS).startswith("lib.define(")
    context = {"includeDeclaration": True}
    all_ = client.request("textDocument/references", {**at, "context": context})
    texts = {client.uri("ops.py"): OPS, client.uri("use.py"): USE}
    assert sorted(words(each["range"], texts[each["uri"]])[:24] for each in all_) == [
        'lib.define("scale(Tensor',
        'register_fake("mylib::sc',
        "torch.library.impl(lib, ",
        "torch.ops.mylib.scale(to",
    ]


def test_cpp_is_found_too(client: Client) -> None:
    uri = client.open("new.py", "torch.ops.cpplib.g(")
    (found,) = client.request("textDocument/definition", client.at(uri, 0, 18))
    assert (found["uri"], found["range"]["start"]["line"]) == (client.uri("g.cpp"), 1)


@pytest.mark.parametrize("marked", ["int num|ber", "def scale_cpu(x, num|ber", "x * num|ber"])
def test_an_argument_is_renamed_everywhere(marked: str, client: Client) -> None:
    uri = client.open("ops.py")
    use = client.open("use.py")
    at = client.at(uri, *place(OPS, marked))
    prepared = client.request("textDocument/prepareRename", at)
    assert prepared["placeholder"] == "number"
    changes = client.request("textDocument/rename", {**at, "newName": "factor"})["changes"]
    after = {u: edited(text, changes[u]) for u, text in ((uri, OPS), (use, USE))}
    assert after[uri] == OPS.replace("number", "factor").replace("The factor", "The number")
    assert after[use] == USE.replace("number", "factor")
    for taken in ("x", "no name"):
        assert client.request("textDocument/rename", {**at, "newName": taken}) is None


RENAMED = """\
at::Tensor h_cpu(const at::Tensor& x, int64_t dim) {
  auto sum = x.sum(dim);  // over dim
  return sum.dim() > dim ? sum : this->dim(Place::dim, x);
}
at::Tensor other(const at::Tensor& x, int64_t dim) { return x.sum(dim); }
TORCH_LIBRARY(renamed, m) { m.def("h(Tensor x, int dim=-1) -> Tensor"); }
TORCH_LIBRARY_IMPL(renamed, CPU, m) { m.impl("h", &h_cpu); }
"""


@pytest.mark.parametrize(
    ("new", "after"),
    [
        (
            "axis",
            RENAMED.replace("int dim", "int axis")
            .replace("int64_t dim) {\n", "int64_t axis) {\n")
            .replace("x.sum(dim);  //", "x.sum(axis);  //")
            .replace("> dim ?", "> axis ?"),
        ),
        ("sum", RENAMED.replace("int dim", "int sum")),  # which is something else in the function
    ],
)
def test_a_parameter_in_cpp_is_renamed_with_the_schema(
    new: str, after: str, client: Client
) -> None:
    uri = client.open("renamed.cpp", RENAMED, "cpp")
    client.wait_for(uri, {"OW504"})
    at = client.at(uri, *place(RENAMED, "int d|im=-1"))
    changes = client.request("textDocument/rename", {**at, "newName": new})["changes"]
    assert edited(RENAMED, changes[uri]) == after


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """A text after edits, whose places are counted in UTF-16."""
    lines = [line.encode("utf-16-le") for line in text.splitlines(keepends=True)]

    def offset(place: dict[str, int]) -> int:
        return sum(map(len, lines[: place["line"]])) + place["character"] * 2

    spans = [(*map(offset, edit["range"].values()), edit["newText"]) for edit in edits]
    data = b"".join(lines)
    for start, end, new in sorted(spans, reverse=True):
        data = data[:start] + new.encode("utf-16-le") + data[end:]
    return data.decode("utf-16-le")


# Findings --------------------------------------------------------------------------------------

BAD = OPS.replace("def scale_cpu(x, number=3)", "def scale_cpu(x, number=5)")
OTHER_DEFAULT = {"OW304"}


def span(text: str, marked: str, length: int) -> dict[str, Any]:
    """The range of some characters of a line."""
    line, column = place(text, marked)
    return {
        "start": {"line": line, "character": column},
        "end": {"line": line, "character": column + length},
    }


def test_findings_come_and_go_as_one_types(client: Client) -> None:
    uri = client.open("ops.py", BAD)
    (found,) = client.wait_for(uri, OTHER_DEFAULT)
    assert found["source"] == "opwright"
    client.change(uri, {"range": span(BAD, "number=|5", 1), "text": "3"})
    client.wait_for(uri, set())
    client.change(uri, {"text": BAD})
    client.wait_for(uri, OTHER_DEFAULT)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_places_are_right_after_wide_characters_and_any_line_end(end: str, client: Client) -> None:
    text = '\ns = "\U0001d54f\u00e9"; lib.define("wide(Tensr x) -> Tensor")'
    uri = client.open("ops.py", (OPS + text).replace("\n", end))
    (found,) = client.wait_for(uri, {"OW003"})
    assert words(found["range"], OPS + text) == "Tensr"


LAZY = """

@custom_op("mylib::lazy_", mutates_args="unknown")
def lazy_(x: Tensor, y: Tensor) -> None:
    x.copy_(y)
"""


def test_a_finding_can_be_fixed(client: Client) -> None:
    text = OPS + LAZY
    uri = client.open("ops.py", text)
    client.wait_for(uri, {"OW405"})
    (action,) = client.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": uri},
            "range": span(text, 'mutates_args=|"unknown', 0),
            "context": {"diagnostics": []},
        },
    )
    assert (action["title"], action["kind"]) == ("Name what the body writes", "quickfix")
    fixed = edited(text, action["edit"]["changes"][uri])
    assert fixed == text.replace('"unknown"', '{"x"}')
    client.change(uri, {"text": fixed})
    client.wait_for(uri, set())


@pytest.fixture(scope="module")
def judging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server that reports what is off by default, too."""
    folder = tmp_path_factory.mktemp("judging")
    (folder / "pyproject.toml").write_text('[tool.opwright.lint]\nselect = ["OW"]\n')
    with running(SERVER, folder) as client:
        yield client


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.fixes])
def test_every_fix_is_a_code_action(judging: Client, code: str, tmp_path: Path) -> None:
    """It does what `opwright lint --unsafe-fixes` does."""
    text = RULES[code].bad
    assert isinstance(text, str)
    report = lint([_written(tmp_path, text)], Project(tmp_path, Settings(select=("OW",))))
    uri = judging.open("ops.py", text)
    judging.wait_for(uri, {finding.code for finding in report.findings})
    whole = {
        "start": {"line": 0, "character": 0},
        "end": {"line": text.count("\n"), "character": 0},
    }
    asked = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}}
    actions = judging.request("textDocument/codeAction", asked)
    mine = [each for each in actions if each["diagnostics"][0]["code"] == code]
    edits = [edit for each in mine for edit in each["edit"]["changes"][uri]]
    chosen = fix.fixes([found for found in report.findings if found.code == code], unsafe=True)
    (change,) = fix.mend(chosen, lambda name: Path(name).read_text()).values()
    assert (
        edited(text, [edit for n, edit in enumerate(edits) if edit not in edits[:n]])
        == change.after
    )
    judging.close_all()


def _written(folder: Path, text: str) -> str:
    (folder / "ops.py").write_text(text)
    return str(folder / "ops.py")


@pytest.mark.torch
def test_stubs_for_another_torch_are_told(tmp_path: Path) -> None:
    stub = tmp_path / "typings" / "torch-stubs" / "_ops.pyi"
    stub.parent.mkdir(parents=True)
    stub.write_text("# mypy: ignore-errors\n# Written by `opwright stubs` for torch 1.0 (0)\n")
    with running(SERVER, tmp_path) as client:
        client.wait_for_message("these stubs were made for torch 1.0, and this is torch ")


def test_half_typed_code_keeps_what_it_said(client: Client) -> None:
    use = client.open("use.py")
    uri = client.open("ops.py", OPS + "\ndef (")
    client.wait_for(uri, {"OW901"})
    at = client.at(use, *place(USE, "torch.ops.mylib.sc|ale("))
    assert client.request("textDocument/hover", at)["contents"]["value"].startswith("```\nmylib::")


FAR = 'import torch\nlib = torch.library.Library("far", "FRAGMENT")\n'


def test_a_file_outside_the_workspace_is_served(client: Client, tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(FAR, "utf-8")
    uri = client.open(str((tmp_path / "far.py").as_uri()), FAR + "lib.define('f(Tensr x) -> ()')")
    client.wait_for(uri, {"OW003"})


def test_a_document_without_a_file_is_served(client: Client) -> None:
    uri = client.open("untitled:Untitled-1", "torch.ops.mylib.scale(")
    at = client.at(uri, 0, len("torch.ops.mylib.scale("))
    assert labels(client.request("textDocument/completion", at)) == ["x=", "number="]


def test_thousands_of_edits_leave_no_trace(client: Client) -> None:
    uri, text = client.open("ops.py"), OPS
    chance = random.Random(7)
    for _ in range(3000):
        at = chance.randrange(len(text))
        typed = chance.choice(["", "x", "\n", "(", '"', "\U0001d54f", "torch.ops."])
        cut = chance.randrange(3)
        client.change(uri, change(text, at, at + cut, typed))
        text = text[:at] + typed + text[at + cut :]
    client.change(uri, change(text, 0, len(text), BAD))
    (found,) = client.wait_for(uri, OTHER_DEFAULT)
    assert words(found["range"], BAD)


def change(text: str, start: int, end: int, new: str) -> dict[str, Any]:
    """An edit as a client sends it."""

    def position(offset: int) -> dict[str, int]:
        line = text[:offset].rpartition("\n")[2]
        units = len(line.encode("utf-16-le")) // 2
        return {"line": text[:offset].count("\n"), "character": units}

    return {"range": {"start": position(start), "end": position(end)}, "text": new}


# Life and death --------------------------------------------------------------------------------


def test_a_file_that_changes_on_disk_is_read_again(tmp_path: Path) -> None:
    with running(SERVER, write_project(tmp_path)) as client:
        uri = client.uri("ops.py")
        client.wait_for(client.uri("g.cpp"), {"OW504"})
        (tmp_path / "ops.py").write_text(BAD, "utf-8")
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})
        client.wait_for(uri, OTHER_DEFAULT)
        (tmp_path / "ops.py").unlink()
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 3}]})
        client.wait_for(uri, set())


def test_a_large_workspace_is_indexed(tmp_path: Path) -> None:
    write_project(tmp_path)
    for number in range(400):  # so many that the linter would start workers
        (tmp_path / f"use_{number}.py").write_text(USE, "utf-8")
    with running(SERVER, tmp_path) as client:
        client.wait_for(client.uri("g.cpp"), {"OW504"})
        at = client.at(client.uri("use.py"), *place(USE, "torch.ops.mylib.sc|ale("))
        found = client.request(
            "textDocument/references", {**at, "context": {"includeDeclaration": True}}
        )
        assert len(found) == 404


def test_the_server_ends_when_its_client_is_killed(tmp_path: Path) -> None:
    client = Client(SERVER, tmp_path)
    client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert client.process.stdin is not None
    assert client.process.stdout is not None
    client.process.stdin.close()
    try:
        assert client.process.wait(20) is not None
    finally:
        client.process.kill()
        client.reader.join()
        client.process.stdout.close()


def test_without_pygls_one_sentence_says_what_to_install() -> None:
    hidden = (
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pygls', 'lsprotocol'):\n"
        "            raise ModuleNotFoundError(name, name=name.split('.')[0])\n"
        "sys.meta_path.insert(0, Hide())\n"
        "from opwright.cli import main; sys.exit(main(['lsp']))"
    )
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "Error: the language server needs pygls: pip install 'opwright[lsp]'\n"
