"""The C++ scanner: what is registered where, whatever the text around it looks like."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import tree_sitter_cpp
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from opwright.survey.cpp import CppNames, Header, read_cpp
from opwright.survey.cpp_text import Source
from opwright.survey.cpp_types import find_signature, read_type
from opwright.survey.facts import Definition, Implementation


def shown(text: str, **names: dict[str, str]) -> list[str]:
    """Each fact of a text in one line."""
    return [line(fact) for fact in read_cpp(text, "a.cpp", CppNames(**names))]


def line(fact: Definition | Implementation) -> str:
    guards = "".join(f" if {guard}" for guard in fact.guards)
    if isinstance(fact, Definition):
        return f"def {fact.name}: {fact.text.value if fact.text else head(fact)}{guards}"
    return f"impl {fact.name} {fact.role.value} {fact.key or '-'}: {head(fact)}{guards}"


def head(fact: Definition | Implementation) -> str:
    if fact.signature is None:
        return "hidden"
    parameters = ", ".join(f"{p.type or '??'} {p.name}" for p in fact.signature.parameters)
    returns = fact.signature.returns
    return f"({parameters}) -> {'??' if returns is None else ', '.join(map(str, returns)) or '()'}"


CASES = {
    'TORCH_LIBRARY(ns, m) { m.def("f(Tensor x) -> Tensor"); }': [
        "def ns::f: f(Tensor x) -> Tensor"
    ],
    'TORCH_LIBRARY_FRAGMENT(ns, m) { m.def("f(Tensor x," // why\n " int n) -> ()"); }': [
        "def ns::f: f(Tensor x, int n) -> ()"
    ],
    'STABLE_TORCH_LIBRARY_FRAGMENT(ns, ops) { ops.def("f() -> ()"); }': ["def ns::f: f() -> ()"],
    'TORCH_LIBRARY_EXPAND(CONCAT, m) { m.def("f() -> ()"); }': ["def CONCAT::f: f() -> ()"],
    '#define NS vllm\nTORCH_LIBRARY_EXPAND(NS, m) { m.def("f() -> ()"); }': [
        "def vllm::f: f() -> ()"
    ],
    'TORCH_LIBRARY(ns, m) { m.def(R"x(f(str s=")") -> ())x"); m.def("g() -> ()"); }': [
        'def ns::f: f(str s=")") -> ()',
        "def ns::g: g() -> ()",
    ],
    'TORCH_LIBRARY(ns, m) { /* m.def("a() -> ()"); */ // m.def("b() -> ()");\n }': [],
    'const char* s = "TORCH_LIBRARY(ns, m) { m.def(\\"f() -> ()\\"); }";': [],
    "#define MY(NAME) TORCH_LIBRARY(NAME, m) { }": [],
    'PYBIND11_MODULE(ns, m) { m.def("f", &f); }': [],
    'TORCH_LIBRARY(ns, m) {\n#ifdef USE_ROCM\nm.def("f() -> ()");\n#else\nm.def("f() -> int");\n'
    "#endif\n}": [
        "def ns::f: f() -> () if defined(USE_ROCM)",
        "def ns::f: f() -> int if not (defined(USE_ROCM))",
    ],
    '#define PAGE 64\nTORCH_LIBRARY(ns, m) { m.def("f(int n=" STRING(PAGE) ") -> ()"); }': [
        "def ns::f: f(int n=64) -> ()"
    ],
    'TORCH_LIBRARY(ns, m) { m.def("f(int n=" STRING(PAGE) ") -> ()"); }': ["def ns::f: hidden"],
    'at::Tensor f(const at::Tensor& x, int64_t n) { return x; }\n'
    'TORCH_LIBRARY(ns, m) {m.def("f", &f);}': [
        "def ns::f: (Tensor x, int n) -> Tensor"
    ],
    'void f(at::Tensor& out);\nTORCH_LIBRARY(ns, m) { m.def("f", TORCH_FN(a::f)); }': [
        "def ns::f: (Tensor out) -> ()"
    ],
    'int g() { return f(1); }\nTORCH_LIBRARY(ns, m) { m.def("f", &f); }': ["def ns::f: hidden"],
    'TORCH_LIBRARY(ns, m) { m.def("f", [](std::vector<double> x) -> bool { return x; }); }': [
        "def ns::f: (float[] x) -> bool"
    ],
    'auto f(c10::SymInt n) -> std::tuple<at::Tensor, bool> { }\n'
    'TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("f", &f); }': [
        "impl ns::f kernel CUDA: (SymInt n) -> Tensor, bool"
    ],
    'TORCH_LIBRARY_IMPL(ns, Meta, m) { m.impl("f", TORCH_BOX(&f)); }': [
        "impl ns::f fake Meta: hidden"
    ],
    'TORCH_LIBRARY(ns, m) { m.impl("f", torch::kCUDA, &f); '
    'm.impl("g", dispatch(c10::kCPU, &g)); }': [
        "impl ns::f kernel CUDA: hidden",
        "impl ns::g kernel CPU: hidden",
    ],
    'TORCH_LIBRARY(ns, m) { m.def("f() -> ()"': [],
    'TORCH_LIBRARY(ns, m) { m.def("other::f() -> ()"); }': [
        "def other::f: other::f() -> ()"
    ],
    'int x = 1\'000\'000; char c = \'"\';\nTORCH_LIBRARY(ns, m) { m.def("f() -> ()"); }': [
        "def ns::f: f() -> ()"
    ],
    'at::Tensor f(at::Tensor x) { return x; }\n'
    'static auto r = torch::RegisterOperators().op("ns::f", &f).op("ns::g(int n) -> ()", &g);': [
        "def ns::f: (Tensor x) -> Tensor",
        "def ns::g: ns::g(int n) -> ()",
    ],
    'static torch::RegisterOperators r("ns::f(int n) -> ()", &f);': [
        "def ns::f: ns::f(int n) -> ()"
    ],
    'static auto r = c10::RegisterOperators().op(c10::RegisterOperators::options()\n'
    '.schema("ns::f(int n) -> ()").kernel<decltype(f), &f>(DispatchKey::CPU));': [
        "def ns::f: ns::f(int n) -> ()"
    ],
    'static auto r = c10::RegisterOperators().op("f", &f).op(name(), &f); // .op("ns::g", &g)': [],
}  # fmt: skip


@pytest.mark.parametrize(("text", "facts"), CASES.items(), ids=CASES)
def test_cases(text: str, facts: list[str]) -> None:
    assert shown(text) == facts


def test_settings_know_what_the_file_does_not() -> None:
    text = 'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("f(int n=" STRING(PAGE) ") -> ()"); }'
    known = {"macros": {"PAGE": "16"}, "namespaces": {"TORCH_EXTENSION_NAME": "_C"}}
    assert shown(text, **known) == ["def _C::f: f(int n=16) -> ()"]


def test_a_signature_is_found_in_an_included_header() -> None:
    header = Header("ops.h", Source.of("at::Tensor f(at::Tensor x);"))
    text = '#include "ops.h"\nTORCH_LIBRARY(ns, m) { m.def("f", &f); }'
    (found,) = read_cpp(text, "a.cpp", headers={"ops.h": header}.get)
    assert line(found) == "def ns::f: (Tensor x) -> Tensor"
    assert found.signature is not None
    assert found.signature.span.file == "ops.h"


def test_the_schema_knows_where_each_of_its_characters_stands() -> None:
    text = 'TORCH_LIBRARY(ns, m) {\n  m.def("f(Tensor x, "\n        "int n) -> ()");\n}'
    (found,) = read_cpp(text, "a.cpp")
    assert isinstance(found, Definition)
    assert found.text is not None
    at = found.text.value.index("int")
    assert str(found.text.span(at, at + 3)) == "a.cpp:3:10"
    assert str(found.span) == "a.cpp:2:10"


TYPES = {
    "const at::Tensor&": "Tensor",
    "torch::Tensor &": "Tensor",
    "torch::stable::Tensor": "Tensor",
    "std::optional<at::Tensor> const&": "Tensor?",
    "c10::List<std::optional<at::Tensor>>": "Tensor?[]",
    "at::OptionalIntArrayRef": "int[]?",
    "std::array<bool, 3>": "bool[3]",
    "c10::Dict<std::string, at::Tensor>": "Dict(str, Tensor)",
    "std::string_view": "str",
    "int": "None",
    "float": "None",
    "at::Tensor*": "None",
    "T": "None",
    "std::vector<T>": "None",
    "mine::Tensor": "None",
}


@pytest.mark.parametrize(("text", "kind"), TYPES.items(), ids=TYPES)
def test_types(text: str, kind: str) -> None:
    assert str(read_type(text)) == kind


def test_overloads_of_one_name_are_not_guessed_between() -> None:
    source = Source.of("int64_t f(int64_t a);\nbool f(bool a);\nint64_t g(int64_t a);")
    assert find_signature(source, "a.h", "f") is None
    assert find_signature(source, "a.h", "g") is not None


# The oracle: a real C++ grammar finds the same calls.

PARSER = Parser(Grammar(tree_sitter_cpp.language()))
NAMES = st.sampled_from(["f", "g_out", "h2"])
CALLS = st.builds('m.def("{}(Tensor x) -> Tensor");'.format, NAMES)
NOISE = st.sampled_from(
    [
        '// m.def("no() -> ()");\n',
        '/* m.def("no() -> ()"); */',
        'const char* s = "m.def(";',
        "auto l = [](int a) { return (a); };",
        'const char* r = R"x(m.def("no"))x";',
        "if (a < b && c > d) { a = '\"'; }",
        "int k = 1'000;",
        "\n#ifdef A\n",
        "\n#else\n",
        "\n#endif\n",
        "{ }",
    ]
)  # fmt: skip
BODIES = st.lists(CALLS | NOISE, max_size=12).map(" ".join)


def _calls(node: Node) -> Iterator[str]:
    if node.type == "call_expression":
        function, arguments = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        )
        if function is not None and function.text == b"m.def" and arguments is not None:
            literal = arguments.named_children[0].text
            assert literal is not None
            yield literal.decode()[1:].partition("(")[0]
    for child in node.children:
        yield from _calls(child)


@given(BODIES)
def test_a_grammar_of_cpp_finds_the_same(body: str) -> None:
    text = f"TORCH_LIBRARY(ns, m) {{ {body} }}"
    tree = PARSER.parse(f"void ns() {{ {body} }}".encode())
    if tree.root_node.has_error:
        return
    assert [fact.name for fact in read_cpp(text)] == [
        f"ns::{name}" for name in _calls(tree.root_node)
    ]


def test_the_oracle_can_see_a_difference() -> None:
    tree = PARSER.parse(b'void ns() { m.def("f() -> ()"); }')
    assert list(_calls(tree.root_node)) == ["f"] != [f.name for f in read_cpp("")]


# Nothing brings it down.


@given(
    st.text()
    | st.lists(
        st.sampled_from([*"{}()\"'\\\n/*#R,m<>", "TORCH_LIBRARY(a, m)", "m.def(", "#if"])
    ).map("".join)
)
def test_any_text_is_read(text: str) -> None:
    list(read_cpp(text))
    assert len(Source.of(text).code) == len(text)


WORST = {
    "brackets": "(" * 300_000,
    "quotes": '"' * 300_001,
    "raw strings": 'R"(' * 100_000,
    "comments": "/*" * 150_000,
    "backslashes": "\\" * 300_001,
    "blocks": 'TORCH_LIBRARY(a, m) { m.def("f' * 10_000,
    "closed blocks": "TORCH_LIBRARY(a, m) {" * 10_000 + "}" * 10_000,
    "conditions": "#if A\n" * 30_000 + "#elif B\n" * 30_000,
    "angles": "T f(" + "A<" * 100_000 + ");",
    "one line": 'TORCH_LIBRARY(a, m) { m.def("f() -> ()"); }' + "x" * 300_000,
    "spaces": " " * 300_000 + "#",
    "functions": "TORCH_LIBRARY(a, m) {" + 'm.def("f", &f);' * 20 + "}"
    + "at::Tensor f(at::Tensor x);\n" * 10_000,
}  # fmt: skip


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_time_is_linear(text: str) -> None:
    def seconds(sample: str) -> float:
        start = time.perf_counter()
        list(read_cpp(sample))
        return time.perf_counter() - start

    assert seconds(text) < 60 * max(seconds(text[: len(text) // 8]), 0.02)
