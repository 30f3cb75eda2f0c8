"""Where Python registers operators: every form, and what each gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from opwright.hints.resolve import Sources
from opwright.survey.facts import Call, Definition, Implementation, Library
from opwright.survey.sites import read_sites

HEAD = """import torch
from torch.library import Library, custom_op, impl, register_fake
lib = Library("ns", "FRAGMENT")
def fn(x: torch.Tensor, n: int = 3) -> torch.Tensor: return x + n
def setup(ctx, inputs, output): ...
"""


def facts(text: str) -> list[str]:
    """Each fact below the head in one line."""
    scope = Sources().open(Path("/nowhere/ops.py"), (HEAD + text).encode())
    return [shown(fact) for fact in read_sites(scope)[1:]]


def shown(fact: object) -> str:
    match fact:
        case Definition():
            what = fact.text.value if fact.text else fact.signature and fact.signature.name
            return f"def {fact.name}: {what}"
        case Implementation():
            head = fact.signature.name if fact.signature else "hidden"
            return f"{fact.role.value} {fact.name} {fact.key or '-'}: {head}"
        case Call():
            return f"call {fact.name} {fact.positional} {','.join(fact.keywords)}".rstrip()
        case Library():
            return f"library {fact.namespace} {fact.kind}{' dropped' if fact.dropped else ''}"
    raise AssertionError(fact)


FORMS = {
    'lib.define("f(Tensor x) -> Tensor")': ["def ns::f: f(Tensor x) -> Tensor"],
    'S = "f(Tensor x) -> " "Tensor"; lib.define(S)': ["def ns::f: f(Tensor x) -> Tensor"],
    'lib.define("f(" + "Tensor x) -> Tensor")': ["def ns::f: f(Tensor x) -> Tensor"],
    'N = "f"; lib.define(f"{N}(Tensor x) -> Tensor")': ["def ns::f: f(Tensor x) -> Tensor"],
    'torch.library.define("a::f", "(Tensor x) -> Tensor")': ["def a::f: (Tensor x) -> Tensor"],
    'for n in ("f", "g"):\n    lib.define(n + "(Tensor x) -> Tensor")': [
        "def ns::f: f(Tensor x) -> Tensor",
        "def ns::g: g(Tensor x) -> Tensor",
    ],
    'for n, g in [("f", fn)]: lib.impl(n, g, "CPU")': ["kernel ns::f CPU: fn"],
    'lib.impl("f", fn, "CUDA")': ["kernel ns::f CUDA: fn"],
    'lib.impl("f", fn, dispatch_key="Meta")': ["fake ns::f Meta: fn"],
    'lib._register_fake("f", fn)': ["fake ns::f -: fn"],
    '@impl(lib, "f", "CPU")\ndef g(x): ...': ["kernel ns::f CPU: g"],
    '@torch.library.impl("a::f", "Meta")\ndef g(x): ...': ["fake a::f Meta: g"],
    '@register_fake("a::f")\ndef g(x): ...': ["fake a::f -: g"],
    'register_fake("a::f", lambda x: x)': ["fake a::f -: the lambda"],
    'register_fake("a::f")(fn)': ["fake a::f -: fn"],
    "torch.library.register_fake(torch.ops.a.f.default, fn)": ["fake a::f -: fn"],
    'torch.library.register_autograd("a::f", fn, setup_context=setup)': [
        "backward a::f -: fn",
        "setup_context a::f -: setup",
    ],
    '@custom_op("a::f", mutates_args=())\ndef f(x: torch.Tensor) -> None: ...\n'
    '@f.register_fake\ndef _(x): ...\n@f.register_kernel("cuda")\ndef _(x): ...': [
        "def a::f: f",
        "fake a::f -: _",
        "kernel a::f cuda: _",
    ],
    'custom_op("a::f", fn, mutates_args=())': ["def a::f: fn"],
    'h = custom_op("a::f", fn, mutates_args=())\nh.register_fake(fn)': [
        "def a::f: fn",
        "fake a::f -: fn",
    ],
    "def reg(name, g):\n    lib.define(name + torch.library.infer_schema(g, mutates_args=()))\n"
    '    lib.impl(name, g, "CUDA")\nreg("f", fn)': ["def ns::f: fn", "kernel ns::f CUDA: fn"],
    "def fake(name):\n    def inner(g):\n        return register_fake(f'ns::{name}')(g)\n"
    "    return inner\n@fake('f')\ndef g(x): ...": ["fake ns::f -: g"],
    'def make():\n    mine = Library("b", "DEF")\n    mine.define("f() -> int")': [
        "library b DEF dropped",
        "def b::f: f() -> int",
    ],
    'def make():\n    global mine\n    mine = Library("b", "DEF")': ["library b DEF"],
    "torch.ops.ns.f(1, n=2)": ["call ns::f 1 n"],
    "torch.ops.ns.f.out(1, 2)": ["call ns::f.out 2"],
    "g = torch.ops.ns.f\ng(1)": ["call ns::f 1"],
    "def h(g):\n    g(1)\ng = torch.ops.ns.f": [],
    "if a:\n    g = torch.ops.ns.f\nelse:\n    g = torch.ops.ns.h\ng(1)": [],
    "def h():\n    g: object = torch.ops.ns.f.default\n    return g(1, n=2)": ["call ns::f 1 n"],
    'torch.ops.load_library("x.so")': [],
    "other.define('f() -> int')": [],
    "lib.define(unknown)": [],
}  # fmt: skip


@pytest.mark.parametrize(("text", "found"), FORMS.items(), ids=FORMS)
def test_forms(text: str, found: list[str]) -> None:
    assert facts(text) == found


def test_the_schema_knows_where_it_stands_across_lines() -> None:
    text = HEAD + 'lib.define(\n    "f(Tensor x, "\n    "int n) -> Tensor"\n)\n'
    scope = Sources().open(Path("/nowhere/ops.py"), text.encode())
    (found,) = [fact for fact in read_sites(scope) if isinstance(fact, Definition)]
    assert found.text is not None
    at = found.text.value.index("int n")
    assert str(found.text.span(at, at + 5)) == "/nowhere/ops.py:8:6"
