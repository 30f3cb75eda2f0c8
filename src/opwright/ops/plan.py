"""How a call of the user's function lines up with the arguments of its schema.

Knows signatures, bindings and schemas as values; writes no code and calls no torch.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from opwright.hints.codec import AS_IS, Binding, Codec, Gives, Result, Results, Single, Splat
from opwright.hints.model import StructureKind
from opwright.never import assert_never
from opwright.schema.kinds import Base, List, Maybe, Type
from opwright.schema.model import Argument, Schema


@dataclass(frozen=True, slots=True)
class Leaf:
    """One schema argument, and the expression that takes its value from the user's parameters.

    `given` are the optional structures around it, from the outside in, without which there is no
    value; `presence` marks the argument that says whether a structure was given.
    """

    argument: Argument
    path: str
    codec: Codec = AS_IS
    given: tuple[str, ...] = ()
    presence: bool = False

    @property
    def name(self) -> str:
        return self.argument.name


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that the generated functions of one operator are written from."""

    schema: Schema
    signature: inspect.Signature
    leaves: tuple[Leaf, ...]
    bindings: tuple[Binding, ...]
    results: Results
    meanings: tuple[str, ...]
    """What `bindings` call each argument; a handwritten schema may have another name for it."""

    def by_meaning(self) -> dict[str, Leaf]:
        """The arguments by the names that `bindings` and `results` use."""
        return dict(zip(self.meanings, self.leaves, strict=True))

    @property
    def crosses_as_it_is(self) -> bool:
        """Whether the dispatcher can take the user's arguments just as they come."""
        whole = all(isinstance(binding, Single) for binding in self.bindings)
        return whole and all(leaf.codec == AS_IS for leaf in self.leaves)

    @property
    def is_silent(self) -> bool:
        """Whether the schema keeps quiet about results, which are arguments that it writes."""
        return bool(self.results.parts) and not self.schema.returns

    def given_back(self) -> str:
        """The expression of what a silent operator gives back."""
        leaves = self.by_meaning()
        paths = [leaves[part.arguments[0]].path for part in self.results.parts]
        return paths[0] if self.results.gives is Gives.ONE else f"({', '.join(paths)},)"

    def tensors(self) -> Iterator[tuple[int, Leaf]]:
        """The arguments in which the dispatcher sees tensors, with their places."""
        for place, leaf in enumerate(self.leaves):
            if sees_tensors(leaf.argument.type):
                yield place, leaf

    def together(self) -> list[tuple[int, Leaf]]:
        """The tensors that are always there and given as they are, if there are several."""
        found = [
            (place, leaf)
            for place, leaf in self.tensors()
            if isinstance(leaf.argument.type, Base) and leaf.path.isidentifier()
        ]
        return found if len(found) > 1 else []

    def written(self) -> Iterator[tuple[int, Leaf]]:
        """The arguments that the operator writes, with their places."""
        for place, leaf in enumerate(self.leaves):
            if leaf.argument.writes:
                yield place, leaf


def sees_tensors(kind: Type) -> bool:
    """Whether the dispatcher looks for tensors in arguments of this type.

    >>> from opwright.schema.kinds import Base, List, Maybe
    >>> tensor = Base("Tensor")
    >>> [sees_tensors(t) for t in (tensor, Maybe(tensor), List(Maybe(tensor)), Maybe(List(tensor)))]
    [True, True, True, False]
    """
    match kind:
        case Base(name):
            return name == "Tensor"
        case Maybe(Base(name)) | List(Base(name)) | List(Maybe(Base(name))):
            return name == "Tensor"
        case _:
            return False


def plan(
    schema: Schema,
    signature: inspect.Signature,
    bindings: tuple[Binding, ...],
    results: Results,
    inferred: Schema,
) -> Plan:
    """Line up a schema with what the annotations mean; `inferred` names what `bindings` name."""
    found = {leaf.name: leaf for binding in bindings for leaf in _leaves(binding, inferred)}
    leaves = tuple(
        Leaf(argument, leaf.path, leaf.codec, leaf.given, leaf.presence)
        for argument, meant in zip(schema.arguments, inferred.arguments, strict=True)
        for leaf in (found[meant.name],)
    )
    return Plan(schema, signature, leaves, bindings, results, _names(inferred))


def plain_plan(schema: Schema, signature: inspect.Signature) -> Plan:
    """The plan of a schema without annotations: every value crosses as it is."""
    leaves = tuple(Leaf(argument, argument.name) for argument in schema.arguments)
    bindings = tuple(Single(argument.name, argument.name) for argument in schema.arguments)
    return Plan(schema, signature, leaves, bindings, plain_results(schema), _names(schema))


def _names(schema: Schema) -> tuple[str, ...]:
    return tuple(argument.name for argument in schema.arguments)


def plain_results(schema: Schema) -> Results:
    """The Python form of results that nobody annotated."""
    parts = tuple(Result() for _ in schema.returns)
    gives = (Gives.NOTHING, Gives.ONE)[len(parts)] if len(parts) < 2 else Gives.TUPLE
    return Results(gives, parts)


def _leaves(
    binding: Binding, schema: Schema, form: str = "{}", given: tuple[str, ...] = ()
) -> Iterator[Leaf]:
    path = form.format(binding.name)
    match binding:
        case Single(_, argument, codec):
            yield Leaf(_argument(schema, argument), path, codec, given)
        case Splat(_, structure, fields, presence):
            if presence is not None:
                given = (*given, path)
                yield Leaf(_argument(schema, presence), path, AS_IS, given, presence=True)
            for part in fields:
                access = _access(structure.kind, omitted=part.name in binding.omitted)
                yield from _leaves(part, schema, f"{path}{access}", given)
        case _:
            assert_never(binding)


def _access(kind: StructureKind, *, omitted: bool) -> str:
    if kind is not StructureKind.TYPEDDICT:
        return ".{}"
    return ".get('{}')" if omitted else "['{}']"


def _argument(schema: Schema, name: str) -> Argument:
    return next(argument for argument in schema.arguments if argument.name == name)
