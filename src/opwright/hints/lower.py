"""What an annotated function means as a schema: the one place that decides.

Knows nothing of how annotations are written or read; never raises for what a user wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

from opwright.codes import finding
from opwright.findings import Diagnostic, Span
from opwright.frozen import frozen, replace
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
from opwright.hints.defaults import held
from opwright.hints.meaning import Meaning, Refusal, meaning
from opwright.hints.model import MISSING, Function, Hint, Kind, Parameter, Role
from opwright.hints.remarks import implicit, remarks, unseen
from opwright.hints.results import Returning
from opwright.hints.structure import Flattening, Slot, structured
from opwright.hints.variant import optional_outs, with_outs, without_outs
from opwright.schema.kinds import Alias, Apply, marked
from opwright.schema.model import REQUIRED, Argument, Return, Schema, faults

T = TypeVar("T")


@frozen
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
    if at_once := _at_once(function, name):
        return at_once
    if outs := optional_outs(function):
        overload = "_out" if "." in name else ".out"
        plain = _Lowering(without_outs(function, outs), name).inferred()
        variant = _Lowering(with_outs(function, outs), name + overload).inferred()
        findings = dict.fromkeys((*plain.findings, *variant.findings))
        return replace(plain, findings=tuple(findings), out=variant)
    return _Lowering(function, name).inferred()


# What was met before ---------------------------------------------------------------------------

_MOST_KNOWN = 4096
_parameters: dict[int, tuple[Parameter, Argument | None, Binding | None]] = {}
_meanings: dict[int, tuple[Hint, Meaning | None]] = {}
_returns: dict[int, tuple[Hint, tuple[Return, ...], Results]] = {}


def _at_once(function: Function, name: str) -> Inferred | None:
    """The answer where each part was met before and nothing is to be said of any.

    Readers give the same object for the same parameter, so parts are known by identity.
    """
    if function.role is not Role.FUNCTION or function.returns is None:
        return None
    arguments, bindings = [], []
    for parameter in function.parameters:
        _, argument, binding = _parameters.get(id(parameter)) or _know(parameter)
        if argument is None or binding is None:
            return None
        arguments.append(argument)
        bindings.append(binding)
    _, returns, results = _returns.get(id(function.returns)) or _know_returns(function.returns)
    base, overload = _split(name)
    if not returns or not _is_sound(base, overload):
        return None
    schema = Schema.of_sound(base, overload, tuple(arguments), returns)
    return Inferred(schema, tuple(bindings), results)


def _know(parameter: Parameter) -> tuple[Parameter, Argument | None, Binding | None]:
    """A parameter that is one argument without marks and remarks; else without an answer."""
    name, hint, default = parameter.name, parameter.hint, parameter.default
    known: tuple[Parameter, Argument | None, Binding | None] = (parameter, None, None)
    if hint is not None and _fault(parameter) is None:
        _, found = _meanings.get(id(hint)) or _know_meaning(hint)
        if found is not None:
            value = REQUIRED if default is MISSING else held(default, hint, found)
            if not isinstance(value, Refusal):
                keyword = parameter.kind is Kind.KEYWORD_ONLY
                argument = Argument(name, found.type, value, keyword)
                if not any(True for _ in implicit(argument)):
                    known = (parameter, argument, Single(name, name, found.codec))
    _remember(_parameters, parameter, known)
    return known


def _know_meaning(hint: Hint) -> tuple[Hint, Meaning | None]:
    """The meaning of an annotation that is no structure, without marks and remarks."""
    found = meaning(hint)
    plain = not isinstance(found, Refusal) and not found.mark and structured(hint) is None
    if plain and not isinstance(found, Refusal) and not any(True for _ in unseen(found.type)):
        known: tuple[Hint, Meaning | None] = (hint, found)
    else:
        known = (hint, None)
    _remember(_meanings, hint, known)
    return known


def _remember(memory: dict[int, T], key: object, known: T) -> None:
    if len(memory) > _MOST_KNOWN:
        memory.clear()
    memory[id(key)] = known


def _know_returns(hint: Hint) -> tuple[Hint, tuple[Return, ...], Results]:
    """Returns without marks and remarks; else none."""
    returning = Returning(())
    returning.take(hint)
    plain = not returning.refusals and not any(part.arguments for part in returning.results.parts)
    single = any(isinstance(returned.type, Apply) for returned in returning.returns)
    known = (hint, returning.returns if plain and not single else (), returning.results)
    _remember(_returns, hint, known)
    return known


@lru_cache(maxsize=1024)
def _is_sound(name: str, overload: str) -> bool:
    """Whether it is the name of an operator."""
    return not any(True for _ in faults(name, overload, (), (), False))


_ROLES = {
    Role.METHOD: ("is a method", "write a function, or pass a bound method: `obj.{0}`"),
    Role.CLASS: ("is a class", "write a function that makes one and calls it"),
    Role.COROUTINE: ("is a coroutine", "write `def` instead of `async def`"),
    Role.GENERATOR: ("is a generator", "return a list instead of yielding"),
    Role.OPAQUE: ("has no annotations to read", "wrap it in a function that has"),
}


class _Lowering:
    """One function on its way to a schema."""

    def __init__(self, function: Function, name: str) -> None:
        self.function = function
        self.name = name
        self.flat = Flattening()
        self.findings: list[Diagnostic] = []

    def inferred(self) -> Inferred:
        function = self.function
        if function.role is not Role.FUNCTION:
            self._role(function.role)
        if function.role in (Role.CLASS, Role.OPAQUE):
            return Inferred(self._schema((), ()), findings=tuple(self.findings))
        parameters = function.parameters
        if function.role is Role.METHOD and parameters and parameters[0].hint is None:
            parameters = parameters[1:]  # the self
        bindings = tuple(bound for p in parameters if (bound := self._parameter(p)))
        slots = self._distinct(self.flat.slots)
        returning = self._returning(slots)
        arguments = _arguments(slots, returning.viewed)
        schema = self._schema(arguments, returning.returns)
        if not self.findings:
            self.findings += remarks(schema, function)
        return Inferred(schema, bindings, returning.results, tuple(self.findings))

    def _schema(self, arguments: tuple[Argument, ...], returns: tuple[Return, ...]) -> Schema:
        """The schema; while something is wrong, what could be made out of one."""
        base, overload = _split(self.name)
        for fault in faults(base, overload, arguments, returns, False):
            self._find(fault.code, fault.message, fault.hint)
        if self.findings:
            return Schema.of_sound(base, overload, arguments, returns)
        return Schema(base, overload, arguments, returns)

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
        self.findings.append(finding(code, message, hint, span))


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


def _split(name: str) -> tuple[str, str]:
    """The name and the overload of `ns::name.overload`."""
    namespace, colons, rest = name.rpartition("::")
    base, _, overload = rest.partition(".")
    return f"{namespace}{colons}{base}", overload
