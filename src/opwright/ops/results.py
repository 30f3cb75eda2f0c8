"""Whether what a kernel gives back is what its schema says, and the form that the caller gets.

Knows results as values; names the kernel and the place when one is wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from opwright.hints.codec import Each, Gives, Result
from opwright.ops import private
from opwright.ops.plan import Plan
from opwright.schema.kinds import Base, List, Maybe, Type


class BadResult(RuntimeError):
    """A kernel gave back something else than its schema says."""


def place(function: Callable[..., Any]) -> str:
    """Where a function is written: `mylib/ops.py:12`, or its name where there is no file."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return repr(function) if code is None else f"{code.co_filename}:{code.co_firstlineno}"


_NUMBERS = (int, float, torch.SymInt, torch.SymFloat)
_CLASSES: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "int": (int, torch.SymInt),
    "SymInt": (int, torch.SymInt),
    "float": _NUMBERS,
    "bool": (bool, torch.SymBool),
    "str": (str,),
    "complex": (complex, float, int),
    "Scalar": (*_NUMBERS, complex),
}


def conforms(kind: Type, value: object) -> bool:
    """Whether the dispatcher would take this value as a result of the type.

    >>> conforms(List(Base("SymInt")), (1, 2)), conforms(Base("Tensor"), None)
    (True, False)
    """
    match kind:
        case Maybe(of):
            return value is None or conforms(of, value)
        case List(of):
            return isinstance(value, (list, tuple)) and all(conforms(of, one) for one in value)
        case Base(name) if name in _CLASSES:
            return isinstance(value, _CLASSES[name])
        case _:
            return True


class Judge:
    """Takes what a kernel gave back apart and judges it; one for each operator."""

    __slots__ = ("_plan", "_told")

    def __init__(self, plan: Plan, kernel: Callable[[], Callable[..., Any]]) -> None:
        self._plan = plan
        self._told = kernel

    def settle(self, out: Any, inputs: tuple[Any, ...]) -> Any:
        """The result as the caller of the handle gets it."""
        flat = self.settle_flat(out, inputs)
        return out if self._plan.is_silent else self.wrap(flat)

    def settle_flat(self, out: Any, inputs: tuple[Any, ...]) -> Any:
        """The result as the dispatcher takes it."""
        parts = self._parts(out)
        if self._plan.is_silent:
            return self._check_sharing(parts, inputs)
        for number, (value, result) in enumerate(
            zip(parts, self._plan.schema.returns, strict=True)
        ):
            if not conforms(result.type, value):
                self._refuse(
                    f"{self._named(number)} is {_kind(value)}, the schema says {result.type}"
                )
        self._check_sharing(parts, inputs)
        lowered = [
            list(value) if isinstance(result.type, List) else value
            for value, result in zip(parts, self._plan.schema.returns, strict=True)
        ]
        return None if not lowered else lowered[0] if len(lowered) == 1 else tuple(lowered)

    def lower(self, out: Any) -> Any:
        """What a kernel gave back, as the dispatcher takes it, unjudged."""
        parts = [] if self._plan.is_silent else self._parts(out)
        return None if not parts else parts[0] if len(parts) == 1 else tuple(parts)

    def wrap(self, out: Any) -> Any:
        """What the dispatcher gives back, as the caller gets it."""
        results = self._plan.results
        if results.gives is Gives.TUPLE and len(results.parts) == 1:
            return out
        given = out if len(results.parts) > 1 else (out,)
        shaped = [_shaped(*pair) for pair in zip(given, results.parts, strict=True)]
        if results.structure is not None:
            make: Any = results.structure.object
            return make(**dict(zip(self._fields(), shaped, strict=True)))
        return shaped[0] if results.gives is Gives.ONE else tuple(shaped)

    def _fields(self) -> list[str]:
        structure = self._plan.results.structure
        return [] if structure is None else [field.name for field in structure.fields]

    def check_memory(self, arguments: tuple[Any, ...], out: Any) -> None:
        """Refuse a result that shares memory with an input that the schema does not name."""
        if any(part.arguments for part in self._plan.results.parts):
            return
        results = out if isinstance(out, tuple) else (out,)
        if not private.shares_memory(arguments, {}, results):
            return
        for number, value in enumerate(results):
            for leaf, given in zip(self._plan.leaves, arguments, strict=True):
                if _share(value, given):
                    self._refuse_sharing(number, leaf.name)
        self._refuse("two of its results share memory; return a clone of one")

    def _parts(self, out: Any) -> list[Any]:
        results = self._plan.results
        if results.gives is Gives.NOTHING:
            if out is not None:
                self._refuse(f"it gave back a result {_kind(out)}, the schema says nothing: ()")
            return []
        if results.gives is Gives.ONE:
            return [out]
        if results.structure is not None and not isinstance(out, tuple):
            return [getattr(out, name) for name in self._fields()]
        if len(results.parts) == 1 and results.structure is None:
            return [out]
        if not isinstance(out, (tuple, list)) or len(out) != len(results.parts):
            count = f"{len(out)} values" if isinstance(out, (tuple, list)) else _kind(out)
            self._refuse(f"it gave back {count}, the schema says {len(results.parts)}")
        return list(out)

    def _check_sharing(self, parts: list[Any], inputs: tuple[Any, ...]) -> None:
        places = [leaf.name for _, leaf in self._plan.tensors()]
        given = dict(zip(places, inputs, strict=True))
        for number, (value, part) in enumerate(zip(parts, self._plan.results.parts, strict=True)):
            expected = self._expected(part, given)
            if expected is not None:
                if value is not expected:
                    self._refuse(f"{self._named(number)} must be {part.arguments[0]!r} itself")
            elif isinstance(value, Tensor) and not part.arguments:
                for name, tensor in given.items():
                    if value is tensor:
                        self._refuse_sharing(number, name)

    def _expected(self, part: Result, given: dict[str, Any]) -> Any:
        if len(part.arguments) != 1:
            return None
        leaf = self._plan.by_meaning()[part.arguments[0]]
        return given[leaf.name] if leaf.argument.writes else None

    def _named(self, number: int) -> str:
        names = [result.name for result in self._plan.schema.returns]
        if number < len(names) and names[number] is not None:
            return f"its result {names[number]!r}"
        return "its result" if len(self._plan.results.parts) == 1 else f"its result {number}"

    def _refuse_sharing(self, number: int, argument: str) -> None:
        self._refuse(
            f"{self._named(number)} shares memory with the argument {argument!r}, which the schema "
            f"does not say; return a clone, or annotate it "
            f"`Annotated[Tensor, Aliases({argument!r})]`"
        )

    def _refuse(self, what: str) -> None:
        raise BadResult(
            f"the kernel of {self._plan.schema.qualname} ({place(self._told())}): {what}"
        )


def _shaped(out: Any, part: Result) -> Any:
    codec = part.codec
    return tuple(out) if isinstance(codec, Each) and codec.kind == "tuple" else out


def _kind(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _share(value: object, given: object) -> bool:
    if not isinstance(value, Tensor):
        return False
    tensors = given if isinstance(given, (list, tuple)) else (given,)
    return any(
        isinstance(one, Tensor)
        and value.untyped_storage().data_ptr() == one.untyped_storage().data_ptr()
        for one in tensors
    )
