"""The decorated function keeps its signature for mypy, pyright and jedi: the checkers are run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jedi
import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

TYPED = """\
from collections.abc import Callable
from torch import Tensor
from typing_extensions import reveal_type
import opwright as ow

@ow.op("mylib::scale")
def scale(x: Tensor, by: float = 2.0, *, shift: int = 0) -> Tensor:
    return x * by + shift

@scale.kernel("cuda")
def on_cuda(x: Tensor, by: float, *, shift: int) -> Tensor:
    return x * by + shift

plain: Callable[[Tensor], Tensor] = scale
reveal_type(scale(Tensor(), 3.0, shift=1))  #: Tensor
reveal_type(on_cuda)  #: (x: Tensor, by: float, *, shift: int) -> Tensor
reveal_type(scale.schema)  #: Schema
scale(Tensor(), by="a")
"""
REVEALED = re.findall(r"#: (.+)", TYPED)
WRONG = TYPED.count("\n")  # the last line


def _run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def mypy(file: Path) -> tuple[list[str], list[int]]:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    cache = f"--cache-dir={file.parent.parent / 'mypy'}"
    text = _run(*command, cache, file.name, folder=file.parent)
    shown = re.findall(r'Revealed type is "(?:def )?(.+)"', text)
    errors = [int(line) for line in re.findall(r"^checked\.py:(\d+): error", text, re.MULTILINE)]
    return [re.sub(r"[\w.]+\.(?=[A-Z])", "", kind) for kind in shown], errors


def pyright(file: Path) -> tuple[list[str], list[int]]:
    command = [sys.executable, "-m", "basedpyright", "--outputjson"]
    (file.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    text = _run(*command, "--pythonpath", sys.executable, file.name, folder=file.parent)
    found = json.loads(text)["generalDiagnostics"]
    revealed = [re.search(r' is "(.+)"$', one["message"]) for one in found]
    errors = [one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"]
    return [match[1] for match in revealed if match], errors


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_knows_what_it_takes_and_gives(
    checker: Callable[[Path], tuple[list[str], list[int]]], tmp_path: Path
) -> None:
    file = tmp_path / "checked.py"
    file.write_text(TYPED)
    assert checker(file) == (REVEALED, [WRONG])


def _signature(text: str) -> str:
    text += "scale("
    line = text.count("\n") + 1
    (signature,) = jedi.Script(text).get_signatures(line, len("scale("))
    return str(signature.to_string())


def test_jedi_shows_the_signature_and_completes_the_methods() -> None:
    shown = _signature(TYPED.rpartition("scale(Tensor(), by=")[0])
    assert shown == "scale(x: Tensor, by: float=2.0, *, shift: int=0) -> Tensor"
    line = TYPED.count("\n") + 1
    found = jedi.Script(f"{TYPED}scale.").complete(line, len("scale."))
    assert {"kernel", "fake", "backward", "schema"} <= {one.name for one in found}


def test_jedi_would_not_see_through_a_method() -> None:
    """The control: a `__call__` that is a method hides the parameters."""
    text = """\
from typing import Callable, Generic, ParamSpec, TypeVar
P = ParamSpec("P")
R = TypeVar("R")
class OpDef(Generic[P, R]):
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
def op(f: Callable[P, R]) -> OpDef[P, R]: ...
@op
def scale(x: int) -> str: ...
"""
    assert "x: int" not in _signature(text)
