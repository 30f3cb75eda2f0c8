"""What a sound schema still cannot do, and what `mutates_args` says without marks."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from opwright import Severity
from opwright.hints import examine, infer

from .writing import function

REMARKS = {
    "x: Tensor | None, y: list[Tensor], z: list[Tensor | None]) -> Tensor": [],
    "x: list[Tensor] | None) -> Tensor": [
        "OW114 'x' of f: autograd does not see the tensors of a Tensor[]?"
    ],
    "x: list[list[Tensor]]) -> Tensor": [
        "OW114 'x' of f: autograd does not see the tensors of a Tensor[][]",
        "OW117 'x' of f: AOTInductor of torch 2.13 and 2.14 cannot pass on a Tensor[][]",
    ],
    "x: Mutable[list[Tensor] | None]) -> Tensor": [
        "OW114 'x' of f: autograd does not see the tensors of a Tensor[]?"
    ],
    "x: Tensor = None) -> Tensor": [
        "OW116 'x' of f: None is its default, but no value of its annotation"
    ],
    "x: list[list[int]]) -> Tensor": ["OW113 'x' of f: torch.export cannot save a SymInt[][]"],
    "x: complex) -> Tensor": [
        "OW117 'x' of f: AOTInductor and the C++ wrapper of torch 2.13 and 2.14 cannot pass on a "
        "complex"
    ],
    "x: list[torch.dtype] | None) -> Tensor": [
        "OW113 'x' of f: torch.export cannot save a ScalarType[]?"
    ],
    "x: Tensor) -> tuple[Tensor]": [
        "OW113 the result of f: torch.export cannot save a tuple of one"
    ],
    "x: Tensor) -> Annotated[Tensor, Aliases('x')]": [
        "OW112 the result of f: torch.compile refuses a result that aliases an argument"
    ],
    "x: Mutable[Tensor]) -> Mutable[Tensor]": [],
    "x: Tensor, y: Mutable[Tensor]) -> Mutable[Tensor]": [
        "OW112 the result of f: torch.compile refuses a result that aliases an argument"
    ],
    "x: Mutable[Tensor], y: Mutable[Tensor]) -> Mutable[Tensor]": [
        "OW112 the result of f: torch.compile refuses a result that aliases an argument"
    ],
    "x: Mutable[list[Tensor]]) -> Mutable[list[Tensor]]": [
        "OW112 the result of f: torch.compile refuses a result that aliases an argument"
    ],
    "x: Tensor, *, a: Out[Tensor], b: Out[Tensor]) -> tuple[Out[Tensor], Out[Tensor]]": [],
    "x: Tensor, *, a: Out[Tensor], b: Out[Tensor]) -> Out[Tensor]": [
        "OW112 the result of f: torch.compile refuses a result that aliases an argument"
    ],
}


@pytest.mark.parametrize("signature", REMARKS)
def test_a_sound_schema_may_have_remarks(signature: str) -> None:
    written = function(f"def f({signature}: ...")
    found = examine(written).findings
    assert [f"{one.code} {one.message}" for one in found] == REMARKS[signature]
    assert Severity.ERROR not in {one.severity for one in found}
    assert infer(written) == examine(written).schema


SIGNATURE = "x: Tensor, y: list[Tensor] | None, n: int, z: Out[Tensor]) -> Tensor"
WRITES: dict[Collection[str], str] = {
    (): "f(Tensor x, Tensor[]? y, SymInt n, Tensor(a!) z) -> Tensor",
    ("x",): "f(Tensor(a!) x, Tensor[]? y, SymInt n, Tensor(b!) z) -> Tensor",
    ("x", "y", "z"): "f(Tensor(a!) x, Tensor(b!)[]? y, SymInt n, Tensor(c!) z) -> Tensor",
    "unknown": "f(Tensor(a!) x, Tensor(b!)[]? y, SymInt n, Tensor(c!) z) -> Tensor",
}


@pytest.mark.parametrize("mutates_args", WRITES, ids=str)
def test_mutates_args_marks_what_is_written(mutates_args: Collection[str]) -> None:
    written = function(f"def f({SIGNATURE}: ...")
    assert str(infer(written, mutates_args=mutates_args)) == WRITES[mutates_args]


MISTAKES: dict[Collection[str], tuple[str, str]] = {
    ("n",): (
        "OW109 'n' of f: Mutable[int] marks what is not a tensor",
        "write `int`: only tensors are written to",
    ),
    ("x", "q"): (
        "OW115 mutates_args of f names 'q', which is no parameter",
        "it has n, x, y, z",
    ),
    "x": ("OW115 mutates_args of f is 'x'", 'write `["x"]`, or `"unknown"`'),
}


@pytest.mark.parametrize("mutates_args", MISTAKES, ids=str)
def test_mutates_args_that_are_wrong(mutates_args: Collection[str]) -> None:
    written = function(f"def f({SIGNATURE}: ...")
    found = examine(written, mutates_args=mutates_args).findings
    errors = [one for one in found if one.severity is Severity.ERROR]
    assert [(f"{one.code} {one.message}", one.hint) for one in errors] == [MISTAKES[mutates_args]]


def test_mutates_args_beside_a_parameter_without_a_hint() -> None:
    found = examine(function("def f(x) -> Tensor: ..."), mutates_args="unknown").findings
    assert [one.code for one in found] == ["OW101"]
