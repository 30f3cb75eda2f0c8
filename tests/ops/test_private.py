"""torch's private names: all in one file, all listed, all there, and doing what we need of them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import opwright as ow  # noqa: E402
from opwright.ops import private  # noqa: E402

pytestmark = pytest.mark.torch

FOLDER = Path(private.__file__).parent
OTHERS = sorted(set(FOLDER.glob("*.py")) - {Path(private.__file__)})


def private_names(text: str) -> Iterator[str]:
    """Every path below `torch` with a private part that a module imports or reaches for."""
    tree = ast.parse(text)
    aliases = {"torch": "torch"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases |= {a.asname: a.name for a in node.names if a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            aliases |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and _path(node.value, aliases):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                aliases[target.id] = _path(node.value, aliases)
    outer = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found = [_path(node, aliases) for node in ast.walk(tree) if id(node) not in outer]
    yield from (p for p in [*found, *aliases.values()] if p.startswith("torch.") and "._" in p)


def _path(node: ast.AST | None, aliases: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return aliases.get(node.id, "")
    if isinstance(node, ast.Attribute):
        owner = _path(node.value, aliases)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


@pytest.mark.parametrize("file", OTHERS, ids=[file.name for file in OTHERS])
def test_no_other_file_reaches_into_torch(file: Path) -> None:
    assert [*private_names(file.read_text("utf-8"))] == []


def test_every_private_name_is_listed() -> None:
    text = Path(private.__file__).read_text("utf-8")
    reached = set(private_names(text))
    unlisted = [n for n in reached if not any(_within(n, known) for known in private.NAMES)]
    assert unlisted == []
    assert len(reached) > 25


def _within(name: str, known: str) -> bool:
    """Whether a path is a listed one, leads to it, or goes on from it."""
    return f"{name}.".startswith(f"{known}.") or f"{known}.".startswith(f"{name}.")


def test_a_private_name_elsewhere_would_be_found() -> None:
    text = "from torch import _C as c\nimport torch.utils._pytree as p\nc._f()\nx = p.tree\n"
    assert {*private_names(text)} >= {"torch._C._f", "torch.utils._pytree.tree"}


@pytest.mark.parametrize("name", private.NAMES)
def test_this_torch_has_it(name: str) -> None:
    if name == "torch.library.Library._registration_handles":  # of an object, not of the class
        assert torch.library.Library("opwright_private", "FRAGMENT")._registration_handles == []
        return
    __import__("torch._dynamo") if "_dynamo" in name else None
    parts = name.split(".")
    assert functools.reduce(getattr, parts[1:], torch) is not None


class Watching(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[object] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        self.seen.append((private.keys_are_hidden(), private.mode_is_on()))
        with private.plain_keys():
            self.seen.append((private.keys_are_hidden(), torch.is_grad_enabled()))
        return func(*args, **(kwargs or {}))


def test_inside_a_dispatch_mode_keys_are_hidden_and_can_be_shown() -> None:
    assert not private.keys_are_hidden()
    with Watching() as watching:
        torch.ones(1) + 1
    assert watching.seen[-2:] == [(True, True), (False, False)]
    assert not private.mode_is_on()


class Sub(Tensor):
    pass


X = torch.ones(2, 3)
LIKE = [torch.ones(5, 1), torch.ones(3, 2).t(), torch.ones(4, 4)[1:, ::2]]
UNLIKE = {
    "another dtype": torch.ones(2, 3, dtype=torch.float64),
    "another rank": torch.ones(2),
    "requires grad": torch.ones(2, 3, requires_grad=True),
    "a parameter": torch.nn.Parameter(torch.ones(2, 3)),
    "a subclass": torch.ones(2, 3).as_subclass(Sub),
    "a negative view": torch._neg_view(torch.ones(2, 3)),
    "meta": torch.ones(2, 3, device="meta"),
    "sparse": torch.ones(2, 3).to_sparse(),
    "no tensor": 3,
    "nothing": None,
}


def test_a_guard_holds_for_what_is_alike_to_the_dispatcher() -> None:
    guard = private.plain_guard(X)
    assert guard is not None
    assert all(guard(tensor) for tensor in LIKE)
    assert {what for what, value in UNLIKE.items() if guard(value)} == set()


def test_without_guards_every_call_goes_through_the_dispatcher(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @ow.op("opwright_private::unguarded")
    def unguarded(x: Tensor) -> Tensor:
        return x + 1

    monkeypatch.setattr(torch._C._dynamo.guards, "TensorGuards", None)
    for _ in range(4):
        assert torch.equal(unguarded(X), X + 1)
    assert not any(unguarded.core.cell[f"_ow_{slot}_x"](X) for slot in "abc")


def test_a_guard_sees_modes_of_its_thread() -> None:
    guard = private.plain_guard(X)
    assert guard is not None
    with torch.no_grad():
        assert guard(X)
    with torch.inference_mode():
        assert not guard(X)
    with torch.autocast("cpu"):
        assert not guard(X)
    with Watching():
        assert not guard(X)
    seen: list[bool] = []
    torch.vmap(lambda t: (seen.append(guard(t) or guard(X)), t)[1])(torch.ones(2, 2, 3))
    assert seen == [False]
    assert guard(X)


@pytest.mark.parametrize("what", ["a negative view", "sparse", "meta"])
def test_plain_is_only_what_a_backend_alone_sees(what: str) -> None:
    assert private.is_plain(X)
    assert not private.is_plain(UNLIKE[what])
