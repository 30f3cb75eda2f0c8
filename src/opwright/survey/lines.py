"""Where in a Python file it is worth to look: lines and names that may have to do with operators.

Knows words; everything here is a guess that later reading confirms.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator

from opwright.frozen import frozen
from opwright.survey.implementing import HANDLE_METHODS, LIBRARY_METHODS

INTEREST = (
    "define(",
    "impl(",
    "_op",
    "Library(",
    "register",
    "infer_schema",
    "impl_abstract",
    "ops.",
    "opwright",
    "ow.",
)
"""In each line that a registering call or a call of an operator begins or ends in."""
HANDLES = (".kernel", ".fake", ".backward", ".setup_context", ".vmap", ".autocast")
"""The same in a file that uses Opwright."""


@frozen
class Lines:
    """The lines of a text that are worth a look, in order."""

    numbers: list[int]

    @classmethod
    def of(cls, text: str, helpers: frozenset[str] = frozenset()) -> Lines:
        words = (*INTEREST, *(HANDLES if "opwright" in text else ()), *helpers)
        places = sorted(place for word in words for place in occurrences(text, word))
        numbers: list[int] = []
        line, at = 1, 0
        for place in places:
            line += text.count("\n", at, place)
            at = place
            numbers.append(line)
        return cls(numbers)

    def touch(self, node: ast.stmt) -> bool:
        """Whether a statement, decorators included, has such a line."""
        decorators = getattr(node, "decorator_list", None)
        first = min([node.lineno, *(d.lineno for d in decorators)]) if decorators else node.lineno
        index = bisect_left(self.numbers, first)
        last = node.end_lineno or node.lineno
        return index < len(self.numbers) and self.numbers[index] <= last


ALIAS = re.compile(
    r"^[ \t]*(\w+)[ \t]*(?::[^=\n]+)?=[ \t]*\(?\s*(?:\w+\.)?ops\.\w+\.\w+", re.MULTILINE
)


def aliases(text: str) -> frozenset[str]:
    """Names that may stand for an operator.

    >>> sorted(aliases("f = torch.ops.ns.f\\nx = torch.ops.load_library"))
    ['f']
    """
    return frozenset(ALIAS.findall(text)) if "ops." in text else frozenset()


def occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


WORDS = ("define", "impl", "_op", "Library", "register", "infer_schema")


def interesting(head: ast.expr) -> bool:
    """A cheap look at a callee's name, before anything is looked up."""
    match head:
        case ast.Attribute(_, name) if name in HANDLE_METHODS or name in LIBRARY_METHODS:
            return True
        case ast.Attribute(owner):
            return name_matters(head.attr) or reaches_ops(owner)
        case ast.Name(name):
            return name_matters(name)
        case ast.Call(func):
            return interesting(func)
        case _:
            return False


REGISTERING = re.compile(
    r"\b(?:define|impl|_register_fake|register_fake|impl_abstract|custom_op|triton_op|infer_schema"
    r"|register_kernel|register_autograd|register_vmap|direct_register_custom_op"
    r"|register_custom_op)\("
)
"""A function must call one of these to be looked into as a helper."""


def called_name(head: ast.expr) -> str:
    match head:
        case ast.Attribute(_, name) | ast.Name(name):
            return name
        case ast.Call(func):
            return called_name(func)
        case _:
            return ""


def name_matters(name: str) -> bool:
    return name == "op" or any(word in name for word in WORDS)


def reaches_ops(node: ast.expr) -> bool:
    """Whether `ops` is among the names of a dotted expression."""
    while isinstance(node, ast.Attribute):
        if node.attr == "ops":
            return True
        node = node.value
    return isinstance(node, ast.Name) and "op" in node.id
