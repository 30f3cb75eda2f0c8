"""What an operator may be called, and what a name that is not there was probably meant to be.

Knows the dispatcher's names; nothing of schemas or functions.
"""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterator

from opwright.findings import Diagnostic, SchemaError
from opwright.ops import private
from opwright.schema.model import Schema

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PACKET_ATTRIBUTES = frozenset({"name"})


def check(qualname: str) -> None:
    """Refuse a name that torch would refuse later, or take and break on, with the reason.

    >>> check("mylib::f"); check("mylib::f.out")
    >>> check("mylib.f")
    Traceback (most recent call last):
    opwright.findings.SchemaError: OW510 'mylib.f' has no namespace
      hint: write `namespace::name`, such as `mylib::f`
    """
    found = [Diagnostic("OW510", message, hint) for message, hint in _faults(qualname)]
    if found:
        raise SchemaError(found)


def unspeakable(schema: Schema) -> Iterator[Diagnostic]:
    """The arguments that no Python function can have as parameters; torch takes their names.

    >>> from opwright.schema.parse import parse
    >>> print(*unspeakable(parse("mylib::f(Tensor x, float lambda) -> Tensor")))
    OW510 'lambda' of mylib::f is a Python keyword, so no kernel can take it
      hint: write `lambda_`
    """
    for argument in schema.arguments:
        what = f"{argument.name!r} of {schema.qualname}"
        if keyword.iskeyword(argument.name):
            message = f"{what} is a Python keyword, so no kernel can take it"
            yield Diagnostic("OW510", message, f"write `{argument.name}_`")
        elif argument.name.startswith("_ow_"):
            message = f"{what} begins with `_ow_`, as names of Opwright's own do"
            yield Diagnostic("OW510", message, "choose another name")


def _faults(qualname: str) -> Iterator[tuple[str, str]]:
    namespace, colons, rest = qualname.partition("::")
    if not colons:
        example = rest or qualname.rpartition(".")[2] or "f"
        yield (
            f"{qualname!r} has no namespace",
            f"write `namespace::name`, such as `mylib::{example}`",
        )
        return
    name, dot, overload = rest.partition(".")
    if namespace in private.TORCHS_OWN:
        yield f"{namespace!r} belongs to torch", "use a namespace of your own"
    yield from _word_faults(qualname, "namespace", namespace)
    yield from _word_faults(qualname, "name", name)
    if dot:
        yield from _overload_faults(qualname, overload)
    if name in _PACKET_ATTRIBUTES or (name.startswith("__") and name.endswith("__")):
        yield f"{name!r} is an attribute of `torch.ops.{namespace}` itself", "choose another name"


def _word_faults(qualname: str, what: str, word: str) -> Iterator[tuple[str, str]]:
    if not _WORD.match(word):
        yield (
            f"the {what} {word!r} of {qualname!r} is not an identifier",
            "use ASCII letters, digits and underscores: `namespace::name`",
        )
    elif keyword.iskeyword(word):
        yield f"the {what} of {qualname!r} is a Python keyword", f"write `{word}_`"


def _overload_faults(qualname: str, overload: str) -> Iterator[tuple[str, str]]:
    yield from _word_faults(qualname, "overload", overload)
    if overload == "default":
        yield f"the overload of {qualname!r} has no name of its own", "leave `.default` out"
    elif overload.startswith("__"):
        yield f"torch keeps overloads that begin with `__` ({qualname!r})", "choose another name"


def registered(namespace: str = "") -> list[str]:
    """The names of all registered operators, of one namespace or of all."""
    names = private.operator_names()
    return sorted(name for name in names if not namespace or name.startswith(f"{namespace}::"))


def missing(qualname: str) -> str:
    """Why an operator is not there, in one sentence, with what is near."""
    namespace, _, name = qualname.partition("::")
    there = filter(private.exists, registered(namespace))
    siblings = [other.partition("::")[2] for other in there]
    if near := difflib.get_close_matches(name, siblings, n=1):
        return f"nothing registered {qualname!r}; did you mean '{namespace}::{near[0]}'?"
    if siblings:
        return f"nothing registered {qualname!r}; {namespace!r} has {_some(siblings)}"
    if near := difflib.get_close_matches(qualname, registered(), n=1, cutoff=0.8):
        return f"nothing registered {qualname!r}; did you mean {near[0]!r}?"
    return (
        f"nothing registered an operator in {namespace!r}: "
        f"was the package or shared library that registers {qualname!r} imported?"
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
