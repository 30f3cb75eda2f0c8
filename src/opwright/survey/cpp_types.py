"""The head of a C++ function read as a schema would have it.

Knows the types that torch accepts from a C++ kernel; any other type is UNKNOWN, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opwright.findings import Span
from opwright.frozen import frozen
from opwright.schema.kinds import Apply, Base, List, Maybe, Type
from opwright.schema.model import REQUIRED, Return
from opwright.survey.cpp_text import Source
from opwright.survey.facts import UNKNOWN, Language, Parameter, Signature

NAMES: dict[str, Type] = {
    "Tensor": Base("Tensor"),
    "int64_t": Base("int"),
    "SymInt": Base("SymInt"),
    "double": Base("float"),
    "SymFloat": Base("float"),
    "bool": Base("bool"),
    "SymBool": Base("SymBool"),
    "string": Base("str"),
    "string_view": Base("str"),
    "Scalar": Base("Scalar"),
    "ScalarType": Base("ScalarType"),
    "Device": Base("Device"),
    "Layout": Base("Layout"),
    "MemoryFormat": Base("MemoryFormat"),
    "Generator": Base("Generator"),
    "Stream": Base("Stream"),
    "TensorList": List(Base("Tensor")),
    "ITensorListRef": List(Base("Tensor")),
    "IntArrayRef": List(Base("int")),
    "SymIntArrayRef": List(Base("SymInt")),
    "OptionalIntArrayRef": Maybe(List(Base("int"))),
    "OptionalSymIntArrayRef": Maybe(List(Base("SymInt"))),
}
"""C++ name, without its namespace, to schema type."""

LISTS = {"vector", "ArrayRef", "List", "HeaderOnlyArrayRef"}
MAYBES = {"optional", "OptionalArrayRef"}
NAMESPACES = {"", "at", "c10", "std", "torch", "torch::stable", "torch::headeronly"}
QUALIFIER = re.compile(r"\b(?:const|volatile|typename|struct|class)\b|&")
HEAD = re.compile(r"(?P<space>(?:::)?(?:\w+::)*)(?P<name>\w+)")


def read_type(text: str) -> Type | None:
    """The schema type of a C++ parameter type; None where this reader does not know it.

    >>> print(read_type("const std::optional<at::Tensor>&"), read_type("at::ArrayRef<double>"))
    Tensor? float[]
    >>> read_type("int"), read_type("my::Tensor"), read_type("at::Tensor*")
    (None, None, None)
    """
    plain = " ".join(QUALIFIER.sub(" ", text).split())
    match = HEAD.match(plain)
    if match is None or match["space"].strip(":") not in NAMESPACES:
        return None
    rest = plain[match.end() :].strip()
    if not rest:
        return NAMES.get(match["name"])
    if not (rest.startswith("<") and rest.endswith(">")):
        return None
    return _applied(match["name"], [read_type(part) for part in split(rest[1:-1])], rest)


def _applied(name: str, parts: list[Type | None], rest: str) -> Type | None:
    """A template with its arguments."""
    known = [part for part in parts if part is not None]
    if name == "array" and len(parts) == 2 and parts[0] is not None:
        size = rest[1:-1].rpartition(",")[2].strip()
        return List(parts[0], int(size)) if size.isdecimal() else None
    if len(known) != len(parts):
        return None
    match len(known):
        case 1 if name in LISTS:
            return List(known[0])
        case 1 if name in MAYBES:
            return Maybe(List(known[0]) if name == "OptionalArrayRef" else known[0])
        case 2 if name == "Dict":
            return Apply("Dict", tuple(known))
        case _ if name == "tuple":
            return Apply("", tuple(known))
    return None


def read_returns(text: str) -> tuple[Return, ...] | None:
    """The results of a C++ function, from its return type.

    >>> print(*read_returns("std::tuple<at::Tensor, int64_t>"))
    Tensor int
    """
    if QUALIFIER.sub(" ", text).strip() == "void":
        return ()
    match read_type(text):
        case None:
            return None
        case Apply("", of):
            return tuple(map(Return, of))
        case kind:
            return (Return(kind),)


def split(text: str) -> list[str]:
    """Split at the commas outside of any bracket, angle brackets included.

    >>> split("std::tuple<int, int> a, b = f(1, 2)")
    ['std::tuple<int, int> a', ' b = f(1, 2)']
    """
    parts, depth, start = [], 0, 0
    for match in SEPARATOR.finditer(text):
        char = match.group()
        if char == "," and depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
        depth += (char in "<([{") - (char in ">)]}")
    return [*parts, text[start:]]


SEPARATOR = re.compile(r"(?<!-)[<>(){}\[\],]")
ENDS_TYPE = re.compile(r"[;{}]|\b(?:public|private|protected)\s*:")
PREFIX = re.compile(
    r"""\b(?:static|inline|constexpr|extern|virtual|__host__|__global__|C10_EXPORT|TORCH_API
        |__attribute__\s*\(\([^()]*(?:\([^()]*\))?[^()]*\)\)|extern\s+"\s*")(?!\w)
        |\[\[[^\[\]]*\]\]|template\s*<[^<>]*>""",
    re.VERBOSE,
)
BEFORE = 600  # characters before a function's name that can belong to its head
NOT_TYPES = {"return", "new", "delete", "throw", "else", "case", "goto", "co_return", "using"}


@frozen
class Head:
    """Where a function's name and its opening bracket stand."""

    name: int
    opening: int


def find_signature(source: Source, file: str, name: str) -> Signature | None:
    """The signature of the function called `name`, if the file has just one."""
    plain = name.rpartition("::")[2]
    found = list(_signatures(source, file, plain))
    shapes = {(tuple((p.type, p.shown) for p in s.parameters), s.returns) for s in found}
    return found[0] if len(shapes) == 1 else None


def _signatures(source: Source, file: str, name: str) -> Iterator[Signature]:
    for start, opening in source.heads.get(name, ()):
        signature = _read(source, file, name, Head(start, opening))
        if signature is not None:
            yield signature


def _read(source: Source, file: str, name: str, head: Head) -> Signature | None:
    """Read what stands at a name and a bracket as a function head; None if it is a call."""
    closing = source.partners.get(head.opening)
    if closing is None or not AFTER.match(source.code, closing + 1):
        return None
    before = _before(source.code, head.name)
    trailing = TRAILING.match(source.code, closing + 1)
    result = trailing["type"].strip() if trailing and before == "auto" else before
    if not result or result.split()[0] in NOT_TYPES or not LOOKS_LIKE_TYPE.match(result):
        return None
    parameters = read_parameters(source, file, head.opening)
    span = span_of(source, file, head.name, head.name + len(name))
    returns = read_returns(result)
    return Signature(name, parameters, returns, span, Language.CPP, " ".join(result.split()))


AFTER = re.compile(r"\s*(?:const\b\s*)?(?:noexcept\b\s*)?(?:->[^;{}]*)?[;{]")
TRAILING = re.compile(r"\s*(?:const\b\s*)?(?:noexcept\b\s*)?->(?P<type>[^;{}]*)[;{]")
LOOKS_LIKE_TYPE = re.compile(r"(?:::)?[A-Za-z_][\w:<>,\s&*]*\Z")


def _before(code: str, end: int) -> str:
    """The text between the last statement and a function's name: its result type."""
    text = code[max(0, end - BEFORE) : end]
    cut = [match.end() for match in ENDS_TYPE.finditer(text)]
    text = PREFIX.sub(" ", text[cut[-1] if cut else 0 :])
    return re.sub(r"(?:\w+::)+\s*\Z", "", text).strip()


def read_parameters(source: Source, file: str, opening: int) -> tuple[Parameter, ...]:
    """The parameters between a bracket and its partner."""
    closing = source.partners[opening]
    at, found = opening + 1, []
    for text in split(source.code[opening + 1 : closing]):
        if text.strip() not in ("", "void"):
            found.append(_parameter(source, file, text, at))
        at += len(text) + 1
    return tuple(found)


DECLARATION = re.compile(r"(?P<type>.*?[\s&*>])(?P<name>[A-Za-z_]\w*)\s*\Z", re.DOTALL)


def _parameter(source: Source, file: str, text: str, at: int) -> Parameter:
    declared, assigned, _ = text.partition("=")
    match = DECLARATION.match(declared.rstrip())
    named = match is not None and match["name"] not in (*NAMES, "const", "int", "float")
    kind, name = (match["type"], match["name"]) if match and named else (declared, "")
    start = at + len(text) - len(text.lstrip())
    span = span_of(source, file, start, at + len(declared.rstrip()))
    default = UNKNOWN if assigned else REQUIRED
    shown = " ".join(kind.split())
    return Parameter(name, read_type(kind), span, default=default, shown=shown)


def span_of(source: Source, file: str, start: int, end: int) -> Span:
    """The place between two offsets of a file."""
    line, column = source.place(start)
    end_line, end_column = source.place(end)
    return Span(file, line, column, end_line, end_column)
