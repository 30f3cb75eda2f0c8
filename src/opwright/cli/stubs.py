"""`opwright stubs`: `.pyi` for operators, from source or from this process, to where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from opwright.cli import show
from opwright.cli.answers import imported
from opwright.cli.exits import Exit, verdict
from opwright.findings import Diagnostic, SchemaError, Severity
from opwright.frozen import frozen
from opwright.never import assert_never
from opwright.stubs.accessor import accessor, without
from opwright.stubs.installed import find_torch, site_packages
from opwright.stubs.operators import Namespace, Operator, Unread, gather
from opwright.stubs.package import package
from opwright.stubs.places import in_place, in_typings, installed
from opwright.stubs.plan import Plan
from opwright.stubs.source import Found, declared
from opwright.stubs.write import module


@frozen
class Wanted:
    """What the command line asks for."""

    paths: tuple[Path, ...]
    live: tuple[str, ...]
    modules: tuple[str, ...]
    every: bool
    namespaces: tuple[str, ...]
    accessor: Path | None
    torch_ops: bool
    typings: Path | None
    install: bool
    in_place: bool
    remove: bool
    check: bool


@click.command("stubs")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--live", multiple=True, metavar="NAMESPACE", help="As registered in this process.")
@click.option("--import", "modules", multiple=True, metavar="MODULE", help="Import this first.")
@click.option("--all", "every", is_flag=True, help="Every operator of this process, torch's too.")
@click.option("--namespace", "namespaces", multiple=True, help="Only operators of this namespace.")
@click.option("--accessor", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@click.option("--torch-ops", is_flag=True, help="Type `torch.ops` itself, in this workspace.")
@click.option("--typings", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.option("--install", is_flag=True, help="With a `.pth` in this Python's site-packages.")
@click.option("--in-place", is_flag=True, help="Inside the installed torch.")
@click.option("--remove", is_flag=True, help="Take away what this command wrote.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 with a diff if stale.")
def command(**options: object) -> Exit:
    """Write stubs of the operators that PATHS declare, or of live ones.

    PATHS are files and folders of Python and C++; nothing of them is imported. Without a place to
    write to, the stubs are printed.
    """
    wanted = Wanted(**options)  # type: ignore[arg-type]
    _refuse(wanted)
    try:
        if not (wanted.accessor or wanted.torch_ops):
            print(module(_namespaces(wanted)), end="")
            return Exit.CLEAN
        return _carry_out(_plan(wanted), wanted)
    except SchemaError as refused:
        raise click.ClickException("\n".join(map(show.plain, refused.findings))) from None


def _refuse(wanted: Wanted) -> None:
    """Command lines that say nothing, or two things at once."""
    live = bool(wanted.live or wanted.every or wanted.modules)
    places = [wanted.typings is not None, wanted.install, wanted.in_place]
    if wanted.accessor and wanted.torch_ops:
        raise click.UsageError("--accessor and --torch-ops are two kinds of stubs: run it twice")
    if any(places) and not wanted.torch_ops:
        raise click.UsageError("--typings, --install and --in-place go with --torch-ops")
    if sum(places) > 1:
        raise click.UsageError("give one of --typings, --install and --in-place")
    if wanted.remove and not (wanted.accessor or wanted.torch_ops):
        raise click.UsageError("say what to remove: --torch-ops or --accessor FILE")
    if not (wanted.remove or wanted.paths or live):
        raise click.UsageError("give PATHS to read, or --live NAMESPACE, or --all")
    if wanted.modules and not (wanted.live or wanted.every):
        raise click.UsageError("--import goes with --live NAMESPACE or --all")


# What ------------------------------------------------------------------------------------------


def _namespaces(wanted: Wanted) -> tuple[Namespace, ...]:
    """The operators that were asked for; what had to be left out is told."""
    operators: list[Operator | Unread] = []
    for found in _found(wanted):
        for finding in _reasons(found):
            click.echo(f"untyped: {show.plain(finding)}", err=True)
        if not isinstance(found, Diagnostic) and _is_wanted(found, wanted.namespaces):
            operators.append(found)
    if not operators:
        raise click.ClickException(_nothing(wanted))
    return gather(operators)


def _reasons(found: Found) -> tuple[Diagnostic, ...]:
    """Why something could not be typed."""
    match found:
        case Operator():
            return ()
        case Unread(_, findings):
            return tuple(each for each in findings if each.severity is Severity.ERROR)
        case Diagnostic():
            return (found,)
        case _:
            assert_never(found)


def _is_wanted(found: Operator | Unread, namespaces: Sequence[str]) -> bool:
    name = found.name if isinstance(found, Unread) else found.schema.name
    return not namespaces or name.partition("::")[0] in namespaces


def _nothing(wanted: Wanted) -> str:
    if wanted.live:
        names = ", ".join(f"`{name}`" for name in wanted.live)
        return f"nothing is registered in {names}: give --import MODULE for what registers it"
    where = " ".join(map(str, wanted.paths))
    return f"no operators found in {where}: they are found by how they are registered"


def _found(wanted: Wanted) -> Iterator[Found]:
    if wanted.paths:
        yield from declared(wanted.paths)
    if wanted.live or wanted.every:
        for module in wanted.modules:
            imported(module)
        yield from _registered(() if wanted.every else wanted.live)


def _registered(namespaces: Sequence[str]) -> Iterator[Operator | Unread]:
    try:
        from opwright.ops.registered import registered
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
        raise click.ClickException("--live needs PyTorch: pip install 'opwright[torch]'") from None
    return registered(namespaces)


# Where -----------------------------------------------------------------------------------------


def _plan(wanted: Wanted) -> Plan:
    if wanted.accessor:
        return _accessor_plan(wanted.accessor, wanted)
    torch = find_torch()
    files = {} if wanted.remove else package(torch, _namespaces(wanted))
    if wanted.in_place:
        return in_place(torch, files)
    if wanted.install:
        return installed(Path.cwd(), site_packages(), files)
    return in_typings(wanted.typings or Path("typings"), files)


def _accessor_plan(file: Path, wanted: Wanted) -> Plan:
    text = file.read_text("utf-8") if file.is_file() else ""
    if wanted.remove:
        return Plan({file: without(text, str(file)).encode() or None})
    return Plan({file: accessor(_namespaces(wanted), text, str(file)).encode()})


def _carry_out(plan: Plan, wanted: Wanted) -> Exit:
    if wanted.check:
        stale = [*plan.diff()]
        for line in stale:
            print(line)
        return verdict(found=bool(stale))
    changed = plan.carry_out()
    verb = "removed" if wanted.remove else "wrote"
    click.echo(f"{verb} {len(changed)} files" if changed else "nothing to change")
    return Exit.CLEAN
