"""Names resolved across the files of a package, and where findings point; nothing is imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opwright.findings import SchemaError
from opwright.hints.files import Folders
from opwright.hints.lower import lower
from opwright.hints.resolve import Sources
from opwright.hints.source import read_source

PACKAGE = {
    "pack/__init__.py": """
from .types import Tensor as T0, Cfg
from .core import *
from . import act
""",
    "pack/types.py": """
from __future__ import annotations
import dataclasses as dc
import typing as t
from typing import TYPE_CHECKING, NewType, TypeAlias, NamedTuple
if TYPE_CHECKING:
    from torch import Tensor
else:
    Tensor = object
Maybe: TypeAlias = "Tensor | None"
Rank = NewType("Rank", int)
SCALE = 2.5
K = t.TypeVar("K")
Two = tuple[K, K]
frozen = dc.dataclass(frozen=True)
@frozen
class Cfg:
    scale: float = SCALE
    flags: list[int] = dc.field(default_factory=list)
    kind: t.ClassVar[int] = 0
@dc.dataclass
class More(Cfg):
    causal: bool = False
class Point(NamedTuple):
    x: int
    y: int = -1
""",
    "pack/core.py": """
__all__ = ["Public", "_listed"]
from .types import Rank as Public
from .types import Maybe as _listed
from .types import SCALE as hidden
""",
    "pack/act.py": """
import enum
class Base(str, enum.Enum):
    pass
class Act(Base):
    RELU = "relu"
    GELU = "gelu"
class Level(enum.IntEnum):
    LOW = enum.auto()
    HIGH = enum.auto()
    TOP = HIGH
""",
    "pack/sub/deep.py": "from ..types import Cfg as Deep\nfrom ... import nothing\n",
    "pack/loop_a.py": "from .loop_b import X\n",
    "pack/loop_b.py": "from .loop_a import X\n",
    "pack/broken.py": "def (:\n",
}
HEAD = """\
from __future__ import annotations
import pack
import pack.types as pt
import torch, typing, math
from pack import T0, Cfg, Public, _listed, act
from pack.act import Act, Level
from pack.sub.deep import Deep
from .types import More, Point, Two, Rank
try:
    from torch import Tensor
except ImportError:
    Tensor = None
"""
NAMES = {
    "x: T0": "Tensor x",
    "x: pack.T0": "Tensor x",
    "x: pt.Maybe": "Tensor? x",
    "x: Tensor": "Tensor x",
    "x: torch.Tensor": "Tensor x",
    "x: Public": "SymInt x",
    "x: pack.Public": "SymInt x",
    "x: _listed": "Tensor? x",
    "x: Two[float]": "float[2] x",
    "x: typing.Optional[Rank] = None": "SymInt? x=None",
    "c: Cfg": "float c__scale=2.5, SymInt[] c__flags=[]",
    "c: Deep": "float c__scale=2.5, SymInt[] c__flags=[]",
    "c: pack.types.More": "float c__scale=2.5, SymInt[] c__flags=[], bool c__causal=False",
    "c: More": "float c__scale=2.5, SymInt[] c__flags=[], bool c__causal=False",
    "c: Point": "SymInt c__x, SymInt c__y=-1",
    "a: Act = Act.GELU": 'str a="gelu"',
    "a: act.Act = pack.act.Act.RELU": 'str a="relu"',
    "a: Level = Level.TOP": "int a=2",
    "a: int = Level.HIGH": "SymInt a=2",
    "a: float = pt.SCALE": "float a=2.5",
    "a: float = -pt.SCALE * 2": "float a=-5.0",
    "a: float = math.pi": "float a=3.141592653589793",
    "a: str = f'{Act.RELU.value}-{1 + 1}'": 'str a="relu-2"',
    "a: torch.dtype = torch.half": "ScalarType a=float16",
    "a: torch.device = torch.device('cuda', 1)": 'Device a="cuda:1"',
    "a: list[int] = [1, 2] + [3]": "SymInt[] a=[1, 2, 3]",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "pack"


@pytest.mark.parametrize("parameter", NAMES)
def test_a_name_is_followed(parameter: str, package: Path) -> None:
    file = package / "ops.py"
    file.write_text(f"{HEAD}def f({parameter}) -> Tensor: ...\n")
    before = set(sys.modules)
    found = lower(read_source(file, "f"))
    assert [f for f in found.findings if f.severity.value == "error"] == []
    assert str(found.schema) == f"f({NAMES[parameter]}) -> Tensor"
    assert "pack" not in set(sys.modules) - before


@pytest.mark.parametrize("annotation", ["pack.hidden", "Nowhere", "pack.loop_a.X", "pack.broken.X"])
def test_a_name_that_leads_nowhere_is_refused(annotation: str, package: Path) -> None:
    file = package / "ops.py"
    file.write_text(f"{HEAD}def f(x: {annotation}) -> Tensor: ...\n")
    (found,) = lower(read_source(file, "f")).findings
    assert found.code in ("OW102", "OW103")
    assert annotation.rpartition(".")[2] in found.message
    assert (found.span.line, found.span.column) == (13, 10)


def test_spans_are_the_annotations_own(tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text("é = 'ü'; \\\ndef_ = 1\ndef f(ö: 'dict', *, y: list[\n  set]) -> 'set': ...\n")
    function = read_source(file, "f")
    spans = [function.span, *(p.span for p in function.parameters), function.returns_span]
    assert [(s.line, s.column, s.end_line, s.end_column) for s in spans] == [
        (3, 5, 3, 6),
        (3, 10, 3, 16),
        (3, 24, 4, 7),
        (4, 12, 4, 17),
    ]


LOCALS = """
def outer(dtype):
    from torch import Tensor
    Size = list[int]
    class Cfg:
        def method(self, x: Tensor) -> Tensor: ...
        @staticmethod
        def static(x: Size) -> Tensor: ...
    def inner(x: Tensor, size: Size, d: dtype) -> Tensor: ...
"""


def test_names_of_the_functions_around(tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text(LOCALS)
    found = lower(read_source(file, "outer.<locals>.inner"))
    assert [f.message for f in found.findings] == [
        "'d' of inner: dtype is not defined where the annotation is written"
    ]
    static = lower(read_source(file, "outer.<locals>.Cfg.static"))
    assert (str(static.schema), static.findings) == ("static(SymInt[] x) -> Tensor", ())
    (method,) = lower(read_source(file, "outer.<locals>.Cfg.method")).findings
    assert method.code == "OW104"


def test_a_function_that_is_not_there_is_said(tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text("class g: ...\n")
    for name in ("f", "g", "g.h"):
        with pytest.raises(SchemaError) as raised:
            read_source(file, name)
        assert str(raised.value) == f"{file}: OW902 {file} has no function {name!r}"


def test_the_package_around_a_file_names_it(tmp_path: Path) -> None:
    for name in ("site/top/__init__.py", "site/top/plain/leaf.py", "site/script.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    folders = Folders()
    names = [folders.name(tmp_path / "site" / p) for p in ("top/plain/leaf.py", "script.py")]
    assert names == ["top.plain.leaf", "script"]
    assert folders.name(tmp_path / "site/top/__init__.py") == "top"


BOMBS = ["9 ** 9 ** 9", "'x' * 10 ** 10", "[0] * 10 ** 10", "1 << 10 ** 10", "'%9999999999d' % 1"]


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_default_cannot_blow_up(bomb: str, tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text(f"def f(x: int = {bomb}) -> int: ...\n")
    (found,) = [f for f in lower(read_source(file, "f")).findings if f.code == "OW106"]
    assert found.message.startswith("'x' of f: the default")


DEEP = {
    "OW103": ("x: " + " | ".join(["int"] * 2_000), "... is nested too deeply"),
    "OW106": ("x: int = " + "+".join(["1"] * 2_000), "the default ... is no constant"),
}


@pytest.mark.parametrize("code", DEEP)
def test_what_is_nested_too_deeply_is_refused(code: str, tmp_path: Path) -> None:
    parameter, message = DEEP[code]
    file = tmp_path / "ops.py"
    branches = "".join(f"elif x == {n}: y = {n}\n" for n in range(500))
    file.write_text(f"if x: pass\n{branches}def f({parameter}) -> int: ...\n")
    found = [f.message for f in lower(read_source(file, "f")).findings if f.code == code]
    assert found == [f"'x' of f: {message}"]


def test_a_file_is_parsed_once(package: Path) -> None:
    sources = Sources()
    first = sources.open(package / "types.py")
    assert sources.open(package / "types.py") is first
    sources.forget(package / "types.py")
    assert sources.open(package / "types.py") is not first


TYPE_PARAMETERS = """
from torch import Tensor
type Pair[T] = tuple[T, T]
type Small = int
type Loop = list[Loop]
type Tree[T] = list[Tree[T]]
def f[N: int, M: (int, float)](x: N, y: M, p: Pair[float], s: Small | None = None) -> Tensor: ...
def g[N](x: N, y: Loop, z: Tree[int], w: Pair[Pair[int]]) -> Tensor: ...
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax of Python 3.12")
def test_type_parameters(tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text(TYPE_PARAMETERS)
    schema = lower(read_source(file, "f")).schema
    assert str(schema) == "f(SymInt x, Scalar y, float[2] p, SymInt? s=None) -> Tensor"
    found = lower(read_source(file, "g")).findings
    assert [f.message for f in found if f.code == "OW103"] == [
        "'x' of g: N is a type variable without bound or constraints",
        "'y' of g: Loop contains itself",
        "'z' of g: Tree[T] contains itself",
    ]
