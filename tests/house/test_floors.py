"""Imports point strictly downward; torch is imported by one floor."""

from __future__ import annotations

import pytest

from house import floors
from house.floors import Import, faults, floor_of, imports, modules


def test_every_module_stands_on_a_floor() -> None:
    named = [name for name, _ in modules()]
    assert len(named) > 5
    strangers = [
        name for name in named if name != "opwright" and name.split(".")[1] not in floors.FLOOR
    ]
    assert strangers == []


@pytest.mark.parametrize("name", [name for name, _ in modules()])
def test_imports_point_downward(name: str) -> None:
    path = dict(modules())[name]
    package = path.name == "__init__.py"
    found = imports(name, path.read_text("utf-8"), package=package)
    assert [fault for each in found for fault in faults(each)] == []


@pytest.mark.parametrize(
    ("importer", "imported", "fault"),
    [
        ("opwright.schema.parse", "opwright.hints.live", "not downward"),
        ("opwright.lint.engine", "opwright.stubs.write", "not downward"),
        ("opwright.ops.op", "opwright.infer", "not downward"),
        ("opwright.survey.python", "opwright.cli.show", "not downward"),
        ("opwright.hints.live", "torch.library", "only ops may import torch"),
        ("opwright.cli.main", "torch", "only ops may import torch"),
        ("opwright.schema.parse", "typing_inspect.x", "standard library only"),
    ],
)
def test_a_wrong_import_is_found(importer: str, imported: str, fault: str) -> None:
    (found,) = faults(Import(importer, imported, 1))
    assert fault in found


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("opwright.schema.parse", "opwright.schema.model.Schema"),
        ("opwright.ops.op", "torch.library.Library"),
        ("opwright.cli.main", "opwright.infer"),
        ("opwright.cli.main", "click"),
        ("opwright", "opwright.ops.op"),
    ],
)
def test_a_right_import_is_not(importer: str, imported: str) -> None:
    assert list(faults(Import(importer, imported, 1))) == []


def test_imports_are_found_wherever_they_hide() -> None:
    text = (
        "from . import model\n"
        "from ..hints.live import read\n"
        "def f():\n    import torch.library\n"
        "if TYPE_CHECKING:\n    from torch import Tensor\n"
    )
    found = [each.imported for each in imports("opwright.schema.parse", text)]
    assert sorted(found) == [
        "opwright.hints.live.read",
        "opwright.schema.model",
        "torch.Tensor",
        "torch.library",
    ]
    (inside,) = imports("opwright.schema", "from . import model", package=True)
    assert inside.imported == "opwright.schema.model"
    assert floor_of("opwright.schema.model") == "schema"
    assert floor_of("opwright.infer") == floor_of("opwright") == "opwright"
