"""The engine: what it reads, what it never trips over, and what it never does."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opwright.lint.catalog import RULES
from opwright.lint.engine import Report, lint
from opwright.lint.files import walk
from opwright.lint.settings import Project, Settings

GOOD = 'import torch\nlib = torch.library.Library("mylib", "DEF")\n'


def run(folder: Path, *paths: str, **given: object) -> Report:
    settings = Settings(**given)  # type: ignore[arg-type]
    return lint(paths or [str(folder)], Project(folder, settings))


def codes(report: Report) -> list[str]:
    return [found.code for found in report.findings]


# What is read


def test_excluded_folders_and_links_are_not_read(tmp_path: Path) -> None:
    for name in ("a", "build", "skip/deep"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.py").write_text(GOOD)
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    project = Project(tmp_path, Settings(extend_exclude=("skip/*",)))
    assert [Path(file).name for file in walk([str(tmp_path)], project)] == ["x.py"]


def test_a_file_that_is_named_is_read_even_if_excluded(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    file = tmp_path / "build" / "x.py"
    file.write_text(GOOD)
    assert codes(run(tmp_path, str(file))) == ["OW502"]


def test_a_file_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(GOOD)
    assert run(tmp_path, str(file), str(tmp_path), str(file)).files == 1


def test_per_file_ignores(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(GOOD)
    assert codes(run(tmp_path, per_file_ignores={"*.py": ("OW5",)})) == []
    assert codes(run(tmp_path, per_file_ignores={"*.cpp": ("OW5",)})) == ["OW502"]


def test_texts_stand_for_files(tmp_path: Path) -> None:
    report = lint([], Project(tmp_path), texts={"editor.py": GOOD.encode()})
    assert [str(found.span) for found in report.findings] == ["editor.py:2:7"]


def test_workers_find_what_one_process_finds(tmp_path: Path) -> None:
    for number in range(400):
        text = GOOD.replace("mylib", f"lib{number}") if number % 7 == 0 else "x = 1\n"
        (tmp_path / f"m{number:03}.py").write_text(text)
    (tmp_path / "call.py").write_text("import torch\ntorch.ops.lib7.nothing(1)\n")
    one = lint([str(tmp_path)], Project(tmp_path), jobs=1)
    two = lint([str(tmp_path)], Project(tmp_path), jobs=2)
    assert len(one.findings) == 58
    assert two.findings == one.findings


# What it never trips over

FILES = {
    "latin.py": b"# -*- coding: latin-1 -*-\nimport torch.library\nx = '\xe9'\n",
    "broken_encoding.py": b"import torch.library\nx = '\xff\xfe'\n",
    "unknown_encoding.py": b"# -*- coding: klingon -*-\nimport torch.library\n",
    "utf16.py": "import torch.library\n".encode("utf-16"),
    "bom.py": b"\xef\xbb\xbf" + GOOD.encode(),
    "null.py": b"import torch.library\n\x00\n",
    "half.py": b"import torch\n@torch.library.custom_op('a::b', mutates_args=",
    "deep.py": b"import torch.library\nx = " + b"(" * 5000 + b")" * 5000 + b"\n",
    "deep_sum.py": b"import torch.library\ntorch.library.define(" + b"1+" * 20_000 + b"1)\n",
    "deep_calls.py": b"import torch.library\n" + b"f(" * 80 + b"register_op(1)" + b")" * 80 + b"\n",
    "deep_blocks.py": b"import torch.library\n"
    + b"".join(b" " * n + b"while 1:\n" for n in range(90))
    + b" " * 90
    + b"torch.library.define('a::b', x)\n",
    "long_line.py": b"import torch.library\nx = [" + b"1, " * 3_000_000 + b"]\n",
    "empty.py": b"",
    "carriage.py": GOOD.replace("\n", "\r").encode(),
    "long_line.cpp": b'TORCH_LIBRARY(a, m) { m.def("f' + b"(" * 10_000_000,
    "null.cu": b'TORCH_LIBRARY(a, m) { m.def("f() -> ()\x00"); }\xff',
    "half.cpp": b'TORCH_LIBRARY(a, m) { m.def("f(Tensor x',
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_files_never_stop_the_rest(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    (tmp_path / "good.py").write_text(GOOD)
    report = run(tmp_path)
    assert any(Path(found.span.file).name == "good.py" for found in report.findings)


def test_unreadable_files_are_findings(tmp_path: Path) -> None:
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "good.py").write_text(GOOD)
    assert codes(run(tmp_path)) == ["OW900", "OW502"] or codes(run(tmp_path)) == [
        "OW502",
        "OW900",
    ]


MODULES = st.lists(
    st.sampled_from(
        [
            "import torch",
            "from torch.library import Library, custom_op, impl",
            'lib = torch.library.Library("a", "FRAGMENT")',
            'lib.define("f(Tensor x, int n=3) -> Tensor")',
            'lib.define(f"{name}(Tensor x) -> Tensor")',
            'lib.define("f(" + lib)',
            'lib.impl("f", f, "CPU")',
            "lib.impl(*f)",
            "lib.impl()",
            "@lib.impl",
            '@torch.library.custom_op("a::f", mutates_args=("x",))',
            "@torch.library.custom_op",
            "@torch.library.custom_op()",
            '@torch.library.register_fake("a::f")',
            "@f.register_fake",
            "def f(x: torch.Tensor, *, n: int = 3) -> torch.Tensor: return x.add_(n)",
            "def f(x, *a, **k): return f(*a)",
            "f = f",
            "lib = lib",
            "f = lambda x: f",
            "class A: x = lib.define('g() -> ()')",
            "for f in f: lib.define(f)",
            'for n, g in [("a", f), ("b", 1)]: lib.define(n)',
            "torch.ops.a.f(1, n=2)",
            "torch.ops.a.f.default(*x)",
            "torch.library.register_autograd('a::f', f, setup_context=f)",
            "f.register_autograd(lambda ctx, g: (g, None))",
        ]
    ),
    max_size=12,
)


@given(MODULES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_module_is_judged(lines: list[str]) -> None:
    text = "\n".join(lines)
    lint([], Project(Path("/"), Settings(select=("ALL",))), texts={"m.py": text.encode()})


@given(st.sampled_from(sorted(RULES)), st.data())
def test_any_part_of_an_example_is_judged(code: str, data: st.DataObject) -> None:
    example = RULES[code].bad
    files = {"ops.py": example} if isinstance(example, str) else dict(example)
    for name, text in files.items():
        cut = data.draw(st.integers(0, len(text)))
        files[name] = text[:cut]
    texts = {name: text.encode() for name, text in files.items()}
    lint([], Project(Path("/"), Settings(select=("ALL",))), texts=texts)


def test_the_tests_of_python_itself_are_read() -> None:
    """Files written to break readers of Python."""
    folder = Path(os.__file__).parent / "test"
    files = sorted(folder.glob("test_*.py"))[:40] if folder.is_dir() else []
    if not files:
        folder = Path(os.__file__).parent
        files = sorted(folder.glob("*.py"))[:40]
    texts = {f"{f.name}": f.read_bytes() + b"\nimport torch.library\n" for f in files}
    report = lint([], Project(Path("/"), Settings(select=("ALL",))), texts=texts)
    assert report.files == len(files) > 20


# What it never does

PROBE = """
import builtins, os, sys
target = os.path.realpath(sys.argv[1])
seen = []
def hook(event, args):
    if event in ("import", "exec", "compile", "open", "os.system", "subprocess.Popen"):
        seen.append((event, args))
from pathlib import Path
from opwright.lint import catalog, document, surveying
from opwright.lint.engine import lint
from opwright.lint.settings import Project
import opwright.survey.sites, opwright.survey.cpp
sys.path.insert(0, target)
sys.addaudithook(hook)
report = lint([target], Project(Path(target)), jobs=1)
inside = [(e, a) for e, a in seen if e == "open" and str(a[0]).startswith(target)]
assert inside, "the hook saw no file opened: it proves nothing"
writing = [a for e, a in inside if a[1] not in ("r", "rb", None)]
imported = [a for e, a in seen if e == "import" and a[0].startswith("evil")]
executed = [a for e, a in seen if e == "exec" and target in str(getattr(a[0], "co_filename", ""))]
started = [e for e, a in seen if e in ("os.system", "subprocess.Popen")]
print(len(report.findings), writing, imported, executed, started, "evil" in sys.modules)
"""


def test_nothing_of_the_code_base_is_imported_executed_or_written(tmp_path: Path) -> None:
    evil = "import torch, sys\nsys.exit('executed')\n"
    (tmp_path / "evil.py").write_text(evil + 'lib = torch.library.Library("a", "DEF")\n')
    (tmp_path / "evil2.py").write_text("from evil import lib\n" + GOOD + 'lib.define("f() -> ()")')
    (tmp_path / "conftest.py").write_text(evil)
    (tmp_path / "sitecustomize.py").write_text(evil)
    done = subprocess.run(
        [sys.executable, "-I", "-c", textwrap.dedent(PROBE), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "2 [] [] [] [] False\n"


# What settings tell it

WRAPPED = """import torch
from vendor.tools import make_it, pretend

@make_it("mylib::f", mutates_args=())
def f(x: torch.Tensor, n: int = 3) -> torch.Tensor:
    return x.clone()

@pretend("mylib::f")
def _(x, n=4):
    return torch.empty_like(x)
"""


def test_settings_name_callables_that_no_reader_knows(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(WRAPPED)
    assert codes(run(tmp_path)) == []
    known = {
        "define_functions": ("vendor.tools.make_it",),
        "fake_decorators": ("vendor.tools.pretend",),
    }
    assert codes(run(tmp_path, **known)) == ["OW304"]


def test_settings_name_namespaces_and_macros_of_cpp(tmp_path: Path) -> None:
    (tmp_path / "moe").mkdir()
    (tmp_path / "moe" / "ops.cu").write_text(
        'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("f(int n=" STRING(PAGE) ") -> int"); }'
    )
    (tmp_path / "call.py").write_text("import torch\ntorch.ops._moe_C.f(1, 2)\n")
    assert codes(run(tmp_path)) == []
    known = {"namespace_map": {"moe/**": "_moe_C"}, "macros": {"PAGE": "16"}}
    report = run(tmp_path, **known)
    assert codes(report) == ["OW602"]
    assert report.findings[0].related[0].message == "the schema: `_moe_C::f(int n=16) -> int`"
