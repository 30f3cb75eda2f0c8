"""Hypothesis strategies for schemas, their texts, and texts that are nearly or hardly schemas."""

from __future__ import annotations

import os
import string
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from opwright.schema.fit import DTYPES
from opwright.schema.literal import Symbol, Value
from opwright.schema.model import (
    KEYWORDS,
    REQUIRED,
    Alias,
    Apply,
    Argument,
    Base,
    Default,
    List,
    Maybe,
    Return,
    Schema,
    Type,
)

NIGHTLY = os.environ.get("OPWRIGHT_PROFILE") == "nightly"


def examples(usual: int, nightly: int) -> int:
    """How many examples a property gets under the profile of this run."""
    return nightly if NIGHTLY else usual


words = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=8)
names = words.filter(lambda word: not word[0].isdigit() and word not in KEYWORDS)
overloads = names.filter(lambda name: name != "default" and not name.startswith("__"))

numbers = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
integers = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
devices = st.sampled_from(["cpu", "cuda", "cuda:0", "cuda:3", "meta", "mps"])
dtypes = st.sampled_from(DTYPES).map(Symbol)

VALUES: dict[str, st.SearchStrategy[Value]] = {
    "Device": devices,
    "Layout": st.just(Symbol("strided")),
    "MemoryFormat": st.just(Symbol("contiguous_format")),
    "Scalar": st.one_of(integers, numbers, st.booleans()),
    "ScalarType": dtypes,
    "SymInt": integers,
    "bool": st.booleans(),
    "complex": numbers.map(lambda imag: complex(0, imag)),
    "float": numbers,
    "int": integers,
    "str": texts,
}
"""Defaults for each type that takes one."""

LISTED = ["SymInt", "int", "float", "bool", "complex", "ScalarType", "Layout", "MemoryFormat"]

INFERABLE = [*VALUES, "Tensor", "Tensor", "Tensor", "Generator", "Stream"]
OTHERS = ["Any", "SymBool", "Storage", "QScheme", "DeviceIndex", "NoneType", "t", "elem_t"]

inferable_bases = st.sampled_from(INFERABLE).map(Base)
bases = st.sampled_from([*INFERABLE, *OTHERS]).map(Base)
sizes = st.integers(0, 4)


def _wrapped(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    return st.one_of(
        inner.filter(lambda kind: kind != Base("NoneType")).map(Maybe),
        inner.map(List),
        st.lists(inner, max_size=3).map(lambda of: Apply("", tuple(of))),
        inner.map(lambda kind: Apply("Future", (kind,))),
        inner.map(lambda kind: Apply("Dict", (Base("str"), kind))),
    )


types: st.SearchStrategy[Type] = st.recursive(bases, _wrapped, max_leaves=4)
inferable_types: st.SearchStrategy[Type] = st.recursive(
    inferable_bases, lambda inner: st.one_of(inner.map(Maybe), inner.map(List)), max_leaves=3
)


def sized(kinds: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    """The same, some of them lists of a fixed size."""
    lists = st.builds(List, kinds, sizes)
    return st.one_of(kinds, kinds, lists, lists.map(Maybe))


def defaults(kind: Type) -> st.SearchStrategy[Default]:
    """Defaults that the type can hold, required among them."""
    none: st.SearchStrategy[Value] = st.none()
    match kind:
        case Base(name) if name in VALUES:
            found: st.SearchStrategy[Default] = VALUES[name]
        case Base("Tensor"):
            found = none
        case Maybe(Base(name)) if name in VALUES:
            found = st.one_of(none, VALUES[name])
        case Maybe():
            found = none
        case List(Base(name), size) if name in LISTED:
            count = {"min_size": size, "max_size": size} if size is not None else {"max_size": 3}
            found = st.lists(VALUES[name], **count).map(tuple)
        case _:
            return st.just(REQUIRED)
    return st.one_of(st.just(REQUIRED), found)


sets = st.sampled_from("abcde")
marks = st.one_of(
    st.builds(lambda name, writes: Alias((name,), writes), sets, st.booleans()),
    st.builds(
        lambda before, writes, after: Alias(tuple(before), writes, tuple(after)),
        st.lists(sets, min_size=1, max_size=2),
        st.booleans(),
        st.lists(st.one_of(sets, st.just("*")), min_size=1, max_size=2),
    ),
    st.just(Alias(writes=True)),
    st.just(Alias(("*",))),
)


@st.composite
def marked(draw: st.DrawFn, kinds: st.SearchStrategy[Type]) -> Type:
    """A type, its tensors perhaps with alias marks."""

    def mark(kind: Type) -> Type:
        match kind:
            case Base("Tensor") if draw(st.booleans()):
                return replace(kind, alias=draw(marks))
            case List(of, size):
                return List(mark(of), size, draw(st.one_of(st.none(), st.none(), marks)))
            case Maybe(of):
                return Maybe(mark(of))
            case _:
                return kind

    return mark(draw(kinds))


@st.composite
def arguments(draw: st.DrawFn, kinds: st.SearchStrategy[Type]) -> tuple[Argument, ...]:
    """Arguments in an order that a schema allows."""
    called = draw(st.lists(names, max_size=5, unique=True))
    star = draw(st.integers(0, len(called)))
    found: list[Argument] = []
    defaulted = False
    for place, name in enumerate(called):
        kind, kw_only = draw(kinds), place >= star
        default = draw(defaults(kind))
        if defaulted and not kw_only and default is REQUIRED:
            kind, default = Maybe(kind) if kind != Base("NoneType") else Maybe(Base("int")), None
        defaulted = defaulted or default is not REQUIRED
        found.append(Argument(name, kind, default, kw_only))
    return tuple(found)


@st.composite
def schemas(draw: st.DrawFn, kinds: st.SearchStrategy[Type] | None = None) -> Schema:
    """Any schema; with `kinds`, one whose types are those, without alias marks."""
    chosen = marked(sized(types)) if kinds is None else kinds
    taken = draw(arguments(chosen))
    given = draw(st.lists(chosen, max_size=3))
    called = draw(st.one_of(st.none(), st.lists(names, min_size=3, max_size=3, unique=True)))
    returns = [Return(kind, called[place] if called else None) for place, kind in enumerate(given)]
    varargs = kinds is None and all(a.required for a in taken) and draw(st.booleans())
    name = "::".join(draw(st.lists(names, min_size=1, max_size=2)))
    overload = draw(st.one_of(st.just(""), overloads))
    return Schema(name, overload, taken, tuple(returns), varargs)


PIECES = [
    *"()[]?!*|.,=:;{}+-/@'\"#\\ \n\t\r\f\x00",
    *("->", "...", "::", "[]", "[2]", "[0x2]", "# type:", "# \n", '"""', "\\\n", "é", "\udc80"),
    *(
        "a",
        "x",
        "self",
        "class",
        "from",
        "default",
        "__x",
        "foo",
        "Foo",
        "a.b",
        "A.b",
        "inf",
        "nan",
    ),
    *("int", "SymInt", "float", "bool", "str", "complex", "Scalar", "Tensor", "Device", "Layout"),
    *("ScalarType", "MemoryFormat", "Generator", "Any", "None", "NoneType", "SymFloat", "List"),
    *("Tensor(a!)", "Tensor(a|b -> *)", "(int, int)", "Dict(str, int)", "Union(int, str)"),
    *("Future(int)", "True", "1", "-1", "1.5", ".5", "1e5", "1E5", "1j", "0x1", "1e999", "5e-324"),
    *("9999999999999999999", '"a"', "'b'", r'"\x"', r"'\101'", "Mean", "long", "float32"),
    *("=None", "=1", "=[]", "=[1, 2]", '="x"', "=True", "=0.0", "strided", "contiguous_format"),
]
"""What a mutation puts into a text."""


@st.composite
def mutations(draw: st.DrawFn, corpus: Sequence[Sequence[str]]) -> str:
    """A text of the corpus (as words), with a few words dropped, added, doubled or swapped."""
    found = [*draw(st.sampled_from(corpus))]
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(found)))
        match draw(st.sampled_from(["drop", "add", "swap", "double"])):
            case "add":
                found.insert(place, draw(st.sampled_from(PIECES)))
            case "drop":
                del found[place : place + draw(st.integers(1, 2))]
            case "double" if found:
                found.insert(place, draw(st.sampled_from(found)))
            case "swap" if place < len(found):
                other = draw(st.integers(0, len(found) - 1))
                found[place], found[other] = found[other], found[place]
            case _:
                pass
    return "".join(found)


garbage = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map(lambda parts: f"f({''.join(parts)}) -> ()"),
)
"""Texts that are hardly ever a schema; lone surrogates among them."""
