"""What a schema is: frozen values that print themselves in canonical form and keep their rules.

Knows nothing of texts, Python annotations or torch.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from opwright.codes import finding
from opwright.findings import Diagnostic, SchemaError
from opwright.frozen import frozen, replace
from opwright.schema.fit import misfit
from opwright.schema.kinds import APPLIED, BASES, INTEGERS, KEYS, MARKED, depth, plain, rebuilt
from opwright.schema.kinds import Alias as Alias
from opwright.schema.kinds import Apply as Apply
from opwright.schema.kinds import Base as Base
from opwright.schema.kinds import List as List
from opwright.schema.kinds import Maybe as Maybe
from opwright.schema.kinds import Type as Type
from opwright.schema.kinds import aliases as aliases
from opwright.schema.kinds import nodes as nodes
from opwright.schema.letters import lettered
from opwright.schema.literal import Symbol as Symbol
from opwright.schema.literal import Value, literal

DEPTH = 50
"""How many types may stand inside each other."""

KEYWORDS = {*keyword.kwlist, "Ellipsis", "NoneType"} - {
    *("async", "await", "except", "finally", "from", "lambda", "nonlocal", "try", "yield")
}
"""The words that torch does not take as a name; `lambda`, `from` or `async` it does."""


class Required(Enum):
    """The type of `REQUIRED`: the default of an argument that must be given."""

    REQUIRED = "required"

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Literal[Required.REQUIRED] = Required.REQUIRED


Default: TypeAlias = "Value | Literal[Required.REQUIRED]"


@frozen
class Argument:
    """One argument of an operator.

    Two are equal when they are written alike, so a default of `1` is not one of `True` or `1.0`.
    """

    name: str
    type: Type
    default: Default = REQUIRED
    kw_only: bool = False

    @property
    def required(self) -> bool:
        """Whether the argument must be given."""
        return self.default is REQUIRED

    @property
    def writes(self) -> bool:
        """Whether the operator writes to this argument."""
        kind = self.type
        if type(kind) is Base:
            return kind.alias is not None and kind.alias.writes
        return any(alias.writes for alias in aliases(kind))

    def __str__(self) -> str:
        default = "" if self.default is REQUIRED else f"={literal(self.default)}"
        return f"{self.type} {self.name}{default}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Argument):
            return NotImplemented
        return self.kw_only == other.kw_only and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((str(self), self.kw_only))


@frozen
class Return:
    """One result of an operator; the name is what a `NamedTuple` calls it."""

    type: Type
    name: str | None = None

    def __str__(self) -> str:
        return str(self.type) if self.name is None else f"{self.type} {self.name}"


@frozen
class Schema:
    """What an operator takes, writes and gives back; `str()` is the canonical form.

    Alias sets are relettered on construction, so two schemas that differ only in letters are equal.
    A schema that torch could not read back, or that breaks a rule of schemas, is not constructed:
    `SchemaError` holds everything that is wrong with it.

    >>> x = Argument("x", Base("Tensor", Alias(("z",), writes=True)))
    >>> print(Schema("mylib::zero_", arguments=(x,)))
    mylib::zero_(Tensor(a!) x) -> ()
    """

    name: str
    overload: str = ""
    arguments: tuple[Argument, ...] = ()
    returns: tuple[Return, ...] = ()
    varargs: bool = False
    varrets: bool = False

    def __post_init__(self) -> None:
        found = faults(self.name, self.overload, self.arguments, self.returns, self.varargs)
        if findings := [broken.finding() for broken in found]:
            raise SchemaError(findings)
        self._reletter()

    @classmethod
    def of_sound(
        cls, name: str, overload: str, arguments: tuple[Argument, ...], returns: tuple[Return, ...]
    ) -> Schema:
        """A schema of parts that are known to keep the rules: they are not looked at again.

        >>> Schema.of_sound("f", "", (), ()) == Schema("f")
        True
        """
        schema = object.__new__(cls)
        fill = object.__setattr__
        fill(schema, "name", name)
        fill(schema, "overload", overload)
        fill(schema, "arguments", arguments)
        fill(schema, "returns", returns)
        fill(schema, "varargs", False)
        fill(schema, "varrets", False)
        return schema

    def _reletter(self) -> None:
        kinds = [*(part.type for part in self.arguments), *(part.type for part in self.returns)]
        new = lettered(kinds)
        if new is kinds:
            return
        arguments = (replace(a, type=kind) for a, kind in zip(self.arguments, new, strict=False))
        object.__setattr__(self, "arguments", tuple(arguments))
        rest = new[len(self.arguments) :]
        returns = (replace(r, type=kind) for r, kind in zip(self.returns, rest, strict=True))
        object.__setattr__(self, "returns", tuple(returns))

    @property
    def namespace(self) -> str:
        """`mylib` of `mylib::scale_`; empty where the name has none."""
        return self.name.rpartition("::")[0]

    @property
    def qualname(self) -> str:
        """Name with overload: `mylib::scale_.out`."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def mutable(self) -> bool:
        """Whether the operator writes to any argument."""
        return any(argument.writes for argument in self.arguments)

    def __str__(self) -> str:
        return f"{self.qualname}({', '.join(self._arguments())}) -> {self._returns()}"

    def _arguments(self) -> Iterator[str]:
        starred = False
        for argument in self.arguments:
            if argument.kw_only and not starred:
                yield "*"
                starred = True
            yield str(argument)
        if self.varargs:
            yield "..."

    def _returns(self) -> str:
        parts = [*map(str, self.returns), *(["..."] if self.varrets else [])]
        if len(parts) == 1 and not parts[0].startswith("("):
            return parts[0]
        return f"({', '.join(parts)})"


class Part(Enum):
    """What a fault speaks of."""

    NAME = "name"
    ARGUMENT = "argument"
    TYPE = "type"
    DEFAULT = "default"
    RETURN = "return"


class Fault(NamedTuple):
    """A rule of schemas that is broken: which part (of the how-manieth argument or return)."""

    part: Part
    number: int
    code: str
    message: str
    hint: str

    def finding(self) -> Diagnostic:
        """The fault as a finding without a place."""
        return finding(self.code, self.message, self.hint)


def faults(
    name: str,
    overload: str,
    arguments: Sequence[Argument],
    returns: Sequence[Return],
    varargs: bool,
) -> Iterator[Fault]:
    """Every rule that these parts break. Each is stated once, here, for all ways to a schema."""
    yield from _name_faults(name, overload)
    yield from _order_faults(arguments, varargs=varargs)
    yield from _repeated_names(arguments)
    for index, argument in enumerate(arguments):
        yield from _word_faults(Part.ARGUMENT, index, argument.name)
        strange = [*_type_faults(Part.TYPE, index, argument.type)]
        yield from strange or _default_faults(index, argument)
    for index, result in enumerate(returns):
        if result.name is not None:
            yield from _word_faults(Part.RETURN, index, result.name)
        yield from _type_faults(Part.RETURN, index, result.type)


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)?\Z")


def readable(name: str) -> bool:
    """Whether torch reads the word as a name.

    >>> readable("x1"), readable("lambda"), readable("class"), readable("\u00e9tat")
    (True, True, False, False)
    """
    return name not in KEYWORDS and _IDENTIFIER.match(name) is not None


def _name_faults(name: str, overload: str) -> Iterator[Fault]:
    if _NAME.match(name) is None or not KEYWORDS.isdisjoint(name.split("::")):
        message = f"{name!r} is no name of an operator"
        yield Fault(Part.NAME, 0, "OW004", message, "write `namespace::name`, in ASCII letters")
    if overload and not readable(overload):
        hint = "write `name.overload`, in ASCII letters"
        yield Fault(Part.NAME, 0, "OW004", f"{overload!r} is no name of an overload", hint)
    elif overload == "default" or overload.startswith("__"):
        hint = "leave the overload out" if overload == "default" else "drop the underscores"
        message = f"torch keeps the overload name {overload!r} for itself"
        yield Fault(Part.NAME, 0, "OW004", message, hint)


def _order_faults(arguments: Sequence[Argument], *, varargs: bool) -> Iterator[Fault]:
    """Keyword-only last; no required positional after a default; no default beside `...`."""
    default: Argument | None = None
    named: Argument | None = None
    for index, argument in enumerate(arguments):
        name = argument.name
        if argument.kw_only:
            named = named or argument
        elif named is not None:
            message = f"positional {name!r} stands after keyword-only {named.name!r}"
            yield Fault(Part.ARGUMENT, index, "OW010", message, "move it before the `*`")
        elif default is not None and argument.required:
            message = f"{name!r} has no default but stands after {default.name!r}, which has one"
            hint = "give it a default, move it forward, or put `*` before it"
            yield Fault(Part.ARGUMENT, index, "OW009", message, hint)
        if not argument.required:
            default = default or argument
            if varargs:
                message = f"{name!r} has a default in a schema with `...`"
                yield Fault(Part.DEFAULT, index, "OW011", message, "remove the default or `...`")


def _repeated_names(arguments: Sequence[Argument]) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, argument in enumerate(arguments):
        if argument.name in seen:
            message = f"two arguments have the name {argument.name!r}"
            yield Fault(Part.ARGUMENT, index, "OW008", message, "rename one of them")
        seen.add(argument.name)


def _word_faults(part: Part, index: int, word: str) -> Iterator[Fault]:
    if not readable(word):
        message = f"torch does not read {word!r} as a name"
        yield Fault(part, index, "OW004", message, "write another word, in ASCII letters")


def _default_faults(index: int, argument: Argument) -> Iterator[Fault]:
    if argument.default is not REQUIRED and (found := misfit(argument.type, argument.default)):
        message = f"{argument.name}: {found.message}"
        yield Fault(Part.DEFAULT, index, found.code, message, found.hint)


def _type_faults(part: Part, index: int, kind: Type) -> Iterator[Fault]:
    if isinstance(kind, Base) and kind.alias is None and kind.name in BASES:
        return  # most are, and each schema is looked at
    if depth(kind) > DEPTH:
        message = f"more than {DEPTH} types stand inside each other"
        yield Fault(part, index, "OW005", message, "write a flatter type")
        return
    outermost = kind.of if isinstance(kind, Maybe) else kind
    for node in nodes(kind):
        if isinstance(node, List) and node.size is not None and node is not outermost:
            message = f"the size of {node} stands inside another type"
            hint = "write `[]` there; the outermost list alone has a size"
            yield Fault(part, index, "OW003", message, hint)
        if (stranger := unknown(node)) is not None:
            yield Fault(part, index, "OW003", *stranger)
        if not isinstance(node, Maybe) and node.alias is not None and not _writable(node):
            message = f"`{node}`: such an alias annotation cannot be written"
            yield Fault(part, index, "OW012", message, "name the sets: `(a)`, `(a!)`, `(a -> *)`")


def unknown(node: Type) -> tuple[str, str] | None:
    """Why torch has no such type, and what to write; looks at the outermost node alone.

    >>> unknown(Base("Tensr"))
    ("torch has no type 'Tensr'", 'write `Tensor`')
    """
    match node:
        case Base(name):
            return None if name in BASES or _is_named(name) else _unknown_name(name)
        case Apply(name, of):
            return _unknown_name(name) if name not in APPLIED else _misapplied(name, of)
        case Maybe(Base("NoneType")):
            return "NoneType? says None twice", "write `NoneType`"
        case _:
            return None


def _is_named(name: str) -> bool:
    """Whether it can be a type variable or a class; which classes there are only torch knows."""
    first, *rest = name.split(".")
    if not all(map(readable, (first, *rest))):
        return False
    if first == "__torch__":
        return rest[:2] == ["torch", "classes"] and len(rest) == 4
    return first[0].islower() or bool(rest and first not in BASES and first not in APPLIED)


def _misapplied(name: str, of: tuple[Type, ...]) -> tuple[str, str] | None:
    if len(of) not in APPLIED[name]:
        return f"{name} takes {_COUNTS[name]}, not {len(of)}", f"write `{_EXAMPLES[name]}`"
    if name == "Union" and len(members := _members(of)) < 2:
        return "these types of a Union are one to torch", f"write `{next(iter(members))}`"
    if name == "Dict" and not (isinstance(of[0], Base) and of[0].name in KEYS):
        return f"a Dict has no keys of type {plain(of[0])}", "write `Dict(str, ...)`"
    return None


def _members(of: tuple[Type, ...]) -> set[Type]:
    """The types that torch keeps apart in a Union: integers are one, `Any` is all of them."""
    kept = {part for kind in of for part in _alternatives(rebuilt(plain(kind), _as_int))}
    return {Base("Any")} if Base("Any") in kept else kept


def _as_int(node: Type) -> Type:
    return Base("int") if isinstance(node, Base) and node.name in INTEGERS else node


def _alternatives(kind: Type) -> Iterator[Type]:
    match kind:
        case Apply("Union", of):
            for part in of:
                yield from _alternatives(part)
        case Maybe(of):
            yield from _alternatives(of)
            yield Base("NoneType")
        case _:
            yield kind


_COUNTS = {
    "Await": "one type",
    "Dict": "two types",
    "Future": "one type",
    "RRef": "one type",
    "Union": "two types or more",
}
_EXAMPLES = {
    "Await": "Await(Tensor)",
    "Dict": "Dict(str, Tensor)",
    "Future": "Future(Tensor)",
    "RRef": "RRef(Tensor)",
    "Union": "Union(int, str)",
}


def _unknown_name(name: str) -> tuple[str, str]:
    close = get_close_matches(name, sorted(BASES | {*_EXAMPLES}), 1)
    remedy = f"write `{close[0]}`" if close else "write one of torch's schema types"
    return f"torch has no type {name!r}", _SPELLINGS.get(name, remedy)


_SPELLINGS = {
    "Bool": "write `bool`",
    "Float": "write `float`",
    "Int": "write `int`",
    "List": "write `T[]`",
    "Optional": "write `T?`",
    "String": "write `str`",
    "SymFloat": "write `float`",
    "Tuple": "write `(A, B)`",
}


def _writable(node: Base | List | Apply) -> bool:
    """Whether an alias annotation can stand on that type, as it is."""
    alias = node.alias
    if alias is None or (isinstance(node, Apply) and node.name not in MARKED):
        return alias is None
    if not alias.names:
        return alias.writes
    named = all(name == "*" or readable(name) for name in alias.names)
    return named and bool(alias.before) and bool(alias.after)
