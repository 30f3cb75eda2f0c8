"""From the text of a schema to the schema, with every fault of the text and its place.

Reads what `torch._C.parse_schema` reads. Knows the grammar; what a schema may say is the model's.
"""

from __future__ import annotations

from typing import NoReturn

from opwright.findings import SchemaError
from opwright.schema.fit import Misfit
from opwright.schema.kinds import APPLIED, BASES, MARKED, Alias, Apply, Base, List, Maybe, Type
from opwright.schema.literal import Symbol, Value
from opwright.schema.model import (
    DEPTH,
    KEYWORDS,
    Argument,
    Part,
    Return,
    Schema,
    faults,
    unknown,
)
from opwright.schema.scan import Enough, Misplaced, Reader, Word
from opwright.schema.value import CONSTANTS, Misread, read_number, read_string, read_word

MOST_REPEATS = 1024
"""How long a list default may be that is written as one number: `int[1024] x=0`."""


def parse(text: str, *, file: str = "", name: str = "") -> Schema:
    """Read one schema; `SchemaError` holds every fault of the text that can be told apart.

    `name` is the operator's where the text begins with its arguments, as torch's `custom_op` takes
    it: `(Tensor x) -> Tensor`.

    >>> parse("mylib::scale_(Tensor(x!) out, float s=1) -> ()").arguments[1].default
    1.0
    >>> parse("f(Tensor x, Tensr y) -> ()")
    Traceback (most recent call last):
    opwright.findings.SchemaError: 1:13: OW003 torch has no type 'Tensr'
      f(Tensor x, Tensr y) -> ()
                  ^
      hint: write `Tensor`
    """
    reader = Reader(text, file)
    try:
        return _Parser(reader).schema(name)
    except (Misplaced, Enough):
        found = sorted(reader.findings.items())
        raise SchemaError(finding for _, finding in found) from None


def canonical(text: str) -> str:
    """The canonical spelling of a schema.

    >>> canonical("f(Tensor(z!) x,int[2] k=1)->(Tensor(z!))")
    'f(Tensor(a!) x, int[2] k=[1, 1]) -> Tensor(a!)'
    """
    return str(parse(text))


class _Parser:
    """The grammar: each method reads what its name says and leaves the reader behind it."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.places: dict[tuple[Part, int], Word] = {}
        self.arguments: list[Argument] = []
        self.returns: list[Return] = []
        self.name = ("unread", "")
        self.unread: set[int] = set()
        self.kw_only = self.varargs = self.varrets = False

    def schema(self, known: str = "") -> Schema:
        """Read the whole text; `Misplaced` where anything was found wrong."""
        try:
            self._text(known)
        except Misplaced:
            self._rules()
            raise
        if not self.reader.findings:
            try:
                return self._schema()
            except SchemaError:
                pass
        self._rules()
        raise Misplaced

    def _text(self, known: str) -> None:
        self.reader.take()
        self.places[Part.NAME, 0] = self.reader.word
        try:
            self.name = self._qualname(known)
        except Misplaced:
            self.reader.skip_to("(")
        self.reader.items(self._argument)
        self._arrow()
        self._returns()
        if self.reader.word.kind != "end":
            self.reader.misplaced("nothing after the returns")

    def _rules(self) -> None:
        """Record the rules of schemas that the parts break, at the places of the parts."""
        told = {finding.message for finding in self.reader.findings.values()}
        for fault in faults(*self.name, self.arguments, self.returns, self.varargs):
            spoilt = fault.part is Part.DEFAULT and fault.number in self.unread
            if not spoilt and fault.message not in told:
                place = self.places[fault.part, fault.number]
                self.reader.fault(fault.code, fault.message, fault.hint, place)

    def _schema(self) -> Schema:
        arguments, returns = tuple(self.arguments), tuple(self.returns)
        return Schema(*self.name, arguments, returns, self.varargs, self.varrets)

    def _qualname(self, known: str) -> tuple[str, str]:
        if known and self.reader.word.text == "(":
            name, _, overload = known.partition(".")
            return name, overload
        name = self._name("the name of an operator")
        if self.reader.accept(":"):
            self.reader.expect(":", "write `namespace::name`")
            name = f"{name}::{self._name('the name of an operator')}"
        overload = self._name("the name of an overload") if self.reader.accept(".") else ""
        if self.reader.word.text in (":", "."):
            self.reader.misplaced(
                "`(`", "a name has one `::` and one `.`: `namespace::name.overload`"
            )
        return name, overload

    def _name(self, what: str) -> str:
        word = self.reader.word
        if word.kind != "name":
            self.reader.misplaced(what, _HINTS.get((what, word.text), ""))
        if word.text in KEYWORDS:
            message = f"torch does not read {word.text!r} as a name"
            self.reader.fault("OW004", message, f"write another word, such as `{word.text}_`")
        return self.reader.take().text

    def _arrow(self) -> None:
        if not self.reader.accept("->"):
            hint = "write `-> ()` where nothing is returned"
            self.reader.fault("OW002", f"expected `->` but {self.reader.word}", hint)

    def _argument(self) -> None:
        reader = self.reader
        if self.varargs:
            reader.fault("OW002", "nothing may follow `...`", "move `...` to the end")
        if reader.accept("*"):
            self.kw_only = True
        elif reader.accept("..."):
            self.varargs = True
        else:
            index = len(self.arguments)
            self.places[Part.TYPE, index] = self.places[Part.DEFAULT, index] = reader.word
            kind = self._sized()
            self.places[Part.ARGUMENT, index] = reader.word
            name = self._name("the name of the argument")
            self.arguments.append(Argument(name, kind, kw_only=self.kw_only))
            if reader.accept("="):
                self.places[Part.DEFAULT, index] = reader.word
                self.unread.add(index)
                self.arguments[-1] = Argument(name, kind, None, self.kw_only)
                self.arguments[-1] = Argument(name, kind, self._default(kind), self.kw_only)
                self.unread.remove(index)

    def _returns(self) -> None:
        if self.reader.accept("..."):
            self.varrets = True
        elif self.reader.word.text == "(":
            self.reader.items(self._return)
        else:
            self._return()

    def _return(self) -> None:
        if self.varrets:
            self.reader.fault("OW002", "nothing may follow `...`", "move `...` to the end")
        if self.reader.accept("..."):
            self.varrets = True
            return
        self.places[Part.RETURN, len(self.returns)] = self.reader.word
        kind = self._sized()
        name = self._name("a name") if self.reader.word.kind == "name" else None
        self.returns.append(Return(kind, name))

    def _sized(self) -> Type:
        """A type, outermost perhaps a list with a size: `int[2]`, `Tensor[2](a!)?`."""
        kind = self._type(0)
        if not self.reader.accept("["):
            return kind
        if self.reader.word.kind != "number":
            self.reader.misplaced("`]` or a size")
        kind = List(kind, self._size())
        self.reader.expect("]")
        if alias := self._alias():
            kind = List(kind.of, kind.size, alias)
        return Maybe(kind) if self.reader.accept("?") else kind

    def _size(self) -> int:
        text = self.reader.word.text
        if not text.isdecimal() or len(text) > 9:
            hint = "write a whole number below 2147483648"
            self.reader.fault("OW002", "this is no size of a list", hint)
            text = "0"
        self.reader.take()
        return int(text)

    def _type(self, level: int) -> Type:
        if level > DEPTH:
            self._too_deep()
        kind = self._innermost(level)
        for _ in range(DEPTH):  # a longer row of `[]` is a finding before it is a type
            if self.reader.word.text == "[" and self.reader.second().text == "]":
                self.reader.take()
                self.reader.take()
                kind = List(kind, alias=self._alias())
            elif self.reader.accept("?"):
                kind = Maybe(kind)
            else:
                break
        else:
            self._too_deep()
        return kind

    def _too_deep(self) -> NoReturn:
        message = f"more than {DEPTH} types stand inside each other"
        self.reader.fault("OW005", message, "write a flatter type")
        raise Misplaced

    def _innermost(self, level: int) -> Type:
        word = self.reader.word
        if word.text == "(":
            return Apply("", self._types(level))
        if word.text in ("None", "NoneType"):
            self.reader.take()
            return Base("NoneType", self._alias())
        name = self._dotted()
        if name in APPLIED:
            of = self._types(level)
            return Apply(name, of, self._alias() if name in MARKED else None)
        kind = Base(name, self._alias())
        if name not in BASES and (stranger := unknown(kind)):
            self.reader.fault("OW003", *stranger, word)
        return kind

    def _types(self, level: int) -> tuple[Type, ...]:
        """The types inside brackets."""
        self.reader.expect("(")
        found: list[Type] = []
        if self.reader.accept(")"):
            return ()
        while True:
            found.append(self._type(level + 1))
            if self.reader.accept(")"):
                return tuple(found)
            if not self.reader.accept(","):
                self.reader.misplaced("`,` or `)`")

    def _dotted(self) -> str:
        names = [self._name("a type")]
        while self.reader.accept("."):
            names.append(self._name("a name of a class"))
        return ".".join(names)

    def _alias(self) -> Alias | None:
        if self.reader.accept("!"):
            return Alias(writes=True)
        if not self.reader.accept("("):
            return None
        before = self._sets()
        writes = self.reader.accept("!")
        after = self._sets() if self.reader.accept("->") else None
        self.reader.expect(")")
        return Alias(before, writes, after)

    def _sets(self) -> tuple[str, ...]:
        """`a`, `a|b`, `*`."""
        found: list[str] = []
        while True:
            if self.reader.accept("*"):
                found.append("*")
                return tuple(found)
            found.append(self._name("the name of an alias set"))
            if not self.reader.accept("|"):
                return tuple(found)

    def _default(self, kind: Type) -> Value:
        """The value of a default."""
        of = kind.of if isinstance(kind, List) else kind
        if self.reader.accept("["):
            return self._list(of)
        word = self.reader.word
        value = self._constant(of)
        if not isinstance(kind, List) or kind.size is None or value is None:
            return value
        if isinstance(value, Symbol):
            message = "torch reads no bare word as the default of a list"
            self._unreadable(Misfit("OW007", message, f"write a list: `[{word.text}]`"), word)
        if kind.size > MOST_REPEATS:
            message = f"torch would repeat the default {kind.size} times"
            self._unreadable(Misfit("OW007", message, "write the list, or a smaller size"), word)
        return (value,) * kind.size

    def _list(self, of: Type) -> Value:
        values: list[Value] = []
        if self.reader.accept("]"):
            return ()
        while True:
            values.append(self._constant(of))
            if self.reader.accept("]"):
                return tuple(values)
            if not self.reader.accept(","):
                self.reader.misplaced("`,` or `]`")

    def _constant(self, kind: Type) -> Value:
        """One value, as torch reads it for that type."""
        word, name = self.reader.word, _context(kind)
        sign = "-" if self.reader.accept("-") else ""
        if sign and self.reader.word.kind != "number":
            self.reader.misplaced("a number")
        try:
            match self.reader.word:
                case Word("number", text):
                    value = read_number(sign + text, name)
                case Word("string", text):
                    value = read_string(text)
                case Word("name", text):
                    value = self._word(text, name)
                case _:
                    self.reader.misplaced("a default value")
        except Misread as misread:
            self._unreadable(misread.misfit, word)
        self.reader.take()
        return value

    def _unreadable(self, misfit: Misfit, word: Word) -> NoReturn:
        self.reader.fault(*misfit, word)
        raise Misplaced

    def _word(self, text: str, name: str) -> Value:
        if text in KEYWORDS and text not in CONSTANTS:
            self.reader.misplaced("a default value")
        return read_word(text, name)


_HINTS = {
    ("the name of an operator", "("): "write `namespace::name` before it",
    ("the name of the argument", "("): "an alias annotation stands before the `?`: `Tensor(a!)?`",
    ("the name of the argument", "["): "the outermost list alone has a size: `int[][2]`",
    ("the name of the argument", ","): "name every argument: `Tensor x`",
    ("the name of the argument", ")"): "name every argument: `Tensor x`",
    ("the name of the argument", "="): "name every argument: `Tensor x`",
    ("a type", ")"): "remove the comma before it",
}


def _context(kind: Type) -> str:
    """The name of the type that a constant is read for; torch makes an `int` of 1 in `float?`."""
    if isinstance(kind, Maybe):
        return "Scalar" if kind.of == Base("float") else _context(kind.of)
    return kind.name if isinstance(kind, Base) else ""
