"""The handle of an operator against the dispatcher, in every mode: nothing may tell them apart."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import signatures  # noqa: E402
from modes import MODES, Observation, Trial, observe  # noqa: E402
from opchecks import opcheck, passes  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Sparse:UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit:FutureWarning"),  # torch 2.14's own, in duals
]

PROFILE = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def warmed(handle: Any, call: tuple[list[Any], Any]) -> Any:
    """A handle whose shortcuts are open for tensors like these, requiring grad or not."""
    for mode in ("eager", "no_grad", "grad", "eager", "inference mode"):
        for _ in range(2):
            observe(MODES[mode], Trial(handle, *copy.deepcopy(call)))
    return handle


def compared(
    mode: str, handle: Any, call: tuple[list[Any], Any]
) -> tuple[Observation, Observation]:
    """What the handle does, and what the dispatcher does with the same call."""
    ours = observe(MODES[mode], Trial(handle, *copy.deepcopy(call)))
    return ours, observe(MODES[mode], Trial(handle.core.packer, *copy.deepcopy(call)))


@pytest.mark.parametrize("mode", MODES)
@PROFILE
@given(data=st.data())
def test_the_handle_does_what_the_dispatcher_does(mode: str, data: st.DataObject) -> None:
    signature = data.draw(signatures.signatures(list(signatures.KINDS)))
    call = data.draw(signatures.calls(signature))
    handle = warmed(signatures.registered(signature), call)
    ours, theirs = compared(mode, handle, call)
    assert ours == theirs


@settings(parent=PROFILE, max_examples=25)
@given(data=st.data())
def test_opcheck_passes(data: st.DataObject) -> None:
    signature = data.draw(signatures.signatures(list(signatures.KINDS)))
    args, kwargs = data.draw(signatures.calls(signature))
    handle = signatures.registered(signature)
    handle(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    assert passes(opcheck(handle.core, tuple(args), kwargs))


def test_a_wrong_fake_does_not_pass_opcheck() -> None:
    handle = warmed(signatures.registered(PLAIN), CALL)
    handle.fake(lambda p0, p1: torch.empty(7))
    with pytest.raises(torch.testing._internal.optests.generate_tests.OpCheckError):
        opcheck(handle.core, tuple(CALL[0]), {})


# The negative control -----------------------------------------------------------------------------

PLAIN = signatures.Signature(
    tuple(signatures.Parameter(name, "tensor", False, False) for name in ("p0", "p1")), "Tensor"
)
CALL: tuple[list[Any], Any] = ([torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)], {})
# In these the shortcut is right, or fails as the dispatcher does.
ALIKE = {
    *("eager", "no_grad", "inference mode", "inference mode with grad", "inference tensors"),
    *("transposed", "float64", "empty", "sparse", "default device", "mixed devices"),
}


class Blind:
    """What a handle would see if it did not look: no modes."""

    _is_in_torch_dispatch_mode = False


GUARDS = {"each": ("_ow_a_p0", "_ow_a_p1"), "together": ("_ow_together",)}


def careless(handle: Any, guards: str) -> Any:
    """A handle that takes the shortcut for any tensor, whatever is going on."""
    cell = warmed(handle, CALL).core.cell
    for name in GUARDS[guards]:
        cell[name] = lambda *values: all(isinstance(value, torch.Tensor) for value in values)
    cell["_ow_modes"] = Blind
    cell["_ow_tracing"] = cell["_ow_function_modes"] = cell["_ow_profiling"] = cell[
        "_ow_tangents"
    ] = lambda: False
    return handle


def nameless(observation: Observation) -> Observation:
    """Without the number in the operator's name."""
    events = tuple(re.sub(r"::f\d+", "::f", str(event)) for event in observation.events)
    return replace(observation, events=events)


@pytest.mark.parametrize("guards", GUARDS)
@pytest.mark.parametrize("mode", sorted(MODES.keys() - ALIKE))
def test_a_careless_shortcut_is_caught(mode: str, guards: str) -> None:
    handle = careless(signatures.registered(PLAIN), guards)
    ours = observe(MODES[mode], Trial(handle, *copy.deepcopy(CALL)))
    packer = signatures.registered(PLAIN).core.packer
    theirs = observe(MODES[mode], Trial(packer, *copy.deepcopy(CALL)))
    assert nameless(ours) != nameless(theirs)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_shortcut_is_taken(requires_grad: bool) -> None:
    """Otherwise the comparison above would compare the dispatcher with itself."""
    x = torch.ones(2, 3, requires_grad=requires_grad)
    handle = warmed(signatures.registered(PLAIN), CALL)
    handle.core.packer = handle._through = None  # calling either would fail
    handle(x, x)


def test_one_guard_follows_the_tensors_that_are_met() -> None:
    """It holds for what was met last, also where each tensor has been met before."""
    handle = warmed(signatures.registered(PLAIN), CALL)
    cell, (x, y) = handle.core.cell, CALL[0]
    double = [t.double() for t in (x, y)]
    for tensors in ([x, y], double, [x, y]):
        for _ in range(3):
            handle(*tensors)
        assert cell["_ow_together"](*tensors)
    for _ in range(200):  # more often than it is made anew
        handle(x, y)
        handle(*double)
    halves = [t.half() for t in (x, y)]
    for _ in range(3):
        handle(*halves)
    assert cell["_ow_together"](*halves), "a new dtype is still learned"


def test_a_tensor_given_twice_takes_the_shortcut() -> None:
    """torch's guard refuses it among several; that of each argument does not."""
    handle = warmed(signatures.registered(PLAIN), CALL)
    x = torch.ones(2, 3)
    assert not handle.core.cell["_ow_together"](x, x)
    handle.core.packer = handle._through = None  # calling either would fail
    handle(x, x)
