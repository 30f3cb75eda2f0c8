"""What torch makes of a schema text: the fields that two readings must share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
import torchgen  # type: ignore[import-untyped]

YAML = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"


def yaml_texts() -> list[str]:
    """The `func:` lines of torch's own list of operators."""
    found = re.findall(r"^- func: (.*)$", YAML.read_text("utf-8"), re.MULTILINE)
    return [line.strip() for line in found]


def registered_texts() -> list[str]:
    """Every schema registered in this torch, as torch prints it.

    Without those that name an opaque type: Python registers such types when this or that part of
    torch is imported, and torch prints them all as `PyObject`, which it cannot read itself.
    """
    texts = map(str, torch._C._jit_get_all_schemas())
    return [text for text in texts if "PyObject" not in text]


def read(text: str) -> Any:
    """What torch reads, or None where it refuses."""
    try:
        return torch._C.parse_schema(text)
    except (RuntimeError, IndexError, ValueError):
        return None
    except TypeError:  # half a character cannot be handed over
        assert not text.isprintable()
        return None


def fields(schema: Any) -> list[object]:
    """Names, types as written, sizes, defaults, keyword-only, and alias sets up to renaming.

    Never torch's `==` (to it `SymInt` is `int`) and never its printed text.
    """
    found: list[object] = [schema.name, schema.overload_name, str(schema).count("...")]
    sets: list[set[str]] = []
    for part in (*schema.arguments, *schema.returns):
        default = part.default_value if part.has_default_value() else "required"
        found.append((part.name, _type(part.real_type), part.N, part.kwarg_only))
        found.append((type(default), repr(default)))
        if part.alias_info is None:
            found.append(None)
        else:
            found.append(part.alias_info.is_write)
            sets += [part.alias_info.before_set, part.alias_info.after_set]
    return [*found, _sharing(sets)]


def _type(kind: Any) -> tuple[object, ...]:
    """The type as written; `str` alone calls `SymInt` an `int`."""
    return (kind.kind(), kind.str(), *map(_type, kind.containedTypes()))


def _sharing(sets: list[set[str]]) -> list[list[tuple[list[int], bool]]]:
    """The sets with each name replaced by all the places where it stands."""
    places: dict[str, list[int]] = {}
    for place, names in enumerate(sets):
        for name in names:
            places.setdefault(name, []).append(place)
    return [sorted((places[name], name == "*") for name in names) for names in sets]
