"""Where the stubs of `torch.ops` can lie, as plans of files to write or to remove.

Knows workspaces and site-packages; touches only what is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from opwright.findings import Diagnostic, SchemaError, Severity, Span
from opwright.stubs.installed import OPS_STUB, Torch
from opwright.stubs.package import FOLDER, is_ours, made_for
from opwright.stubs.plan import Plan

HOME = Path(".opwright")
"""The folder of a workspace that `--install` writes to."""

PTH = "opwright-stubs.pth"
"""The file in site-packages that names the folder."""

Files = Mapping[str, bytes]


def in_typings(folder: Path, files: Files) -> Plan:
    """The stub package in a folder that checkers look into; of an older one nothing stays.

    No files: the package removed.
    """
    package = folder / FOLDER
    _refuse_foreign(package / OPS_STUB, package)
    old: dict[Path, bytes | None] = dict.fromkeys(_all_files(package))
    return Plan(old | {package / name: data for name, data in files.items()})


def installed(workspace: Path, site_packages: Path, files: Files) -> Plan:
    """The stub package in the workspace, and a line in site-packages that leads to it."""
    folder = (workspace / HOME / "typings").resolve()
    pth, line = site_packages / PTH, f"{folder}\n".encode()
    if pth.is_file() and pth.read_bytes() != line:
        message = (
            f"this Python has the stubs of another workspace: {pth.read_text('utf-8').strip()}"
        )
        hint = "run `opwright stubs --torch-ops --install --remove` there"
        raise SchemaError([Diagnostic("OW900", message, hint, Span(str(pth)))])
    own = {workspace / HOME / ".gitignore": b"*\n", pth: line}
    return Plan(
        {**in_typings(folder, files).files, **{k: v if files else None for k, v in own.items()}}
    )


def in_place(torch: Torch, files: Files) -> Plan:
    """One stub inside the installed torch itself."""
    path = torch.folder / OPS_STUB
    _refuse_foreign(path, path)
    return Plan({path: files.get(OPS_STUB)})


def stale(workspace: Path, torch: Torch) -> Iterator[Diagnostic]:
    """The stubs in the usual places that were made for another torch than this one."""
    folders = (Path("typings", FOLDER), HOME / "typings" / FOLDER)
    for stub in (*(workspace / folder / OPS_STUB for folder in folders), torch.folder / OPS_STUB):
        made = made_for(stub.read_text("utf-8", "replace")) if stub.is_file() else None
        if made not in (None, torch.version):
            message = f"these stubs were made for torch {made}, and this is torch {torch.version}"
            hint = "run the `opwright stubs` that made them again, or with `--remove`"
            yield Diagnostic("OW900", message, hint, Span(str(stub)), Severity.WARNING)


def _refuse_foreign(stub: Path, what: Path) -> None:
    """Whatever is there must have been written by us."""
    if what.exists() and not (stub.is_file() and is_ours(stub.read_text("utf-8"))):
        message = "this was not written by `opwright stubs`, so it is left alone"
        hint = "move it away, or give another place: `--typings DIR`"
        raise SchemaError([Diagnostic("OW900", message, hint, Span(str(what)))])


def _all_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
