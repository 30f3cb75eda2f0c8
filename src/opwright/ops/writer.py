"""The text of the functions that are written for each operator: handle, packer, gate, kernel.

Knows plans; runs nothing. Names that begin with `_ow_` are looked up when the function runs, in the
operator's own namespace (`cell`), so a guard or kernel is exchanged by setting a name there; so are
builtins, because a parameter may be called `type` or `len`.

- the *handle's call* takes the user's arguments; when nothing else could see the call it calls the
  kernel itself, else it goes the slow way;
- the *packer* takes the user's arguments through the dispatcher;
- the *gate* stands at the autograd keys and takes schema arguments; the same guards let it call the
  kernel itself instead of dispatching a second time;
- a *kernel* stands at a backend key, takes schema arguments and calls the user's function.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator

from opwright.hints.codec import AS_IS, Binding, Gives, Single, Splat
from opwright.hints.model import Structure, StructureKind
from opwright.never import assert_never
from opwright.ops.direct import OR_OFF, Direct, direct
from opwright.ops.plan import Leaf, Plan, sees_tensors
from opwright.ops.private import MODE_FLAG
from opwright.schema.kinds import Base, List, Type
from opwright.schema.model import Schema

HELD = "_ow_"
TOGETHER = f"{HELD}together"
TOGETHER_GRAD = f"{HELD}together_grad"
AGAIN = f"{HELD}again"
SETTLE_FLAT = "_ow_settle_flat"
_CALM = f"not _ow_modes.{MODE_FLAG}"
_UNSEEN = f"{_CALM} and not _ow_function_modes() and not _ow_profiling()"
_MOST_NAMED = 4


# Parameter lists -------------------------------------------------------------------------------


def user_parameters(signature: inspect.Signature) -> str:
    """The user's parameters without defaults: `x, /, weight, *, eps`."""
    bare = [p.replace(default=p.empty, annotation=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(bare))[1:-1]


def user_arguments(signature: inspect.Signature) -> str:
    """The same, passed on: `x, weight, eps=eps`."""
    return ", ".join(
        f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name
        for p in signature.parameters.values()
    )


def schema_parameters(schema: Schema) -> str:
    """The parameters of a kernel: `x, weight, *, eps`."""
    free = [a.name for a in schema.arguments if not a.kw_only]
    named = [a.name for a in schema.arguments if a.kw_only]
    return ", ".join([*free, *(["*"] if named else []), *named])


# The handle ------------------------------------------------------------------------------------


def write_packer(plan: Plan) -> str:
    """Through the dispatcher and back, with the user's parameters."""
    packed = ", ".join(
        f"{leaf.name}={_packed(leaf)}" if leaf.argument.kw_only else _packed(leaf)
        for leaf in plan.leaves
    )
    call = f"_ow_overload({packed})"
    if plan.is_silent:
        body = [call, f"return {plan.given_back()}"]
    else:
        body = [f"return _ow_wrap({call})" if wraps(plan) else f"return {call}"]
    return _function(user_parameters(plan.signature), body)


def write_flattener(plan: Plan) -> str:
    """The schema arguments of a call, as a tuple in the order of the schema."""
    packed = "".join(f"{_packed(leaf)}, " for leaf in plan.leaves)
    return _function(user_parameters(plan.signature), [f"return ({packed})"])


def _packed(leaf: Leaf) -> str:
    if leaf.presence:
        return " and ".join(f"{path} is not None" for path in leaf.given)
    value = leaf.path if leaf.codec == AS_IS else f"_ow_p_{leaf.name}({leaf.path})"
    return _unless_absent(leaf, value)


def _unless_absent(leaf: Leaf, value: str) -> str:
    return "".join(f"None if {path} is None else " for path in leaf.given) + value


def _reached(leaf: Leaf) -> str:
    return f"({_unless_absent(leaf, leaf.path)})" if leaf.given else leaf.path


def write_call(plan: Plan) -> str:
    """What a call of the handle does."""
    slow = f"return _ow_slow({user_arguments(plan.signature)})"
    ways = shortcut(plan)
    if ways is None:
        return _function(user_parameters(plan.signature), [slow])
    names = {leaf.name: _reached(leaf) for leaf in plan.leaves}
    kernel = _passed(plan, {name: way.value for name, way in ways.items()})
    together = [leaf.path for _, leaf in plan.together()]
    conditions = _guarded({name: way.condition for name, way in ways.items()}, together)
    body = [
        *_when([*conditions, _UNSEEN]),
        f"    _ow_got = _ow_kernel({kernel})",
        *_bumped(plan, names),
        *_accepted(plan, "_ow_settle", names),
        *_recorded(plan, conditions),
        slow,
    ]
    return _function(user_parameters(plan.signature), body)


def _recorded(plan: Plan, conditions: list[str]) -> Iterator[str]:
    """Have autograd record a call of the kernel itself, where it is all that could see the call."""
    if plan.schema.mutable or not plan.schema.returns:
        return
    recorded = [condition.replace(OR_OFF, "") for condition in conditions]
    yield from _when([*recorded, _UNSEEN, "_ow_record is not None"])
    record = f"_ow_record({', '.join(_packed(leaf) for leaf in plan.leaves)})"
    yield f"    return _ow_wrap({record})" if wraps(plan) else f"    return {record}"


def write_fork(signature: inspect.Signature, plain: Plan, out: Plan) -> str:
    """One function over two operators: `out` where what it writes is given."""
    given = [name for name in signature.parameters if name not in plain.signature.parameters]
    none, some = (f" {word} ".join(f"{g} is None" for g in given) for word in ("and", "or"))
    body = [f"if {none}:", f"    return _ow_plain({user_arguments(plain.signature)})"]
    if len(given) > 1:
        body += [f"if {some}:", f"    _ow_mixed({plain.schema.qualname!r}, {given})"]
    return _function(
        user_parameters(signature), [*body, f"return _ow_out({user_arguments(out.signature)})"]
    )


def write_method(text: str, signature: inspect.Signature) -> str:
    """The same function as the `__call__` of a handle: while Dynamo traces, it only dispatches."""
    head, _, body = text.partition("\n")
    head = head.replace("written(", "written(_ow_self, ", 1)
    traced = f"return _ow_self._through({user_arguments(signature)})"
    return f"{head}\n    if _ow_tracing():\n        {traced}\n{body}"


def shortcut(plan: Plan) -> dict[str, Direct] | None:
    """What each of the user's parameters needs for the kernel to be called at once, by name.

    None where a parameter has no such condition, or no tensor that is always there: then nothing
    would tell under which modes the call is made.
    """
    leaves = plan.by_meaning()
    ways = {binding.name: _way(binding, binding.name, leaves) for binding in plan.bindings}
    anchored = any(_anchors(leaf.argument.type, leaf) for leaf in plan.leaves)
    found = {name: way for name, way in ways.items() if way is not None}
    return found if anchored and len(found) == len(ways) else None


def _anchors(kind: Type, leaf: Leaf) -> bool:
    """A tensor that is always there, or a list of them: no shortcut is taken for an empty one."""
    item = kind.of if isinstance(kind, List) else kind
    return isinstance(item, Base) and item.name == "Tensor" and not leaf.given


def _way(binding: Binding, path: str, leaves: dict[str, Leaf]) -> Direct | None:
    match binding:
        case Single(_, argument, codec):
            return direct(leaves[argument].argument.type, codec, path, leaves[argument].name)
        case Splat():
            return _whole(binding, path, leaves)
        case _:
            assert_never(binding)


def _whole(splat: Splat, path: str, leaves: dict[str, Leaf]) -> Direct | None:
    """A structure goes to the kernel itself when each field would arrive as it is."""
    if splat.structure.kind is StructureKind.TYPEDDICT:
        return None
    conditions = [f"_ow_type({path}) is {class_name(splat.structure)}"]
    for part in splat.fields:
        inside = f"{path}.{part.name}"
        way = _way(part, inside, leaves)
        if way is None or way.value != inside:
            return None
        conditions.append(way.condition)
    condition = f"({' and '.join(conditions)})"
    if splat.presence is not None:
        condition = f"({path} is None or {condition})"
    return Direct(condition, path)


def _guarded(conditions: dict[str, str], names: list[str]) -> list[str]:
    """The conditions, cheap ones first, with one guard for `names`: tensors that are always there.

    Most of what a guard costs is the look at the thread's modes, not the look at a tensor.
    """
    row = ", ".join(names)
    each = " and ".join([*(conditions[name] for name in names), f"{AGAIN}({row})"])
    whole = f"({TOGETHER}({row}) or ({TOGETHER_GRAD}({row}){OR_OFF}) or ({each}))"
    others = [condition for name, condition in conditions.items() if name not in names]
    return sorted([*[whole] * bool(names), *others], key=lambda each: "_ow_a_" in each)


def _passed(plan: Plan, values: dict[str, str]) -> str:
    """The arguments of the user's function, from one expression a parameter."""
    return ", ".join(
        f"{name}={values[name]}" if p.kind is p.KEYWORD_ONLY else values[name]
        for name, p in plan.signature.parameters.items()
    )


# The gate and the kernels ----------------------------------------------------------------------


def write_gate(plan: Plan) -> str:
    """What stands at the autograd keys."""
    schema = plan.schema
    slow = f"return _ow_below({', '.join(argument.name for argument in schema.arguments)})"
    found = {leaf.name: _seen(leaf) for _, leaf in plan.tensors()}
    conditions = {name: condition for name, condition in found.items() if condition is not None}
    anchored = any(_anchors(leaf.argument.type, leaf) for leaf in plan.leaves)
    if not anchored or len(conditions) < len(found) or _hides_tensors(plan):
        return _function(schema_parameters(schema), [slow])
    together = [leaf.name for _, leaf in plan.together()]
    names = {leaf.name: leaf.name for leaf in plan.leaves}
    body = [
        *_when([*_guarded(conditions, together), _CALM]),
        f"    _ow_got = _ow_kernel({_unpacked(plan)})",
        *_bumped(plan, names),
        *_accepted(plan, SETTLE_FLAT, names),
        slow,
    ]
    return _function(schema_parameters(schema), body)


def _seen(leaf: Leaf) -> str | None:
    way = direct(leaf.argument.type, AS_IS, leaf.name, leaf.name)
    return way and way.condition


def _hides_tensors(plan: Plan) -> bool:
    return any(map(_hides, plan.leaves))


def _hides(leaf: Leaf) -> bool:
    """Whether tensors may come in an argument that the dispatcher does not look into."""
    return "Tensor" in str(leaf.argument.type) and not sees_tensors(leaf.argument.type)


def write_kernel(plan: Plan) -> str:
    """What stands at a backend key: the user's function, with the keys that it needs."""
    given = _unpacked(plan)
    hidden = f"_ow_modes.{MODE_FLAG} or _ow_hidden.below_subclass"
    call, careful = f"_ow_fn({given})", f"_ow_careful(_ow_fn{given and ', '}{given})"
    if lowers(plan):
        call, careful = f"_ow_lower({call})", f"_ow_lower({careful})"
    if not plan.schema.mutable:
        body = [f"if {hidden}:", f"    return {careful}", f"return {call}"]
        return _function(schema_parameters(plan.schema), [*_checked(plan), *body])
    names = {leaf.name: leaf.name for leaf in plan.leaves}
    bumped = [line[4:] for line in _bumped(plan, names)]
    body = [f"_ow_got = {careful} if {hidden} else {call}", *bumped, "return _ow_got"]
    return _function(schema_parameters(plan.schema), [*_checked(plan), *body])


def _checked(plan: Plan) -> Iterator[str]:
    """That no gradient is wanted of tensors which the dispatcher does not see."""
    names = [leaf.name for leaf in plan.leaves if _hides(leaf)]
    if names:
        yield f"_ow_check_hidden({', '.join(f'{name}={name}' for name in names)})"


def write_fake(plan: Plan) -> str:
    """What stands for the kernel where only shapes are asked for."""
    call = f"_ow_fn({_unpacked(plan)})"
    if lowers(plan):
        call = f"_ow_lower({call})"
    return _function(schema_parameters(plan.schema), [*_checked(plan), f"return {call}"])


def _unpacked(plan: Plan) -> str:
    """The arguments of the user's function, from schema arguments."""
    names = {meant: leaf.name for meant, leaf in plan.by_meaning().items()}
    return _passed(plan, {part.name: _rebuilt(part, names) for part in plan.bindings})


def _rebuilt(binding: Binding, names: dict[str, str]) -> str:
    match binding:
        case Single(_, argument, codec):
            name = names[argument]
            return name if codec == AS_IS else f"{HELD}u_{name}({name})"
        case Splat(_, structure, fields, presence, omitted):
            parts = {part.name: _rebuilt(part, names) for part in fields}
            sure = ", ".join(f"{k}={v}" for k, v in parts.items() if k not in omitted)
            maybe = "".join(f", {k}={v}" for k, v in parts.items() if k in omitted)
            built = f"{class_name(structure)}({sure})"
            if omitted:
                built = f"{HELD}present({built}{maybe})"
            return built if presence is None else f"({built} if {names[presence]} else None)"
        case _:
            assert_never(binding)


def class_name(structure: Structure) -> str:
    """The name under which the generated functions find a structure's class."""
    return f"{HELD}s_{re.sub(r'[^0-9A-Za-z]', '_', structure.path)}"


# Recording -------------------------------------------------------------------------------------


def write_inputs(plan: Plan) -> str:
    """The user's parameters as a tuple, from schema arguments by position."""
    names = {meant: leaf.name for meant, leaf in plan.by_meaning().items()}
    rebuilt = "".join(f"{_rebuilt(part, names)}, " for part in plan.bindings)
    return _function(", ".join(leaf.name for leaf in plan.leaves), [f"return ({rebuilt})"])


def write_straight(plan: Plan) -> str:
    """The kernel that the guards chose, from schema arguments by position."""
    names = {leaf.name: leaf.name for leaf in plan.leaves}
    judged = [line[4:] for line in _accepted(plan, SETTLE_FLAT, names)]
    body = [f"_ow_got = _ow_kernel({_unpacked(plan)})", *judged]
    return _function(", ".join(names), body)


# Results ---------------------------------------------------------------------------------------


def wraps(plan: Plan) -> bool:
    """Whether the caller gets something else than what the dispatcher gives back."""
    parts = plan.results.parts
    return plan.results.gives is Gives.STRUCTURE or any(part.codec != AS_IS for part in parts)


def lowers(plan: Plan) -> bool:
    """Whether the dispatcher cannot take what the kernel gives back."""
    structure = plan.results.structure
    if plan.is_silent or (structure and structure.kind is not StructureKind.NAMEDTUPLE):
        return True
    return any(part.codec != AS_IS for part in plan.results.parts)


def _accepted(plan: Plan, settle: str, names: dict[str, str]) -> Iterator[str]:
    """Give back a result that is as it should be at once; have any other one judged."""
    condition = _sound(plan, names)
    if condition is not None:
        nothing = plan.is_silent and settle == SETTLE_FLAT
        yield f"    if {condition}:"
        yield f"        return {None if nothing else '_ow_got'}"
    inputs = ", ".join(names[leaf.name] for _, leaf in plan.tensors())
    yield f"    return {settle}(_ow_got, ({inputs},))"


def _sound(plan: Plan, names: dict[str, str]) -> str | None:
    """What says at a glance that a result is right; None where only a closer look does."""
    kinds = [result.type for result in plan.schema.returns]
    gives, parts = plan.results.gives, plan.results.parts
    if gives is Gives.NOTHING:
        return "_ow_got is None"
    if plan.is_silent and gives is not Gives.ONE:
        return None
    if any(not isinstance(kind, Base) or kind.name != "Tensor" for kind in kinds):
        return None
    if gives is Gives.ONE:
        if parts[0].arguments:
            return _is_argument(plan, parts[0].arguments, names)
        return " and ".join([f"_ow_type(_ow_got) is {HELD}Tensor", *_fresh(plan, names)])
    if lowers(plan) or any(part.arguments for part in parts):
        return None
    shell = "tuple" if plan.results.structure is None else class_name(plan.results.structure)
    items = "".join(f" and _ow_type(_ow_got[{i}]) is {HELD}Tensor" for i in range(len(kinds)))
    return f"_ow_type(_ow_got) is {shell} and _ow_len(_ow_got) == {len(kinds)}{items}"


def _is_argument(plan: Plan, arguments: tuple[str, ...], names: dict[str, str]) -> str | None:
    if len(arguments) > 1 or not plan.by_meaning()[arguments[0]].argument.writes:
        return None
    return f"_ow_got is {names[plan.by_meaning()[arguments[0]].name]}"


def _fresh(plan: Plan, names: dict[str, str]) -> Iterator[str]:
    """That a result is none of the inputs; views of them are looked for at first calls only."""
    plain = [leaf for _, leaf in plan.tensors() if not isinstance(leaf.argument.type, List)]
    yield from (f"_ow_got is not {names[leaf.name]}" for leaf in plain[:_MOST_NAMED])


def _bumped(plan: Plan, names: dict[str, str]) -> Iterator[str]:
    """Tell autograd what was written."""
    written = [leaf for _, leaf in plan.written()]
    if not written:
        return
    if all(isinstance(leaf.argument.type, Base) for leaf in written):
        yield f"    {HELD}bump(({''.join(f'{names[leaf.name]}, ' for leaf in written)}))"
    else:
        yield f"    {HELD}bump_each({', '.join(names[leaf.name] for leaf in written)})"


# Text ------------------------------------------------------------------------------------------


def _when(conditions: list[str]) -> list[str]:
    return ["if (", *(f"    {'and ' if i else ''}{c}" for i, c in enumerate(conditions)), "):"]


def _function(parameters: str, body: Iterable[str]) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    return f"def written({parameters}):\n{lines}"
