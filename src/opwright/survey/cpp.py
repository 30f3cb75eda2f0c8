"""Operators registered in C++, CUDA, HIP and Objective-C++: what `TORCH_LIBRARY` blocks say.

Reads text, compiles nothing; takes time linear in the length of a file. What a macro or a computed
string hides is left out or UNKNOWN, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from opwright.frozen import field, frozen
from opwright.survey.cpp_text import Literal, Source
from opwright.survey.cpp_types import find_signature, read_parameters, read_returns, span_of
from opwright.survey.facts import (
    Definition,
    Implementation,
    Language,
    Piece,
    Role,
    Signature,
    Text,
)

MARKS = (b"TORCH_LIBRARY", b"RegisterOperators")
"""What a file must hold, one of them, to register anything here."""

BLOCK = re.compile(r"\b(?P<macro>\w*TORCH_LIBRARY\w*)\s*\(")
REGISTRY = re.compile(r"\bRegisterOperators\b(?:\s+\w+)?\s*(?P<opening>\()")
CHAINED = re.compile(r"\s*\.\s*op\s*\(")
OPTIONS = re.compile(r"\.\s*schema\s*\(")
METHOD = r"\b{library}\s*\.\s*(?P<method>def|impl)\s*\("
FUNCTION = re.compile(r"&?\s*(?P<name>(?:::)?\w+(?:::\w+)*)\s*\Z")
WRAPPED = re.compile(r"(?:\w+::)*(?P<wrapper>\w+)\s*\((?P<inside>.*)\)\s*\Z", re.DOTALL)
LAMBDA = re.compile(r"\s*\[[^\]]*\]\s*\(")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'\s*"([^"]+)"')
SCHEMA_WRAPPERS = {"TORCH_SELECTIVE_SCHEMA", "TORCH_SELECTIVE_NAME", "schema", "SelectiveStr"}
FUNCTION_WRAPPERS = {"TORCH_FN", "TORCH_FN_TYPE", "TORCH_BOX", "BOX", "CppFunction"}
KEY_WRAPPERS = {"dispatch"}
KEY = re.compile(r"(?:\w+::)*k?(?P<key>\w+)\s*\Z")
PARTS_LIMIT = 64  # names of one macro opening another: deeper than any real file


@frozen
class CppNames:
    """What no reader of one file can know: the values of macros, the namespaces behind macros."""

    macros: Mapping[str, str] = field(default_factory=dict)
    namespaces: Mapping[str, str] = field(default_factory=dict)


@frozen
class Header:
    """An included file."""

    file: str
    source: Source


Arguments = list[tuple[int, int]]
"""Where the arguments of a call stand."""

Headers = Callable[[str], "Header | None"]
"""Finds an included file by the text between the quotes of `#include "..."`."""


def read_cpp(
    text: str,
    file: str = "",
    names: CppNames | None = None,
    headers: Headers = lambda included: None,
) -> Iterator[Definition | Implementation]:
    """What a C++ text registers, in order.

    >>> found = read_cpp('TORCH_LIBRARY(ns, m) { m.def("f(Tensor x)" " -> Tensor"); }')
    >>> [(d.name, d.text.value) for d in found]
    [('ns::f', 'f(Tensor x) -> Tensor')]
    """
    source = Source.of(text)
    reader = _Reader(source, file, names or CppNames(), headers)
    end = 0
    for match in BLOCK.finditer(source.code):
        block = reader.opened(match) if match.start() >= end else None
        if block is not None:
            end = block.end
            yield from reader.block(block)
    for match in REGISTRY.finditer(source.code):
        yield from reader.registry(match.start("opening"))


@frozen
class _Block:
    """One registration block: its namespace, what its library object is called, where it stands."""

    macro: str
    namespace: str
    resolved: bool
    key: str
    library: str
    start: int
    end: int


@frozen
class _Reader:
    source: Source
    file: str
    names: CppNames
    headers: Headers
    functions: dict[str, Signature | None] = field(default_factory=dict)

    def block(self, block: _Block) -> Iterator[Definition | Implementation]:
        """What a block registers."""
        method = re.compile(METHOD.format(library=re.escape(block.library)))
        for call in method.finditer(self.source.code, block.start, block.end):
            arguments = self.source.arguments(call.end() - 1)
            if not arguments:
                continue
            read = self._definition if call["method"] == "def" else self._implementation
            fact = read(block, arguments, call.start())
            if fact is not None:
                yield fact

    def opened(self, match: re.Match[str]) -> _Block | None:
        """The block that a macro opens; None where it is a call or a declaration."""
        spans = self.source.arguments(match.end() - 1)
        if not spans or len(spans) not in (2, 3):
            return None
        closing = self.source.partners[match.end() - 1]
        brace = BRACE.match(self.source.code, closing + 1)
        if brace is None or (end := self.source.partners.get(brace.end() - 1)) is None:
            return None
        parts = [self.source.code[a:b].strip() for a, b in spans]
        namespace, resolved = self._namespace(parts[0])
        key = parts[1] if len(parts) == 3 else ""
        return _Block(match["macro"], namespace, resolved, key, parts[-1], brace.end(), end)

    def _namespace(self, word: str) -> tuple[str, bool]:
        """The namespace that a word stands for, and whether that is known."""
        if word in self.names.namespaces:
            return self.names.namespaces[word], True
        value = self._macro(word)
        if value is not None and value != word and IDENTIFIER.fullmatch(value):
            return value, True
        return word, not (word.isupper() or word in ("_", ""))

    def _macro(self, word: str) -> str | None:
        """The value of a macro: from the settings, or as this file defines it."""
        value = None
        for _ in range(PARTS_LIMIT):
            macro = self.source.macros.get(word)
            next_value = self.names.macros.get(word, macro.body if macro else None)
            if next_value is None:
                return value
            value = next_value.strip('"')
            word = next_value
        return None

    def registry(self, opening: int) -> Iterator[Definition]:
        """`torch::RegisterOperators("ns::f", &f).op("ns::g(Tensor x) -> Tensor", &g)`."""
        block = _Block("RegisterOperators", "", True, "", "", opening, opening)
        link: int | None = opening
        while link is not None and link in self.source.partners:
            arguments = self._named(self.source.arguments(link))
            fact = self._definition(block, arguments, link) if arguments else None
            if fact is not None and not fact.name.startswith("::"):
                yield fact
            chained = CHAINED.match(self.source.code, self.source.partners[link] + 1)
            link = chained.end() - 1 if chained else None

    def _named(self, arguments: Arguments | None) -> Arguments | None:
        """The arguments with the schema first, also where options hold it."""
        options = OPTIONS.search(self.source.code, *arguments[0]) if arguments else None
        return self.source.arguments(options.end() - 1) if options else arguments

    # definitions

    def _definition(
        self, block: _Block, arguments: list[tuple[int, int]], at: int
    ) -> Definition | None:
        text, hidden = self._text(*arguments[0])
        if not text.value:
            return None
        name = text.value.partition("(")[0].strip()
        written = "(" in text.value
        function = self._function(arguments[1:])
        return Definition(
            name=self._qualified(block, name),
            span=text.span(0, len(name)),
            language=Language.CPP,
            via=block.macro,
            text=text if written and not hidden else None,
            signature=function,
            resolved=block.resolved,
            guards=self.source.guards(at),
        )

    def _qualified(self, block: _Block, name: str) -> str:
        return name if "::" in name else f"{block.namespace}::{name}"

    def _text(self, start: int, end: int) -> tuple[Text, bool]:
        """The string that an argument spells, and whether a part of it is hidden."""
        parts = list(self._parts(start, end))
        value, pieces = "", []
        for part in filter(None, parts):
            line, column = self.source.place(min(part.inside, len(self.source.text)))
            pieces.append(Piece(len(value), line, column, part.exact))
            value += part.value
        return Text(value, self.file, tuple(pieces)), None in parts

    def _parts(self, start: int, end: int) -> Iterator[Literal | None]:
        """Literals of an argument in order; what a macro puts between them too."""
        at = start
        literals = self.source.literals_in(start, end)
        for literal in literals:
            yield from self._spliced(at, literal.start)
            yield literal
            at = literal.end
        if literals:
            yield from self._spliced(at, end)

    def _spliced(self, start: int, end: int) -> Iterator[Literal | None]:
        """What the code between two literals adds to the string."""
        for match in IDENTIFIER.finditer(self.source.code, start, end):
            word = match.group()
            macro = self.source.macros.get(word)
            if word in QUIET or (macro is not None and macro.parameters):
                continue
            value = self._macro(word)
            if value is None and self.source.code[match.end() : end].lstrip().startswith("("):
                continue
            at = match.start()
            yield None if value is None else Literal(at, match.end(), at, value, exact=False)

    # functions

    def _function(self, arguments: list[tuple[int, int]]) -> Signature | None:
        """The signature of the function that the last argument names."""
        return self._signature(*arguments[-1]) if arguments else None

    def _signature(self, start: int, end: int) -> Signature | None:
        code = self.source.code[start:end]
        match = LAMBDA.match(code)
        if match is not None:
            return self._lambda(start + match.end() - 1)
        name = _function_name(code)
        return None if name is None else self._declared(name)

    def _lambda(self, opening: int) -> Signature | None:
        closing = self.source.partners.get(opening)
        if closing is None:
            return None
        match = RESULT.match(self.source.code, closing + 1)
        returns = read_returns(match["type"]) if match else None
        parameters = read_parameters(self.source, self.file, opening)
        span = span_of(self.source, self.file, opening, closing + 1)
        return Signature("a lambda", parameters, returns, span, Language.CPP)

    def _declared(self, name: str) -> Signature | None:
        """A function of this file, or of a header that it includes."""
        if name not in self.functions:
            self.functions[name] = self._searched(name)
        return self.functions[name]

    def _searched(self, name: str) -> Signature | None:
        found = find_signature(self.source, self.file, name)
        if found is not None:
            return found
        for included in self._includes():
            header = self.headers(included)
            if header and (found := find_signature(header.source, header.file, name)):
                return found
        return None

    def _includes(self) -> Iterator[str]:
        for _, word, rest in self.source.directives:
            match = INCLUDE.match(rest) if word == "include" else None
            if match is not None:
                yield match.group(1)

    # implementations

    def _implementation(
        self, block: _Block, arguments: list[tuple[int, int]], at: int
    ) -> Implementation | None:
        text, hidden = self._text(*arguments[0])
        if not text.value or hidden or len(arguments) < 2:
            return None
        name = text.value.partition("(")[0].strip()
        key = self._key(block, arguments)
        return Implementation(
            name=self._qualified(block, name),
            role=Role.FAKE if key == "Meta" else Role.KERNEL,
            span=text.span(0, len(name)),
            language=Language.CPP,
            key=key,
            signature=self._function(arguments[1:]),
            resolved=block.resolved,
            guards=self.source.guards(at),
        )

    def _key(self, block: _Block, arguments: list[tuple[int, int]]) -> str:
        """The dispatch key: of the block, of the middle argument, or of `dispatch(key, fn)`."""
        if block.key:
            return block.key
        words = [self.source.code[a:b].strip() for a, b in arguments[1:]]
        wrapped = WRAPPED.match(words[-1])
        if wrapped and wrapped["wrapper"] in KEY_WRAPPERS:
            words = wrapped["inside"].split(",")
        match = KEY.match(words[0].strip()) if len(words) > 1 else None
        return match["key"] if match else ""


BRACE = re.compile(r"\s*\{")
RESULT = re.compile(r"\s*(?:mutable\b\s*)?->(?P<type>[^{]*)\{")
QUIET = {*SCHEMA_WRAPPERS, "torch", "c10", "at", "std", "string", "STRING", "STRINGIFY"}


def _function_name(code: str) -> str | None:
    """The function that `&fn`, `TORCH_FN(fn)` or `dispatch(kCPU, &fn)` names."""
    for _ in range(PARTS_LIMIT):
        match = FUNCTION.fullmatch(code.strip())
        if match is not None:
            return match["name"]
        wrapped = WRAPPED.fullmatch(code.strip())
        if wrapped is None:
            return None
        match wrapped["wrapper"]:
            case name if name in FUNCTION_WRAPPERS:
                code = wrapped["inside"]
            case name if name in KEY_WRAPPERS:
                code = wrapped["inside"].partition(",")[2]
            case _:
                return None
    return None
