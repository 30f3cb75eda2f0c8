"""An operator as its callers see it, and the packets and namespaces that operators gather in.

Knows schemas; nothing of how a stub is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opwright.findings import Diagnostic
from opwright.frozen import field, frozen
from opwright.schema.model import Schema


@frozen
class Operator:
    """One overload: its schema, what its author says of it, and where that stands.

    The line is 0 where it is not known or, since lines move, better not told. `narrowed` gives
    arguments a narrower annotation than that of their schema type: the text of a `Literal[...]`.
    """

    schema: Schema
    doc: str = ""
    file: str = ""
    line: int = 0
    narrowed: Mapping[str, str] = field(default_factory=dict)

    @property
    def overload(self) -> str:
        """The attribute of the packet: `default` for the overload without a name."""
        return self.schema.overload or "default"

    @property
    def facts(self) -> list[str]:
        """The schema and the place, a line each."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return [str(self.schema), *filter(None, [place])]

    @property
    def description(self) -> str:
        """What hovering shows: the author's words, the schema, the place."""
        return described([self])


@frozen
class Unread:
    """An operator that is there, though nobody can say what it takes; why, where that is known."""

    name: str
    findings: tuple[Diagnostic, ...] = ()


@frozen
class Packet:
    """All overloads of one name, in the order of their registration; none where all are unread."""

    name: str
    operators: tuple[Operator, ...]

    @property
    def description(self) -> str:
        """The descriptions of all overloads; what several have in common once."""
        return described(self.operators)


def described(operators: Iterable[Operator]) -> str:
    """The authors' words, then schemas and places, each once."""
    operators = tuple(operators)
    words = dict.fromkeys(each.doc for each in operators if each.doc)
    facts = dict.fromkeys(fact for each in operators for fact in each.facts)
    return "\n\n".join([*words, "\n".join(facts)])


@frozen
class Namespace:
    """`torch.ops.<name>`: its packets, in the order of their names."""

    name: str
    packets: tuple[Packet, ...]


def gather(operators: Iterable[Operator | Unread]) -> tuple[Namespace, ...]:
    """Put operators in their namespaces, each overload once: the last one given counts.

    >>> from opwright.schema.parse import parse
    >>> texts = ("b::g(Tensor x) -> ()", "a::f(Tensor x) -> ()", "a::f.out(Tensor x) -> ()")
    >>> found = [*(Operator(parse(text)) for text in texts), Unread("b::h")]
    >>> [(n.name, [(p.name, len(p.operators)) for p in n.packets]) for n in gather(found)]
    [('a', [('f', 2)]), ('b', [('g', 1), ('h', 0)])]
    """
    found: dict[str, dict[str, dict[str, Operator]]] = {}
    for operator in operators:
        full = operator.name if isinstance(operator, Unread) else operator.schema.name
        namespace, _, name = full.partition(".")[0].rpartition("::")
        packet = found.setdefault(namespace, {}).setdefault(name, {})
        if isinstance(operator, Operator):
            packet[operator.overload] = operator
    return tuple(
        Namespace(
            namespace,
            tuple(Packet(name, tuple(each.values())) for name, each in sorted(packets.items())),
        )
        for namespace, packets in sorted(found.items())
    )
