"""What an annotated function means as a schema: the one place that decides.

Knows nothing of how annotations are written or read; never raises for what a user wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from opwright.codes import CODES
from opwright.findings import Diagnostic, Span
from opwright.hints.codec import NOTHING
from opwright.hints.codec import AsIs as AsIs
from opwright.hints.codec import Binding as Binding
from opwright.hints.codec import By as By
from opwright.hints.codec import Codec as Codec
from opwright.hints.codec import Each as Each
from opwright.hints.codec import EnumMember as EnumMember
from opwright.hints.codec import Gives as Gives
from opwright.hints.codec import JsonText as JsonText
from opwright.hints.codec import Nullable as Nullable
from opwright.hints.codec import OneOf as OneOf
from opwright.hints.codec import OpaqueObject as OpaqueObject
from opwright.hints.codec import Result as Result
from opwright.hints.codec import Results as Results
from opwright.hints.codec import Single as Single
from opwright.hints.codec import Splat as Splat
from opwright.hints.meaning import Refusal, marked
from opwright.hints.model import Function, Kind, Parameter, Role
from opwright.hints.remarks import remarks
from opwright.hints.results import Returning
from opwright.hints.structure import Flattening, Slot
from opwright.hints.variant import optional_outs, with_outs, without_outs
from opwright.schema.kinds import Alias
from opwright.schema.model import REQUIRED, Argument, Return, Schema


@dataclass(frozen=True, slots=True)
class Inferred:
    """What an annotated function means: the schema, how values reach it, and what is wrong.

    With an error among `findings` the schema is what could be made out, for editors.

    `out` is the overload `out` of a function whose `Out` parameters may be left out (`Out[Tensor]
    | None = None`): in `schema` and `bindings` they are missing, and in `out` they are required.
    """

    schema: Schema
    bindings: tuple[Binding, ...] = ()
    results: Results = NOTHING
    findings: tuple[Diagnostic, ...] = ()
    out: Inferred | None = None


def lower(function: Function, name: str | None = None) -> Inferred:
    """What `function` means as the operator `name` (`ns::name` or `ns::name.overload`).

    Without a name the function's own is taken.

    >>> from opwright.hints.model import NONE, Name, Of
    >>> x = Parameter("x", Of("opwright.Mutable", (Name("torch.Tensor"),)))
    >>> print(lower(Function("scale_", (x, Parameter("by", Name("float"), 2)), NONE)).schema)
    scale_(Tensor(a!) x, float by=2.0) -> ()
    """
    name = function.name if name is None else name
    if outs := optional_outs(function):
        overload = "_out" if "." in name else ".out"
        plain = _Lowering(without_outs(function, outs), name).inferred()
        variant = _Lowering(with_outs(function, outs), name + overload).inferred()
        findings = dict.fromkeys((*plain.findings, *variant.findings))
        return replace(plain, findings=tuple(findings), out=variant)
    return _Lowering(function, name).inferred()


_ROLES = {
    Role.METHOD: ("is a method", "write a function, or pass a bound method: `obj.{0}`"),
    Role.CLASS: ("is a class", "write a function that makes one and calls it"),
    Role.COROUTINE: ("is a coroutine", "write `def` instead of `async def`"),
    Role.GENERATOR: ("is a generator", "return a list instead of yielding"),
    Role.OPAQUE: ("has no annotations to read", "wrap it in a function that has"),
}


@dataclass(slots=True)
class _Lowering:
    """One function on its way to a schema."""

    function: Function
    name: str
    flat: Flattening = field(default_factory=Flattening)
    findings: list[Diagnostic] = field(default_factory=list)

    def inferred(self) -> Inferred:
        function = self.function
        if function.role is not Role.FUNCTION:
            self._role(function.role)
        if function.role in (Role.CLASS, Role.OPAQUE):
            return Inferred(_schema(self.name, (), ()), findings=tuple(self.findings))
        is_self = function.role is Role.METHOD and function.parameters[0].hint is None
        parameters = function.parameters[1:] if is_self else function.parameters
        bindings = tuple(bound for p in parameters if (bound := self._parameter(p)))
        slots = self._distinct(self.flat.slots)
        returning = self._returning(slots)
        arguments = _arguments(slots, returning.viewed)
        schema = _schema(self.name, arguments, returning.returns)
        if not self.findings:
            self.findings += remarks(schema, function)
        return Inferred(schema, bindings, returning.results, tuple(self.findings))

    def _role(self, role: Role) -> None:
        message, hint = _ROLES[role]
        self._find("OW104", f"{self.name} {message}", hint.format(self.function.name))

    def _parameter(self, parameter: Parameter) -> Binding | None:
        if fault := _fault(parameter):
            self._refuse(f"{parameter.name!r} of {self.name}", fault, parameter.span)
            return None
        flat, kind, hint = self.flat, parameter.kind, parameter.hint
        assert hint is not None
        flat.kw_only = kind is Kind.KEYWORD_ONLY
        binding = flat.bind(parameter.name, parameter.name, hint, parameter.default)
        while flat.refusals:
            argument, refusal = flat.refusals.pop(0)
            self._refuse(f"{argument!r} of {self.name}", refusal, parameter.span)
        return binding

    def _distinct(self, slots: list[Slot]) -> list[Slot]:
        """Each argument once; a field of a structure may be called like a parameter."""
        found: dict[str, Slot] = {}
        for slot in slots:
            name = slot.argument.name
            if name in found:
                message = f"{name!r} of {self.name}: a field and a parameter become this argument"
                self._find("OW108", message, "rename one of them")
            found.setdefault(name, slot)
        return list(found.values())

    def _returning(self, slots: list[Slot]) -> Returning:
        function, returning = self.function, Returning(slots)
        if function.returns is None:
            message = f"the result of {self.name} is not annotated"
            self._find("OW101", message, "write `-> Tensor`, or `-> None`", function.returns_span)
            return returning
        sound = not self.findings
        returning.take(function.returns)
        for refusal in returning.refusals:
            self._refuse(f"the result of {self.name}", refusal, function.returns_span)
        written = any(slot.meaning.mark for slot in slots)
        if sound and not (returning.refusals or returning.returns or written):
            message = f"{self.name} returns nothing, writes nothing: torch.compile drops the call"
            hint = "mark what it writes `Mutable[Tensor]` or `Out[Tensor]`, or return it"
            self._find("OW111", message, hint, function.returns_span)
        return returning

    def _refuse(self, subject: str, refusal: Refusal, span: Span) -> None:
        self._find(refusal.code, f"{subject}: {refusal.message}", refusal.hint, span)

    def _find(self, code: str, message: str, hint: str, span: Span | None = None) -> None:
        span = self.function.span if span is None else span
        self.findings.append(Diagnostic(code, message, hint, span, CODES[code].severity))


def _fault(parameter: Parameter) -> Refusal | None:
    """Why a parameter is none that a schema can have, whatever its annotation."""
    if parameter.kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD):
        return Refusal("OW105", "a schema has no such parameter", "name each parameter")
    if parameter.hint is None:
        return Refusal("OW101", "it is not annotated", f"write `{parameter.name}: Tensor`")
    if not parameter.name.isascii():
        return Refusal("OW108", "torch reads ASCII names alone", "rename it")
    return None


def _arguments(slots: Iterable[Slot], viewed: set[str]) -> tuple[Argument, ...]:
    """The arguments in order; a default before a required one cannot stay in a schema."""
    arguments = [_seen(slot, viewed) for slot in slots]
    required = False
    for place in reversed(range(len(arguments))):
        argument = arguments[place]
        if argument.kw_only:
            continue
        if required and argument.default is not REQUIRED:
            arguments[place] = replace(argument, default=REQUIRED)
        required = required or argument.default is REQUIRED
    return tuple(arguments)


def _seen(slot: Slot, viewed: set[str]) -> Argument:
    """The argument, with a mark if a result is a view of it."""
    argument = slot.argument
    if argument.name not in viewed or slot.meaning.mark:
        return argument
    return replace(argument, type=marked(argument.type, Alias((argument.name,))))


def _schema(name: str, arguments: tuple[Argument, ...], returns: tuple[Return, ...]) -> Schema:
    """The schema of `ns::name.overload`."""
    namespace, colons, rest = name.rpartition("::")
    base, _, overload = rest.partition(".")
    return Schema(f"{namespace}{colons}{base}", overload, arguments, returns)
