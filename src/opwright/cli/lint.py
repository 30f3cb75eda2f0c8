"""`opwright lint`: every place where schemas and functions disagree, in Python and C++."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opwright.cli.exits import Exit
from opwright.codes import CODES
from opwright.findings import Diagnostic, SchemaError, Severity
from opwright.frozen import frozen
from opwright.lint.engine import Progress, Report, judged, lint, settled
from opwright.lint.home import default_folder
from opwright.lint.settings import Project, changed, find_project
from opwright.survey.index import Index

if TYPE_CHECKING:
    from opwright.lint.fix import Mended

FORMATS = ("text", "concise", "json", "github", "sarif", "junit")
ROUNDS = 10
"""How often fixes are applied that others made possible."""


@frozen
class Options:
    """What a command line says, settings and paths aside."""

    form: str = "text"
    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    statistics: bool = False
    write_baseline: bool = False
    exit_zero: bool = False


def _codes(value: str) -> tuple[str, ...]:
    return tuple(code.strip().upper() for code in value.split(",") if code.strip())


def _checked(
    ctx: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """Codes and prefixes, several at a time; one that fits nothing is refused."""
    codes = tuple(code for value in given for code in _codes(value))
    for code in codes:
        if code != "ALL" and not any(known.startswith(code) for known in CODES):
            raise click.BadParameter(f"no code starts with {code!r}; `opwright explain` lists them")
    return codes


@click.command("lint")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--select", multiple=True, callback=_checked, help="Report these codes only.")
@click.option("--extend-select", multiple=True, callback=_checked, help="Report these as well.")
@click.option("--ignore", multiple=True, callback=_checked, help="Do not report these.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--fix", "mend", is_flag=True, help="Mend what can be mended safely.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: what may change meaning.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--baseline", "known", metavar="FILE", help="Do not report what this file knows.")
@click.option("--write-baseline", is_flag=True, help="Write all findings to the baseline file.")
@click.option("--statistics", is_flag=True, help="Count findings by code.")
@click.option("--explain", metavar="CODE", help="Say why a rule is there, with examples.")
@click.option(
    "--import",
    "imported",
    multiple=True,
    metavar="MODULE",
    help="Import this module, and judge what is registered instead of what is written.",
)
@click.option("--stdin-filename", metavar="PATH", help="Name of the text given as `-`.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--isolated", is_flag=True, help="Read no settings.")
@click.option("--no-cache", is_flag=True, help="Read every file again.")
def command(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    form: str,
    mend: bool,
    unsafe_fixes: bool,
    diff: bool,
    known: str | None,
    write_baseline: bool,
    statistics: bool,
    explain: str | None,
    imported: tuple[str, ...],
    stdin_filename: str | None,
    watch: bool,
    exit_zero: bool,
    isolated: bool,
    no_cache: bool,
) -> Exit:
    """Report where schemas, functions and calls of operators disagree below each PATH.

    Reads Python and C++ as they are; imports and runs nothing. Settings are the table
    [tool.opwright.lint] of the nearest pyproject.toml.
    """
    if explain:
        from opwright.cli.explain import tell

        tell(explain)
        return Exit.CLEAN
    work = _Work(paths or (".",), stdin_filename, None if no_cache else default_folder())
    options = Options(form, mend, unsafe_fixes, diff, statistics, write_baseline, exit_zero)
    try:
        project = Project(Path.cwd()) if isolated else find_project(Path(work.first))
        given = {
            "select": select,
            "extend_select": (*project.settings.extend_select, *extend_select),
            "ignore": (*project.settings.ignore, *ignore),
            "baseline": known or "",
        }
        project = Project(project.root, changed(project.settings, **given))
        if imported:
            return _tell(_registered(imported, project), options, project)
        if watch:
            return _watch(work, project, options)
        return _once(work, project, options)
    except SchemaError as refused:
        print(refused, file=sys.stderr)
        return Exit.UNUSABLE


class _Work:
    """What is to be linted: paths, and perhaps a text from standard input."""

    def __init__(
        self, paths: Sequence[str], stdin_filename: str | None, cache: Path | None
    ) -> None:
        self.cache = cache
        self.texts: Mapping[str, bytes] = {}
        name = stdin_filename or "stdin.py"
        if "-" in paths:
            self.texts = {name: sys.stdin.buffer.read()}
        self.paths = [path for path in paths if path != "-"]
        for path in self.paths:
            if not Path(path).exists():
                raise click.BadParameter(f"there is no {path!r}", param_hint="PATH")
        self.first = next(iter(self.paths), str(Path(name).parent))


def _once(work: _Work, project: Project, options: Options) -> Exit:
    report = _linted(work, project)
    if options.write_baseline:
        return _write_baseline(report, project)
    if options.diff or options.fix:
        return _mend(work, project, options, report)
    return _tell(_news(report.findings, project), options, project)


def _linted(work: _Work, project: Project) -> Report:
    with _watched() as bar:
        return lint(work.paths, project, progress=bar, texts=work.texts, cache=work.cache)


def _watched() -> AbstractContextManager[Progress]:
    """What is told how far a run is."""
    if not sys.stderr.isatty():
        return nullcontext(_silent)
    from opwright.cli.progress import Bar

    return Bar("reading files")


def _silent(done: int, total: int) -> None:
    """No one watches."""


def _news(findings: Sequence[Diagnostic], project: Project) -> list[Diagnostic]:
    """What the baseline does not know."""
    file = project.settings.baseline
    if not file:
        return list(findings)
    from opwright.lint import baseline

    return list(baseline.unknown(findings, baseline.read(project.root / file), project.relative))


def _tell(findings: Sequence[Diagnostic], options: Options, project: Project) -> Exit:
    if options.statistics:
        print(_statistics(findings), end="")
    else:
        from opwright.lint.report import render

        print(render(findings, options.form, _shown_path), end="")
        if options.form == "text" and sys.stdout.isatty():
            print(_summary(findings))
    return _verdict(findings, options)


def _verdict(findings: Sequence[Diagnostic], options: Options) -> Exit:
    """Notes are guesses: alone they fail nothing."""
    if any(found.code == "OW900" for found in findings):
        return Exit.UNUSABLE
    wrong = any(found.severity is not Severity.NOTE for found in findings)
    return Exit.FINDINGS if wrong and not options.exit_zero else Exit.CLEAN


def _shown_path(file: str) -> str:
    """A file as the user would name it: from the current folder, where it lies below."""
    try:
        return str(Path(file).resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file


def _summary(findings: Sequence[Diagnostic]) -> str:
    counts = {weight: sum(f.severity is weight for f in findings) for weight in Severity}
    shown = [f"{n} {weight.value}{'s' * (n != 1)}" for weight, n in counts.items() if n]
    return ", ".join(shown) or "no findings"


def _statistics(findings: Sequence[Diagnostic]) -> str:
    counts: dict[str, int] = {}
    for found in findings:
        counts[found.code] = counts.get(found.code, 0) + 1
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return "".join(f"{count:>6}  {code}  {CODES[code].title}\n" for code, count in rows)


def _write_baseline(report: Report, project: Project) -> Exit:
    if not project.settings.baseline:
        raise click.UsageError("name the file: `--baseline FILE --write-baseline`")
    from opwright.lint import baseline

    path = project.root / project.settings.baseline
    count = baseline.write(path, report.findings, project.relative)
    print(f"{count} findings written to {_shown_path(str(path))}")
    return Exit.CLEAN


# Runtime


def _registered(modules: Sequence[str], project: Project) -> list[Diagnostic]:
    """What the rules say of the operators that importing some modules registers."""
    try:
        from opwright.ops.surveyed import facts_of
    except ImportError:
        raise click.UsageError("--import needs torch: `pip install 'opwright[torch]'`") from None
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` would
    try:
        facts = [fact for module in modules for fact in facts_of(module)]
    except Exception as error:  # the module's own, whatever it is
        said = f"importing {', '.join(modules)} fails: {type(error).__name__}: {error}"
        raise click.UsageError(said) from None
    return settled(judged(Index(tuple(facts)), project), (), project)


# Fixes


def _mend(work: _Work, project: Project, options: Options, report: Report) -> Exit:
    """Mend until nothing is left to mend; with --diff only show the first round."""
    if options.diff:
        for mended in _mended(work, report, options).values():
            print(mended.diff(), end="")
        return _verdict(_news(report.findings, project), options)
    for _ in range(ROUNDS):
        changes = _mended(work, report, options)
        if not changes:
            break
        _write(work, changes)
        report = _linted(work, project)
    if work.texts:
        sys.stdout.write(next(iter(work.texts.values())).decode())
        return _verdict(_news(report.findings, project), options)
    return _tell(_news(report.findings, project), options, project)


def _mended(work: _Work, report: Report, options: Options) -> dict[str, Mended]:
    from opwright.lint import fix

    chosen = fix.fixes(report.findings, unsafe=options.unsafe)
    return fix.mend(chosen, lambda file: _text(work, file))


def _text(work: _Work, file: str) -> str:
    data = work.texts[file] if file in work.texts else Path(file).read_bytes()
    return data.decode()


def _write(work: _Work, changes: Mapping[str, Mended]) -> None:
    texts = dict(work.texts)
    for file, mended in changes.items():
        if file in texts:
            texts[file] = mended.after.encode()
        else:
            Path(file).write_bytes(mended.after.encode())
    work.texts = texts


# Watching


def _watch(work: _Work, project: Project, options: Options) -> Exit:
    try:
        from watchfiles import watch  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise click.UsageError("--watch needs watchfiles: `pip install opwright[watch]`") from None
    _once(work, project, options)
    for _ in watch(*work.paths, raise_interrupt=False):
        click.clear()
        _once(work, project, options)
    return Exit.CLEAN
