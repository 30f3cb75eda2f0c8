"""The operators of torch itself, as the installed torch lists them in a file; it is not imported.

Knows names and texts of schemas; reads a schema when somebody asks for it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from opwright.findings import SchemaError
from opwright.schema.model import Schema
from opwright.schema.parse import parse

NAMESPACE = "aten"
LIST = Path("packaged", "ATen", "native", "native_functions.yaml")

_FUNC = re.compile(r"^- func: *((\w+)(?:\.\w+)?\(.*)$", re.MULTILINE)


@cache
def texts() -> dict[str, list[str]]:
    """The schemas of each name, as written; empty where no torch is installed."""
    found: dict[str, list[str]] = {}
    for text, name in _FUNC.findall(_list()):
        found.setdefault(f"{NAMESPACE}::{name}", []).append(f"{NAMESPACE}::{text}")
    return found


def _list() -> str:
    spec = find_spec("torchgen")
    for folder in (spec and spec.submodule_search_locations) or ():
        file = Path(folder, LIST)
        if file.is_file():
            return file.read_text("utf-8")
    return ""


@cache
def schemas(name: str) -> tuple[Schema, ...]:
    """The schemas that a name means, `aten::add` or `aten::add.Tensor`."""
    found = (_read(text) for text in texts().get(name.partition(".")[0], ()))
    return tuple(each for each in found if each and ("." not in name or each.qualname == name))


def _read(text: str) -> Schema | None:
    try:
        return parse(text)
    except SchemaError:  # an entry for torch's code generator that no dispatcher reads
        return None
