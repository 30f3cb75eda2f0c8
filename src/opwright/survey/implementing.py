"""How callables register implementations: which parameters name operator, function and key.

A table of facts, as `forms` is for definitions.
"""

from __future__ import annotations

from opwright.frozen import frozen
from opwright.survey.facts import Role


@frozen
class Implementing:
    """How a callable takes operator, function and key: parameters in order, by name."""

    parameters: tuple[str, ...]
    role: Role = Role.KERNEL
    key: str = ""
    setup: str = ""


IMPLEMENTING = {
    "impl": Implementing(("op", "types", "func"), key="types"),
    "register_kernel": Implementing(("op", "device_types", "func"), key="device_types"),
    "register_fake": Implementing(("op", "func"), Role.FAKE),
    "impl_abstract": Implementing(("op", "func"), Role.FAKE),
    "register_vmap": Implementing(("op", "func"), Role.VMAP),
    "register_autocast": Implementing(("op", "device_type", "cast_inputs"), Role.AUTOCAST),
    "register_autograd": Implementing(
        ("op", "func", "setup_context"), Role.BACKWARD, setup="setup_context"
    ),
}
"""Functions of `torch.library`; its `func` is a decorator's target where it is left out."""

LIBRARY_METHODS = {
    "impl": Implementing(("op", "func", "dispatch_key"), key="dispatch_key"),
    "_register_fake": Implementing(("op", "func"), Role.FAKE),
    "_impl_with_aoti_compile": Implementing(("op", "dispatch_key"), key="dispatch_key"),
}
HANDLE_METHODS = {
    "register_kernel": Implementing(("device_types", "func"), key="device_types"),
    "register_fake": Implementing(("func",), Role.FAKE),
    "register_vmap": Implementing(("func",), Role.VMAP),
    "register_autocast": Implementing(("device_type", "cast_inputs"), Role.AUTOCAST),
    "register_autograd": Implementing(
        ("func", "setup_context"), Role.BACKWARD, setup="setup_context"
    ),
    # Opwright's own handles
    "kernel": Implementing(("device_types", "func"), key="device_types"),
    "fake": Implementing(("func",), Role.FAKE),
    "backward": Implementing(("func",), Role.BACKWARD),
    "setup_context": Implementing(("func",), Role.SETUP_CONTEXT),
    "vmap": Implementing(("func",), Role.VMAP),
    "autocast": Implementing(("device_type", "dtype"), Role.AUTOCAST),
}
ALIASES = {"backward": "func", "fn": "func", "function": "func", "qualname": "op", "op_name": "op"}
"""Other names that torch gives the same parameters."""
