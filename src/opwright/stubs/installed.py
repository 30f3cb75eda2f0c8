"""Where this Python's torch lies and what its own stubs say; reads its files, imports nothing.

Knows the layout of torch's folder; knows nothing of schemas.
"""

from __future__ import annotations

import hashlib
import re
import sysconfig
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError
from opwright.frozen import frozen

_VERSION = re.compile(r"^__version__\b[^=\n]*= *['\"]([^'\"]+)", re.MULTILINE)


@frozen
class Torch:
    """An installed torch, seen as a folder of sources."""

    folder: Path

    @cached_property
    def version(self) -> str:
        """What torch calls itself: `2.13.0+cpu`."""
        found = _VERSION.search((self.folder / "version.py").read_text("utf-8"))
        return found[1] if found else "unknown"

    @cached_property
    def stubs(self) -> dict[str, bytes]:
        """Torch's own stubs by their path in its folder; not one that was written there by us."""
        paths = sorted(self.folder.rglob("*.pyi"))
        found = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in paths}
        return {name: data for name, data in found.items() if name != OPS_STUB}

    @cached_property
    def ops(self) -> str:
        """The text of `torch/_ops.py`."""
        return (self.folder / "_ops.py").read_text("utf-8")

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that our stubs copy from this torch."""
        digest = hashlib.sha256(self.ops.encode())
        for name, data in self.stubs.items():
            digest.update(name.encode())
            digest.update(data)
        return digest.hexdigest()[:16]


OPS_STUB = "_ops.pyi"


def find_torch() -> Torch:
    """The torch of this Python; `SchemaError` where there is none."""
    spec = find_spec("torch")
    for folder in (spec and spec.submodule_search_locations) or ():
        if Path(folder, OPS_STUB).with_suffix(".py").is_file():
            return Torch(Path(folder))
    message = "torch is not installed for this Python, and stubs of `torch.ops` begin with its own"
    hint = "run Opwright in the environment that has torch, or write `--accessor FILE`"
    raise SchemaError([Diagnostic("OW900", message, hint)])


def site_packages() -> Path:
    """Where this Python's packages lie, and `.pth` files are read."""
    return Path(sysconfig.get_path("purelib"))
