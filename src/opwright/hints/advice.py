"""What to write instead of an annotation that has no schema type.

Knows the words only; what has a schema type is decided in `meaning`.
"""

from __future__ import annotations

import difflib

from opwright.hints.model import ELLIPSIS, NONE, EnumType, Hint, Name, Of, Structure

_WAYS_OUT = "`Json[{0}]`, `Opaque[{0}]`, or a str that names an entry of your own registry"
_NAMES = {
    "typing.Any": "name the type, or write `Json[...]` or `Opaque[...]` around it",
    "object": "name the type, or write `Json[...]` or `Opaque[...]` around it",
    "collections.abc.Callable": "pass a str and look the function up in a registry of your own",
    "torch.nn.Module": "pass its parameters as Tensors, or a str that names it in a registry",
    "torch.tensor": "write `torch.Tensor`",
    "numpy.ndarray": "write `torch.Tensor`",
    "torch.SymFloat": "write `opwright.Scalar`",
    "torch.types.Device": "write `torch.device | None`",
    "bytes": "write `str`, or a Tensor of `torch.uint8`",
    "bytearray": "write `str`, or a Tensor of `torch.uint8`",
    "pathlib.Path": "write `str`",
    "slice": "pass its bounds: `start: int, stop: int`",
    "range": "pass its bounds: `start: int, stop: int`",
    "list": "say of what: `list[int]`",
    "tuple": "say of what: `tuple[int, int]`",
    "collections.abc.Sequence": "say of what: `Sequence[int]`",
    "collections.abc.Iterable": "say of what: `Iterable[int]`",
    "dict": "use a TypedDict, `Json[dict[str, ...]]`, or two lists, keys and values",
    "numbers.Integral": "write `int`",
    "numbers.Real": "write `float`, or `opwright.Scalar`",
    "numbers.Complex": "write `opwright.Scalar`",
}
_KNOWN = {
    "tensor": "torch.Tensor",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "complex": "complex",
    "dtype": "torch.dtype",
    "device": "torch.device",
    "layout": "torch.layout",
    "memory_format": "torch.memory_format",
    "generator": "torch.Generator",
    "stream": "torch.Stream",
    "scalar": "opwright.Scalar",
    "mutable": "opwright.Mutable",
    "optional": "typing.Optional",
    "sequence": "collections.abc.Sequence",
}
_SETS = frozenset({"set", "frozenset", "collections.abc.Set"})
_MAPPINGS = frozenset({"dict", "collections.abc.Mapping", "collections.abc.MutableMapping"})


def nearest(path: str) -> str:
    """The known type that a name was probably meant for; empty if none is close.

    >>> nearest("torch.Tensr"), nearest("mylib.Config")
    ('torch.Tensor', '')
    """
    last = path.rpartition(".")[2].lower()
    close = difflib.get_close_matches(last, _KNOWN, n=1, cutoff=0.8)
    return _KNOWN[close[0]] if close else ""


def instead(hint: Hint) -> str:
    """The remedy for an annotation without a schema type.

    >>> instead(Of("dict", (Name("str"), Name("float"))))
    'pass two lists, `list[str]` and `list[float]`, or use a TypedDict or `Json[dict[str, float]]`'
    >>> instead(Of("set", (Name("int"),)))
    'write `list[int]`'
    """
    match hint:
        case Name(path):
            return _NAMES.get(path) or _instead_of_class(hint)
        case Of("Union", args):
            return _instead_of_union(args)
        case Of("tuple", args) if ELLIPSIS not in args:
            return "pass the items as parameters of their own, or use a NamedTuple"
        case Of(head, (key, value)) if head in _MAPPINGS and "Any" not in str(value):
            lists = f"pass two lists, `list[{key}]` and `list[{value}]`"
            return f"{lists}, or use a TypedDict or `Json[{hint}]`"
        case Of(head, _) if head in _MAPPINGS:
            return f"use a TypedDict, `Json[{hint}]` or `Opaque[...]`"
        case Of(head, (item,)) if head in _SETS:
            return f"write `list[{item}]`"
        case Of(_, (Structure(),)):
            return "pass its fields as lists of their own, or use `Json[...]`"
        case Of(head, _):
            return _NAMES.get(head) or "see the table of annotations for what has one"
        case EnumType():
            return "give it members"
        case _:
            return "write `str`, `int`, `bool` or an Enum"


def _instead_of_class(hint: Name) -> str:
    if close := nearest(hint.path):
        return f"write `{close}`"
    return f"make it a dataclass, NamedTuple or TypedDict, or use {_WAYS_OUT.format(hint)}"


def _instead_of_union(args: tuple[Hint, ...]) -> str:
    texts = {str(arg) for arg in args if arg != NONE}
    if "Tensor" in texts or "Parameter" in texts:
        return "define two operators, or overloads of one, and choose in Python"
    if texts <= {"int", "bool", "SymInt", "SymBool"}:
        return "write `int`, or `opwright.Scalar` if True is to stay True"
    if texts & {"int", "float", "bool"} and any("[" in text for text in texts):
        return "write the list alone, or a bare item beside a tuple of fixed length"
    return "choose one of them"
