"""What a project wants from the linter: the table `[tool.opwright.lint]` and how codes are chosen.

Knows nothing of what the rules look at. Pydantic is loaded only when there is a table to read.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError, Severity, Span
from opwright.frozen import field, fields_of, frozen, replace

EXCLUDED = (
    ".bzr .direnv .eggs .git .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv .pytest_cache"
    " .pytype .ruff_cache .svn .tox .venv .vscode __pypackages__ __pycache__ _build buck-out build"
    " dist node_modules site-packages venv"
).split()

_PYDANTIC: Mapping[str, object] = {
    "extra": "forbid",
    "strict": False,
    "alias_generator": lambda name: name.replace("_", "-"),
}


@frozen
class Settings:
    """The table `[tool.opwright.lint]`; in TOML each name has hyphens for underscores."""

    __pydantic_config__ = _PYDANTIC

    select: tuple[str, ...] = ()
    """Codes or prefixes to report; none means all that are on by default."""
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    """Codes or prefixes to report on top of the default ones."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Glob of a path, relative to the settings, to codes."""
    exclude: tuple[str, ...] = tuple(EXCLUDED)
    extend_exclude: tuple[str, ...] = ()
    baseline: str = ""
    """File with findings that are known and not reported again."""
    namespace_map: Mapping[str, str] = field(default_factory=dict)
    """Glob of a C++ file to the namespace that its macro stands for (`TORCH_EXTENSION_NAME`)."""
    macros: Mapping[str, str] = field(default_factory=dict)
    """C++ macros with the values that a build gives them."""
    define_functions: tuple[str, ...] = ()
    """Dotted names of functions and decorators that take what `torch.library.custom_op` takes."""
    fake_decorators: tuple[str, ...] = ()
    """Dotted names of functions and decorators that take what `register_fake` takes."""

    def chosen(self, code: str, *, default: bool = True) -> bool:
        """Whether findings of a code are reported; the longer prefix wins, `ignore` on a tie.

        >>> Settings(select=("OW3",), ignore=("OW30",)).chosen("OW311")
        True
        """
        wanted = _longest(code, (*self.select, *self.extend_select))
        if not self.select and default:
            wanted = max(wanted, 0)
        return wanted > _longest(code, self.ignore)

    def ignored_in(self, code: str, path: str) -> bool:
        """Whether `per-file-ignores` silences a code in a file."""
        return any(
            _longest(code, codes) >= 0 and matches(path, glob)
            for glob, codes in self.per_file_ignores.items()
        )

    def namespace(self, path: str) -> str | None:
        """The namespace that a macro stands for in a C++ file."""
        found = [space for glob, space in self.namespace_map.items() if matches(path, glob)]
        return found[-1] if found else None


def matches(path: str, glob: str) -> bool:
    """Whether a path, or its end, fits a glob; `**` and `*` cross folders.

    >>> matches("csrc/moe/a.cu", "csrc/moe/**"), matches("tests/x.py", "*.py")
    (True, True)
    """
    glob = glob.replace("**", "*").removeprefix("./")
    return fnmatchcase(path, glob) or fnmatchcase(path, f"*/{glob}")


def _longest(code: str, prefixes: Sequence[str]) -> int:
    """The length of the longest prefix that fits, -1 without one; `ALL` fits everything."""
    fitting = [0 if p == "ALL" else len(p) for p in prefixes if p == "ALL" or code.startswith(p)]
    return max(fitting, default=-1)


@frozen
class Project:
    """Settings and the folder that their paths are relative to."""

    root: Path
    settings: Settings = Settings()

    def relative(self, path: str) -> str:
        """A path as globs and reports see it: from the root, with forward slashes."""
        try:
            return Path(path).resolve().relative_to(self.root).as_posix()
        except ValueError:
            return Path(path).as_posix()


def find_project(start: Path) -> Project:
    """The settings that hold for a path: of the nearest `pyproject.toml` with our table.

    Raises `SchemaError` with everything that is wrong in the table.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        table = _table(file) if file.is_file() else None
        if table is not None:
            return Project(folder, read_settings(table, str(file)))
    return Project(start if start.is_dir() else start.parent)


def _table(file: Path) -> Mapping[str, object] | None:
    """`[tool.opwright.lint]` of a file; None where it has no such table."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]
    try:
        data = file.read_bytes()
        if b"opwright" not in data:
            return None
        content = tomllib.loads(data.decode())
    except (OSError, ValueError) as error:
        message = f"this file cannot be read: {error}"
        raise SchemaError([Diagnostic("OW911", message, span=Span(str(file)))]) from None
    tool = content.get("tool")
    table = tool.get("opwright") if isinstance(tool, dict) else None
    if not isinstance(table, dict) or not table:
        return None
    if misplaced := [key for key in table if key != "lint"]:
        raise SchemaError([_misplaced(key, str(file)) for key in misplaced])
    lint: Mapping[str, object] = table.get("lint", {})
    return lint


def _misplaced(key: str, file: str) -> Diagnostic:
    """What stands beside the table of the linter, where nothing is read."""
    near = difflib.get_close_matches(key.replace("_", "-"), _known(), n=1, cutoff=0.5)
    hint = f"{f'write `{near[0]}`' if near else 'settings stand'} in [tool.opwright.lint]"
    return Diagnostic("OW911", f"[tool.opwright] has no setting {key!r}", hint, span=Span(file))


def read_settings(table: Mapping[str, object], file: str = "") -> Settings:
    """Check a table and turn it into settings.

    >>> read_settings({"selct": ["OW3"]})
    Traceback (most recent call last):
    opwright.findings.SchemaError: OW911 [tool.opwright.lint] has no setting 'selct'
      hint: write `select`
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Settings).validate_python(table)
    except ValidationError as refused:
        errors = refused.errors(include_url=False)
    raise SchemaError(
        [_refusal(error["type"], error["loc"], error["msg"], file) for error in errors]
    )


def _known() -> list[str]:
    """The names of all settings, as they are written."""
    return [name.replace("_", "-") for name in fields_of(Settings())]


def _refusal(kind: str, where: tuple[int | str, ...], message: str, file: str) -> Diagnostic:
    known = _known()
    name = ".".join(map(str, where))
    if kind != "unexpected_keyword_argument":
        said = f"[tool.opwright.lint] {name}: {message[:1].lower()}{message[1:]}"
        return Diagnostic("OW911", said, span=Span(file))
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"write `{near[0]}`" if near else f"the settings are {', '.join(sorted(known))}"
    return Diagnostic(
        "OW911", f"[tool.opwright.lint] has no setting {name!r}", hint, Span(file), Severity.ERROR
    )


def changed(settings: Settings, **changes: object) -> Settings:
    """Settings with what a command line says on top; empty values change nothing."""
    return replace(settings, **{name: value for name, value in changes.items() if value})  # type: ignore[arg-type]
