"""From a schema back to annotations: the Python texts that would infer it, and what they lose.

Knows the table of meanings backwards; torch is not needed.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from opwright.frozen import frozen
from opwright.never import assert_never
from opwright.schema.kinds import Alias, Apply, Base, List, Maybe, Type, aliases, plain
from opwright.schema.literal import Symbol
from opwright.schema.model import Argument, Return, Schema

INFERRED = {
    "Device": "torch.device",
    "Generator": "torch.Generator",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "Scalar": "Scalar",
    "ScalarType": "torch.dtype",
    "Stream": "torch.Stream",
    "SymBool": "torch.SymBool",
    "SymInt": "int",
    "Tensor": "Tensor",
    "bool": "bool",
    "complex": "complex",
    "float": "float",
    "int": "Const[int]",
    "str": "str",
}
"""The annotation from which a type is inferred."""

LOST = {
    "Any": "Any",
    "AnyClassType": "Any",
    "AnyEnumType": "Any",
    "Await": "Any",
    "Capsule": "object",
    "ConstQuantizerPtr": "int",
    "DeviceIndex": "int",
    "Dict": "dict[{}]",
    "Future": "torch.futures.Future[{}]",
    "NoneType": "None",
    "QScheme": "torch.qscheme",
    "Quantizer": "Any",
    "RRef": "torch.distributed.rpc.RRef[{}]",
    "Storage": "torch.UntypedStorage",
}
"""What a caller passes for a type that no annotation is inferred as."""

MOST_ITEMS = 16
"""A longer `T[n]` is spelt as a list: nobody reads a tuple of a hundred."""


@frozen
class Field:
    """One result of a named tuple: its name and annotation."""

    name: str
    annotation: str


@frozen
class Spelling:
    """A schema as Python says it: names, annotations, and in words what they cannot say."""

    names: tuple[str, ...]
    annotations: tuple[str, ...]
    returns: str
    fields: tuple[Field, ...] = ()
    losses: tuple[str, ...] = ()


def name_of_rest(names: Iterable[str]) -> str:
    """What the arguments of `...` are called beside these: `args`, or a name like it.

    >>> name_of_rest(["x"]), name_of_rest(["args", "args_"])
    ('args', 'args__')
    """
    name, taken = "args", {*names}
    while name in taken:
        name += "_"
    return name


def annotation(kind: Type) -> str:
    """The annotation of a type, its alias marks left out.

    >>> annotation(Maybe(List(Base("SymInt"), 2))), annotation(Base("int"))
    ('tuple[int, int] | None', 'Const[int]')
    """
    match kind:
        case Maybe(of):
            return f"{annotation(of)} | None"
        case List(of, int(size)) if 0 < size <= MOST_ITEMS:
            return f"tuple[{', '.join([annotation(of)] * size)}]"
        case List(of):
            return f"list[{annotation(of)}]"
        case Apply(name, of):
            return _applied(name, [annotation(part) for part in of])
        case Base(name):
            return INFERRED.get(name) or LOST.get(name) or _class(name)
        case _:
            assert_never(kind)


def _applied(name: str, parts: list[str]) -> str:
    if name == "Union":
        return " | ".join(parts)
    if name:
        return LOST[name].format(", ".join(parts))
    return f"tuple[{', '.join(parts) or '()'}]"


def _class(name: str) -> str:
    """A class of TorchScript, a class that travels as it is, or a type variable."""
    if name.startswith("__torch__."):
        return "torch.ScriptObject"
    return f"Opaque[{name}]" if "." in name else "Any"


def spell(schema: Schema) -> Spelling:
    """How Python says the schema.

    >>> from opwright.schema.parse import parse
    >>> spell(parse("f(Tensor(a!) out, int n, Tensor? w=None) -> Tensor(a!)"))
    Spelling(names=('out', 'n', 'w'), annotations=('Mutable[Tensor]', 'Const[int]', \
'Tensor | None'), returns='Mutable[Tensor]', fields=(), losses=())
    """
    speller = _Speller(schema)
    annotations = tuple(speller.argument(argument) for argument in schema.arguments)
    names = tuple(speller.names())
    returns, fields = speller.results()
    speller.whole()
    return Spelling(names, annotations, returns, fields, tuple(speller.losses))


def result_name(schema: Schema) -> str:
    """What the class of named results is called.

    >>> from opwright.schema.parse import parse
    >>> result_name(parse("aten::max.dim(Tensor x) -> (Tensor values, Tensor indices)"))
    'MaxDimResult'
    >>> result_name(parse("mylib::_2d(Tensor x) -> (Tensor values, Tensor indices)"))
    '_2dResult'
    """
    words = f"{schema.name.rpartition('::')[2]}_{schema.overload}".split("_")
    name = "".join(word[:1].upper() + word[1:] for word in words) + "Result"
    return name if name.isidentifier() else f"_{name}"


class _Speller:
    """One schema on its way to Python; collects what gets lost."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.losses: list[str] = []
        self.owners = dict(_owners(schema.arguments))
        marks = [_mark(result.type) for result in schema.returns]
        self.viewed = {name for mark in marks if mark for name in mark.before}
        written = [mark.before for mark in marks if mark and mark.writes]
        mutable = [(name,) for name, owner in self.owners.items() if owner.writes]
        self.in_order = written == mutable[: len(written)]

    def argument(self, argument: Argument) -> str:
        """The annotation of an argument."""
        text, mark = annotation(argument.type), _mark(argument.type)
        self._type(repr(argument.name), argument.type)
        known = mark is not None and mark.before and mark.before[0] in self.owners
        if mark is not None and known and not mark.writes and mark.before[0] in self.viewed:
            return text
        if any(aliases(argument.type)) and not (mark is not None and known and mark.writes):
            self.losses.append(f"the alias marks of `{argument}`")
        return f"Mutable[{text}]" if argument.writes else text

    def results(self) -> tuple[str, tuple[Field, ...]]:
        """The annotation of the results, and the fields of the class that it names."""
        schema = self.schema
        texts = [self._result(number, part) for number, part in enumerate(schema.returns, 1)]
        names = [part.name for part in schema.returns]
        if schema.varrets:
            self.losses.append("`...` among the returns")
            return "Any", ()
        if not schema.returns:
            return "None", ()
        if fields := _fields(names, texts):
            return result_name(schema), fields
        if any(names):
            self.losses.append("the names of some returns")
        return (texts[0] if len(texts) == 1 else f"tuple[{', '.join(texts)}]"), ()

    def _result(self, number: int, part: Return) -> str:
        text, mark = annotation(part.type), _mark(part.type)
        lone_tuple = len(self.schema.returns) == 1 and part.name is None and text[:6] == "tuple["
        if lone_tuple and not _one_in_tuple(part.type):
            self.losses.append(f"that `{part}` is one return")
        elif not lone_tuple:
            self._type(f"return {number}", part.type)
        if mark is not None and mark.before and all(name in self.owners for name in mark.before):
            owners = [self.owners[name] for name in mark.before]
            if mark.writes == any(owner.writes for owner in owners):
                return self._view(text, mark, owners)
        if any(aliases(part.type)):
            self.losses.append(f"the alias marks of return {number}, `{part}`")
        return text

    def _view(self, text: str, mark: Alias, owners: list[_Owner]) -> str:
        if mark.writes and len(owners) == 1 and self.in_order:
            return f"Mutable[{text}]"
        names = ", ".join(f'"{owner.name}"' for owner in owners)
        return f"Annotated[{text}, Aliases({names})]"

    def _type(self, what: str, kind: Type) -> None:
        if not inferred(kind):
            self.losses.append(f"that {what} is `{plain(kind)}`")

    def names(self) -> Iterator[str]:
        """The parameter names: a keyword gets an underscore."""
        taken = {argument.name for argument in self.schema.arguments}
        for argument in self.schema.arguments:
            name = argument.name
            if keyword.iskeyword(name):
                self.losses.append(f"the name {name!r}, a keyword of Python")
                while name in taken or keyword.iskeyword(name):
                    name += "_"
                taken.add(name)
            yield name

    def whole(self) -> None:
        """Losses that concern no single annotation."""
        if self.schema.varargs:
            self.losses.append("`...` among the arguments")
        if not self.schema.returns and not self.schema.mutable:
            self.losses.append("an operator that returns nothing and writes nothing")
        for argument in self.schema.arguments:
            if reworded(argument):
                self.losses.append(f"the default of `{argument}`")


def inferred(kind: Type) -> bool:
    """Whether the annotation of a type is inferred as that type, alias marks aside.

    >>> inferred(List(Base("Tensor"))), inferred(Apply("Dict", (Base("str"), Base("int"))))
    (True, False)
    """
    match kind:
        case Maybe(of):
            return inferred(of)
        case List(of, size):
            return inferred(of) and (size is None or 0 < size <= MOST_ITEMS)
        case Apply():
            return False
        case Base(name):
            return name in INFERRED or ("." in name and not name.startswith("__torch__."))
        case _:
            assert_never(kind)


def _fields(names: list[str | None], texts: list[str]) -> tuple[Field, ...]:
    """The fields of a named tuple; none where Python does not take such names."""
    fields = [Field(name, text) for name, text in zip(names, texts, strict=True) if name]
    taken = {field.name for field in fields}
    refused = any(name.startswith("_") or keyword.iskeyword(name) for name in taken)
    return () if refused or len(taken) < len(names) else tuple(fields)


def _one_in_tuple(kind: Type) -> bool:
    return isinstance(kind, Apply) and len(kind.of) == 1 and inferred(kind.of[0])


def reworded(argument: Argument) -> bool:
    """Whether the default comes back as another one: `Mean` as 1, 1 as 1.0, a number as a dtype."""
    match argument:
        case Argument(_, Base("Tensor" | "Generator"), None):
            return True
        case Argument(_, _, Symbol("Mean")):
            return True
        case Argument(_, Maybe(Base("float")), int()):
            return not isinstance(argument.default, bool)
        case Argument(_, Base(name) | Maybe(Base(name)), int()):
            return name in ("ScalarType", "Layout", "MemoryFormat")
        case Argument(_, List(_, int(size)), tuple(values)):
            return len(values) != size
        case _:
            return False


class _Owner(NamedTuple):
    """The argument that an alias set belongs to, and whether it is written."""

    name: str
    writes: bool


def _owners(arguments: Sequence[Argument]) -> Iterator[tuple[str, _Owner]]:
    """Each alias set that belongs to one argument alone, in the order of the arguments."""
    names = [name for a in arguments for alias in aliases(a.type) for name in {*alias.names}]
    for argument in arguments:
        mark = _mark(argument.type)
        if mark is not None and len(mark.before) == 1 and names.count(mark.before[0]) == 1:
            yield mark.before[0], _Owner(argument.name, mark.writes)


def _mark(kind: Type) -> Alias | None:
    """The alias annotation of the tensor inside, where an annotation could say it."""
    marks = [*aliases(kind)]
    while isinstance(kind, (Maybe, List)):
        kind = kind.of
    if len(marks) != 1 or not isinstance(kind, Base) or kind.name != "Tensor":
        return None
    mark = marks[0]
    sayable = kind.alias is mark and mark.before == mark.after and "*" not in mark.before
    return mark if sayable else None
