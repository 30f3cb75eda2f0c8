"""The typed accessor module: `mylib/ops.py`, whose functions are the operators themselves.

What stands between the markers is ours, the rest of the file its owner's. Checkers read the
functions; at run time each name is the operator, so a call costs what `torch.ops` costs.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from opwright.findings import Diagnostic, SchemaError, Span
from opwright.frozen import replace
from opwright.stubs.operators import Namespace, Operator, Packet
from opwright.stubs.signature import attribute, parameters, result
from opwright.stubs.write import WORDS, docstring

BEGIN = "# opwright stubs: begin"
END = "# opwright stubs: end"
LONGEST = 88
"""The longest line that is not broken up, that of most formatters."""

NEW = '''\
"""The operators of {names}, typed."""

from __future__ import annotations

'''

IMPORTS = {
    "collections.abc": ("Sequence",),
    "typing": ("Annotated", "Any", "Literal", "overload"),
    "torch": ("Tensor",),
}


def accessor(namespaces: Sequence[Namespace], text: str = "", file: str = "") -> str:
    """The text of an accessor module, its block replaced or, in a file without one, appended.

    >>> from opwright.schema.parse import parse
    >>> from opwright.stubs.operators import gather
    >>> operators = [Operator(parse("mylib::f(Tensor x, SymInt n=1) -> Tensor"))]
    >>> print(accessor(gather(operators), "# by hand\\n"), end="")
    # by hand
    # opwright stubs: begin
    # fmt: off
    from typing import TYPE_CHECKING
    <BLANKLINE>
    import torch
    <BLANKLINE>
    if TYPE_CHECKING:
        from torch import Tensor
    <BLANKLINE>
        def f(x: Tensor, n: int = 1) -> Tensor:
            \"\"\"mylib::f(Tensor x, SymInt n=1) -> Tensor\"\"\"
            ...
    <BLANKLINE>
    else:
        f = torch.ops.mylib.f
    # fmt: on
    # opwright stubs: end
    """
    _refuse_clashes(namespaces)
    if not text:
        names = ", ".join(f"`torch.ops.{each.name}`" for each in namespaces)
        text = NEW.format(names=names)
    before, after = _around(text, file)
    block = [BEGIN, "# fmt: off", *_block(namespaces), "# fmt: on", END]
    return f"{before}{''.join(f'{line}{chr(10)}' for line in block)}{after}"


def without(text: str, file: str = "") -> str:
    """The text of a module without the block."""
    before, after = _around(text, file)
    return before + after


def _around(text: str, file: str) -> tuple[str, str]:
    """What stands before the block and what after it."""
    lines = text.splitlines(keepends=True)
    marks = [(n, mark) for n, line in enumerate(lines) if (mark := line.strip()) in (BEGIN, END)]
    match marks:
        case []:
            return text if text.endswith("\n") or not text else f"{text}\n", ""
        case [(begin, mark), (end, other)] if (mark, other) == (BEGIN, END):
            return "".join(lines[:begin]), "".join(lines[end + 1 :])
        case _:
            message = f"the markers do not pair up: one `{BEGIN}`, then one `{END}`"
            place = Span(file, marks[0][0] + 1)
            raise SchemaError([Diagnostic("OW900", message, "remove what is too many", place)])


def _refuse_clashes(namespaces: Sequence[Namespace]) -> None:
    """Two operators of one name cannot share a module, nor can one that hides a type."""
    names = [packet.name for namespace in namespaces for packet in namespace.packets]
    found = [
        Diagnostic("OW900", f"an accessor cannot hold {why}", "make one accessor per namespace")
        for name, count in Counter(names).items()
        if (why := _clash(name, count))
    ]
    if found:
        raise SchemaError(found)


def _clash(name: str, count: int) -> str:
    if count > 1:
        return f"{count} operators called {name!r}"
    return f"an operator called {name!r}: its annotations need the word" * (name in WORDS)


def _block(namespaces: Sequence[Namespace]) -> Iterator[str]:
    functions = [line for each in namespaces for packet in each.packets for line in _typed(packet)]
    used = set(re.findall(r"\w+", "\n".join(functions)))
    yield from ("from typing import TYPE_CHECKING", "", "import torch", "", "if TYPE_CHECKING:")
    for module, words in IMPORTS.items():
        if needed := sorted(used.intersection(words)):
            yield f"    from {module} import {', '.join(needed)}"
    yield ""
    yield from functions
    yield "else:"
    for namespace in namespaces:
        for packet in namespace.packets:
            yield f"    {attribute(packet.name)} = {_fetched(namespace.name, packet.name)}"


def _fetched(namespace: str, name: str) -> str:
    return (
        f'getattr(torch.ops.{namespace}, "{name}")'
        if keyword.iskeyword(name)
        else f"torch.ops.{namespace}.{name}"
    )


def _typed(packet: Packet) -> Iterator[str]:
    """A function, or one per overload; nothing is known of a packet without any."""
    name, many = attribute(packet.name), len(packet.operators) > 1
    if not packet.operators:
        yield f"    {name}: Any"
    for operator in packet.operators:
        if many:
            yield "    @overload"
        yield from _function(name, operator)
    if many:
        yield f"    def {name}(*args: Any, **kwargs: Any) -> Any: ..."
        yield ""


def _function(name: str, operator: Operator) -> Iterator[str]:
    inside, given = parameters(operator), result(operator.schema)
    line = f"    def {name}({inside}) -> {given}:"
    if len(line) <= LONGEST:
        yield line
    else:
        yield from (f"    def {name}(", f"        {inside},", f"    ) -> {given}:")
    # A line number in a file under version control would change whenever its neighbours do.
    yield from docstring(replace(operator, line=0).description, "        ")
    yield "        ..."
    yield ""
