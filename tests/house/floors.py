"""The floors of the package and who stands on which; reads sources, imports nothing of them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[2] / "src"

# Names in one row are neighbours: they may not import each other. `opwright` itself is the face.
FLOORS = (
    ("frozen", "never"),
    ("_compat", "findings", "marks", "version"),
    ("codes",),
    ("schema",),
    ("exchange",),
    ("hints",),
    ("survey",),
    ("lint", "stubs"),
    ("ops",),
    ("opwright",),
    ("editor",),
    ("cli",),
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
TORCH_FLOOR = "ops"
STDLIB_FLOORS = ("frozen", "never", "findings", "marks", "codes", "schema")
ALLOWED_THERE = {"opwright", "typing_extensions"}


class Import(NamedTuple):
    """`importer` (a module's dotted name) imports `imported`, at that line."""

    importer: str
    imported: str
    line: int


def modules(source: Path = SOURCE) -> Iterator[tuple[str, Path]]:
    """Every module of the package: dotted name, file."""
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(name: str, text: str, *, package: bool = False) -> Iterator[Import]:
    """Every import of a module, also those inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (Import(name, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(name, node, package=package)
            for alias in node.names:
                yield Import(name, f"{base}.{alias.name}", node.lineno)


def _absolute(name: str, node: ast.ImportFrom, *, package: bool) -> str:
    if not node.level:
        return node.module or ""
    kept = name.split(".")[: len(name.split(".")) - node.level + package]
    return ".".join([*kept, node.module] if node.module else kept)


def floor_of(dotted: str) -> str:
    """The floor of a module: `schema` for `opwright.schema.parse`, `opwright` for the face."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in FLOOR else parts[0]


def faults(found: Import) -> Iterator[str]:
    """What is wrong with one import, in words."""
    importer, top = floor_of(found.importer), found.imported.split(".")[0]
    where = f"{found.importer}:{found.line} imports {found.imported}"
    if top == "torch" and importer != TORCH_FLOOR:
        yield f"{where}: only {TORCH_FLOOR} may import torch"
    if (
        importer in STDLIB_FLOORS
        and top not in ALLOWED_THERE
        and top not in sys.stdlib_module_names
    ):
        yield f"{where}: {importer} stands on the standard library only"
    if top == "opwright":
        imported = floor_of(found.imported)
        if imported != importer and FLOOR[imported] >= FLOOR[importer]:
            yield f"{where}: not downward"
