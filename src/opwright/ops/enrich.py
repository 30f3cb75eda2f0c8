"""What `torch.ops` tells a person at a prompt: names to complete, signatures, docstrings.

Adds to torch's own objects what they lack; calls of them cost what they did.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch

from opwright.ops.registered import registered
from opwright.schema.signature import signature
from opwright.stubs.operators import Operator, described


def enrich(namespace: str) -> int:
    """Have `dir`, `help`, `?` and completion know the operators of `torch.ops.<namespace>`.

    Works for any namespace, whoever registered it; says how many operators there are. Operators
    that are registered later need another call.

    >>> import opwright as ow
    >>> from torch import Tensor
    >>> @ow.op("mylib::quadruple")
    ... def quadruple(x: Tensor, *, times: int = 1) -> Tensor:
    ...     '''Four of x.'''
    ...     return x * 4
    >>> enrich("mylib") > 0
    True
    >>> "quadruple" in dir(torch.ops.mylib)
    True
    >>> torch.ops.mylib.quadruple.__doc__.splitlines()[0]
    'Four of x.'
    """
    packets: dict[str, list[Operator]] = {}
    for found in registered([namespace]):
        if isinstance(found, Operator):
            packets.setdefault(found.schema.name.partition("::")[2], []).append(found)
    for name, operators in packets.items():
        _tell(getattr(getattr(torch.ops, namespace), name), operators)
    return len(packets)


def _tell(packet: Any, operators: list[Operator]) -> None:
    for each in operators:
        overload = getattr(packet, each.overload)
        overload.__signature__ = _head(each)
        overload.__doc__ = each.description
    packet.__doc__ = described(operators)
    if len(operators) == 1:
        packet.__signature__ = _head(operators[0])


class _Words(str):
    """An annotation that is shown as it is written, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _head(operator: Operator) -> inspect.Signature:
    """The signature that a call has."""
    whole = signature(operator.schema)
    parameters = [p.replace(annotation=_Words(p.annotation)) for p in whole.parameters.values()]
    given = _Words(whole.return_annotation)
    return whole.replace(parameters=parameters, return_annotation=given)
