"""The namespace that one operator's generated functions look names up in, and their defaults.

Knows plans; not the dispatcher.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from opwright.hints.codec import AS_IS, Binding, Splat
from opwright.ops import private
from opwright.ops.crossing import crossing
from opwright.ops.functions import Defaults
from opwright.ops.plan import Plan
from opwright.ops.writer import HELD, class_name
from opwright.schema.kinds import Base, List, Maybe, Type
from opwright.schema.literal import Symbol
from opwright.schema.model import REQUIRED, Default, Schema

_FIXED: dict[str, Any] = {
    "Tensor": Tensor,
    "grad_on": torch.is_grad_enabled,
    "function_modes": private.function_modes,
    "profiling": private.profiling,
    "modes": private.modes,
    "bump": private.bump_versions,
    "dtype": torch.dtype,
    "device": torch.device,
    "layout": torch.layout,
    "memory_format": torch.memory_format,
    "rows": frozenset([list, tuple]),
    "numbers": frozenset([float, bool, complex]),
    "floats": frozenset([float]),
    "bools": frozenset([bool]),
}
_FIXED |= {each.__name__: each for each in (type, int, float, bool, str, complex, len, map, all)}
_INTS = frozenset([int])
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def _ints(values: list[Any]) -> bool:
    """Whether these are integers that the dispatcher can hold."""
    return {*map(type, values)} <= _INTS and (
        not values or (min(values) >= _LOWEST and max(values) <= _HIGHEST)
    )


def bump_each(*written: Any) -> None:
    """Tell autograd of written tensors, optional ones and lists of them."""
    for value in written:
        each = value if isinstance(value, (list, tuple)) else (value,)
        private.bump_versions(tuple(one for one in each if one is not None))


def _present(fields: dict[str, Any], /, **omitted: Any) -> dict[str, Any]:
    """A `TypedDict` without the keys that were left out."""
    return {**fields, **{name: value for name, value in omitted.items() if value is not None}}


_FIXED |= {"ints": _ints, "bump_each": bump_each, "present": _present}


def new_cell(plan: Plan) -> dict[str, Any]:
    """What the generated functions of an operator can see, before any kernel is there."""
    cell: dict[str, Any] = {f"{HELD}{name}": value for name, value in _FIXED.items()}
    cell |= {class_name(s.structure): s.structure.object for s in _splats(plan.bindings)}
    if plan.results.structure is not None:
        cell[class_name(plan.results.structure)] = plan.results.structure.object
    for leaf in plan.leaves:
        if leaf.codec != AS_IS:
            cell |= dict(_crossing_names(plan, leaf.name))
    return cell


def _splats(bindings: tuple[Binding, ...]) -> Iterator[Splat]:
    for binding in bindings:
        if isinstance(binding, Splat):
            yield binding
            yield from _splats(binding.fields)


def _crossing_names(plan: Plan, name: str) -> Iterator[tuple[str, Any]]:
    leaf = next(leaf for leaf in plan.leaves if leaf.name == name)
    pair = crossing(leaf.codec, f"{name!r} of {plan.schema.qualname}")
    yield f"{HELD}p_{name}", pair.pack or _unchanged
    yield f"{HELD}u_{name}", pair.unpack or _unchanged
    yield from ((f"{HELD}{kind}_{name}", value) for kind, value in pair.facts)


def _unchanged(value: Any) -> Any:
    return value


def user_defaults(signature: inspect.Signature) -> Defaults:
    """The defaults of the user's parameters, as a function carries them."""
    given = [p for p in signature.parameters.values() if p.default is not p.empty]
    free = tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY)
    return free, {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}


def schema_defaults(schema: Schema) -> Defaults:
    """The defaults of the schema, as values that a kernel receives."""
    given = [a for a in schema.arguments if a.default is not REQUIRED]
    free = tuple(_value(a.type, a.default) for a in given if not a.kw_only)
    return free, {a.name: _value(a.type, a.default) for a in given if a.kw_only}


_REDUCTIONS = {"Mean": 1, "Sum": 2}


def _value(kind: Type, default: Default) -> Any:
    match kind, default:
        case _, None:
            return None
        case Maybe(of), _:
            return _value(of, default)
        case List(of), tuple():
            return [_value(of, item) for item in default]
        case List(of, size), _:
            return [_value(of, default)] * (size or 1)
        case _, Symbol(word):
            return _REDUCTIONS[word] if word in _REDUCTIONS else getattr(torch, word)
        case Base("Device"), str():
            return torch.device(default)
        case Base("ScalarType"), str():
            return getattr(torch, default)
        case Base("float"), int():
            return float(default)
        case _:
            return default
