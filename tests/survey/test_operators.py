"""What a survey finds in Python files: each form of registering, and what it says of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opwright.survey.operators import Operator, Unreadable, operators

HEAD = """
import functools
import torch
from torch import Tensor
from torch.library import Library, custom_op, infer_schema, triton_op
lib = Library("quant", "FRAGMENT")
NAME = "op"
"""
F = "def f(x: Tensor, n: int = 3) -> Tensor: ..."
SCHEMA = "(Tensor x, SymInt n=3) -> Tensor"
FORMS = {
    "decorator": (f"@custom_op('a::f', mutates_args=())\n{F}", f"a::f{SCHEMA}"),
    "long path": (f"@torch.library.custom_op('a::f', mutates_args=())\n{F}", f"a::f{SCHEMA}"),
    "private path": (
        f"from torch._library.custom_ops import custom_op as c\n@c('a::f', mutates_args=())\n{F}",
        f"a::f{SCHEMA}",
    ),
    "triton_op": (f"@triton_op('a::f', mutates_args={{}})\n{F}", f"a::f{SCHEMA}"),
    "private triton_op": (
        f"import torch._library.triton as t\n@t.triton_op('a::f', mutates_args={{}})\n{F}",
        f"a::f{SCHEMA}",
    ),
    "ours": (f"import opwright as ow\n@ow.op('a::f')\n{F}", f"a::f{SCHEMA}"),
    "called with the function": (f"{F}\ncustom_op('a::f', f, mutates_args=())", f"a::f{SCHEMA}"),
    "applied to the function": (
        f"{F}\ng = custom_op('a::f', mutates_args=())(f)",
        f"a::f{SCHEMA}",
    ),
    "under its own name": (f"{F}\nf = custom_op('a::f', mutates_args=())(f)", f"a::f{SCHEMA}"),
    "partial": (
        f"{F}\ncustom_op('a::f', functools.partial(f, n=2), mutates_args=())",
        "a::f(Tensor x) -> Tensor",
    ),
    "constant name": (f"@custom_op('a::' + NAME, mutates_args=())\n{F}", f"a::op{SCHEMA}"),
    "f-string name": (f"@custom_op(f'a::{{NAME}}_1', mutates_args=())\n{F}", f"a::op_1{SCHEMA}"),
    "in a function": (
        f"def make():\n    import torch\n    @custom_op('a::f', mutates_args=())\n    {F}",
        f"a::f{SCHEMA}",
    ),
    "in a branch": (
        f"try:\n    @custom_op('a::f', mutates_args=())\n    {F}\nexcept E: pass",
        f"a::f{SCHEMA}",
    ),
    "tuple of writes": (
        "@custom_op('a::f', mutates_args=('x',))\ndef f(x: Tensor) -> None: ...",
        "a::f(Tensor(a!) x) -> ()",
    ),
    "set of writes": (
        "W = {'x'}\n@custom_op('a::f', mutates_args=W)\ndef f(x: Tensor) -> None: ...",
        "a::f(Tensor(a!) x) -> ()",
    ),
    "unknown writes": (
        "@custom_op('a::f', mutates_args='unknown')\ndef f(x: list[Tensor], n: int) -> None: ...",
        "a::f(Tensor(a!)[] x, SymInt n) -> ()",
    ),
    "infer_schema in place": (
        f"{F}\nlib.define('f' + infer_schema(f, mutates_args=()))",
        f"quant::f{SCHEMA}",
    ),
    "helper that defines": (
        "def register(op_name, op_func, mutates_args, target=None):\n"
        "    mine = target or lib\n"
        "    text = infer_schema(op_func, mutates_args=mutates_args)\n"
        "    mine.define(op_name + text)\n"
        f"{F}\nregister(op_name='f', op_func=f, mutates_args=[])",
        f"quant::f{SCHEMA}",
    ),
    "helper that decorates": (
        "def register(name):\n    def decorator(func):\n"
        "        return custom_op(f'a::{name}', mutates_args=())(func)\n    return decorator\n"
        f"@register('f')\n{F}",
        f"a::f{SCHEMA}",
    ),
    "helper kept in a name": (
        "def maker(ns):\n    def decorator(fn):\n"
        "        return custom_op(ns + '::' + fn.__name__, mutates_args=())(fn)\n"
        "    return decorator\nregister = maker('a')\n"
        f"@register\n{F}",
        f"a::f{SCHEMA}",
    ),
    "helper of a helper": (
        "def inner_op(name, fn):\n    return custom_op(name, fn, mutates_args=())\n"
        f"def register(fn):\n    return inner_op('a::' + fn.__name__, fn)\n@register\n{F}",
        f"a::f{SCHEMA}",
    ),
}


def surveyed(tmp_path: Path, text: str, head: str = HEAD) -> list[Operator]:
    file = tmp_path / "ops.py"
    file.write_text(head + text)
    found = list(operators(file))
    assert all(isinstance(one, Operator) for one in found), found
    return [one for one in found if isinstance(one, Operator)]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_found(form: str, tmp_path: Path) -> None:
    text, schema = FORMS[form]
    (found,) = surveyed(tmp_path, text)
    assert str(found.schema) == schema


NOTHING = {
    "a function of that name": "def custom_op(name, **k): return lambda f: f\n"
    f"@custom_op('a::f', mutates_args=())\n{F}",
    "another package's": f"from other import custom_op\n@custom_op('a::f')\n{F}",
    "a fake": f"@torch.library.register_fake('a::f')\n{F}",
    "a helper alone": "def register(name, fn):\n    custom_op(name, fn, mutates_args=())",
    "a decorator kept": "register = custom_op('a::f', mutates_args=())",
}


@pytest.mark.parametrize("text", NOTHING)
def test_what_registers_nothing(text: str, tmp_path: Path) -> None:
    assert surveyed(tmp_path, NOTHING[text]) == []


REFUSED = {
    "@custom_op('a::f', mutates_args=())\ndef f(x: dict, y: set) -> Tensor: ...": [
        (9, 10, "OW102", "'x' of a::f: dict has no schema type"),
        (9, 19, "OW102", "'y' of a::f: set has no schema type"),
    ],
    "custom_op('a::f', elsewhere, mutates_args=())": [
        (8, 1, "OW903", "a::f: which function this registers is known only when it runs"),
    ],
    "from pack import g\ncustom_op('a::f', g, mutates_args=())": [
        (9, 1, "OW903", "a::f registers pack.g, which is not in these files"),
    ],
    f"@custom_op('a::f', mutates_args=compute())\n{F}": [
        (8, 2, "OW904", "a::f: mutates_args is known only when the code runs"),
    ],
    f"@custom_op('a::f', mutates_args=('y',))\n{F}": [
        (9, 5, "OW115", "mutates_args of f names 'y', which is no parameter"),
    ],
    f"@custom_op('a::f', mutates_args='x')\n{F}": [(9, 5, "OW115", "mutates_args of f is 'x'")],
    f"@custom_op('a::f', mutates_args=(), schema='(Tensor x, int n=3) -> Tensor')\n{F}": [
        (
            *(8, 44, "OW202"),
            "'n' is `int` in the schema, `SymInt` by its annotation: compiled anew for each value",
        ),
    ],
    f"S = '(Tensor y'\n@custom_op('a::f', mutates_args=(), schema=S)\n{F}": [
        (8, 15, "OW002", "expected `,` or `)` but the text ends"),
    ],
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_wrong_is_said_where_it_stands(text: str, tmp_path: Path) -> None:
    (found,) = surveyed(tmp_path, text)
    said = [(f.span.line, f.span.column, f.code, f.message) for f in found.findings]
    assert said == REFUSED[text]


def test_a_name_with_a_hole_keeps_what_is_known(tmp_path: Path) -> None:
    text = f"def make(kind):\n    @custom_op(f'a::{{kind}}_f', mutates_args=())\n    {F}"
    (found,) = surveyed(tmp_path, text)
    assert (found.name, str(found.schema)) == ("a::{kind}_f", f"a::__f{SCHEMA}")


def test_helpers_are_found_across_files(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from .deep import kernelise\n")
    (package / "deep.py").write_text(
        f"{HEAD}\ndef kernelise(name):\n"
        "    return lambda fn: fn\n"
        "def register(name, fn):\n    return custom_op(name, fn, mutates_args=())\n"
    )
    (package / "ops.py").write_text(
        f"from torch import Tensor\nfrom pack import deep\n{F}\ndeep.register('a::f', f)\n"
    )
    (found,) = [one for one in operators(tmp_path) if isinstance(one, Operator)]
    assert (str(found.schema), found.via) == (f"a::f{SCHEMA}", "pack.deep.register")
    assert found.function is not None
    assert found.function.module == "pack.ops"


def test_files_that_cannot_be_read_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    bad = {
        "nul.py": b"custom_op\0",
        "half.py": b"@custom_op('a::f'",
        "latin.py": b"custom_op = '\xff'",
        "cookie.py": b"# coding: nonsense\ncustom_op = 1",
        "deep.py": b"custom_op = " + b"(" * 5000,
        "minus.py": b"custom_op = " + b"-" * 100_000 + b"1",
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "good.py").write_text(f"{HEAD}@custom_op('a::f', mutates_args=())\n{F}")
    found = list(operators(tmp_path))
    names = [one.path.name for one in found if isinstance(one, Unreadable)]
    codes = {f.code for one in found if isinstance(one, Unreadable) for f in one.findings}
    assert (sorted(names), codes) == (sorted(bad), {"OW900", "OW901"})
    assert [one.name for one in found if isinstance(one, Operator)] == ["a::f"]


def test_progress_counts_every_file(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"m{n}.py").write_text("")
    seen: list[tuple[int, int]] = []
    assert list(operators(tmp_path, lambda done, of: seen.append((done, of)))) == []
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_nothing_is_imported_or_executed(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    (tmp_path / "boobytrap.py").write_text(
        f"open({str(marker)!r}, 'w')\nfrom torch import Tensor\n"
    )
    text = (
        f"open({str(marker)!r}, 'w')\nfrom boobytrap import Tensor\nfrom torch.library import *\n"
    )
    file = tmp_path / "ops.py"
    file.write_text(f"{text}import torch\n@torch.library.custom_op('a::f', mutates_args=())\n{F}")
    before = set(sys.modules)
    (found,) = operators(file)
    assert isinstance(found, Operator)
    assert str(found.schema) == f"a::f{SCHEMA}"
    assert not marker.exists()
    assert "boobytrap" not in set(sys.modules) - before
