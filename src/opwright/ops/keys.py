"""Which dispatch keys serve a device type, and which names are neither.

Knows the names only.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from opwright.findings import Diagnostic, SchemaError
from opwright.ops import private


def keys_of(devices: Sequence[str]) -> tuple[str, ...]:
    """The dispatch keys of device types; a dispatch key stands for itself.

    Not `meta`: what computes shapes is a fake.

    >>> keys_of(["cpu", "cuda", "SparseCPU"])
    ('CPU', 'CUDA', 'SparseCPU')
    """
    return tuple(dict.fromkeys(_key_of(device) for device in devices))


def _key_of(device: str) -> str:
    key = device if device in private.dispatch_keys() else private.backend_key(device)
    if key == "Meta":
        message = f"a kernel for {device!r} is what tells shapes"
        raise SchemaError([Diagnostic("OW513", message, "write it as the operator's `fake`")])
    if key is None:
        known = (*private.DEVICE_TYPES, *private.dispatch_keys())
        near = difflib.get_close_matches(device, known, n=1)
        hint = f"write {near[0]!r}" if near else "write a device type such as 'cpu' or 'cuda'"
        raise SchemaError(
            [Diagnostic("OW513", f"{device!r} is no device type and no dispatch key", hint)]
        )
    return key
