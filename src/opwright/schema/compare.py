"""Where a handwritten schema and the one that the annotations mean differ: each difference once.

Knows two schemas; nothing of where they were written or of what a difference stops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opwright.codes import finding
from opwright.findings import Diagnostic
from opwright.frozen import replace
from opwright.schema.kinds import Alias, Base, Maybe, Type, aliases, nodes, plain, rebuilt
from opwright.schema.letters import lettered
from opwright.schema.literal import Symbol, literal
from opwright.schema.model import REQUIRED, Argument, Default, Required, Return, Schema


def compare(written: Schema, inferred: Schema) -> list[Diagnostic]:
    """Every difference between a handwritten schema and the inferred one; empty means agreement.

    Exact, up to the letters of alias sets; the weight of a finding is that of its code, and who
    calls it decides what stops the work. A namespace is compared where both sides have one.

    >>> from opwright.schema.parse import parse
    >>> by_hand, meant = parse("f(int n=3) -> ()"), parse("f(SymInt n=4) -> ()")
    >>> for difference in compare(by_hand, meant):
    ...     print(difference)
    OW202 'n' is `int` in the schema, `SymInt` by its annotation: compiled anew for each value
      hint: write `SymInt`, or annotate `Const[int]`
    OW206 the default of 'n' is 3 in the schema, 4 in the function
      hint: write the same default on both sides
    """
    pairs, missing, extra = _paired(written.arguments, inferred.arguments)
    parts = _parts(pairs, written, inferred)
    found = [
        *_operator(written, inferred),
        *_counted(missing, extra),
        *_order(pairs, inferred),
        *(found for pair in pairs for found in _argument(pair)),
        *_returns(written, inferred),
        *_sharing(parts),
    ]
    return found or list(_rest(parts))


class _Pair(NamedTuple):
    written: Argument
    inferred: Argument


def _operator(written: Schema, inferred: Schema) -> Iterator[Diagnostic]:
    if _named(written, inferred) != _named(inferred, written):
        message = f"the schema names `{written.qualname}`, the function is `{inferred.qualname}`"
        yield finding("OW218", message, f"write `{inferred.qualname}`")
    if (written.varargs, written.varrets) != (inferred.varargs, inferred.varrets):
        message = "only one of schema and annotations takes or gives any number of values (`...`)"
        yield finding("OW219", message, "name each argument and each return")


def _named(schema: Schema, other: Schema) -> tuple[str, str]:
    """The name to compare: without its namespace where the other side has none."""
    whole = bool(schema.namespace and other.namespace)
    return schema.name if whole else schema.name.rpartition("::")[2], schema.overload


def _paired(
    written: Sequence[Argument], inferred: Sequence[Argument]
) -> tuple[list[_Pair], list[Argument], list[Argument]]:
    """What belongs together: by name, the other positional ones by their place between those."""
    by_name = {argument.name: argument for argument in inferred}
    partner = {w.name: by_name[w.name] for w in written if w.name in by_name}
    strangers = _gaps(inferred, partner)
    for after, gap in _gaps(written, partner).items():
        partner |= {w.name: i for w, i in zip(gap, strangers.get(after, ()), strict=False)}
    taken = {argument.name for argument in partner.values()}
    pairs = [_Pair(w, partner[w.name]) for w in written if w.name in partner]
    missing = [argument for argument in inferred if argument.name not in taken]
    return pairs, missing, [argument for argument in written if argument.name not in partner]


def _gaps(arguments: Sequence[Argument], partner: dict[str, Argument]) -> dict[str, list[Argument]]:
    """The positional arguments without a partner of their name, by the partner before them."""
    before, gaps = "", dict[str, list[Argument]]()
    for argument in arguments:
        if argument.name in partner:
            before = argument.name
        elif not argument.kw_only:
            gaps.setdefault(before, []).append(argument)
    return gaps


def _counted(missing: list[Argument], extra: list[Argument]) -> Iterator[Diagnostic]:
    for argument in missing:
        message = f"the schema lacks `{argument}`, which the function takes"
        yield finding("OW203", message, f"add `{argument}`")
    for argument in extra:
        message = f"the schema has `{argument}`, which the function does not take"
        yield finding("OW204", message, f"remove `{argument}`, or add it to the function")


def _order(pairs: list[_Pair], inferred: Schema) -> Iterator[Diagnostic]:
    """Whether the function can be called in the order of the schema."""
    paired = {pair.inferred.name for pair in pairs}
    given = [i.name for w, i in pairs if not w.kw_only and not i.kw_only]
    taken = [i.name for i in inferred.arguments if i.name in paired and not i.kw_only]
    if given != taken[: len(given)]:
        message = f"the schema passes {_row(given)}, the function takes {_row(taken)}"
        yield finding("OW205", message, "write the arguments in the order of the function")
    given = [i.name for w, i in pairs if w.kw_only and i.kw_only]
    taken = [i.name for i in inferred.arguments if i.name in given]
    if given != taken:
        message = f"keyword-only: {_row(given)} in the schema, {_row(taken)} in the function"
        yield finding("OW220", message, "write them in the order of the function")


def _row(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


def _argument(pair: _Pair) -> Iterator[Diagnostic]:
    written, inferred = pair
    if written.name != inferred.name:
        message = f"the schema calls it {written.name!r}, the function {inferred.name!r}"
        yield finding("OW214", message, f"write `{inferred.name}`")
    if inferred.kw_only and not written.kw_only:
        message = f"{inferred.name!r} is keyword-only in the function, positional in the schema"
        yield finding("OW212", message, "put `*` before it in the schema")
    if written.kw_only and not inferred.kw_only:
        message = f"{inferred.name!r} is keyword-only in the schema, positional in the function"
        yield finding("OW213", message, "put `*` before it in the function")
    yield from _type(repr(written.name), written.type, inferred.type)
    yield from _writing(written, inferred)
    yield from _default(written, inferred)


def _type(what: str, written: Type, inferred: Type) -> Iterator[Diagnostic]:
    by_hand, meant = plain(written), plain(inferred)
    if by_hand == meant:
        return
    message = f"{what} is `{by_hand}` in the schema, `{meant}` by its annotation"
    if rebuilt(by_hand, _symbolic) == meant:
        message += ": compiled anew for each value"
        yield finding("OW202", message, f"write `{meant}`, or annotate `Const[int]`")
    else:
        yield finding("OW201", message, f"write `{meant}`, or change the annotation")


def _symbolic(node: Type) -> Type:
    return Base("SymInt") if node == Base("int") else node


def _writing(written: Argument, inferred: Argument) -> Iterator[Diagnostic]:
    sides = f"`{written.type}` in the schema, `{inferred.type}` by its annotation"
    if inferred.writes and not written.writes:
        message = f"the schema does not say that {written.name!r} is written: {sides}"
        yield finding("OW209", message, f"write `{inferred.type} {written.name}`")
    if written.writes and not inferred.writes:
        message = f"only the schema says that {written.name!r} is written: {sides}"
        yield finding("OW210", message, "annotate `Mutable[...]`, or remove the `!`")


def _default(written: Argument, inferred: Argument) -> Iterator[Diagnostic]:
    name = repr(written.name)
    match written.default, inferred.default:
        case (Required(), Required()):
            return
        case (Required(), meant):
            message = f"{name} must be given by the schema, the function has {_shown(meant)}"
            yield finding("OW207", message, f"write `={_shown(meant)}`")
        case (by_hand, Required()):
            message = (
                f"{name} is {_shown(by_hand)} by default in the schema, required in the function"
            )
            yield finding("OW208", message, f"give the function the default {_shown(by_hand)}")
        case (by_hand, meant) if not _same(by_hand, meant, strict=_is_scalar(inferred.type)):
            message = (
                f"the default of {name} is {_shown(by_hand)} in the schema, "
                f"{_shown(meant)} in the function"
            )
            yield finding("OW206", message, "write the same default on both sides")


def _is_scalar(kind: Type) -> bool:
    return any(node == Base("Scalar") for node in nodes(kind))


def _same(one: Default, other: Default, *, strict: bool) -> bool:
    """Whether two defaults are one value; `1` is `1.0` unless the type keeps them apart."""
    match one, other:
        case (tuple(), tuple()):
            pairs = zip(one, other, strict=False)
            return len(one) == len(other) and all(_same(a, b, strict=strict) for a, b in pairs)
        case (Symbol("Mean"), _) if isinstance(other, int):
            return _same(1, other, strict=strict)
        case (_, Symbol("Mean")) if isinstance(one, int):
            return _same(one, 1, strict=strict)
        case (int(), float()) | (float(), int()) if not strict:
            return not isinstance(one, bool) and not isinstance(other, bool) and one == other
    return type(one) is type(other) and _shown(one) == _shown(other)


def _shown(default: Default) -> str:
    return "required" if default is REQUIRED else literal(default)


def _returns(written: Schema, inferred: Schema) -> Iterator[Diagnostic]:
    if len(written.returns) != len(inferred.returns):
        sides = f"{_results(written)} in the schema, {_results(inferred)} by the annotation"
        hint = f"write `-> {_results(inferred)}`, or change the annotation"
        yield finding("OW215", f"the returns differ in number: {sides}", hint)
        return
    for number, (w, i) in enumerate(zip(written.returns, inferred.returns, strict=True), 1):
        yield from _type(f"return {number}", w.type, i.type)
        if w.name != i.name:
            message = f"return {number} is {_called(w)} in the schema, {_called(i)} in the function"
            yield finding("OW217", message, "write the same name on both sides")


def _called(result: Return) -> str:
    return "without a name" if result.name is None else f"called {result.name!r}"


def _results(schema: Schema) -> str:
    return f"({', '.join(map(str, schema.returns))})"


class _Part(NamedTuple):
    """An argument or return of both sides, to be compared by what it shares."""

    what: str
    written: Type
    inferred: Type


def _sharing(parts: list[_Part]) -> Iterator[Diagnostic]:
    """Which parts share memory, and how; each part is held against the ones before it."""
    by_hand = _shared([part.written for part in parts])
    meant = _shared([part.inferred for part in parts])
    for part, written, inferred in zip(parts, by_hand, meant, strict=True):
        if written != inferred:
            sides = (_row([parts[i].what for i in side]) for side in (written, inferred))
            message = "{} shares memory with {} in the schema, with {} by the annotations"
            yield finding("OW211", message.format(part.what, *sides), _mark(part))
        elif _written(part.written) == _written(part.inferred) and not _alike(part):
            message = f"{part.what} is `{part.written}` in the schema, `{part.inferred}` is meant"
            yield finding("OW211", message, _mark(part))


def _shared(kinds: Sequence[Type]) -> list[list[int]]:
    """For each type the earlier ones that share an alias set with it."""
    sets = [{name for alias in aliases(kind) for name in alias.names} - {"*"} for kind in kinds]
    homes: dict[str, list[int]] = {}
    found = []
    for place, names in enumerate(sets):
        found.append(sorted({home for name in names for home in homes.get(name, ())}))
        for name in names:
            homes.setdefault(name, []).append(place)
    return found


def _mark(part: _Part) -> str:
    return f"write `{part.inferred}`, or change the annotation"


def _written(kind: Type) -> bool:
    return any(alias.writes for alias in aliases(kind))


def _alike(part: _Part) -> bool:
    """Whether both sides say the same of the part alone; a mark like `(a)` says only who shares."""
    one, other = (
        [str(alias) for alias in aliases(lettered([kind])[0]) if not _shares_only(alias)]
        for kind in (part.written, part.inferred)
    )
    return one == other


def _shares_only(alias: Alias) -> bool:
    return not alias.writes and alias.before == alias.after and len(alias.before) == 1


def _parts(pairs: list[_Pair], written: Schema, inferred: Schema) -> list[_Part]:
    """What is compared by sharing, with `Tensor!` read as what it stands for."""
    found = [(repr(w.name), w.type, i.type) for w, i in pairs]
    if len(written.returns) == len(inferred.returns):
        results = zip(written.returns, inferred.returns, strict=True)
        found += [(f"return {n}", w.type, i.type) for n, (w, i) in enumerate(results, 1)]
    return [
        _Part(what, _spelt_out(w, f"fresh{n}_"), _spelt_out(i, f"fresh{n}_"))
        for n, (what, w, i) in enumerate(found)
    ]


def _spelt_out(kind: Type, name: str) -> Type:
    """`Tensor!` with the set that it stands for, one that nothing else names."""

    def spell(node: Type) -> Type:
        if isinstance(node, Maybe) or node.alias != Alias(writes=True):
            return node
        return replace(node, alias=Alias((name,), writes=True))

    return rebuilt(kind, spell)


def _rest(parts: list[_Part]) -> Iterator[Diagnostic]:
    """What no finding above has told: the same sets, but shared in another pattern."""
    by_hand = lettered([part.written for part in parts])
    meant = lettered([part.inferred for part in parts])
    for part, written, inferred in zip(parts, by_hand, meant, strict=True):
        if written != inferred:
            message = f"{part.what} is `{written}` in the schema, `{inferred}` by the annotations"
            yield finding("OW211", message, f"write `{inferred}`")
            return
