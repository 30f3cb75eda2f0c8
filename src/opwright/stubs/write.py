"""Stubs of namespaces as text: a class per packet with typed overloads, a class per namespace.

Knows how `torch.ops` looks to a type checker; nothing of files and folders.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from opwright.stubs.operators import Namespace, Operator, Packet
from opwright.stubs.signature import attribute, parameters, result

IMPORTS = """\
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, overload

import torch
from torch import Tensor
"""

CLASSES = "from torch._ops import OpOverload, OpOverloadPacket\n"
"""What a stub outside `torch._ops` needs besides."""

BASE = """\
class _Namespace:
    name: str
    def __iter__(self) -> Iterator[str]: ...
"""
"""What every namespace has. It is no module for checkers, so an unknown operator is an error."""

RECEIVER = "_op"
"""The first parameter of a call; arguments of an operator may well be called `self`."""

WORDS = frozenset(
    "Annotated Any Literal Sequence Tensor bool complex dict float int list object overload str"
    " torch tuple".split()
)
"""The words of annotations; an overload of such a name would hide them in its class."""


def write(namespaces: Iterable[Namespace], reserved: Iterable[str] = ()) -> str:
    """The classes of namespaces, each after the classes of its packets.

    No class takes a reserved name.

    >>> from opwright.schema.parse import parse
    >>> from opwright.stubs.operators import gather
    >>> print(write(gather([Operator(parse("mylib::f(Tensor x, SymInt n=1) -> Tensor"))])))
    class _mylib_f_default(OpOverload):
        \"\"\"mylib::f(Tensor x, SymInt n=1) -> Tensor\"\"\"
        def __call__(_op, /, x: Tensor, n: int = 1) -> Tensor: ...
    class _mylib_f(OpOverloadPacket):
        \"\"\"mylib::f(Tensor x, SymInt n=1) -> Tensor\"\"\"
        def __call__(_op, /, x: Tensor, n: int = 1) -> Tensor: ...
        default: _mylib_f_default
    class _mylib_ops(_Namespace):
        f: _mylib_f
        \"\"\"mylib::f(Tensor x, SymInt n=1) -> Tensor\"\"\"
    <BLANKLINE>
    """
    namespaces = tuple(namespaces)
    names = _Names({*reserved, *(class_name(each.name) for each in namespaces)})
    return "".join(f"{line}\n" for each in namespaces for line in _namespace(each, names))


def module(namespaces: Iterable[Namespace]) -> str:
    """A module of stubs that stands on its own."""
    return IMPORTS + CLASSES + BASE + write(namespaces)


class _Names:
    """Class names, each given once: `a::b_c` and `a_b::c` may not share theirs."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def fresh(self, *parts: str) -> str:
        """The name that these parts make, or the like."""
        name = f"_{'_'.join(parts)}"
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def class_name(namespace: str) -> str:
    """The class of a namespace.

    >>> class_name("mylib")
    '_mylib_ops'
    """
    return f"_{namespace}_ops"


def _namespace(namespace: Namespace, names: _Names) -> Iterator[str]:
    members: list[str] = []
    for packet in namespace.packets:
        if not packet.operators:
            members.append(f"    {attribute(packet.name)}: OpOverloadPacket")
            continue
        class_ = names.fresh(namespace.name, packet.name)
        yield from _packet(packet, class_, names)
        members.append(f"    {attribute(packet.name)}: {class_}")
        members += docstring(packet.description)
    yield f"class {class_name(namespace.name)}(_Namespace):"
    yield from members


def _packet(packet: Packet, class_: str, names: _Names) -> Iterator[str]:
    base, attributes, calls = "OpOverloadPacket", [], []
    for operator in packet.operators:
        overload = names.fresh(class_[1:], operator.overload)
        yield f"class {overload}(OpOverload):"
        yield from docstring(operator.description)
        yield (call := _call(operator))
        calls += ["    @overload", call] if len(packet.operators) > 1 else [call]
        attributes.append(f"    {attribute(operator.overload)}: {overload}")
    if not WORDS.isdisjoint(operator.overload for operator in packet.operators):
        yield f"class {(called := names.fresh(class_[1:], 'call'))}({base}):"
        yield from calls
        base, calls = called, []
    yield f"class {class_}({base}):"
    yield from docstring(packet.description)
    yield from calls
    yield from attributes


def _call(operator: Operator) -> str:
    receiver = RECEIVER
    while any(argument.name == receiver for argument in operator.schema.arguments):
        receiver += "_"
    inside = ", ".join([receiver, "/", *filter(None, [parameters(operator)])])
    return f"    def __call__({inside}) -> {result(operator.schema)}: ..."


def docstring(text: str, indent: str = "    ") -> list[str]:
    """A docstring in lines, indented.

    >>> docstring("One.\\nTwo.")
    ['    \"\"\"One.', '    Two.\"\"\"']
    """
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if escaped.endswith('"'):
        escaped = f'{escaped[:-1]}\\"'
    return textwrap.indent(f'"""{escaped}"""', indent).split("\n")
