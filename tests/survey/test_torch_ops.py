"""The operators that torch itself registers in Python: read from its files, and held against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from opwright.hints import infer
from opwright.hints.live import read
from opwright.schema.compare import compare
from opwright.schema.parse import parse
from opwright.survey.operators import Operator, operators

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

REFUSED = {
    "prims::{schema.split('(', maxsplit=1)[0]}": "takes *args, and brings its schema",
    "rngprims::philox_rand": "its result is not annotated, and it brings its schema",
    "device_mesh::_get_flattened_submesh": "a DeviceMesh is an opaque object",
    "device_mesh::_get_submesh": "a DeviceMesh is an opaque object",
    "onnx_symbolic::_symbolic": "no schema holds the default () of a list of str",
    "onnx_symbolic::_symbolic_multi_out": "no schema holds the default () of a list of str",
}


@pytest.fixture(scope="module")
def found() -> list[Operator]:
    folder = Path(torch.__file__).parent
    return [one for one in operators(folder) if isinstance(one, Operator)]


def test_all_are_read_but_those_known(found: list[Operator]) -> None:
    assert len(found) >= 47
    assert {one.name for one in found if one.refused} == REFUSED.keys()


def test_schemas_are_those_that_torch_infers(found: list[Operator]) -> None:
    import torch._dynamo.variables.streams
    import torch.testing._internal.custom_op_db
    from torch._library.custom_ops import OPDEFS

    held, read_otherwise = 0, set()
    for one in found:
        live = OPDEFS.get(one.name)
        if live is None or one.function is None or one.written is not None:
            continue
        theirs = torch.library.infer_schema(
            live._init_fn, mutates_args=one.mutates, op_name=one.name
        )
        assert one.schema is not None
        assert compare(parse(theirs), one.schema) == [], one.name
        if "OW111" not in [finding.code for finding in one.findings]:
            assert str(infer(live._init_fn, name=one.name, mutates_args=one.mutates)) == str(
                one.schema
            )
        if read(live._init_fn).parameters != one.function.parameters:
            read_otherwise.add(one.name)
        held += 1
    assert held >= 20
    # `torch.types.Number` has a name in the source and is a union when it is live; both are Scalar.
    assert read_otherwise == {"_torch_testing::numpy_nms"}
