"""Where a Python file registers operators, by any of the forms of torch and of Opwright.

Helpers are followed as Python would run them: a call of one is its body, with its parameters
standing for what the call gives. Reads; nothing is imported or executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from opwright.findings import Span
from opwright.frozen import frozen, replace
from opwright.hints.constants import constant
from opwright.hints.resolve import Defined as Bound
from opwright.hints.resolve import Definition, External, Meaning, Scope, Written, parameters
from opwright.survey.classes import ROLES, called_with_all, is_operator, read_class
from opwright.survey.facts import Call, Fact, Implementation, Language, Library, Role, Text
from opwright.survey.facts import Definition as Defined
from opwright.survey.forms import LIKE_CUSTOM_OP, Form, form_of
from opwright.survey.implementing import (
    HANDLE_METHODS,
    IMPLEMENTING,
    LIBRARY_METHODS,
    Implementing,
)
from opwright.survey.libraries import is_dropped
from opwright.survey.lines import REGISTERING, Lines, aliases, called_name, interesting
from opwright.survey.registering import library_namespace, spelled
from opwright.survey.site import (
    Place,
    Site,
    binding_scope,
    bindings,
    given_by,
    guarded,
    parts_of,
    rows,
)
from opwright.survey.strings import text_of
from opwright.survey.targets import NOWHERE, Target, Targets, dotted_path
from opwright.survey.writes import Names as MutatesArgs
from opwright.survey.writes import faults_of, inferred, mutates_of, names_of

DEPTH = 4
"""Helpers that call helpers that call helpers."""
MOST_INLINED = 2_000
"""Calls of helpers that are looked into in one file: helpers that call each other multiply."""

OPS = "torch.ops."
PACKETS = frozenset(["default", "_op", "redispatch"])
NO_OPERATORS = frozenset(
    ["load_library", "loaded_libraries", "import_module", "_ops", "higher_order", "inspect"]
)


@frozen
class Names:
    """Callables that no reader would recognise, by dotted path."""

    defining: frozenset[str] = frozenset()
    faking: frozenset[str] = frozenset()

    @property
    def words(self) -> frozenset[str]:
        """How they are called at the end of their paths."""
        return frozenset(path.rpartition(".")[2] for path in self.defining | self.faking)

    def form(self, path: str) -> Form | None:
        """The form of a callable that defines an operator."""
        return LIKE_CUSTOM_OP if path in self.defining else form_of(path)


def read_sites(scope: Scope, names: Names | None = None) -> list[Fact]:
    """Every fact of a parsed file, in the order of its text."""
    return _Reader(scope, names or Names()).facts()


class _Reader:
    """What is found in one file, and what has been looked into."""

    def __init__(self, scope: Scope, names: Names) -> None:
        self.scope = scope
        self.names = names
        self.targets = Targets(self.operator)
        self.lines = Lines.of(scope.module.text)
        self.handles: dict[int, str] = {}
        self.registering: dict[int, bool] = {}
        self.parts: dict[int, list[ast.FunctionDef | ast.Call]] = {}
        # Functions of this file that register operators: calls of them are looked into.
        self.helpers: frozenset[str] = frozenset()
        # Names that are operators of `torch.ops`: `f = torch.ops.ns.f`.
        self.aliases: frozenset[str] = frozenset()
        # Helpers that are being looked into: one that calls itself is not looked into again.
        self.inside: set[int] = set()
        self.inlined_so_far = 0

    def facts(self) -> list[Fact]:
        tree = self.scope.node
        assert isinstance(tree, ast.Module)
        lines = self.scope.module.lines
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        self.helpers = self.names.words | frozenset(
            node.name
            for node in functions
            if self.lines.touch(node) and self.registers(node, lines)
        )
        self.aliases = aliases(self.scope.module.text)
        if self.helpers or self.aliases:
            self.lines = Lines.of(self.scope.module.text, self.helpers | self.aliases)
        return list(dict.fromkeys(self.block(tree.body, self.scope, Place())))

    # statements

    def block(self, body: Sequence[ast.stmt], scope: Scope, place: Place) -> Iterator[Fact]:
        for statement in body:
            if self.lines.touch(statement):
                yield from self.statement(statement, scope, place)

    def statement(self, node: ast.stmt, scope: Scope, place: Place) -> Iterator[Fact]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for decorator in reversed(node.decorator_list):
                    given = Definition(node, scope)
                    yield from self.applied(decorator, scope, given, place, DEPTH)
                yield from self.block(node.body, scope.child(node), place)
            case ast.ClassDef():
                if is_operator(node, scope):
                    yield from self.class_form(node, scope, place)
                yield from self.block(node.body, scope.child(node), place)
            case ast.If(test, body, orelse):
                yield from self.calls(test, scope, place)
                shown = ast.unparse(test)
                yield from self.block(body, scope, guarded(place, shown))
                yield from self.block(orelse, scope, guarded(place, f"not ({shown})"))
            case ast.Try(body, handlers, orelse, final):
                yield from self.block(body, scope, guarded(place, "try"))
                for handler in handlers:
                    yield from self.block(handler.body, scope, guarded(place, "except"))
                yield from self.block([*orelse, *final], scope, place)
            case ast.For(target, iterable, body, orelse):
                yield from self.calls(iterable, scope, place)
                for row in rows(target, iterable, scope):
                    yield from self.block(body, scope.with_names(row), place)
                yield from self.block(orelse, scope, place)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                for item in items:
                    yield from self.calls(item.context_expr, scope, place)
                yield from self.block(body, scope, place)
            case _:
                yield from self.other(node, scope, place)

    def other(self, node: ast.stmt, scope: Scope, place: Place) -> Iterator[Fact]:
        """A statement without a form of its own: what is inside, in order."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from self.block([child], scope, place)
            elif isinstance(child, ast.match_case):
                yield from self.block(child.body, scope, place)
            elif isinstance(child, ast.expr):
                yield from self.calls(child, scope, place)

    def calls(self, node: ast.expr, scope: Scope, place: Place) -> Iterator[Fact]:
        """Every call in an expression that registers or calls an operator."""
        if isinstance(node, (ast.Name, ast.Constant)):
            return
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                yield from self.call(part, scope, place, DEPTH)

    def call(self, node: ast.Call, scope: Scope, place: Place, depth: int) -> Iterator[Fact]:
        """A call, or a decorator that is called on a function: `register("f")(fn)`."""
        if isinstance(node.func, ast.Call) and len(node.args) == 1:
            given = given_by(node.args[0], scope)
            yield from self.applied(node.func, scope, given, place, depth)
        elif interesting(node.func) or called_name(node.func) in self.helpers:
            yield from self.applied(node, scope, None, place, depth)
        elif isinstance(node.func, ast.Name) and self.is_alias(node.func.id, scope):
            path = dotted_path(node.func, scope)
            yield from self.called(path, Site(node, node, scope, None, place))

    def is_alias(self, name: str, scope: Scope) -> bool:
        """Whether a name may stand for an operator; of two that it is bound to, nobody knows."""
        return name in self.aliases and len(binding_scope(name, scope)) == 1

    # one callable, called and perhaps applied to a function

    def applied(
        self, node: ast.expr, scope: Scope, given: Meaning | None, place: Place, depth: int
    ) -> Iterator[Fact]:
        """What a decorator does to `given`, or a call by itself."""
        call = node if isinstance(node, ast.Call) else None
        head = node.func if isinstance(node, ast.Call) else node
        site = Site(call, node, scope, given, place)
        if isinstance(head, ast.Attribute):
            found = self.method(head, site)
            if found is not None:
                yield from found
                return
        meaning = scope.meaning(head)
        match meaning:
            case External(path):
                yield from self.named(path, site)
            case Definition(ast.FunctionDef() as helper):
                yield from self.helped(meaning, helper, site, depth)
            case Written(ast.Call() as made, where) if call is None and depth:
                inner = Place(place.of(scope.module.span(node)), place.guards)
                yield from self.applied(made, where, given, inner, depth - 1)

    def helped(
        self, found: Definition, helper: ast.FunctionDef, site: Site, depth: int
    ) -> Iterator[Fact]:
        """A function of the tree: what it does, under the name that its form gives."""
        if found.path in self.names.faking:
            yield from self.implemented(IMPLEMENTING["register_fake"], site)
            return
        form = self.names.form(found.path)
        told = [] if form is None else list(self.defined_by(form, found.path, site))
        yield from told
        name = next((fact.name for fact in told if isinstance(fact, Defined)), "")
        if not depth or found.path.startswith(("torch.", "opwright.")):
            return
        for fact in self.inlined(found, helper, site, depth):
            if not told:
                yield fact
            elif isinstance(fact, Implementation) and name:
                yield replace(fact, name=name)

    def named(self, path: str, site: Site) -> Iterator[Fact]:
        """A function of torch, or of a package that is not here."""
        name = path.rpartition(".")[2]
        if path.startswith(OPS):
            yield from self.called(path, site)
        elif path == "torch.library.define":
            yield from self.defined_in_two(site)
        elif path == "torch.library.Library" and site.call is not None:
            yield from self.library(site)
        elif path.startswith("torch.library.") and name in IMPLEMENTING:
            yield from self.implemented(IMPLEMENTING[name], site)
        elif path in self.names.faking:
            yield from self.implemented(IMPLEMENTING["register_fake"], site)
        elif (form := self.names.form(path)) is not None:
            yield from self.defined_by(form, path, site)

    def method(self, head: ast.Attribute, site: Site) -> Iterator[Fact] | None:
        """A method of a `Library` or of an operator's handle; None where it is neither."""
        name = head.attr
        if name == "define" or name in LIBRARY_METHODS:
            namespace = library_namespace(head.value, site.scope)
            if namespace:
                if name == "define":
                    return self.defined_in_library(namespace, site)
                return self.implemented(LIBRARY_METHODS[name], site, namespace=namespace)
        if name in HANDLE_METHODS:
            operator = self.handle(head.value, site.scope)
            if operator:
                return self.implemented(HANDLE_METHODS[name], site, operator=operator)
        return None

    # definitions

    def defined_by(self, form: Form, path: str, site: Site) -> Iterator[Fact]:
        """`@custom_op("ns::f", ...)` and everything like it."""
        node = site.by_name(form.parameters, form.function)
        target = site.given if node is None else given_by(node, site.scope)
        if node is None and target is None:
            return  # a decorator that is not applied here
        name = self.name_by(form, site, target)
        if hidden(name):
            return
        schema = site.by_name(form.parameters, form.schema)
        text = None if schema is None else text_of(schema, site.scope)
        writes = site.by_name(form.parameters, form.mutates)
        yield self.definition(
            name, path, site, self.targets.of(target), text, mutates_of(form, writes, site.scope),
            writes,
        )  # fmt: skip
        fake = site.by_name(form.parameters, "fake_impl")
        if fake is not None:
            yield from self.function(name, Role.FAKE, "", fake, site)

    def name_by(self, form: Form, site: Site, target: Meaning | None) -> str:
        """The operator's name that a defining form gives."""
        node = site.by_name(form.parameters, form.name)
        if node is not None and constant(node, site.scope) is not None:
            name = spelled(node, site.scope)
        else:
            own = target.node.name if isinstance(target, Definition) else "{}"
            name = own.removeprefix(form.bare) if form.bare else own
        if "::" in name:
            return name
        library = site.by_name(form.parameters, form.library)
        namespace = library_namespace(library, site.scope) if library is not None else ""
        return f"{namespace or form.namespace or '{}'}::{name}"

    def definition(
        self,
        name: str,
        via: str,
        site: Site,
        target: Target = NOWHERE,
        text: Text | None = None,
        mutates: MutatesArgs | None = None,
        writes: ast.expr | None = None,
    ) -> Defined:
        word = writes.value if isinstance(writes, ast.Constant) else None
        return Defined(
            name=name,
            span=site.span,
            language=Language.PYTHON,
            via=via,
            text=text,
            signature=target.signature,
            body=target.body,
            guards=site.place.guards,
            mutates=mutates,
            mutates_span=Span() if writes is None else site.scope.module.span(writes),
            mutates_text=word if isinstance(word, str) and word != "unknown" else None,
            mutates_all=word == "unknown",
            faults=() if text else faults_of(target.function, name),
        )

    def defined_in_two(self, site: Site) -> Iterator[Fact]:
        """`torch.library.define("ns::f", "(Tensor x) -> Tensor")`."""
        name, schema = site.at(0, "qualname"), site.at(1, "schema")
        if name is None or schema is None:
            return
        spelt = spelled(name, site.scope)
        if not hidden(spelt):
            yield self.definition(
                spelt, "torch.library.define", site, text=text_of(schema, site.scope)
            )

    def defined_in_library(self, namespace: str, site: Site) -> Iterator[Fact]:
        """`lib.define("f(Tensor x) -> Tensor")`, or with an inferred schema."""
        node = site.at(0, "schema")
        if node is None:
            return
        target, writes = inferred(node, site.scope)
        text = None if target else text_of(node, site.scope)
        spelt = text.value if text else spelled(node, site.scope)
        name = spelt.partition("(")[0].partition("{")[0].strip()
        if not name or (hidden(spelt.partition("(")[0]) and target is None):
            return
        name = name if "::" in name else f"{namespace}::{name}"
        if hidden(name):
            return
        mutates = names_of(writes, site.scope) if writes is not None else None
        found = self.targets.of(target)
        yield self.definition(name, "Library.define", site, found, text, mutates, writes)

    def class_form(self, node: ast.ClassDef, scope: Scope, place: Place) -> Iterator[Fact]:
        """`class F(opwright.Operator)`: everything about one operator in one body."""
        found = read_class(node, scope)
        if found is None:
            return
        inside = scope.child(node)
        text = None if found.schema is None else text_of(found.schema, inside)
        where = Place(scope.module.span(node), place.guards)
        site = Site(None, node.bases[0], inside, None, where)
        source = self.targets.of(found.source, in_class=True)
        head = Target(source.signature, None, source.function)
        yield self.definition(found.name, "opwright.op", site, head, text)
        for name, function in found.functions:
            target = self.targets.of(function, in_class=True)
            role = ROLES.get(name, Role.KERNEL)
            key = name if role is Role.KERNEL and name != "kernel" else ""
            if target.signature is not None and source.signature is not None:
                whole = called_with_all(target.signature, source.signature)
                target = replace(target, signature=whole)
            yield self.implementation(found.name, role, key, target, site)

    # implementations

    def implemented(
        self, form: Implementing, site: Site, namespace: str = "", operator: str = ""
    ) -> Iterator[Fact]:
        """A function registered for an operator, as an argument or as a decorator's target."""
        names = form.parameters
        if site.call is not None and not namespace and not operator:
            first = site.at(0, "")
            space = library_namespace(first, site.scope) if first is not None else ""
            if space:  # `torch.library.impl(lib, "f", "CPU")`
                namespace, names = space, ("lib", *names)
        if not operator:
            node = site.by_name(names, "op")
            operator = "" if node is None else self.operator_named(node, site.scope)
        if not operator or hidden(operator):
            return
        operator = operator if "::" in operator or not namespace else f"{namespace}::{operator}"
        key = self.key(site.by_name(names, form.key), site.scope)
        function = site.by_name(names, "func")
        yield from self.roles(form, operator, key, function, site)
        setup = site.by_name(names, form.setup) if form.setup else None
        if setup is not None:
            yield from self.function(operator, Role.SETUP_CONTEXT, "", setup, site)

    def roles(
        self, form: Implementing, operator: str, key: str, function: ast.expr | None, site: Site
    ) -> Iterator[Fact]:
        role = Role.FAKE if form.role is Role.KERNEL and key == "Meta" else form.role
        if function is not None:
            yield from self.function(operator, role, key, function, site)
        elif site.given is not None:
            yield self.implementation(operator, role, key, self.targets.of(site.given), site)
        elif form.role is Role.AUTOCAST:
            yield self.implementation(operator, role, key, NOWHERE, site)

    def function(
        self, operator: str, role: Role, key: str, node: ast.expr, site: Site
    ) -> Iterator[Fact]:
        if constant(node, site.scope) is None:
            return  # `func=None`
        target = self.targets.of(given_by(node, site.scope))
        yield self.implementation(operator, role, key, target, site)

    def implementation(
        self, operator: str, role: Role, key: str, target: Target, site: Site
    ) -> Implementation:
        return Implementation(
            name=operator,
            role=role,
            span=site.span,
            language=Language.PYTHON,
            key=key,
            signature=target.signature,
            body=target.body,
            guards=site.place.guards,
        )

    def key(self, node: ast.expr | None, scope: Scope) -> str:
        """The dispatch keys or devices, joined by commas; empty for all, `?` where not known."""
        if node is None:
            return ""
        value = constant(node, scope)
        match value:
            case str():
                return value
            case None:
                return ""
            case tuple() if all(isinstance(part, str) for part in value):
                return ",".join(map(str, value))
            case _:
                return "?"

    # calls and handles

    def called(self, path: str, site: Site) -> Iterator[Fact]:
        """`torch.ops.ns.f(...)`."""
        name = operator_of(path)
        if site.call is None or not name:
            return
        arguments, keywords = site.call.args, site.call.keywords
        starred = any(isinstance(argument, ast.Starred) for argument in arguments)
        yield Call(
            name=name,
            positional=len(arguments),
            keywords=tuple(keyword.arg for keyword in keywords if keyword.arg is not None),
            span=site.span,
            open=starred or any(keyword.arg is None for keyword in keywords),
            guarded=bool(site.place.guards),
            sizes=tuple(sizes(site.call, site.scope)),
        )

    def operator(self, expression: ast.expr, scope: Scope) -> str:
        """The operator that is called by an expression, through `torch.ops` or a handle."""
        if not isinstance(expression, (ast.Name, ast.Attribute)):
            return ""
        path = dotted_path(expression, scope)
        if path:
            return operator_of(path)
        return self.handle(expression, scope)

    def operator_named(self, node: ast.expr, scope: Scope) -> str:
        """The operator that a registering call names: by text, by `torch.ops` or by its handle."""
        if isinstance(constant(node, scope), str):
            return spelled(node, scope)
        return self.operator(node, scope) or spelled(node, scope)

    def handle(self, node: ast.expr, scope: Scope) -> str:
        """The operator whose handle an expression means; empty where it is none."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return ""
        meaning = self.defined_before(node, scope) or scope.meaning(node)
        match meaning:
            case Definition(ast.FunctionDef() as function, where):
                if id(function) not in self.handles:
                    self.handles[id(function)] = ""
                    names = (self.made(d, where, meaning) for d in function.decorator_list)
                    self.handles[id(function)] = next(filter(None, names), "")
                return self.handles[id(function)]
            case Written(ast.Call() as call, where):
                return self.made(call, where, None)
            case _:
                return ""

    def defined_before(self, node: ast.expr, scope: Scope) -> Definition | None:
        """The last decorated function of this name above, where several statements bind it."""
        if not isinstance(node, ast.Name) or len(binding_scope(node.id, scope)) < 2:
            return None
        where: Scope | None = scope
        while where is not None and node.id not in where.bindings:
            where = where.parent
        binders = [binding.binder for binding in where.bindings[node.id]] if where else []
        above = [
            binder.node
            for binder in binders
            if isinstance(binder, Bound) and binder.node.lineno < node.lineno
            if isinstance(binder.node, ast.FunctionDef) and binder.node.decorator_list
        ]
        return Definition(above[-1], where) if above and where is not None else None

    def made(self, node: ast.expr, scope: Scope, given: Meaning | None) -> str:
        """The operator that a decorator or a call makes a handle of."""
        call = node if isinstance(node, ast.Call) else None
        if call is not None and isinstance(call.func, ast.Call) and len(call.args) == 1:
            return self.made(call.func, scope, given_by(call.args[0], scope))
        path = dotted_path(node.func if isinstance(node, ast.Call) else node, scope)
        form = form_of(path) if path else None
        if form is None or path.partition(".")[0] not in ("torch", "opwright"):
            return ""
        name = self.name_by(form, Site(call, node, scope, given, Place()), given)
        return "" if hidden(name) else name

    # libraries

    def library(self, site: Site) -> Iterator[Fact]:
        namespace, kind = site.at(0, "ns"), site.at(1, "kind")
        if namespace is None or kind is None or site.call is None:
            return
        spelt = constant(namespace, site.scope)
        word = constant(kind, site.scope)
        if isinstance(spelt, str) and isinstance(word, str):
            place = site.scope.module.span(kind)
            dropped = is_dropped(site.call, site.scope)
            yield Library(spelt, word, site.span, place, dropped=dropped)

    # helpers

    def registers(self, helper: ast.FunctionDef, lines: list[str]) -> bool:
        """A cheap look at a function: whether any call in it may register an operator."""
        if id(helper) not in self.registering:
            text = "\n".join(lines[helper.lineno - 1 : helper.end_lineno])
            self.registering[id(helper)] = REGISTERING.search(text) is not None
        return self.registering[id(helper)]

    def inlined(
        self, found: Definition, helper: ast.FunctionDef, site: Site, depth: int
    ) -> Iterator[Fact]:
        """The body of a helper, with its parameters standing for what the call gives."""
        if id(helper) in self.inside or self.inlined_so_far >= MOST_INLINED:
            return
        if not self.registers(helper, found.scope.module.lines):
            return
        self.inlined_so_far += 1
        bound = bindings(helper, site, found.scope)
        names = [parameter.arg for parameter in parameters(helper)]
        if site.call is None and site.given is not None and names:
            bound[names[0]] = site.given
        body = found.inside.with_names(bound)
        place = Place(site.span, site.place.guards)
        self.inside.add(id(helper))
        for fact in self.body_of(helper, body, site.given, place, depth - 1):
            if isinstance(fact, (Defined, Implementation)):
                yield fact
        self.inside.discard(id(helper))

    def body_of(
        self,
        function: ast.FunctionDef,
        scope: Scope,
        given: Meaning | None,
        place: Place,
        depth: int,
    ) -> Iterator[Fact]:
        if id(function) not in self.parts:
            self.parts[id(function)] = list(parts_of(function))
        for part in self.parts[id(function)]:
            if isinstance(part, ast.FunctionDef):
                yield from self.decorator_inside(part, scope, given, place, depth)
            else:
                yield from self.call(part, scope, place, depth)

    def decorator_inside(
        self,
        function: ast.FunctionDef,
        scope: Scope,
        given: Meaning | None,
        place: Place,
        depth: int,
    ) -> Iterator[Fact]:
        """`def decorator(fn)` in a helper: its body, `fn` being what is decorated."""
        names = [parameter.arg for parameter in parameters(function)]
        inner = scope.child(function)
        if given is not None and names:
            inner = inner.with_names({names[0]: given})
        yield from self.body_of(function, inner, None, place, depth)
        for decorator in function.decorator_list:
            target = Definition(function, scope)
            yield from self.applied(decorator, scope, target, place, depth)


def sizes(call: ast.Call, scope: Scope) -> Iterator[tuple[int | str, Span]]:
    """The arguments of a call that are computed from the size of a tensor, and their places."""
    given: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
    given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    for name, value in given:
        if of_size(value):
            yield name, scope.module.span(value)


def of_size(node: ast.expr) -> bool:
    """Whether a number is read off a tensor's shape, perhaps with arithmetic around it.

    >>> of_size(ast.parse("1 / x.shape[-1] ** 0.5", mode="eval").body)
    True
    """
    match node:
        case ast.Subscript(ast.Attribute(_, "shape")):
            return True
        case ast.Call(ast.Attribute(_, "size" | "numel")):
            return True
        case ast.Call(ast.Name("float") | ast.Attribute(ast.Name("math"), "sqrt"), [inner]):
            return of_size(inner)
        case ast.BinOp(left, _, right):
            return of_size(left) or of_size(right)
        case ast.UnaryOp(_, operand):
            return of_size(operand)
        case _:
            return False


def hidden(name: str) -> bool:
    """Whether only running the code would tell a part of a name."""
    return "{" in name


def operator_of(path: str) -> str:
    """`ns::f` or `ns::f.overload` of `torch.ops.ns.f...`; empty where it is none.

    >>> operator_of("torch.ops.aten.add.Tensor"), operator_of("torch.ops.aten.add.default")
    ('aten::add.Tensor', 'aten::add')
    """
    parts = path.removeprefix(OPS).split(".") if path.startswith(OPS) else []
    if not 2 <= len(parts) <= 3 or NO_OPERATORS & set(parts[:2]):
        return ""
    overload = "" if len(parts) == 2 or parts[2] in PACKETS else f".{parts[2]}"
    return f"{parts[0]}::{parts[1]}{overload}"
