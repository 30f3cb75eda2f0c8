"""What a survey of one file brings home: definitions, implementations and calls, as plain values.

Knows nothing of syntax trees: every value here can be pickled, cached and sent between processes.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import Enum
from typing import Literal, TypeAlias

from opwright.findings import Diagnostic, Span
from opwright.frozen import field, frozen
from opwright.schema.kinds import Type
from opwright.schema.model import Default, Return


class Unknown(Enum):
    """The type of `UNKNOWN`: something is written there that this reader cannot evaluate."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Literal[Unknown.UNKNOWN] = Unknown.UNKNOWN


ParameterDefault: TypeAlias = "Default | Literal[Unknown.UNKNOWN]"


class Language(str, Enum):
    """Which language a fact was read from."""

    PYTHON = "Python"
    CPP = "C++"


class Role(str, Enum):
    """What an implementation does for its operator."""

    KERNEL = "kernel"
    FAKE = "fake"
    SETUP_CONTEXT = "setup_context"
    BACKWARD = "backward"
    VMAP = "vmap"
    AUTOCAST = "autocast"


class Kind(str, Enum):
    """How a parameter takes its argument."""

    POSITIONAL = "positional"
    KEYWORD = "keyword-only"
    VARARGS = "*args"
    VARKEYWORDS = "**kwargs"


@frozen
class Piece:
    """One string literal of a text: `start` in the text, and where its first character stands."""

    start: int
    line: int
    column: int
    exact: bool = True
    """Whether each character of the text is one character of the source (no escapes)."""


@frozen
class Text:
    """A string put together from literals in a source, which still knows where each came from.

    >>> text = Text("f() -> ()", "ops.py", (Piece(0, 3, 9),))
    >>> print(text.span(2, 3))
    ops.py:3:11
    """

    value: str
    file: str
    pieces: tuple[Piece, ...]

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The place of `value[start:end]`, or of its literal where escapes hide the columns."""
        piece = self.piece(start)
        stop = len(self.value) if end is None else end
        if not piece.exact:
            return Span(self.file, piece.line, piece.column)
        column = piece.column + start - piece.start
        return Span(self.file, piece.line, column, piece.line, column + max(stop - start, 0))

    def piece(self, offset: int) -> Piece:
        """The literal that holds the character at `offset`."""
        index = bisect_right(self.pieces, offset, key=lambda piece: piece.start) - 1
        return self.pieces[max(index, 0)]

    def whole(self, start: int, end: int) -> bool:
        """Whether `value[start:end]` stands in the source as it is, in one literal."""
        piece = self.piece(start)
        return piece.exact and piece is self.piece(max(end - 1, start))


@frozen
class Parameter:
    """One parameter of a function: `type` is None where the source does not say it."""

    name: str
    type: Type | None
    span: Span
    kind: Kind = Kind.POSITIONAL
    default: ParameterDefault = UNKNOWN
    shown: str = ""
    """The annotation or C++ type as written."""
    default_span: Span = field(default_factory=Span)


@frozen
class Signature:
    """The head of a Python or C++ function; `returns` is None where the source does not say it."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: tuple[Return, ...] | None
    span: Span
    language: Language
    shown_returns: str = ""


@frozen
class Write:
    """A statement that changes a parameter: how, in the words of the source."""

    parameter: str
    how: str
    span: Span


@frozen
class Handed:
    """A parameter handed on to an operator, by position or by keyword."""

    parameter: str
    operator: str
    position: int
    keyword: str
    span: Span


@frozen
class Returned:
    """A parameter that comes back as result number `position`, itself or as a view."""

    parameter: str
    position: int
    span: Span
    view: bool = False


@frozen
class Body:
    """What the body of a Python function does with its parameters."""

    writes: tuple[Write, ...] = ()
    handed: tuple[Handed, ...] = ()
    returned: tuple[Returned, ...] = ()
    escapes: frozenset[str] = frozenset()
    """Parameters given to code that this reader does not know, which may write them."""
    counts: tuple[tuple[int, Span], ...] = ()
    """How many values each `return` gives, where that can be counted."""
    stub: bool = False
    """Whether there is nothing but a docstring, `...`, `pass` or `raise`."""


@frozen
class Definition:
    """An operator is declared here."""

    name: str
    """`ns::name` or `ns::name.overload`."""
    span: Span
    language: Language
    via: str
    text: Text | None = None
    """The handwritten schema; None where the schema comes from the signature."""
    signature: Signature | None = None
    body: Body | None = None
    resolved: bool = True
    """Whether the namespace is known; otherwise it is the macro that stands for it."""
    guards: tuple[str, ...] = ()
    mutates: tuple[str, ...] | Literal[Unknown.UNKNOWN] | None = None
    """`mutates_args`: None where the form has none, UNKNOWN for anything but literal names."""
    mutates_span: Span = field(default_factory=Span)
    mutates_text: str | None = None
    """`mutates_args` that is one string instead of a sequence of names."""
    mutates_all: bool = False
    """`mutates_args="unknown"`: every tensor counts as written."""
    faults: tuple[Diagnostic, ...] = ()
    """What the annotations cannot mean."""


@frozen
class Implementation:
    """A function is registered for an operator here."""

    name: str
    role: Role
    span: Span
    language: Language
    key: str = ""
    signature: Signature | None = None
    body: Body | None = None
    resolved: bool = True
    guards: tuple[str, ...] = ()


@frozen
class Library:
    """`torch.library.Library(namespace, kind)`; `dropped` where nothing keeps the object alive."""

    namespace: str
    kind: str
    span: Span
    kind_span: Span
    dropped: bool = False


@frozen
class Call:
    """`torch.ops.ns.name(...)`: how many positional arguments and which keywords."""

    name: str
    positional: int
    keywords: tuple[str, ...]
    span: Span
    open: bool = False
    """Whether `*args` or `**kwargs` hide some arguments."""
    guarded: bool = False
    """Whether the call stands behind `hasattr` or `try`."""
    sizes: tuple[tuple[int | str, Span], ...] = ()
    """Arguments, by position or keyword, that are computed from the size of a tensor."""


Fact: TypeAlias = "Definition | Implementation | Library | Call"
