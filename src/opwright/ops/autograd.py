"""What autograd records for one operator: the author's formula, checked, as an `autograd.Function`.

Knows gradients and the way down to the kernel it is given; knows nothing of devices or of Dynamo.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import torch
from torch import _C, Tensor
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from opwright.ops.formula import (
    Formula,
    Run,
    Site,
    gradient_counts,
    keyword_only,
    miscounted,
    parameters_of,
    result_names,
)
from opwright.schema.model import Argument, List, Maybe, Type, nodes

# What the dispatcher sees -----------------------------------------------------------------------


def is_tensor(kind: Type) -> bool:
    """`Tensor` or `Tensor?`."""
    bare = kind.of if isinstance(kind, Maybe) else kind
    return getattr(bare, "name", "") == "Tensor"


def is_tensor_list(kind: Type) -> bool:
    """`Tensor[]`, `Tensor[2]` or `Tensor?[]`: what the dispatcher looks into."""
    return isinstance(kind, List) and is_tensor(kind.of)


def holds_tensor(kind: Type) -> bool:
    return any(getattr(node, "name", "") == "Tensor" for node in nodes(kind))


def hidden(arguments: Sequence[Argument]) -> tuple[int, ...]:
    """Where tensors lie that the dispatcher does not see: `Tensor[]?`, `Tensor[][]`, ..."""
    return tuple(
        place
        for place, argument in enumerate(arguments)
        if holds_tensor(argument.type)
        and not (is_tensor(argument.type) or is_tensor_list(argument.type))
    )


def tensors_in(value: object) -> Iterator[Tensor]:
    """The tensors of a value, however deep in lists."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part)


def needs_gradient(values: Sequence[object]) -> bool:
    """Whether a tensor in these values wants a gradient, or may carry a forward-mode tangent.

    Unlike torch's own test it looks into lists that hold a `None`. Inside a dual level every call
    is recorded: an operator without a formula for tangents must say so, not drop them.
    """
    return forward_ad._current_level >= 0 or any(
        tensor.requires_grad for value in values for tensor in tensors_in(value)
    )


# The recording ----------------------------------------------------------------------------------


class Recorder:
    """Builds, when first needed, the functions that record one operator, one for each way down."""

    def __init__(self, site: Site, formula: Formula | None) -> None:
        self._site = site
        self._formula = formula
        self._direct: dict[Run, Run] = {}
        self._below: dict[int, Run] = {}

    def direct(self, kernel: Run) -> Run:
        """Record a call of the kernel itself; `kernel` takes every argument by position."""
        record = self._direct.get(kernel)
        if record is None:
            record = self._direct[kernel] = derive(self._site, self._formula, kernel)
        return record

    def below(self, redispatch: Run, keyset: _C.DispatchKeySet) -> Run:
        """Record a call that goes on through the dispatcher, under autograd."""
        key = keyset.raw_repr()
        record = self._below.get(key)
        if record is None:
            run = _under_autograd(redispatch, keyset & _C._after_autograd_keyset, self._site)
            record = self._below[key] = _at_one_level(derive(self._site, self._formula, run))
        return record


def _under_autograd(redispatch: Run, keyset: _C.DispatchKeySet, site: Site) -> Run:
    """The rest of the way down, in the state in which torch's own autograd kernels go down.

    An `autograd.Function` switches grad mode off around its forward; the levels of functorch
    that lie below must find it as the caller left it.
    """
    names = tuple(a.name for a in site.schema.arguments if a.kw_only)
    split = len(site.schema.arguments) - len(names)

    def run(*args: Any) -> Any:
        with torch.enable_grad(), _C._AutoDispatchBelowAutograd():
            return redispatch(keyset, *args[:split], **dict(zip(names, args[split:], strict=True)))

    return run


def _at_one_level(record: Run) -> Run:
    """functorch runs the autograd kernel of an operator once for each of its levels."""

    def at_one_level(*args: Any) -> Any:
        if not _C._are_functorch_transforms_active():
            return record(*args)
        with enable_single_level_autograd_function():
            return record(*args)

    return at_one_level


def derive(site: Site, formula: Formula | None, run: Run) -> Run:
    """The recorded form of `run`: takes every argument of the schema by position."""
    kinds = [part.type for part in site.schema.arguments]
    kinds += [part.type for part in site.schema.returns]
    lists = any(map(is_tensor_list, kinds))
    keep = _keeper(site, formula)
    gradients = _gradients(site, formula)
    return (_through_lists if lists else _plainly)(site, run, keep, gradients)


def _function(site: Site, forward: Run, backward: Run) -> Run:
    """Its `apply` without the Python frame above the C one; the node bears the operator's name."""
    name = site.schema.name.partition("::")[2]
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    made = type(name, (torch.autograd.Function,), members)
    apply: Run = super(torch.autograd.Function, made).apply
    return apply


def _plainly(site: Site, run: Run, keep: Run, gradients: Run) -> Run:
    """Arguments and results are what autograd knows: tensors, and values it passes on."""

    def forward(ctx: Any, *args: Any) -> Any:
        output = run(*args)
        keep(ctx, args, output)
        return output

    return _function(site, forward, gradients)


class _Call:
    """How the tensors of one call lie in its lists, there and back."""

    __slots__ = ("inputs", "outputs")

    inputs: tuple[int, ...]
    outputs: tuple[int, ...] | None


SINGLE = -1


def _spread(values: Sequence[Any]) -> tuple[list[Any], tuple[int, ...]]:
    """Lay the elements of lists side by side, and say how many each list had."""
    leaves: list[Any] = []
    lengths = []
    for value in values:
        if isinstance(value, (list, tuple)):
            leaves.extend(value)
            lengths.append(len(value))
        else:
            leaves.append(value)
            lengths.append(SINGLE)
    return leaves, tuple(lengths)


def _gathered(leaves: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
    """The lists again; the inverse of `_spread`."""
    rest = iter(leaves)
    return [
        next(rest) if length == SINGLE else list(itertools.islice(rest, length))
        for length in lengths
    ]


def _through_lists(site: Site, run: Run, keep: Run, gradients: Run) -> Run:
    """Autograd knows no lists: their tensors are laid side by side, and gathered again."""

    def forward(ctx: Any, *leaves: Any) -> Any:
        call = ctx.opwright_call = leaves[-1]
        args = _gathered(leaves, call.inputs)
        output = run(*args)
        keep(ctx, args, output)
        many = isinstance(output, tuple)
        flat, call.outputs = _spread(output if many else (output,))
        return tuple(flat)

    def backward(ctx: Any, *grads: Any) -> Any:
        call, flags = ctx.opwright_call, ctx.needs_input_grad
        try:
            ctx.needs_input_grad = tuple(_gathered(flags, call.inputs))
            given = gradients(ctx, *_gathered(grads, call.outputs))
        finally:
            ctx.needs_input_grad = flags
        pairs = zip(site.schema.arguments, given, call.inputs, strict=True)
        return (*itertools.chain.from_iterable(itertools.starmap(_side_by_side, pairs)), None)

    apply = _function(site, forward, backward)

    def record(*args: Any) -> Any:
        call = _Call()
        leaves, call.inputs = _spread(args)
        flat = apply(*leaves, call)
        output = _gathered(flat, call.outputs or ())
        return tuple(output) if len(output) != 1 else output[0]

    return record


def _side_by_side(argument: Argument, gradient: Any, length: int) -> Sequence[Any]:
    """The gradients of a list's elements, in their places; None stands for a list of them."""
    if length == SINGLE:
        return (gradient,)
    if gradient is None:
        return (None,) * length
    if not isinstance(gradient, (list, tuple)) or len(gradient) != length:
        got = len(gradient) if isinstance(gradient, (list, tuple)) else type(gradient).__name__
        raise RuntimeError(
            f"the gradient of {argument.name!r} ({argument.type}, {length} given) is {got}: "
            "return a list with one gradient for each element, None where there is none"
        )
    return gradient


# What is kept for the backward -----------------------------------------------------------------


def _inputs_type(names: Sequence[str]) -> type[tuple[Any, ...]]:
    """A tuple whose elements also go by name; unlike `namedtuple` it takes any name."""
    members = {name: property(itemgetter(place)) for place, name in enumerate(names)}
    return type("Inputs", (tuple,), {"__slots__": (), **members})


def _keeper(site: Site, formula: Formula | None) -> Run:
    """What runs after the forward: the author's `setup_context`, or saving by name, or nothing."""
    if formula is not None and formula.setup_context is not None:
        return _set_up(site, formula.setup_context)
    if formula is not None and formula.save:
        return _saved_by_name(site, formula.save)
    return lambda ctx, args, output: None


def _set_up(site: Site, setup_context: Run) -> Run:
    """`setup_context(ctx, inputs, output)`, or in torch's way with `keyword_only_inputs` apart."""
    unpack, wrap = site.unpack, site.wrap
    apart = len(parameters_of(setup_context)) == 4
    keyword = keyword_only(site)
    split = len(site.parameters) - len(keyword)
    inputs = _inputs_type(site.parameters[:split] if apart else site.parameters)

    def keep(ctx: Any, args: Sequence[Any], output: Any) -> None:
        values = args if unpack is None else unpack(args)
        result = output if wrap is None else wrap(output)
        if not apart:
            setup_context(ctx, inputs(values), result)
            return
        by_name = dict(zip(keyword, values[split:], strict=True))
        setup_context(ctx, inputs(values[:split]), by_name, result)

    return keep


def _saved_by_name(site: Site, names: Sequence[str]) -> Run:
    """Tensors go where autograd can free and check them, other values onto `ctx`."""
    arguments = [argument.name for argument in site.schema.arguments]
    results = result_names(site.schema)
    places = [arguments.index(n) if n in arguments else len(arguments) + results.index(n)
              for n in names]  # fmt: skip
    kinds = [part.type for part in site.schema.arguments]
    kinds += [part.type for part in site.schema.returns]
    tensors = [place for place in places if holds_tensor(kinds[place])]
    others = [(n, place) for n, place in zip(names, places, strict=True) if place not in tensors]

    def keep(ctx: Any, args: Sequence[Any], output: Any) -> None:
        values = (*args, *output) if isinstance(output, tuple) else (*args, output)
        ctx.save_for_backward(*_spread([values[place] for place in tensors])[0])
        for name, place in others:
            setattr(ctx, name, values[place])

    return keep


# The gradients ----------------------------------------------------------------------------------


def _gradients(site: Site, formula: Formula | None) -> Run:
    """Call the author's backward and hold what it gives against the operator's parameters."""
    if formula is None:
        return _no_formula(site)
    backward, wanted = formula.backward, len(site.parameters)

    def gradients(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        given = backward(ctx, *grads)
        if type(given) is not tuple:
            given = (given,)
        return given if len(given) == wanted else _completed(site, formula, given)

    return gradients if site.pack is None else _in_structures(site, site.pack, gradients)


def _no_formula(site: Site) -> Run:
    name = site.schema.qualname

    def refuse(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            f"a gradient was asked of {name}, which has no backward formula: write one with "
            f"`@{name.partition('::')[2]}.backward`, or register it with `differentiable=False`"
        )

    return refuse


def _completed(site: Site, formula: Formula, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Gradients of keyword-only arguments that are no tensors may be left out, as in torch."""
    if len(given) in gradient_counts(site):
        return (*given, *(None for _ in range(len(site.parameters) - len(given))))
    raise RuntimeError(miscounted(site, formula.backward, len(given)))


def _in_structures(site: Site, pack: Callable[[int, Any], Sequence[Any]], gradients: Run) -> Run:
    """A structure's gradient is a structure of the same type; its flag says if any is needed."""
    starts = tuple(itertools.accumulate(site.counts, initial=0))
    groups = tuple(itertools.pairwise(starts))

    def structured(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        flags = ctx.needs_input_grad
        try:
            ctx.needs_input_grad = tuple(_any_flag(flags[start:end]) for start, end in groups)
            given = gradients(ctx, *grads)
        finally:
            ctx.needs_input_grad = flags
        return tuple(itertools.chain.from_iterable(itertools.starmap(pack, enumerate(given))))

    return structured


def _any_flag(flags: Sequence[Any]) -> Any:
    """One parameter's flag; a list keeps one for each of its elements."""
    return flags[0] if len(flags) == 1 else any(map(_set, flags))


def _set(flag: Any) -> bool:
    return any(flag) if isinstance(flag, list) else bool(flag)
