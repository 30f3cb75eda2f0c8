"""Comments that silence findings: `# noqa: OW311` in Python, `// noqa: OW311` in C++.

Knows comments; knows nothing of rules.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator

from opwright.findings import Diagnostic, Edit, Fix, Severity, Span
from opwright.frozen import frozen

# Texts: few files have such comments, and `re` keeps what it compiles.
NOQA = r"(?i)(?P<lead>#|//)\s*noqa(?P<codes>\s*:\s*[a-z]+[0-9]+(?:[\s,]+[a-z]+[0-9]+)*)?"
CODE = r"[A-Za-z]+[0-9]+"
OURS = "OW"
OURS_TOO = r"(?i)noqa[^\n]{0,80}OW\d"
"""Without a code of ours, comments need not be told from strings: no one reports them as unused."""


@frozen
class Silence:
    """One comment: the codes that it silences in its line; no codes silence all.

    `whole` is what to delete when nothing is left of it, `part` what the codes and the word take.
    """

    part: Span
    whole: Span
    lead: str
    codes: tuple[str, ...]

    def covers(self, code: str) -> bool:
        return not self.codes or code in self.codes


Used = set[tuple[Silence, str]]


def silences(text: str, file: str, *, python: bool) -> tuple[Silence, ...]:
    """The silencing comments of a file, never those inside its strings.

    >>> silences("x = 1  # noqa: OW311, E501", "a.py", python=True)[0].codes
    ('OW311', 'E501')
    """
    if "noqa" not in text and "NOQA" not in text:
        return ()
    lines = text.split("\n")
    if re.search(OURS_TOO, text) is None:
        return _blank(lines, file)
    comments = _python_comments(text) if python else _cpp_comments(text)
    found = (_silence(lines[line - 1], file, line, at, comment) for line, at, comment in comments)
    return tuple(filter(None, found))


def _blank(lines: list[str], file: str) -> tuple[Silence, ...]:
    """Comments without codes; one inside a string silences nothing that could be found there."""
    found = []
    for number, line in enumerate(lines, 1):
        if "noqa" in line.lower() and (match := re.search(NOQA, line)) and match["codes"] is None:
            silence = _silence(line, file, number, match.start(), line[match.start() :])
            found.append(silence)
    return tuple(filter(None, found))


def _silence(text: str, file: str, line: int, at: int, comment: str) -> Silence | None:
    match = re.search(NOQA, comment)
    if match is None:
        return None
    start, end = at + match.start() + 1, at + match.end() + 1
    before = len(text[: start - 1].rstrip()) + 1
    rest = comment[match.end() :].strip()
    whole = Span(file, line, start if rest else before, line, end)
    codes = tuple(code.upper() for code in re.findall(CODE, match["codes"] or ""))
    lead = match["lead"]
    return Silence(Span(file, line, start, line, end), whole, lead if rest else "", codes)


def _python_comments(text: str) -> Iterator[tuple[int, int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1], token.string
    except (SyntaxError, tokenize.TokenError):  # what comes before the fault has been given
        return


def _cpp_comments(text: str) -> Iterator[tuple[int, int, str]]:
    from opwright.survey.cpp_text import Source  # not loaded for Python alone

    source = Source.of(text)
    for start, end in source.comments:
        line, column = source.place(start)
        yield line, column - 1, text[start:end]


def kept(
    findings: Iterable[Diagnostic], silences: Iterable[Silence], used: Used
) -> Iterator[Diagnostic]:
    """The findings of one file that no comment silences; what comments did goes to `used`."""
    by_line: dict[int, list[Silence]] = {}
    for silence in silences:
        by_line.setdefault(silence.part.line, []).append(silence)
    for found in findings:
        silent = [
            s for line in _lines(found) for s in by_line.get(line, ()) if s.covers(found.code)
        ]
        used.update((silence, found.code) for silence in silent)
        if not silent:
            yield found


def _lines(found: Diagnostic) -> range:
    """The lines whose comments count: those of the finding, of a long one only its head."""
    last = max(found.span.line, found.span.end_line)
    return range(found.span.line, min(last, found.span.line + LONGEST) + 1)


LONGEST = 200


def unused(
    silences: Iterable[Silence], used: Used, reported: Callable[[str], bool]
) -> Iterator[Diagnostic]:
    """A finding for each comment with codes of ours that are reported and silenced nothing."""
    for silence in silences:
        idle = [
            code
            for code in silence.codes
            if code.startswith(OURS) and reported(code) and (silence, code) not in used
        ]
        if idle:
            yield _idle(silence, idle)


def _idle(silence: Silence, idle: list[str]) -> Diagnostic:
    left = [code for code in silence.codes if code not in idle]
    mark = "#" if silence.part.file.endswith((".py", ".pyi")) else "//"
    text = f"{mark} noqa: {', '.join(left)}" if left else silence.lead
    edit = Edit(silence.part if left else silence.whole, text)
    return Diagnostic(
        "OW910",
        f"the comment silences {' and '.join(idle)}, which is not found here",
        f"write `{text}`" if left else "take the comment out",
        silence.part,
        Severity.WARNING,
        fix=Fix("Take what is not found out of the comment", (edit,)),
    )
