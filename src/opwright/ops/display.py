"""An operator as a notebook shows it: schema, kernels, fake, gradients, in a small table.

Looks at handles and cores.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from opwright.ops.autograd import Recorder
from opwright.ops.core import DEFAULT_KEY, Core
from opwright.ops.results import place
from opwright.schema.model import Schema

if TYPE_CHECKING:
    from opwright.ops.handle import OpDef

KEYS = {DEFAULT_KEY: "every device", "CompositeImplicitAutograd": "taken apart"}
"""What dispatch keys are called here; the others by their own name."""

STYLES = {
    "name": "font-weight:600",
    "type": "color:#0969da",
    "writes": "color:#bc4c00;font-weight:600",
    "default": "color:#1a7f37",
    "label": "text-align:left;vertical-align:top;padding-right:1em;opacity:.7;font-weight:400",
    "cell": "text-align:left",
}


def page(handle: OpDef[..., Any]) -> str:
    """The table of an operator, in HTML that needs nothing around it."""
    return f"<table>{''.join(_row(*row) for row in _rows(handle))}</table>"


def _row(label: str, cell: str) -> str:
    head = f'<th style="{STYLES["label"]}">{label}</th>'
    return f'<tr>{head}<td style="{STYLES["cell"]}">{cell}</td></tr>'


def _rows(handle: OpDef[..., Any]) -> Iterator[tuple[str, str]]:
    for each in filter(None, (handle, handle.out)):
        yield "schema", f"<code>{coloured(each.schema)}</code>"
    core = handle.core
    core.prepare()
    for key, kernel in core.kernels.items():
        yield f"kernel, {html.escape(KEYS.get(key, key))}", _function(kernel)
    yield "fake", _function(core.fake) if core.fake else _without_fake(core)
    yield "gradients", _gradients(core)
    if core.tags:
        yield "tags", html.escape(", ".join(str(tag).rpartition(".")[2] for tag in core.tags))


def _without_fake(core: Core) -> str:
    writes_only = core.schema.mutable and not core.schema.returns
    return "none needed" if writes_only else "none: torch.compile refuses the operator"


def _gradients(core: Core) -> str:
    if not isinstance(core.differentiate, Recorder):
        return "not differentiable"
    return "".join(map(_function, core.differentiate.formula.functions())) or "no formula"


def _function(function: Callable[..., Any]) -> str:
    name = html.escape(getattr(function, "__name__", repr(function)))
    return f"<code>{name}</code> <small>{html.escape(_where(function))}</small><br>"


def _where(function: Callable[..., Any]) -> str:
    """The place of a function; the file of a notebook's cell has a name that says nothing."""
    where = place(function)
    file, _, line = where.rpartition(":")
    return f"line {line} of its cell" if "ipykernel_" in file else where


def coloured(schema: Schema) -> str:
    """A schema in HTML: its name, types, written arguments and defaults told apart.

    >>> from opwright.schema.parse import parse
    >>> import re
    >>> text = coloured(parse('ns::f(Tensor(a!) x, str? s="<b>") -> ()'))
    >>> re.sub("<[^>]*>", "", text)
    'ns::f(Tensor(a!) x, str? s=&quot;&lt;b&gt;&quot;) -&gt; ()'
    """
    shown = _span("name", schema.qualname)
    arguments, starred = [], False
    for argument in schema.arguments:
        if argument.kw_only and not starred:
            starred = True
            arguments.append("*")
        kind = _span("writes" if argument.writes else "type", str(argument.type))
        default = str(argument).removeprefix(f"{argument.type} {argument.name}")
        arguments.append(f"{kind} {argument.name}{_span('default', default) if default else ''}")
    arguments += ["..."] * schema.varargs
    results = html.escape(str(schema).removeprefix(_head(schema)))
    return f"{shown}({', '.join(arguments)}){results}"


def _head(schema: Schema) -> str:
    """The schema up to the bracket that closes its arguments."""
    whole, returns = str(schema), Schema("f", returns=schema.returns, varrets=schema.varrets)
    return whole[: len(whole) - len(str(returns).removeprefix("f()"))]


def _span(style: str, text: str) -> str:
    return f'<span style="{STYLES[style]}">{html.escape(text)}</span>'
