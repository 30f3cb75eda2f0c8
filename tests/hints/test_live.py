"""Everything that a function can be, and where its names are found."""

from __future__ import annotations

import inspect
import sys
import textwrap
from typing import Any

import pytest

from opwright.findings import SchemaError, Span
from opwright.hints import examine, infer
from opwright.hints.live import read, underneath
from opwright.hints.model import MISSING, Kind, Name, Parameter, Role

from .writing import PRELUDE, first_line, function, write

DECORATORS = """
import functools
def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper
"""
KINDS = """
from {decorators} import logged
@logged
def wrapped(x: Tensor, n: int = 3) -> Tensor: ...
twice = logged(wrapped)
def plain(x: Tensor, n: int, m: int = 1) -> Tensor: ...
partial = functools.partial(plain, m=2)
partial_first = functools.partial(plain, None)
partial_middle = functools.partial(plain, n=5)
partial_of_wrapped = functools.partial(wrapped, n=4)
class Scale:
    def __call__(self, x: Tensor, n: int = 3) -> Tensor: ...
    def method(self, x: Tensor) -> Tensor: ...
    @classmethod
    def made(cls, x: Tensor) -> Tensor: ...
    @staticmethod
    def static(x: Tensor) -> Tensor: ...
    @logged
    def wrapped(self, x: Tensor) -> Tensor: ...
class Inherits(Scale): ...
callable_object, inherited = Scale(), Inherits()
bound, bound_class, static = Scale().method, Scale.made, Scale.static
bound_wrapped, raw_static = Scale().wrapped, vars(Scale)["static"]
cached = functools.lru_cache(plain)
def positional_only(x: Tensor, /, n: int = 1, *, k: bool = False) -> Tensor: ...
def self_annotated(self: Tensor, n: int) -> Tensor: ...
"""
READ = {
    "wrapped": "wrapped(Tensor x, SymInt n=3) -> Tensor",
    "twice": "wrapped(Tensor x, SymInt n=3) -> Tensor",
    "partial": "plain(Tensor x, SymInt n, *, SymInt m=2) -> Tensor",
    "partial_first": "plain(SymInt n, SymInt m=1) -> Tensor",
    "partial_middle": "plain(Tensor x, *, SymInt n=5, SymInt m=1) -> Tensor",
    "partial_of_wrapped": "wrapped(Tensor x, *, SymInt n=4) -> Tensor",
    "callable_object": "Scale(Tensor x, SymInt n=3) -> Tensor",
    "inherited": "Inherits(Tensor x, SymInt n=3) -> Tensor",
    "bound": "method(Tensor x) -> Tensor",
    "bound_class": "made(Tensor x) -> Tensor",
    "bound_wrapped": "wrapped(Tensor x) -> Tensor",
    "static": "static(Tensor x) -> Tensor",
    "raw_static": "static(Tensor x) -> Tensor",
    "cached": "plain(Tensor x, SymInt n, SymInt m=1) -> Tensor",
    "positional_only": "positional_only(Tensor x, SymInt n=1, *, bool k=False) -> Tensor",
    "self_annotated": "self_annotated(Tensor self, SymInt n) -> Tensor",
}


def kinds() -> Any:
    return write(KINDS.format(decorators=write(DECORATORS, "").__name__))


@pytest.mark.parametrize("name", READ)
def test_whatever_can_be_called_is_read(name: str) -> None:
    assert str(infer(getattr(kinds(), name))) == READ[name]


@pytest.mark.parametrize("name", sorted(READ.keys() - {"partial_middle"}))
def test_parameters_are_those_of_inspect(name: str) -> None:
    """The differential: names, kinds and defaults as `inspect.signature` has them."""
    subject = getattr(kinds(), name)
    theirs = inspect.signature(getattr(subject, "__func__", subject)).parameters.values()
    ours = read(subject).parameters
    theirs = list(theirs)[len(theirs) - len(ours) :]  # a bound method has lost its self
    assert [(p.name, p.kind.name.replace("_OR_KEYWORD", "")) for p in theirs] == [
        (p.name, p.kind.name) for p in ours
    ]
    assert [MISSING if p.default is p.empty else p.default for p in theirs] == [
        p.default for p in ours
    ]


NO_FUNCTIONS = {
    "class Op:\n    def f(self, x: Tensor) -> Tensor: ...\nop = Op.f": (
        "OW104 f is a method",
        "write a function, or pass a bound method: `obj.f`",
    ),
    "class Op:\n    @classmethod\n    def f(cls, x: Tensor) -> Tensor: ...\nop = vars(Op)['f']": (
        "OW104 f is a method",
        "write a function, or pass a bound method: `obj.f`",
    ),
    "class Op: ...": ("OW104 Op is a class", "write a function that makes one and calls it"),
    "async def f(x: Tensor) -> Tensor: ...": (
        "OW104 f is a coroutine",
        "write `def` instead of `async def`",
    ),
    "def f(x: Tensor) -> Tensor:\n    yield x": (
        "OW104 f is a generator",
        "return a list instead of yielding",
    ),
    "op = len": ("OW104 len has no annotations to read", "wrap it in a function that has"),
    "op = 3": ("OW104 int has no annotations to read", "wrap it in a function that has"),
    "def f(*args: int, x: Tensor) -> Tensor: ...": (
        "OW105 'args' of f: a schema has no such parameter",
        "name each parameter",
    ),
    "def f(x) -> Tensor: ...": ("OW101 'x' of f: it is not annotated", "write `x: Tensor`"),
    "def f(é: Tensor) -> Tensor: ...": (
        "OW108 'é' of f: torch reads ASCII names alone",
        "rename it",
    ),
}


@pytest.mark.parametrize("text", NO_FUNCTIONS)
def test_what_is_no_operator_says_what_to_do(text: str) -> None:
    (found,) = examine(function(text)).findings
    assert (f"{found.code} {found.message}", found.hint) == NO_FUNCTIONS[text]


def test_a_lambda_has_nothing_to_read() -> None:
    found = examine(lambda x: x, name="ns::f").findings
    assert [one.message for one in found] == [
        "'x' of ns::f: it is not annotated",
        "the result of ns::f is not annotated",
    ]
    assert {one.code for one in examine(lambda x: x).findings} >= {"OW004"}


def test_a_name_that_is_none_is_refused() -> None:
    def f(x: int) -> int: ...

    with pytest.raises(SchemaError, match="OW004"):
        infer(f, name="a::b::c")


def test_what_wraps_itself_ends() -> None:
    def f(x: int) -> int: ...

    f.__wrapped__ = f  # type: ignore[attr-defined]
    assert read(f).role is Role.OPAQUE
    assert underneath(f) is None


def test_a_signature_of_its_own_wins() -> None:
    def f(*args: object, **kwargs: object) -> object: ...

    parameter = inspect.Parameter
    f.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            parameter("x", parameter.POSITIONAL_OR_KEYWORD, annotation="torch.Tensor"),
            parameter("n", parameter.KEYWORD_ONLY, annotation=int, default=3),
        ],
        return_annotation="list[torch.Tensor]",
    )
    assert str(infer(f)) == "f(Tensor x, *, SymInt n=3) -> Tensor[]"


def test_a_signature_without_a_function() -> None:
    class Bare:
        __signature__ = inspect.Signature()

    assert read(Bare()).parameters == ()


# Names -----------------------------------------------------------------------------------------

NAMES = {
    "in the function that holds it": """
        def outer():
            Local = int
            def f(x: Local, y: "list[Local]") -> Tensor: ...
            return infer(f)
        schema = outer()
    """,
    "imported in the function that registers": """
        def f(x: Inner) -> Tensor: ...
        def register():
            from numbers import Number as Inner
            return infer(f)
        schema = register()
    """,
    "imported in a function that is gone": """
        def outer():
            import numbers as inner
            def f(x: inner.Number) -> Tensor: ...
            return f
        schema = infer(outer())
    """,
    "in a closure": """
        def outer(Kind):
            def f(x: Kind) -> Tensor:
                return Kind(x)
            return f
        schema = infer(outer(float))
    """,
    "shadowing a global": """
        Local = str
        def outer():
            Local = int
            def f(x: Local) -> Tensor: ...
            return infer(f)
        schema = outer()
    """,
    "in the class of a field": """
        class Cfg(NamedTuple):
            Number = int
            n: Number
        def f(cfg: Cfg) -> Tensor: ...
        schema = infer(f)
    """,
    "imported for checkers, and loaded": """
        if TYPE_CHECKING:
            from numbers import Number as N
            import collections.abc as c
        def f(x: N, y: c.Sequence[int]) -> Tensor: ...
        schema = infer(f)
    """,
}
SCHEMAS = {
    "in the function that holds it": "f(SymInt x, SymInt[] y) -> Tensor",
    "imported in the function that registers": "f(Scalar x) -> Tensor",
    "imported in a function that is gone": "f(Scalar x) -> Tensor",
    "in a closure": "f(float x) -> Tensor",
    "shadowing a global": "f(SymInt x) -> Tensor",
    "in the class of a field": "f(SymInt cfg__n) -> Tensor",
    "imported for checkers, and loaded": "f(Scalar x, SymInt[] y) -> Tensor",
}


@pytest.mark.parametrize("where", NAMES)
def test_a_name_is_found(where: str) -> None:
    text = "from opwright.hints import infer\n" + textwrap.dedent(NAMES[where])
    assert str(write(text).schema) == SCHEMAS[where]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is of Python 3.12")
def test_type_parameters() -> None:
    text = """
    type Pair = tuple[int, int]
    type Both[T] = tuple[T, T]
    type Loop = list[Loop]
    type Lost = list[Nowhere]
    def f[T: int](x: T, y: Pair, z: Both[float]) -> Tensor: ...
    def g(x: Loop, y: Lost) -> Tensor: ...
    """
    module = write(textwrap.dedent(text))
    assert str(infer(module.f)) == "f(SymInt x, SymInt[2] y, float[2] z) -> Tensor"
    assert [found.message for found in examine(module.g).findings] == [
        "'x' of g: Loop contains itself",
        "'y' of g: Nowhere is not defined where the annotation is written",
    ]


def test_nothing_is_imported() -> None:
    text = """
    if TYPE_CHECKING:
        from nowhere.config import Config
        from . import sibling
        from ..too.far import above
    def f(x: Config, y: sibling.Kind, z: above, w: Config[int] | None) -> Tensor: ...
    """
    module = write(textwrap.dedent(text))
    hints = [parameter.hint for parameter in read(module.f).parameters]
    assert hints[0] == Name("nowhere.config.Config")
    assert "nowhere" not in sys.modules
    assert [found.code for found in examine(module.f).findings] == ["OW102"] * 4


def test_a_file_that_is_no_python_still_tells() -> None:
    module = write("def f(x: Lost) -> Tensor: ...")
    module.__file__ = __file__.replace(".py", ".txt")
    assert [found.code for found in examine(module.f).findings] == ["OW103", "OW103"]


# Places ----------------------------------------------------------------------------------------


def test_each_finding_points_at_its_annotation() -> None:
    text = (
        "@functools.lru_cache\ndef f(\n    é,\n    x: dict,\n    *, y: set[int],\n) -> object: ..."
    )
    written = function(text)
    found = examine(written).findings
    line = first_line()
    assert [(one.span.line - line, one.span.column, one.span.end_column) for one in found] == [
        (2, 5, 6),
        (3, 8, 12),
        (4, 11, 19),
        (5, 6, 12),
    ]
    assert {one.span.file for one in found} == {written.__wrapped__.__code__.co_filename}


def test_without_source_the_line_is_known() -> None:
    names: dict[str, Any] = {}
    exec(compile("\n\ndef f(x: dict): ...", "<nowhere>", "exec"), names)
    assert {found.span for found in examine(names["f"]).findings} == {Span("<nowhere>", 3)}


def test_all_faults_come_at_once() -> None:
    text = "def f(a, b: dict, c: set[int], d: int = 'x', *e: int) -> object: ..."
    found = examine(function(text)).findings
    assert [one.code for one in found] == ["OW101", "OW102", "OW102", "OW106", "OW105", "OW102"]
    with pytest.raises(SchemaError) as raised:
        infer(function(text))
    assert len(raised.value.findings) == len(found)


# Reading again ---------------------------------------------------------------------------------


def test_equal_defaults_of_other_types_are_kept_apart() -> None:
    module = write("def f(n: bool = True) -> Tensor: ...\ndef g(n: bool = 1) -> Tensor: ...")
    assert read(module.f).parameters == (Parameter("n", Name("bool"), True, Kind.POSITIONAL),)
    assert repr(read(module.g).parameters[0].default) == "1"


def test_a_class_that_is_defined_again_is_read_again() -> None:
    text = "@dataclass\nclass Cfg:\n    {}: int\ndef f(cfg: Cfg) -> Tensor: ..."
    first, second = function(text.format("a")), function(text.format("b"))
    assert str(infer(first)) == "f(SymInt cfg__a) -> Tensor"
    assert str(infer(second)) == "f(SymInt cfg__b) -> Tensor"
    assert str(infer(first)) == "f(SymInt cfg__a) -> Tensor"


def test_an_annotation_that_is_no_key() -> None:
    def f(x: int) -> int: ...

    f.__annotations__["x"] = [int]
    (found,) = examine(f).findings
    assert found.message == "'x' of f: [<class 'int'>] is not a type"


def test_the_prelude_needs_no_torch() -> None:
    """The control: torch is named under TYPE_CHECKING alone."""
    assert "    import torch\n" in PRELUDE
    assert "\nimport torch" not in PRELUDE
