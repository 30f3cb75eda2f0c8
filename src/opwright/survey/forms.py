"""Which callables register an operator, and how each takes name, function, writes and schema.

A table of facts; helpers that are not in it are recognised by what they do (see `operators`).
"""

from __future__ import annotations

from opwright.frozen import frozen


@frozen
class Form:
    """The parameters of a registering callable, in order, and what they are for."""

    parameters: tuple[str, ...]
    name: str = ""
    function: str = ""
    mutates: str = "mutates_args"
    schema: str = "schema"
    library: str = ""
    namespace: str = ""
    """What stands before names that have no `::`, unless `library` says otherwise."""
    bare: str = ""
    """Characters that a function loses in front when it gives the operator its name."""

    @property
    def positional(self) -> tuple[str, ...]:
        return self.parameters


_CUSTOM_OP = Form(("name", "fn"), name="name", function="fn")
_DIRECT = Form(
    ("op_name", "op_func", "mutates_args", "fake_impl", "target_lib"),
    name="op_name",
    function="op_func",
    library="target_lib",
)


def _direct(namespace: str) -> Form:
    return Form(_DIRECT.parameters, "op_name", "op_func", library="target_lib", namespace=namespace)


# By top package and last name, since packages move their helpers from module to module.
FORMS = {
    ("torch", "custom_op"): _CUSTOM_OP,
    ("torch", "triton_op"): _CUSTOM_OP,
    ("opwright", "op"): Form(("name",), name="name", mutates=""),
    ("flashinfer", "register_custom_op"): _CUSTOM_OP,
    ("quack", "cute_op"): Form(("name",), name="name"),
    ("sglang", "direct_register_custom_op"): _direct("sglang"),
    ("sglang", "register_custom_op"): Form(("fn",), "op_name", "fn", namespace="sglang"),
    ("sglang", "register_custom_op_from_extern"): Form(
        ("fn",), "op_name", "fn", namespace="sglang"
    ),
    ("torchao", "_register_custom_op"): Form(("lib",), library="lib", bare="_"),
    ("vllm", "direct_register_custom_op"): _direct("vllm"),
}

# `infer_schema(fn, mutates_args=...)` marks a helper that defines what it is given.
INFER = Form(("prototype_function", "mutates_args"), function="prototype_function")
INFER_PATHS = (
    "torch.library.infer_schema",
    "torch._library.infer_schema.infer_schema",
    "torch._custom_op.impl.infer_schema",
)

# A file that registers an operator through any of these has one of these words in it.
WORDS = ("custom_op", "triton_op", "infer_schema", "opwright", "cute_op")


def form_of(path: str) -> Form | None:
    """The form of a callable by its dotted path.

    >>> form_of("torch.library.custom_op") is form_of("torch._library.custom_ops.custom_op")
    True
    >>> form_of("mylib.custom_op") is None
    True
    """
    top, _, rest = path.partition(".")
    return FORMS.get((top, rest.rpartition(".")[2]))


LIKE_CUSTOM_OP = FORMS["torch", "custom_op"]
"""The form of a callable that takes what `torch.library.custom_op` takes."""
