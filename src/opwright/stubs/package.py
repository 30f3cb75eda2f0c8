"""The stub package that types `torch.ops` in a workspace: torch's own stubs, and one of `_ops`.

Made for one torch and one workspace, never published. It holds copies of all of torch's stubs
because pyright, once it sees a partial stub package, no longer reads those inside the library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opwright.findings import Diagnostic, SchemaError
from opwright.stubs.installed import OPS_STUB, Torch
from opwright.stubs.operators import Namespace
from opwright.stubs.write import BASE, IMPORTS, class_name, write

FOLDER = "torch-stubs"
MARK = "# Written by `opwright stubs`"
"""How a file begins that is ours to change and remove."""

RETURNS = {
    "def name(self):": "def name(self) -> str:",
    "def overloads(self):": "def overloads(self) -> list[str]:",
    "def overloadpacket(self):": "def overloadpacket(self) -> OpOverloadPacket:",
    "def op_overloads(self):": "def op_overloads(self) -> list[OpOverload]:",
    "def load_library(self, path):": "def load_library(self, path) -> None:",
    "def import_module(self, module):": "def import_module(self, module) -> None:",
}
"""What checkers infer from the bodies of functions, which they do not do in a stub."""

_OPS_CLASS = re.compile(r"^class _Ops\(.*\):\n", re.MULTILINE)
_PRIVATE = re.compile(r"\b_\w+")


def package(torch: Torch, namespaces: Sequence[Namespace]) -> dict[str, bytes]:
    """The files of the stub package by their paths in it."""
    own = {"py.typed": b"partial\n", OPS_STUB: ops_stub(torch, namespaces).encode()}
    return own | torch.stubs


def ops_stub(torch: Torch, namespaces: Sequence[Namespace]) -> str:
    """`torch/_ops.pyi`: torch's own text, with the namespaces as attributes of `torch.ops`."""
    found = _OPS_CLASS.search(torch.ops)
    if found is None:
        message = f"torch {torch.version} has no `class _Ops` in {torch.folder / '_ops.py'}"
        hint = "write `--accessor FILE`, which needs nothing of torch's insides"
        raise SchemaError([Diagnostic("OW900", message, hint)])
    attributes = "".join(f"    {each.name}: {class_name(each.name)}\n" for each in namespaces)
    own = torch.ops[: found.end()] + attributes + torch.ops[found.end() :]
    for written, typed in RETURNS.items():
        own = own.replace(written, typed)
    reserved = _PRIVATE.findall(own)
    return "\n".join([header(torch), own, IMPORTS, BASE + write(namespaces, reserved)])


def header(torch: Torch) -> str:
    """The first lines: whose the file is, and for which torch; checkers report nothing in it."""
    return f"# mypy: ignore-errors\n{MARK} for torch {torch.version} ({torch.fingerprint})\n"


_MADE_FOR = re.compile(f"{MARK} for torch (\\S+)")


def made_for(text: str) -> str | None:
    """The torch that a stub of ours was made for; None where it is not ours.

    >>> made_for("# mypy: ignore-errors\\n# Written by `opwright stubs` for torch 2.13.0 (0)\\n")
    '2.13.0'
    """
    found = _MADE_FOR.search(text[:200])
    return found[1] if found else None


def is_ours(text: str) -> bool:
    """Whether a stub was written by us.

    >>> is_ours("# mypy: ignore-errors\\n# Written by `opwright stubs` for torch 2.13.0 (0)\\n")
    True
    """
    return MARK in text[:200]
