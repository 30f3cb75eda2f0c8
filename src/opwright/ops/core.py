"""One operator in the dispatcher: its definition, and what stands at which dispatch key.

Knows plans and torch's `Library`; not decorators, and not how a gradient is computed: what stands
at the autograd keys asks `differentiate`, when there is one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.compiler import is_dynamo_compiling
from torch.library import Library

from opwright.ops import cache, private
from opwright.ops.cell import new_cell, schema_defaults, user_defaults
from opwright.ops.crossing import BadCall, crossing
from opwright.ops.fake import trivial_fake
from opwright.ops.functions import Defaults, later, now
from opwright.ops.guards import EXACT, Guards
from opwright.ops.lock import lock
from opwright.ops.plan import Plan
from opwright.ops.results import Judge
from opwright.ops.writer import (
    HELD,
    write_call,
    write_fake,
    write_flattener,
    write_fork,
    write_gate,
    write_kernel,
    write_method,
    write_packer,
)
from opwright.schema.model import Schema

Kernel: TypeAlias = Callable[..., Any]
Text: TypeAlias = "Callable[[Plan], str | None]"

DEFAULT_KEY = "CompositeExplicitAutograd"
"""Where a kernel stands that serves every device."""

COMPOSITE_KEY = "CompositeImplicitAutograd"
"""Where a function stands that the dispatcher takes apart into the operators that it calls."""


class Hidden:
    """Whether a tensor subclass may be calling kernels from its `__torch_dispatch__`."""

    __slots__ = ("below_subclass",)

    def __init__(self) -> None:
        self.below_subclass = False


HIDDEN = Hidden()


class CannotDifferentiate(RuntimeError):
    """A gradient was asked for that there is no way to compute."""


class Core:
    """An operator as `plan` says; nothing is registered before `define`.

    The names in `cell` are what the generated functions see; other modules of this floor put what
    they add to an operator there, and at dispatch keys by `implement`.
    """

    def __init__(
        self,
        schema: Schema,
        plan: Callable[[], Plan],
        tags: Sequence[torch.Tag] = (),
        library: Library | None = None,
    ) -> None:
        self.schema = schema
        self.tags = tuple(tags)
        self.qualname = schema.qualname
        self._namespace, _, self.local = self.qualname.partition("::")
        self._packet, _, overload = self.local.partition(".")
        self._variant = overload or "default"
        self.kernels: dict[str, Kernel] = {}
        self.fake: Kernel | None = None
        self.differentiate: Callable[[tuple[Any, ...]], Any] | None = None
        self.preparations: list[Callable[[Core], None]] = []
        """What other modules do once, before the first call."""
        self.cell: dict[str, Any] = {}
        self.is_foreign = False
        self.is_traced = False
        """Whether compiled code may hold its handle, and guard on what it is."""
        self.handle: object = None
        self._plan = plan
        self._prepared = False
        self._borrowed = library
        self._library: Library | None = None
        self._placed: dict[str, Callable[..., Any]] = {}
        self._fake: Callable[..., Any] | None = None
        self._spaces: dict[str, dict[str, Any]] = {}
        self._overload: Any = None
        self.packs = False
        """Whether a call has to be packed for the dispatcher, or its result unpacked."""
        self.packer = self.through

    @functools.cached_property
    def plan(self) -> Plan:
        """How calls line up with the schema; worked out when it is first needed."""
        return self._plan()

    @functools.cached_property
    def judge(self) -> Judge:
        """What says whether results are right."""
        return Judge(self.plan, self._running_kernel)

    @functools.cached_property
    def guards(self) -> Guards:
        """What says which tensors may go to the kernel directly."""
        places = {place: leaf.name for place, leaf in self.plan.tensors()}
        together = [place for place, _ in self.plan.together()]
        return Guards(self.cell, places, together, self._direct_kernel)

    def check_crossings(self) -> None:
        """Raise `Unsupported` for arguments that this version does not carry."""
        for leaf in self.plan.leaves:
            crossing(leaf.codec, leaf.name)

    def prepare(self) -> None:
        """Fill the cell; before the first call, and not for an operator that is never called."""
        with lock:
            if self._prepared:
                return
            names = {f"{HELD}{name}": value for name, value in self._names()}
            self.cell |= {**new_cell(self.plan), **names}
            self.guards.forget()
            for preparation in self.preparations:
                preparation(self)
            self._prepared = True

    def _names(self) -> Iterator[tuple[str, Any]]:
        yield from (("record", None), ("check_hidden", self._check_hidden))
        yield "tracing", is_dynamo_compiling
        yield from (("slow", self._slow), ("below", self._below), ("careful", _careful))
        yield from (("wrap", self.judge.wrap), ("lower", self.judge.lower), ("hidden", HIDDEN))
        yield from (("settle", self.judge.settle), ("settle_flat", self.judge.settle_flat))

    # Definition --------------------------------------------------------------------------------

    def define(self, kernels: dict[str, Kernel]) -> None:
        """Make the operator known to the dispatcher, whole; on failure nothing is left of it."""
        try:
            self._open()
            if COMPOSITE_KEY not in kernels:
                self.implement("Autograd", self._written(write_gate, self.cell))
                for key in private.AUTOCAST_KEYS:
                    self.stand(key, self._outside_autocast)
            for key, kernel in kernels.items():
                self.add_kernel(key, kernel)
            if self.packs:
                self.packer = self.write_packer()
            if self.schema.mutable and trivial_fake(self.plan):
                self.place_fake(self._written(trivial_fake, {}, "fake"))
        except BaseException:
            self.destroy()
            raise

    def _open(self) -> None:
        self._library = self._borrowed or Library(self._namespace, "FRAGMENT")
        self._library.define(str(self.schema).partition("::")[2], tags=self.tags)

    def adopt(self) -> None:
        """Add to an operator that somebody else defined, and will take away."""
        self.is_foreign = True
        self._library = Library(self._namespace, "FRAGMENT")

    def has_placed(self, key: str) -> bool:
        """Whether something stands at a dispatch key through this core."""
        return key in self._placed

    def destroy(self) -> None:
        """Take the operator, and all that stands at its keys, away."""
        if self._library is not None and self._borrowed is None:
            self._library._destroy()
            private.forget(self.qualname)
        self._library = None
        self._overload = None  # torch's object points to what is gone

    def retire(self) -> None:
        """After `destroy`: torch keeps the functions of an operator that is gone; not the rest."""
        for space in (self.cell, *self._spaces.values()):
            space.clear()

    def restore(self) -> None:
        """Undo `destroy`."""
        self._open()
        for key, function in self._placed.items():
            self.implement(key, function)
        if self._fake is not None:
            private.place_fake(self.library, self.qualname, self._fake)
        if self.packs:
            self.cell[f"{HELD}overload"] = self.overload

    def implement(self, key: str, function: Callable[..., Any]) -> None:
        """Put a function, which takes schema arguments, at a dispatch key."""
        self.library.impl(self.local, function, key)
        self._placed[key] = function

    def stand(self, key: str, function: Callable[..., Any]) -> None:
        """The same, for a function that may be replaced by another one later."""
        slot = f"{HELD}at_{key}"
        known = slot in self.cell
        self.cell[slot] = function
        if not known:
            self.implement(key, _Standing(self.cell, slot))

    @property
    def library(self) -> Library:
        """Where the operator is defined."""
        assert self._library is not None
        return self._library

    @property
    def overload(self) -> Any:
        """torch's object for this operator: `torch.ops.ns.name.default`."""
        if self._overload is None:
            self._overload = self._find_overload()
        return self._overload

    def _find_overload(self) -> Any:
        packet = getattr(getattr(torch.ops, self._namespace), self._packet)
        return getattr(packet, self._variant)

    # Kernels and fake --------------------------------------------------------------------------

    def add_kernel(self, key: str, kernel: Kernel) -> None:
        """Have `kernel` serve a dispatch key; what served it before is replaced."""
        self.kernels[key] = kernel
        if key in self._spaces:
            self._spaces[key][f"{HELD}fn"] = kernel
        else:
            self.implement(key, self._written(write_kernel, self._space(key, kernel)))
        if self._prepared:
            self.guards.forget()

    def set_fake(self, fake: Kernel) -> None:
        """Have `fake` tell shapes; what told them before is replaced."""
        self.fake = fake
        if "fake" in self._spaces:
            self._spaces["fake"][f"{HELD}fn"] = fake
        else:
            self.place_fake(self._written(write_fake, self._space("fake", fake), "fake"))

    def place_fake(self, fake: Callable[..., Any]) -> None:
        """Have a function that takes schema arguments tell shapes."""
        private.place_fake(self.library, self.qualname, fake)
        self._fake = fake

    def _space(self, key: str, function: Kernel) -> dict[str, Any]:
        self._spaces[key] = {f"{HELD}fn": function}
        return self._spaces[key]

    def _written(self, write: Text, space: dict[str, Any], role: str = "") -> Callable[..., Any]:
        """A function that is written, and finds its names, when it is first called."""
        return later(self.local.replace(".", "_"), _Source(self, write, space, role), space)

    @property
    def is_settled(self) -> bool:
        """Whether the handle has to stay the object that compiled code may guard on."""
        return self.is_traced or self.is_foreign or COMPOSITE_KEY in self.kernels

    def _direct_kernel(self, device: str) -> Kernel | None:
        """The function that the dispatcher ends up in for plain tensors of a device."""
        key = private.backend_key(device)
        if key is None or any(private.interposes(other, key) for other in self.kernels):
            return None
        return self.kernels.get(key) or self.kernels.get(DEFAULT_KEY)

    def _running_kernel(self) -> Kernel:
        """The function whose result is judged: the one that the guards chose, if they did."""
        chosen: Kernel | None = self.cell.get(f"{HELD}kernel")
        return chosen or next(iter(self.kernels.values()))

    # Calls -------------------------------------------------------------------------------------

    def write_call(self, *, method: bool = False) -> Callable[..., Any]:
        """The function that a call of the handle runs, or its `__call__`."""
        self.prepare()
        signature = self.plan.signature
        name = self.local.replace(".", "_")
        self._flatten = now(name, write_flattener(self.plan), self.cell, user_defaults(signature))
        text = write_call(self.plan)
        if method:
            text = write_method(text, signature)
        return now(name, text, self.cell, user_defaults(signature))

    def write_packer(self) -> Callable[..., Any]:
        """The function that takes a call of the handle through the dispatcher."""
        self.prepare()
        self.cell[f"{HELD}overload"] = self.overload
        defaults = user_defaults(self.plan.signature)
        return now(self.local.replace(".", "_"), write_packer(self.plan), self.cell, defaults)

    def write_fork(
        self, signature: inspect.Signature, out: Core, *, method: bool = False
    ) -> Callable[..., Any]:
        """The function that calls this operator, or `out` where tensors to write are given."""
        ways = (self.write_call(), out.write_call()) if method else (self.packer, out.packer)
        space = {"plain": ways[0], "out": ways[1], "mixed": _mixed, "tracing": is_dynamo_compiling}
        text = write_fork(signature, self.plan, out.plan)
        if method:
            text = write_method(text, signature)
        held = {f"{HELD}{name}": value for name, value in space.items()}
        return now(self.local, text, held, user_defaults(signature))

    def through(self, /, *args: Any, **kwargs: Any) -> Any:
        """A call through the dispatcher, of arguments that cross as they are.

        While Dynamo traces, nothing may be kept: it would guard on what it was before.
        """
        if is_dynamo_compiling():
            return self._find_overload()(*args, **kwargs)
        return self.overload(*args, **kwargs)

    def _slow(self, /, *args: Any, **kwargs: Any) -> Any:
        """A call of the handle that somebody might see: through the dispatcher."""
        flat = self._flatten(*args, **kwargs)
        learned = self.guards.learn(flat)
        out = self.packer(*args, **kwargs)
        if learned and not self.schema.mutable:
            self._check_memory(flat, out)
        return out

    def _below(self, /, *flat: Any) -> Any:
        """A call at the autograd keys that is not an ordinary one."""
        if self._is_recorded(flat):
            self._check_written(flat)
            if self.differentiate is not None:
                return self.differentiate(flat)
        learned = self.guards.learn(flat)
        out = self.below(flat)
        if learned and not self.schema.mutable:
            self._check_memory(flat, out)
        return out

    def _check_memory(self, flat: tuple[Any, ...], out: Any) -> None:
        try:
            self.judge.check_memory(flat, out)
        except BaseException:
            self.guards.forget()  # the next call is looked at again
            raise

    def _is_recorded(self, flat: tuple[Any, ...]) -> bool:
        """Whether a gradient is wanted, or a forward-mode tangent may be on its way."""
        wanted = torch.is_grad_enabled() and any(t.requires_grad for t in self.tensors(flat))
        return wanted or private.tangents_are_on()

    def below(self, flat: tuple[Any, ...]) -> Any:
        """The operator without its gradient: the dispatcher from below the autograd keys."""
        arguments = self.schema.arguments
        free = [value for value, a in zip(flat, arguments, strict=True) if not a.kw_only]
        named = {a.name: v for v, a in zip(flat, arguments, strict=True) if a.kw_only}
        self._note_subclasses(flat)
        written = [*self.tensors(flat[place] for place, _ in self.plan.written())]
        before = [*map(private.version, written)]
        with private.below_autograd():
            out = self.overload(*free, **named)
        after = map(private.version, written)
        private.bump_versions(
            tuple(t for t, old, new in zip(written, before, after, strict=True) if old == new)
        )
        return out

    def _outside_autocast(self, /, *args: Any, **kwargs: Any) -> Any:
        """What stands at the autocast keys: compiled code shows a kernel no autocast either."""
        with private.without_autocast():
            return self.overload(*args, **kwargs)

    def tensors(self, flat: Iterable[Any]) -> Iterator[Tensor]:
        """The tensors among schema arguments, also those in lists."""
        for value in flat:
            if isinstance(value, Tensor):
                yield value
            elif isinstance(value, (list, tuple)):
                yield from self.tensors(value)

    def _check_written(self, flat: tuple[Any, ...]) -> None:
        for place, leaf in self.plan.written():
            if any(tensor.requires_grad for tensor in self.tensors((flat[place],))):
                raise CannotDifferentiate(
                    f"{self.qualname} writes {leaf.name!r}, which requires grad: its gradient "
                    f"would be wrong; pass {leaf.name}.detach(), or call it under torch.no_grad()"
                )

    def _check_hidden(self, /, **hidden: Any) -> None:
        """Refuse to lose a gradient: of tensors where the dispatcher does not look for any."""
        if not torch.is_grad_enabled():
            return
        for name, value in hidden.items():
            if any(tensor.requires_grad for tensor in self.tensors((value,))):
                kind = next(leaf.argument.type for leaf in self.plan.leaves if leaf.name == name)
                raise CannotDifferentiate(
                    f"{self.qualname}: a tensor in {name!r} requires grad, but torch looks for "
                    f"none in {kind}, so its gradient would be lost: detach it, or take "
                    "`list[Tensor]`"
                )

    def _note_subclasses(self, flat: tuple[Any, ...]) -> None:
        """From the first tensor subclass on, kernels look out for hidden dispatch keys."""
        if not private.mode_is_on() and any(type(t) not in EXACT for t in self.tensors(flat)):
            HIDDEN.below_subclass = True


class _Source:
    """What writes one of the functions of an operator."""

    __slots__ = ("_core", "_role", "_space", "_write")

    def __init__(self, core: Core, write: Text, space: dict[str, Any], role: str) -> None:
        self._core = core
        self._write = write
        self._space = space
        self._role = role

    def __call__(self) -> tuple[str, Defaults]:
        core, space = self._core, self._space
        core.prepare()
        for name, value in core.cell.items():
            space.setdefault(name, value)
        if self._role == "fake":  # compilation has begun
            core.is_traced = True
            cache.settle()
        return self._write(core.plan) or "", schema_defaults(core.schema)


class _Standing:
    """What stands at a dispatch key for a function that may be replaced."""

    __slots__ = ("_cell", "_slot")

    def __init__(self, cell: dict[str, Any], slot: str) -> None:
        self._cell = cell
        self._slot = slot

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._cell[self._slot](*args, **kwargs)


def _mixed(qualname: str, names: list[str]) -> None:
    raise BadCall(f"{qualname} takes all of {', '.join(names)} or none of them")


def _careful(kernel: Kernel, /, *args: Any, **kwargs: Any) -> Any:
    """Run a kernel that may be reached through a `__torch_dispatch__`."""
    if not private.keys_are_hidden():
        return kernel(*args, **kwargs)
    with private.plain_keys():
        return kernel(*args, **kwargs)
