"""Registering again, from elsewhere, from threads, in a child process, ten thousand times."""

from __future__ import annotations

import gc
import importlib.util
import os
import resource
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

import opwright as ow  # noqa: E402
from opwright.ops import cache, private, registry  # noqa: E402
from opwright.ops.registry import SchemaChanged  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("clean"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # Dynamo on torch's own pytree names
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NS = "opwright_reload"
NIGHTLY = os.environ.get("OPWRIGHT_PROFILE") == "nightly"


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytecode goes by size and second, and a module written again at once may be as long."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


MODULE = """
import torch
from torch import Tensor
import opwright as ow

@ow.op("opwright_reload::f")
def f(x: Tensor{more}) -> Tensor:
    return x * {factor}

@f.fake
def _(x, *args):
    return torch.empty_like(x)

if not "{more}":
    @f.backward
    def _(ctx, grad):
        return {backward}
"""


def load(path: Path, name: str = "author", /, **words: object) -> ModuleType:
    """Write a module that registers an operator, and execute it as `importlib.reload` does."""
    words = {"more": "", "factor": 2, "backward": "grad * 2", **words}
    path.write_text(MODULE.format(**words))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gradient(f: Callable[[Tensor], Tensor]) -> float:
    x = torch.ones(1, requires_grad=True)
    f(x).backward()
    assert x.grad is not None
    return float(x.grad)


# Reload -----------------------------------------------------------------------------------------


def test_a_reload_replaces_kernel_fake_and_gradient(tmp_path: Path) -> None:
    first = load(tmp_path / "author.py")
    old = first.f
    first.f.kernel("cpu")(lambda x: x * 7)
    use = torch.compile(lambda x: old(x), backend="aot_eager", fullgraph=True)
    x = torch.ones(1)
    assert [old(x).item(), use(x).item(), gradient(old)] == [7.0, 7.0, 2.0]
    second = load(tmp_path / "author.py", factor=3, backward="grad * 3")
    assert second.f is old, "who imported the handle goes on with the new version"
    by_name = torch.ops.opwright_reload.f
    for f in (old, second.f, by_name, use):
        assert [f(x).item(), f(x).item(), gradient(f)] == [3.0, 3.0, 3.0]


def test_a_reload_with_another_schema_shows_the_difference(tmp_path: Path) -> None:
    load(tmp_path / "author.py")
    tag = cache_tag()
    with pytest.warns(SchemaChanged) as told:
        again = load(tmp_path / "author.py", more=", n: int = 3", factor="n")
    assert len(told) == 1
    assert str(told[0].message) == (
        f"{NS}::f is registered again with another schema; code compiled for the old one may still "
        f"be cached:\n  - {NS}::f(Tensor x) -> Tensor\n  + {NS}::f(Tensor x, SymInt n=3) -> Tensor"
    )
    assert told[0].filename == str(tmp_path / "author.py")
    assert again.f(torch.ones(1), n=5).item() == 5.0
    assert cache_tag() != tag


def test_a_reload_that_fails_changes_nothing(tmp_path: Path) -> None:
    first = load(tmp_path / "author.py")
    x = torch.ones(1)
    with pytest.raises(ow.SchemaError, match="OW102"):
        load(tmp_path / "author.py", more=", n: dict = 3", factor=3)
    assert first.f(x).item() == 2.0

    def fails(*_: object) -> None:
        raise RuntimeError("no kernel today")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opwright.ops.core.Core.add_kernel", fails)
        with pytest.raises(RuntimeError, match="no kernel today"):
            load(tmp_path / "author.py", factor=3)
    for f in (first.f, torch.ops.opwright_reload.f):
        assert [f(x).item(), f(x).item(), gradient(f)] == [2.0, 2.0, 2.0]
    assert load(tmp_path / "author.py", factor=3).f(x).item() == 3.0


def test_two_files_may_not_claim_one_name(tmp_path: Path) -> None:
    first = load(tmp_path / "first.py", "first")
    with pytest.raises(ow.SchemaError) as refused:
        load(tmp_path / "second.py", "second", factor=3)
    assert str(refused.value) == (
        f"OW511 {tmp_path}/second.py:6 registers '{NS}::f', which {tmp_path}/first.py:6 registered "
        "first\n"
        "  hint: choose another name, or add to that operator through `opwright.existing(...)`"
    )
    assert first.f(torch.ones(1)).item() == 2.0


def test_a_name_that_a_library_defined_is_not_taken() -> None:
    library = torch.library.Library(NS, "FRAGMENT")
    library.define("taken(Tensor x) -> Tensor")

    def taken(x: Tensor) -> Tensor:
        return x + 1

    with pytest.raises(ow.SchemaError) as refused:
        ow.op(f"{NS}::taken")(taken)
    (found,) = refused.value.findings
    assert found.code == "OW511"
    line = test_a_name_that_a_library_defined_is_not_taken.__code__.co_firstlineno + 1
    where = private.registered_at(f"{NS}::taken")  # None before torch 2.13, which keeps no place
    assert where in (f"{__file__}:{line}", None)
    assert f"which {where or 'somebody'} registered first" in found.message
    library._destroy()
    assert ow.op(f"{NS}::taken")(taken)(torch.zeros(1)).item() == 1.0


def test_fragments_leave_the_namespace_to_others() -> None:
    @ow.op(f"{NS}::ours")
    def ours(x: Tensor) -> Tensor:
        return x + 1

    library = torch.library.Library(NS, "DEF")
    library.define("theirs(Tensor x) -> Tensor")
    library.impl("theirs", lambda x: x + 2, "CPU")
    assert torch.ops.opwright_reload.theirs(ours(torch.zeros(1))).item() == 3.0
    library._destroy()


# Lifetime ---------------------------------------------------------------------------------------


def test_an_operator_outlives_the_helper_that_registered_it() -> None:
    def helper() -> None:
        def local(x: Tensor) -> Tensor:
            return x + 1

        ow.op(f"{NS}::local")(local)

    helper()
    gc.collect()
    assert torch.ops.opwright_reload.local(torch.zeros(1)).item() == 1.0


def test_threads_register_and_call_at_once() -> None:
    wrong: list[object] = []
    shared = ow.op(f"{NS}::shared")(shared_body)
    together = threading.Barrier(8)

    def work(number: int) -> None:
        def body(x: Tensor) -> Tensor:
            return x + number

        together.wait()
        for turn in range(20):
            f = ow.op(f"{NS}::thread{number}_{turn % 2}")(body)
            got = [f(torch.zeros(1)).item() for _ in range(3)]
            if got != [number] * 3 or shared(torch.zeros(1)).item() != 1.0:
                wrong.append((number, got))

    threads = [threading.Thread(target=caught, args=(wrong, work, n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []
    assert len([name for name in registry.names() if "thread" in name]) == 16


def caught(wrong: list[object], work: Callable[[int], None], number: int) -> None:
    try:
        work(number)
    except BaseException as error:
        wrong.append(error)


def shared_body(x: Tensor) -> Tensor:
    return x + 1


FORKED = """
import os, threading
import torch
from torch import Tensor
import opwright as ow
from opwright.ops import registry

@ow.op("opwright_fork::f")
def f(x: Tensor) -> Tensor:
    return x + 1

assert f(torch.zeros(1)).item() == 1.0

held = threading.Event()
def hold():
    with registry.lock:
        held.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()  # a thread of the parent holds the lock for ever
child = os.fork()
if child == 0:
    @ow.op("opwright_fork::g")
    def g(x: Tensor) -> Tensor:
        return f(x) + 1
    os._exit(0 if g(torch.zeros(1)).item() == 2.0 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), f(torch.zeros(1)).item(), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_registers_and_calls() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("0 1.0\n", "")


# Leaks ------------------------------------------------------------------------------------------


def rounds(count: int, keep: Callable[[object], object] = lambda _: None) -> None:
    """Define and replace one operator, and call it, so many times."""
    x = torch.ones(1)
    for _ in range(count):

        def body(x: Tensor, by: float = 2.0) -> Tensor:
            return x * by

        f = ow.op(f"{NS}::round")(body)
        f.fake(lambda x, by: torch.empty_like(x))
        f.kernel("cpu")(lambda x, by: x * by)
        assert f(x).item() == f(x).item() == torch.ops.opwright_reload.round(x).item() == 2.0
        keep(body)


def objects() -> int:
    while gc.collect():  # what earlier tests left may take several turns
        pass
    return len(gc.get_objects())


def grown(run: Callable[[int], None], warm: int, count: int) -> tuple[float, float]:
    """Live objects and kilobytes that a round leaves behind, after some to warm up."""
    run(warm)
    before, peak = objects(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(count)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (objects() - before) / count, (after - peak) / count


def test_replacing_an_operator_leaves_nothing_behind() -> None:
    warm, count = (1000, 10_000) if NIGHTLY else (50, 300)
    left, kilobytes = grown(rounds, warm, count)
    assert left < 0.1, f"{left} objects a round"
    assert kilobytes < (2 if NIGHTLY else 12), f"{kilobytes} kB a round"


def test_a_leak_would_be_seen() -> None:
    kept: list[object] = []
    left, _ = grown(lambda count: rounds(count, kept.append), 50, 100)
    assert left > 0.5
    assert len(kept) == 150


def test_a_removed_operator_is_freed() -> None:
    def body(x: Tensor) -> Tensor:
        return x + 1

    f = ow.op(f"{NS}::gone")(body)
    f(torch.ones(1))
    core = weakref.ref(f.core)
    registry.remove(f"{NS}::gone")
    assert not private.exists(f"{NS}::gone")
    del f
    gc.collect()
    assert core() is None


# The compiler's caches --------------------------------------------------------------------------


def test_the_cache_tag_tells_registrations_apart_and_keeps_the_users() -> None:
    config: Any = torch.compiler.config
    start = cache_tag()

    def body(x: Tensor) -> Tensor:
        return x + 1

    f = ow.op(f"{NS}::tagged")(body)
    tags = [start, cache_tag()]
    for change in (lambda x: torch.empty_like(x), lambda x: torch.zeros_like(x)):
        f.fake(change)
        tags.append(cache_tag())
    for backward in (lambda ctx, grad: grad, lambda ctx, grad: grad * 2):
        f.backward(backward)
        tags.append(cache_tag())
    assert len(set(tags)) == len(tags) == 6
    f.backward(lambda ctx, grad: grad * 2)
    assert cache_tag() == tags[-1], "the same code gives the same tag"
    f.fake(lambda x: torch.empty_like(x))
    assert cache_tag() not in tags, "what was there before the backward still counts"
    config.cache_key_tag = "mine" + config.cache_key_tag
    f.backward(lambda ctx, grad: grad * 3)
    assert cache_tag().startswith("mine+opwright:")
    assert config.cache_key_tag.count("opwright") == 1
    config.cache_key_tag = config.cache_key_tag.removeprefix("mine")


def cache_tag() -> str:
    """What torch's caches of compiled code will be kept apart by."""
    cache.settle()
    return str(torch.compiler.config.cache_key_tag)


def test_the_tag_is_there_before_anything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(x: Tensor) -> Tensor:
        return x + 1

    cache.settle()
    monkeypatch.setattr(cache, "_compiling", False)
    before = torch.compiler.config.cache_key_tag
    f = ow.op(f"{NS}::early")(body)
    f.fake(lambda x: torch.empty_like(x))
    seen: list[str] = []

    def backend(graph: Any, inputs: Any) -> Any:
        seen.append(torch.compiler.config.cache_key_tag)
        return graph

    torch.compile(lambda x: f(x), backend=backend, fullgraph=True)(torch.ones(1))
    assert seen == [cache_tag()]
    assert seen != [before]
