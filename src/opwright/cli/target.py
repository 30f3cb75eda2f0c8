"""What a target on the command line names: a file, a folder, a module, a function; imports none."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path

import click

from opwright.frozen import frozen


@frozen
class Target:
    """A file or folder, and a function in it if one was named."""

    path: Path
    module: str = ""
    function: str = ""


def find(text: str) -> Target:
    """The target that a text names; `click.BadParameter` where there is none."""
    path = Path(text)
    if text and path.exists():
        return Target(path)
    module, _, function = text.partition(":")
    if all(part.isidentifier() for part in module.split(".")):
        found = _module(module)
        if found is not None:
            return Target(_near(found), module, function)
    elif function and Path(module).is_file():
        return Target(Path(module), "", function)
    raise click.BadParameter(
        f"there is no file, folder or installed module {text!r}", param_hint="TARGET"
    )


def _near(path: Path) -> Path:
    """The path as a person would write it: from here, where it lies below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _module(name: str) -> Path | None:
    """The file or folder of a module, found beside us or where packages are installed."""
    where: list[str] | None = [str(Path.cwd()), *sys.path]
    *packages, last = name.split(".")
    for package in packages:
        spec = PathFinder.find_spec(package, where)
        where = list(spec.submodule_search_locations or ()) if spec else []
    spec = PathFinder.find_spec(last, where)
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    if folders:
        return Path(folders[0])
    return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
