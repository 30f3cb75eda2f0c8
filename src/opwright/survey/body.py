"""What the body of a function does with its parameters: writes, hands on, gives back.

Reads statements in order and follows names through assignments, views and branches. What cannot be
followed is an escape, never a guess. Knows which calls of torch write; knows nothing of operators.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum

from opwright.findings import Span
from opwright.survey.facts import Body, Handed, Returned, Write


class Tie(IntEnum):
    """How an expression hangs together with a parameter."""

    HELD = 0  # `{"x": x}` holds x; putting something else into it changes no tensor
    MAYBE = 1  # `x.contiguous()` is x or a copy
    VIEW = 2
    LIST = 3  # a parameter that is a list of tensors
    SAME = 4


Ties = Mapping[str, Tie]
"""The parameters that an expression shares memory with."""

VIEWS = frozenset(
    """
    view view_as transpose permute t squeeze unsqueeze expand expand_as select narrow unbind split
    chunk detach diagonal unfold as_strided swapaxes swapdims movedim moveaxis alias numpy
    view_as_real view_as_complex tensor_split hsplit vsplit dsplit split_with_sizes adjoint
    __getitem__ unflatten real imag positive
    """.split()
)
MAYBE_VIEWS = frozenset(
    """
    reshape reshape_as flatten ravel contiguous to type type_as float double half bfloat16 int long
    cpu cuda conj resolve_conj resolve_neg expand_copy asarray as_tensor from_numpy
    """.split()
)
VIEW_ATTRIBUTES = frozenset(["T", "mT", "H", "mH", "data", "real", "imag"])
NOT_WRITES = frozenset(
    ["requires_grad_", "share_memory_", "rename_", "detach_", "retain_grad_", "is_shared_"]
)
RESIZES = frozenset(["set_", "resize_", "resize_as_"])
WRITES_FIRST = frozenset(
    f"torch.distributed.{name}"
    for name in """
    all_reduce broadcast reduce recv irecv all_gather_into_tensor all_to_all_single
    reduce_scatter_tensor all_gather all_to_all reduce_scatter
    """.split()
)
"""Functions of torch that write their first argument and do not say so in their name."""

HARMLESS = frozenset(
    """
    len isinstance type id print repr str int float bool list tuple set dict zip enumerate range
    hasattr getattr any all max min sum abs sorted reversed map filter hash
    """.split()
)

CONTAINERS = frozenset(["dict", "list", "tuple", "set", "frozenset", "reversed", "sorted"])

DEEPEST = 4
"""Loops inside loops that are walked twice; each level doubles the work."""

Meaning = Callable[[ast.expr], str]
"""The dotted path behind an expression; empty where it is not known."""
Operator = Callable[[ast.expr], str]
"""The operator that a called expression stands for, as `ns::name`; empty where it is none."""


def read_body(
    statements: list[ast.stmt],
    followed: Mapping[str, Tie],
    *,
    meaning: Meaning,
    operator: Operator,
    span: Callable[[ast.AST], Span],
) -> Body:
    """What a function does with the parameters to be followed: those that can hold tensors.

    Each comes with `SAME`, or with `LIST` where it is a list of tensors.
    """
    walk = _Walk(followed, meaning, operator, span)
    walk.block(statements)
    return Body(
        writes=tuple(dict.fromkeys(walk.writes)),
        handed=tuple(dict.fromkeys(walk.handed)),
        returned=tuple(dict.fromkeys(walk.returned)),
        escapes=frozenset(walk.escapes),
        stub=is_stub(statements),
    )


def is_stub(body: list[ast.stmt]) -> bool:
    """Whether a body does nothing: a docstring, `...`, `pass`, `raise`.

    >>> is_stub(ast.parse("'only words'; raise NotImplementedError").body)
    True
    """
    return all(
        isinstance(statement, (ast.Pass, ast.Raise))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )


class _Walk:
    """Walks one body; `ties` says what each local name shares with the parameters."""

    def __init__(
        self,
        parameters: Mapping[str, Tie],
        meaning: Meaning,
        operator: Operator,
        span: Callable[[ast.AST], Span],
    ) -> None:
        self.ties: dict[str, Ties] = {n: {n: tie} for n, tie in parameters.items()}
        self.meaning, self.operator, self.span = meaning, operator, span
        self.writes: list[Write] = []
        self.handed: list[Handed] = []
        self.returned: list[Returned] = []
        self.escapes: set[str] = set()
        self.depth = 0

    # statements

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets, value):
                self.expression(value)
                for target in targets:
                    self.assign(target, value)
            case ast.AnnAssign(target, _, value) if value is not None:
                self.expression(value)
                self.assign(target, value)
            case ast.AugAssign(target, _, value):
                self.expression(value)
                self.augmented(node, target)
            case ast.Return(value):
                self.expression(value)
                self.give_back(value)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.capture(node)
            case _:
                self.compound(node)

    def compound(self, node: ast.stmt) -> None:
        """A statement with statements inside; of any other, only the expressions."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            elif isinstance(child, ast.withitem):
                self.expression(child.context_expr)
        match node:
            case ast.If(_, body, orelse):
                self.branches([body, orelse])
            case ast.For(target, iterable, body, orelse) | ast.AsyncFor(
                target, iterable, body, orelse
            ):
                self.loop(target, iterable, body)
                self.block(orelse)
            case ast.While(_, body, orelse):
                self.loop(None, None, body)
                self.block(orelse)
            case ast.Try(body, handlers, orelse, final):
                self.branches([body, []])
                self.branches([orelse, *(handler.body for handler in handlers)])
                self.block(final)
            case ast.With(_, body) | ast.AsyncWith(_, body):
                self.block(body)
            case ast.Match(_, cases):
                self.branches([*(case.body for case in cases), []])

    def branches(self, bodies: Iterable[Iterable[ast.stmt]]) -> None:
        """Each body starts from here; afterwards a name may be what any of them left."""
        before = self.ties
        after: dict[str, Ties] = {}
        for body in bodies:
            self.ties = dict(before)
            self.block(body)
            for name, ties in self.ties.items():
                after[name] = joined([after.get(name, {}), ties])
        self.ties = after

    def loop(
        self, target: ast.expr | None, iterable: ast.expr | None, body: list[ast.stmt]
    ) -> None:
        """A loop body twice: what the first round leaves is what the second starts from."""
        before = self.ties
        self.depth += 1
        for _ in range(2 if self.depth <= DEEPEST else 1):
            if target is not None and iterable is not None:
                self.iterate(target, iterable)
            self.block(body)
            names = {*before, *self.ties}
            self.ties = {n: joined([before.get(n, {}), self.ties.get(n, {})]) for n in names}
        self.depth -= 1

    def iterate(self, target: ast.expr, iterable: ast.expr) -> None:
        """Bind the targets of a loop to the items of what it runs over."""
        match iterable, target:
            case ast.Call(ast.Name("enumerate"), [inner, *_]), ast.Tuple([_, item]):
                self.iterate(item, inner)
            case ast.Call(ast.Name("zip"), args), ast.Tuple(items) if len(args) == len(items):
                for item, arg in zip(items, args, strict=True):
                    self.iterate(item, arg)
            case ((ast.Tuple(parts) | ast.List(parts)), _):
                self.bind(target, joined(map(self.tied, parts)))
            case _:
                ties = self.tied(iterable)
                self.bind(target, {name: each_of(tie) for name, tie in ties.items()})

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Tuple(targets) | ast.List(targets):
                self.unpack(targets, value)
            case ast.Subscript(owner):
                self.write(owner, f"`{text(target)} = ...`", target, item=True)
                self.expression(target.slice)
                self.escape(self.tied(value), where=owner)
            case ast.Attribute(owner, "data"):
                self.write(owner, f"`{text(target)} = ...`", target)
            case ast.Attribute():
                self.escape(self.tied(value))
            case _:
                self.bind(target, self.tied(value))

    def unpack(self, targets: list[ast.expr], value: ast.expr) -> None:
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(targets):
            ties = [self.tied(part) for part in value.elts]
            for target, tie, part in zip(targets, ties, value.elts, strict=True):
                if isinstance(target, ast.Name):
                    self.bind(target, tie)
                else:
                    self.assign(target, part)
            return
        for target in targets:
            self.assign(target, value)

    def bind(self, target: ast.expr, ties: Ties) -> None:
        match target:
            case ast.Name(name):
                self.ties[name] = ties
            case ast.Starred(inner):
                self.bind(inner, ties)
            case ast.Tuple(parts) | ast.List(parts):
                for part in parts:
                    self.bind(part, ties)

    def augmented(self, node: ast.AugAssign, target: ast.expr) -> None:
        """`x += 1` writes x, `x[0] += 1` too."""
        owner = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(target, ast.Attribute) and target.attr not in VIEW_ATTRIBUTES:
            return
        how = f"`{text(target)} {OPERATORS.get(type(node.op), '?')}= ...`"
        self.write(owner, how, node, item=True)

    def give_back(self, value: ast.expr | None) -> None:
        match value:
            case None:
                return
            case ast.IfExp(_, body, orelse):
                self.give_back(body)
                self.give_back(orelse)
            case ast.Tuple(parts) | ast.List(parts):
                for position, part in enumerate(parts):
                    self.give(part, position)
            case _:
                self.give(value, 0)

    def give(self, value: ast.expr, position: int) -> None:
        for name, tie in self.tied(value).items():
            if tie not in (Tie.MAYBE, Tie.HELD):
                span = self.span(value)
                self.returned.append(Returned(name, position, span, view=tie is Tie.VIEW))

    def capture(self, node: ast.AST) -> None:
        """A function inside: what it takes from here may be written there."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                self.escape(self.ties.get(part.id, {}))

    # expressions

    def expression(self, node: ast.expr | None) -> None:
        """Look at every call in an expression, from the inside out."""
        match node:
            case None:
                return
            case ast.Lambda():
                self.capture(node)
            case ast.Call():
                self.parts(node)
                self.call(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self.comprehension(node)
            case ast.NamedExpr(target, value):
                self.expression(value)
                self.bind(target, self.tied(value))
            case _:
                self.parts(node)

    def parts(self, node: ast.expr) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            elif isinstance(child, ast.keyword):
                self.expression(child.value)

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        before = dict(self.ties)
        for generator in node.generators:
            self.expression(generator.iter)
            self.iterate(generator.target, generator.iter)
            for test in generator.ifs:
                self.expression(test)
        if isinstance(node, ast.DictComp):
            self.expression(node.key)
            self.expression(node.value)
        else:
            self.expression(node.elt)
        self.ties = before

    def call(self, node: ast.Call) -> None:
        operator = self.operator(node.func)
        if operator:
            self.hand(node, operator)
            return
        path = self.meaning(node.func)
        if path.startswith("torch.") or path in HARMLESS:
            self.call_of_torch(node, path)
        elif isinstance(node.func, ast.Attribute) and self.tied(node.func.value):
            self.method(node, node.func)
        else:
            self.arguments_escape(node)

    def method(self, node: ast.Call, function: ast.Attribute) -> None:
        """A method of something that shares memory with a parameter."""
        name = function.attr
        if is_in_place(name) or name == "__setitem__":
            self.write(function.value, f"`{text(function)}(...)`", node)
        elif name in ("append", "extend", "insert", "pop", "clear", "record_stream"):
            self.arguments_escape(node)

    def call_of_torch(self, node: ast.Call, path: str) -> None:
        """A function of torch: `out=` is written, and the first argument of `relu_`."""
        for keyword in node.keywords:
            if keyword.arg == "out":
                for part in parts_of(keyword.value):
                    self.write(part, f"`{text(node.func)}(..., out=...)`", node)
            if keyword.arg == "inplace" and is_true(keyword.value) and node.args:
                self.write(node.args[0], f"`{text(node.func)}(..., inplace=True)`", node)
        name = path.rpartition(".")[2]
        if (is_in_place(name) or path in WRITES_FIRST) and node.args:
            for part in parts_of(node.args[0]):
                self.write(part, f"`{text(node.func)}(...)`", node)
        if path.startswith(OPAQUE):
            self.arguments_escape(node)

    def hand(self, node: ast.Call, operator: str) -> None:
        for position, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                self.arguments_escape(node)
                return
            self.hand_on(argument, operator, position, "")
        for keyword in node.keywords:
            self.hand_on(keyword.value, operator, -1, keyword.arg or "**")

    def hand_on(self, argument: ast.expr, operator: str, position: int, keyword: str) -> None:
        for part in parts_of(argument):
            for name, tie in self.tied(part).items():
                if tie not in (Tie.MAYBE, Tie.HELD):
                    span = self.span(argument)
                    self.handed.append(Handed(name, operator, position, keyword, span))
                else:
                    self.escapes.add(name)

    def arguments_escape(self, node: ast.Call) -> None:
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            for part in ast.walk(argument):
                if isinstance(part, (ast.Name, ast.Subscript, ast.Attribute, ast.Call)):
                    self.escape(self.tied(part))
        if isinstance(node.func, ast.Attribute):
            self.escape(self.tied(node.func.value))

    def escape(self, ties: Ties, where: ast.expr | None = None) -> None:
        if where is None or not self.tied(where):
            self.escapes.update(ties)

    def write(self, owner: ast.expr, how: str, node: ast.AST, *, item: bool = False) -> None:
        """A write of what an expression is; of a list, putting an `item` in changes no tensor."""
        for name, tie in self.tied(owner).items():
            if tie is Tie.MAYBE:
                self.escapes.add(name)
            elif tie is not Tie.HELD and not (item and tie is Tie.LIST):
                self.writes.append(Write(name, how, self.span(node)))

    # what an expression is

    def tied(self, node: ast.expr | None) -> Ties:
        """What an expression shares memory with."""
        match node:
            case ast.Name(name):
                return self.ties.get(name, {})
            case ast.Attribute(owner, name):
                return loosened(self.tied(owner), Tie.VIEW) if name in VIEW_ATTRIBUTES else {}
            case ast.Subscript(owner, index):
                return {name: item_of(tie, index) for name, tie in self.tied(owner).items()}
            case ast.IfExp(_, body, orelse):
                return joined([self.tied(body), self.tied(orelse)])
            case ast.BoolOp(_, values):
                return joined(map(self.tied, values))
            case ast.NamedExpr(_, value) | ast.Starred(value) | ast.Await(value):
                return self.tied(value)
            case ast.Call():
                return self.tied_call(node)
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts) | ast.Dict(_, parts):
                return loosened(joined(map(self.tied, parts)), Tie.HELD)
            case _:
                return {}

    def tied_call(self, node: ast.Call) -> Ties:
        if isinstance(node.func, ast.Name) and node.func.id in CONTAINERS:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            return loosened(joined(map(self.tied, given)), Tie.HELD)
        if not isinstance(node.func, ast.Attribute):
            return {}
        name, owner = node.func.attr, self.tied(node.func.value)
        in_place = name.endswith("_") and not name.endswith("__")
        if not owner and node.args and (name in VIEWS or in_place or name in MAYBE_VIEWS):
            owner = self.tied(node.args[0]) if self.meaning(node.func).startswith("torch.") else {}
        if in_place:
            return owner
        if name in VIEWS:
            return loosened(owner, Tie.VIEW)
        return loosened(owner, Tie.MAYBE) if name in MAYBE_VIEWS else {}


OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
OPAQUE = ("torch.utils.", "torch.autograd.", "torch.cuda.", "torch._C.", "torch.distributed.")
"""Where torch has functions that take anything; those may write what they are given."""


def joined(ties: Iterable[Ties]) -> Ties:
    """What one of several expressions is; the closest tie counts."""
    found: dict[str, Tie] = {}
    for each in ties:
        for name, tie in each.items():
            found[name] = max(tie, found.get(name, tie))
    return found


def loosened(ties: Ties, limit: Tie) -> Ties:
    return {name: min(tie, limit) for name, tie in ties.items()}


def item_of(tie: Tie, index: ast.expr) -> Tie:
    """What `x[index]` is, by what x is."""
    match tie:
        case Tie.HELD:
            return Tie.MAYBE
        case Tie.LIST:
            return Tie.LIST if isinstance(index, ast.Slice) else Tie.SAME
        case _:
            return min(tie, indexed(index))


def each_of(tie: Tie) -> Tie:
    """What a loop over x binds, by what x is."""
    return {Tie.HELD: Tie.MAYBE, Tie.LIST: Tie.SAME, Tie.SAME: Tie.VIEW}.get(tie, tie)


def indexed(index: ast.expr) -> Tie:
    """`x[0]` and `x[1:, None]` are views, `x[mask]` is a copy or not."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return Tie.VIEW if all(map(is_basic, parts)) else Tie.MAYBE


def is_in_place(name: str) -> bool:
    """Whether a method or function of torch writes, by its name."""
    return name.endswith("_") and not name.endswith("__") and name not in NOT_WRITES


def is_basic(index: ast.expr) -> bool:
    match index:
        case ast.Slice():
            return True
        case ast.UnaryOp(ast.USub(), operand):
            return is_basic(operand)
        case ast.Constant(value):
            return value is None or value is ... or type(value) is int
        case _:
            return False


def is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def parts_of(node: ast.expr) -> Iterator[ast.expr]:
    """The items of a literal list or tuple, else the expression itself."""
    if isinstance(node, (ast.Tuple, ast.List)):
        yield from node.elts
    else:
        yield node


def text(node: ast.AST) -> str:
    """An expression in a message, short."""
    written = ast.unparse(node)
    return written if len(written) <= 40 else f"{written[:37]}..."
