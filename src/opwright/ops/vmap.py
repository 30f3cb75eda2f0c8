"""What `torch.vmap` does with an operator: the author's rule, or one call for each element.

Knows functorch's levels and batch dimensions; knows nothing of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from opwright.ops import private
from opwright.schema.model import Schema

Call: TypeAlias = Callable[..., Any]
Dim: TypeAlias = "int | list[int | None] | None"

_BATCHED = private.key_set("FuncTorchBatched")


def batched(operator: Call, schema: Schema, rule: Call | None) -> Call:
    """The kernel for functorch's batched tensors.

    `rule(info, in_dims, *args, **kwargs)` gives `(output, out_dims)`; `in_dims` has an entry for
    each argument of the schema, keyword-only ones last, and a list for a list. Without a rule the
    operator is called for each element of the batch: always right, and as slow as it sounds.
    """

    def kernel(*args: Any, **kwargs: Any) -> Any:
        interpreter = private.current_interpreter()
        assert isinstance(interpreter, private.VmapInterpreter)
        level, size = interpreter.level(), interpreter.batch_size()
        values, in_dims = _unwrapped([*args, *kwargs.values()], level)
        positional, named = values[: len(args)], dict(zip(kwargs, values[len(args) :], strict=True))
        with private.without_keys(_BATCHED):  # what follows belongs to the level below
            if not any(map(_is_batched, in_dims)):
                return operator(*positional, **named)
            if rule is None:
                _check_writes(schema, args, kwargs, in_dims)
                return _wrapped(*_one_by_one(operator, positional, named, in_dims, size), level)
            info = private.VmapInfo(size, interpreter.randomness())
            return _wrapped(*_given(rule, rule(info, tuple(in_dims), *positional, **named)), level)

    return kernel


def _unwrapped(values: Sequence[Any], level: int) -> tuple[list[Any], list[Dim]]:
    """The values one level down, and where each one's batch dimension lies."""
    pairs = [_unwrapped_one(value, level) for value in values]
    return [value for value, _ in pairs], [dim for _, dim in pairs]


def _unwrapped_one(value: Any, level: int) -> tuple[Any, Dim]:
    if isinstance(value, Tensor):
        return private.unwrap_batched(value, level)
    if isinstance(value, (list, tuple)) and any(isinstance(part, Tensor) for part in value):
        parts, dims = _unwrapped(value, level)
        return parts, dims  # type: ignore[return-value]  # lists of tensors hold no lists
    return value, None


def _is_batched(dim: Dim) -> bool:
    return any(map(_is_batched, dim)) if isinstance(dim, list) else dim is not None


def _wrapped(output: Any, dims: Any, level: int) -> Any:
    """Put results back on their level; `dims` has the structure of the output."""
    if isinstance(output, Tensor):
        return output if dims is None else private.add_batch_dimension(output, dims, level)
    if isinstance(output, (list, tuple)):
        return type(output)(
            _wrapped(part, dim, level) for part, dim in zip(output, dims, strict=True)
        )
    return output


def _given(rule: Call, result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{getattr(rule, '__qualname__', rule)} gives {type(result).__name__}: "
            "a vmap rule returns the pair (output, out_dims)"
        )
    return result


# One call for each element ----------------------------------------------------------------------


def _one_by_one(
    operator: Call, args: Sequence[Any], kwargs: dict[str, Any], dims: Sequence[Dim], size: int
) -> tuple[Any, Any]:
    """Call the operator on every slice and stack the results along a new first dimension."""
    if size == 0:
        raise RuntimeError(f"vmap over no elements of {operator}: it needs a rule (`@f.vmap`)")
    split = len(args)
    results = []
    for index in range(size):
        values = list(_slices([*args, *kwargs.values()], dims, index))
        results.append(operator(*values[:split], **dict(zip(kwargs, values[split:], strict=True))))
    return _stacked(results)


def _slices(values: Sequence[Any], dims: Sequence[Dim], index: int) -> Iterator[Any]:
    for value, dim in zip(values, dims, strict=True):
        if isinstance(dim, list):
            yield list(_slices(value, dim, index))
        else:
            yield value if dim is None else value.select(dim, index)


def _stacked(results: Sequence[Any]) -> tuple[Any, Any]:
    """The stacked results and their dimensions; what is no tensor must be the same in all."""
    first = results[0]
    if isinstance(first, Tensor):
        return torch.stack(list(results)), 0
    if isinstance(first, (list, tuple)):
        pairs = [_stacked(parts) for parts in zip(*results, strict=True)]
        return type(first)(part for part, _ in pairs), [dim for _, dim in pairs]
    if any(result != first for result in results):
        raise RuntimeError(f"vmap: the elements of a batch give different values ({results})")
    return first, None


def _check_writes(
    schema: Schema, args: Sequence[Any], kwargs: dict[str, Any], dims: Sequence[Dim]
) -> None:
    """A tensor that the whole batch shares cannot be written by each of its elements."""
    places = {a.name: i for i, a in enumerate(a for a in schema.arguments if not a.kw_only)}
    places |= {name: len(args) + i for i, name in enumerate(kwargs)}
    for argument in schema.arguments:
        place = places.get(argument.name, len(dims))
        if argument.writes and place < len(dims) and not _is_batched(dims[place]):
            raise RuntimeError(
                f"vmap: {schema.qualname} writes {argument.name!r}, which is not batched "
                "while another argument is"
            )
