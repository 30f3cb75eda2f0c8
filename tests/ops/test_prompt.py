"""What a person sees at a prompt and in a notebook: signatures, docstrings, completion, a table."""

from __future__ import annotations

import inspect
import pydoc
import re
import uuid
from typing import Any

import jedi
import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor

import opwright as ow
from opwright import Mutable, enrich

pytestmark = pytest.mark.torch


@pytest.fixture
def namespace() -> str:
    """A namespace that no other test uses."""
    return f"prompt_{uuid.uuid4().hex[:8]}"


@pytest.fixture
def scale(namespace: str) -> Any:
    @ow.op(f"{namespace}::scale")
    def scale(x: Tensor, by: float = 2.0, *, times: int = 1) -> Tensor:
        """Multiply, several times."""
        return x * by**times

    return scale


HEAD = "(x: Tensor, by: float = 2.0, *, times: int = 1) -> Tensor"


def test_a_handle_shows_its_function(scale: Any) -> None:
    own = inspect.signature(scale)
    assert [*own.parameters] == ["x", "by", "times"]
    assert own.parameters["times"].kind is inspect.Parameter.KEYWORD_ONLY
    assert inspect.getdoc(scale) == "Multiply, several times."
    assert "Multiply, several times." in pydoc.plain(pydoc.render_doc(scale))


def completed(code: str, names: dict[str, object]) -> set[str]:
    return {each.name for each in jedi.Interpreter(code, [names]).complete()}


def test_jedi_completes_a_live_handle(scale: Any) -> None:
    assert {"by=", "times=", "x="} <= completed("scale(", {"scale": scale})
    assert {"fake", "kernel", "schema"} <= completed("scale.", {"scale": scale})
    (shown,) = jedi.Interpreter("scale(", [{"scale": scale}]).get_signatures()
    assert [each.name for each in shown.params] == ["x", "by", "times"]


def test_enrich_tells_what_is_in_a_namespace(namespace: str, scale: Any) -> None:
    assert enrich(namespace) == 1
    packet = getattr(torch.ops, namespace).scale
    assert "scale" in dir(getattr(torch.ops, namespace))
    assert str(inspect.signature(packet)) == HEAD
    assert str(inspect.signature(packet.default)) == HEAD
    assert packet.__doc__.startswith(
        f"Multiply, several times.\n\n{namespace}::scale(Tensor x, float by=2.0, *, SymInt times=1)"
    )
    assert {"by=", "times="} <= completed("f(", {"f": packet})


def test_an_enriched_operator_is_the_operator_it_was(namespace: str, scale: Any) -> None:
    enrich(namespace)
    packet = getattr(torch.ops, namespace).scale
    scale.fake(lambda x, by=2.0, *, times=1: torch.empty_like(x))
    compiled = torch.compile(lambda x: packet(x, 3.0), backend="eager", fullgraph=True)
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 3.0))
    torch.library.opcheck(packet.default, (torch.ones(2),))


def test_a_foreign_namespace_is_enriched_too() -> None:
    assert enrich("aten") > 1000
    shown = str(inspect.signature(torch.ops.aten.relu.default))
    assert shown == "(self: Tensor) -> Tensor"


def cells(handle: Any) -> list[tuple[str, str]]:
    """The rows of a table: label and text."""
    found = re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", handle._repr_html_())
    return [(label, re.sub(r"<[^>]*>", "", cell)) for label, cell in found]


def test_a_notebook_shows_what_an_operator_has(namespace: str, scale: Any) -> None:
    where = r"scale \S*test_prompt.py:\d+"
    shown = dict(cells(scale))
    assert shown["schema"] == (
        f"{namespace}::scale(Tensor x, float by=2.0, *, SymInt times=1) -&gt; Tensor"
    )
    assert re.fullmatch(where, shown["kernel, every device"])
    assert shown["fake"] == "none: torch.compile refuses the operator"
    assert shown["gradients"] == "no formula"

    @scale.fake
    def shape(x: Tensor, by: float = 2.0, *, times: int = 1) -> Tensor:
        return torch.empty_like(x)

    @scale.kernel("cuda")
    def scale_cuda(x: Tensor, by: float = 2.0, *, times: int = 1) -> Tensor:
        return x

    @scale.backward
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return grad, None, None

    shown = dict(cells(scale))
    assert shown["kernel, CUDA"].startswith("scale_cuda ")
    assert shown["fake"].startswith("shape ")
    assert shown["gradients"].startswith("backward ")


def test_the_table_says_what_is_not_needed(namespace: str) -> None:
    @ow.op(f"{namespace}::put_", differentiable=False)
    def put_(x: Mutable[Tensor], text: str = "<b>") -> None:
        x.zero_()

    shown = dict(cells(put_))
    assert shown["fake"] == "none needed"
    assert shown["gradients"] == "not differentiable"
    assert "text=&quot;&lt;b&gt;&quot;" in shown["schema"]
    assert "<b>" not in put_._repr_html_()


def test_ipython_shows_the_signature(scale: Any) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.push({"scale": scale})
    info = shell.object_inspect("scale")
    assert info["definition"].replace("'", "") == f"scale{HEAD}"
    assert info["docstring"] == "Multiply, several times."
