"""What autograd records for one operator: the author's formula as an `autograd.Function`.

Knows gradients, plans, and the way down to the kernel that it is given; not devices, not Dynamo.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import torch

from opwright.hints.codec import Binding, Single
from opwright.ops import private
from opwright.ops.core import CannotDifferentiate
from opwright.ops.formula import (
    NO_FORMULA,
    Formula,
    Run,
    gradient_counts,
    keyword_only,
    miscounted,
    parameters,
    parameters_of,
    result_names,
)
from opwright.ops.plan import Plan
from opwright.schema.model import Argument, List, nodes


@dataclass(frozen=True, slots=True)
class Site:
    """What the recording needs to know of an operator.

    `rebuild` turns schema arguments into the author's parameters, `wrap` a result of the
    dispatcher into the author's; None where they are the same.
    """

    plan: Plan
    rebuild: Callable[..., Sequence[Any]] | None = None
    wrap: Callable[[Any], Any] | None = None


# The recording ---------------------------------------------------------------------------------


class Recorder:
    """What records one operator: built when first needed, and anew when the formula changes.

    There are two ways down: `below` is the operator under autograd, and takes the arguments of the
    schema as a tuple; `straight` makes a function that calls the kernel at once, and takes them by
    position. So does everything that is built here.
    """

    def __init__(
        self, site: Site, below: Callable[[tuple[Any, ...]], Any], straight: Callable[[], Run]
    ) -> None:
        self._site = site
        self._below = below
        self._write_straight = straight
        self.set_formula(NO_FORMULA)

    def set_formula(self, formula: Formula) -> None:
        """Take another formula; what is recorded already keeps the old one."""
        self.formula = formula
        self._dispatched: Run | None = None
        self._straight: Run | None = None

    def straight(self, *flat: Any) -> Any:
        """Record a call of the kernel itself, which nothing else can see."""
        if self._straight is None:
            self._straight = derive(self._site, self.formula, self._write_straight())
        return self._straight(*flat)

    def __call__(self, flat: tuple[Any, ...]) -> Any:
        """Record a call that goes on through the dispatcher."""
        if self._dispatched is None:
            self._refuse_writes()
            self._dispatched = derive(self._site, self.formula, self._go_below)
        if not private.transforms_are_on():
            return self._dispatched(*flat)
        with private.one_level():  # functorch comes here once for each of its levels
            return self._dispatched(*flat)

    def _go_below(self, *flat: Any) -> Any:
        """Go down as torch's own autograd kernels do: with grad mode as the caller has it.

        An `autograd.Function` switches it off around its forward, and the levels of functorch
        further down would record nothing.
        """
        with torch.enable_grad():
            return self._below(flat)

    def _refuse_writes(self) -> None:
        schema = self._site.plan.schema
        if schema.mutable:
            written = ", ".join(repr(a.name) for a in schema.arguments if a.writes)
            raise CannotDifferentiate(
                f"{schema.qualname} writes {written}, so no gradient flows through it to the "
                "arguments that require grad: call it under torch.no_grad(), detach them, or "
                "register it with `differentiable=False`"
            )


def derive(site: Site, formula: Formula, run: Run) -> Run:
    """The recorded form of `run`."""
    schema = site.plan.schema
    kinds = [part.type for part in schema.arguments] + [part.type for part in schema.returns]
    lists = any(isinstance(kind, List) and _holds_tensor(kind) for kind in kinds)
    keep = _keeper(site, formula)
    gradients = _gradients(site, formula)
    return (_through_lists if lists else _plainly)(site, run, keep, gradients)


def _holds_tensor(kind: Any) -> bool:
    return any(getattr(node, "name", "") == "Tensor" for node in nodes(kind))


def _function(site: Site, forward: Run, backward: Run) -> Run:
    """What autograd records at one level; the node bears the operator's name.

    The dispatcher comes here once for each level of functorch; an `autograd.Function` would hand
    the call to all of them again.
    """
    name = site.plan.schema.name.partition("::")[2]
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    made: Any = type(name, (private.LevelFunction,), members)
    apply: Run = made.apply
    return apply


def _plainly(site: Site, run: Run, keep: Run | None, gradients: Run) -> Run:
    """Arguments and results are what autograd knows: tensors, and values that it passes on."""

    def forward(ctx: Any, *args: Any) -> Any:
        output = run(*args)
        if keep is not None:
            keep(ctx, args, output)
        return output

    return _function(site, forward, gradients)


# Lists -----------------------------------------------------------------------------------------


class _Call:
    """How the tensors of one call lie in its lists, there and back."""

    __slots__ = ("inputs", "many", "outputs")

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    many: bool


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


def _through_lists(site: Site, run: Run, keep: Run | None, gradients: Run) -> Run:
    """Autograd knows no lists: their tensors are laid side by side, and gathered again."""
    arguments = site.plan.schema.arguments

    def forward(ctx: Any, *leaves: Any) -> Any:
        call = ctx.opwright_call = leaves[-1]
        args = _gathered(leaves, call.inputs)
        output = run(*args)
        if keep is not None:
            keep(ctx, args, output)
        call.many = isinstance(output, tuple)
        flat, call.outputs = _spread(output if call.many else (output,))
        return tuple(flat)

    def backward(ctx: Any, *grads: Any) -> Any:
        call, flags = ctx.opwright_call, ctx.needs_input_grad
        try:
            ctx.needs_input_grad = tuple(_gathered(flags, call.inputs))
            given = gradients(ctx, *_gathered(grads, call.outputs))
        finally:
            ctx.needs_input_grad = flags
        pairs = zip(arguments, given, call.inputs, strict=True)
        return (*itertools.chain.from_iterable(itertools.starmap(_side_by_side, pairs)), None)

    apply = _function(site, forward, backward)

    def record(*args: Any) -> Any:
        call = _Call()
        leaves, call.inputs = _spread(args)
        output = _gathered(apply(*leaves, call), call.outputs)
        return tuple(output) if call.many else output[0]

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


def _keeper(site: Site, formula: Formula) -> Run | None:
    """What runs after the forward: the author's `setup_context`, or saving by name, or nothing."""
    if formula.setup_context is not None:
        return _set_up(site, formula.setup_context)
    if formula.save:
        return _saved_by_name(site, formula.save)
    return None


def _set_up(site: Site, setup_context: Run) -> Run:
    """`setup_context(ctx, inputs, output)`, or in torch's way with `keyword_only_inputs` apart."""
    rebuild, wrap = site.rebuild, site.wrap
    names, keyword = parameters(site.plan), keyword_only(site.plan)
    apart = len(parameters_of(setup_context)) == 4
    split = len(names) - len(keyword)
    inputs = _inputs_type(names[:split] if apart else names)

    def keep(ctx: Any, args: Sequence[Any], output: Any) -> None:
        values = args if rebuild is None else rebuild(*args)
        result = output if wrap is None else wrap(output)
        if apart:
            by_name = dict(zip(keyword, values[split:], strict=True))
            setup_context(ctx, inputs(values[:split]), by_name, result)
        else:
            setup_context(ctx, inputs(values), result)

    return keep


def _saved_by_name(site: Site, names: Sequence[str]) -> Run:
    """Tensors go where autograd can free and check them, other values onto `ctx`."""
    schema = site.plan.schema
    known = [*(argument.name for argument in schema.arguments), *result_names(schema)]
    kinds = [part.type for part in schema.arguments] + [part.type for part in schema.returns]
    places = [known.index(name) for name in names]
    tensors = [place for place in places if _holds_tensor(kinds[place])]
    others = [(known[place], place) for place in places if place not in tensors]

    def keep(ctx: Any, args: Sequence[Any], output: Any) -> None:
        values = (*args, *output) if isinstance(output, tuple) else (*args, output)
        ctx.save_for_backward(*_spread([values[place] for place in tensors])[0])
        for name, place in others:
            setattr(ctx, name, values[place])

    return keep


# The gradients ---------------------------------------------------------------------------------


def _gradients(site: Site, formula: Formula) -> Run:
    """Call the author's backward and hold what it gives against the operator's parameters."""
    plan, backward = site.plan, formula.backward
    if backward is None:
        return _no_formula(plan)
    wanted = len(plan.bindings)

    def gradients(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        given = backward(ctx, *grads)
        if type(given) is not tuple:
            given = (given,)
        return given if len(given) == wanted else _completed(plan, backward, given)

    whole = all(isinstance(binding, Single) for binding in plan.bindings)
    return gradients if whole else _in_structures(plan, gradients)


def _no_formula(plan: Plan) -> Run:
    name = plan.schema.qualname

    def refuse(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            f"a gradient was asked of {name}, which has no backward formula: write one with "
            f"`@{name.partition('::')[2]}.backward`, or register it with `differentiable=False`"
        )

    return refuse


def _completed(plan: Plan, backward: Run, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Gradients of keyword-only arguments that are no tensors may be left out, as in torch."""
    if len(given) in gradient_counts(plan):
        return (*given, *(None for _ in range(len(plan.bindings) - len(given))))
    raise RuntimeError(miscounted(plan, backward, len(given)))


def _in_structures(plan: Plan, gradients: Run) -> Run:
    """A structure's gradient is a structure of the same type; its flag says if any is needed."""
    places = {name: place for place, name in enumerate(plan.by_meaning())}
    tensors = {i for i, leaf in enumerate(plan.leaves) if _holds_tensor(leaf.argument.type)}
    groups = [[places[name] for name in _meanings(binding)] for binding in plan.bindings]

    def structured(ctx: Any, *grads: Any) -> list[Any]:
        flags = ctx.needs_input_grad
        try:
            ctx.needs_input_grad = tuple(_flag([flags[place] for place in each]) for each in groups)
            given = gradients(ctx, *grads)
        finally:
            ctx.needs_input_grad = flags
        found = [None] * len(places)
        for binding, gradient, group in zip(plan.bindings, given, groups, strict=True):
            for place, part in zip(group, _parts(binding, gradient), strict=True):
                found[place] = part if place in tensors else None
        return found

    return lambda ctx, *grads: tuple(structured(ctx, *grads))


def _meanings(binding: Binding) -> Iterator[str]:
    """The arguments that stand for a parameter, in order."""
    if isinstance(binding, Single):
        yield binding.argument
        return
    if binding.presence is not None:
        yield binding.presence
    for part in binding.fields:
        yield from _meanings(part)


def _parts(binding: Binding, gradient: Any) -> Iterator[Any]:
    """The gradients of a parameter's arguments, in the same order."""
    if isinstance(binding, Single):
        yield gradient
        return
    if binding.presence is not None:
        yield None
    for part in binding.fields:
        yield from _parts(part, _field(gradient, part.name))


def _field(gradient: Any, name: str) -> Any:
    return gradient.get(name) if isinstance(gradient, dict) else getattr(gradient, name, None)


def _flag(flags: Sequence[Any]) -> Any:
    """One parameter's flag; a list keeps one for each of its elements."""
    return flags[0] if len(flags) == 1 else any(map(_set, flags))


def _set(flag: Any) -> bool:
    return any(flag) if isinstance(flag, list) else bool(flag)
