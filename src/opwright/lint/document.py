"""Rules as Markdown: one page each, and a table of them all.

Knows what a rule says of itself; knows nothing of where the pages go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opwright.lint.rule import Rule

LANGUAGES = {".py": "python", ".cpp": "cpp"}


def explained(rule: Rule) -> str:
    """The page of one rule."""
    on = "on by default" if rule.default else "off by default: `--extend-select` it"
    parts = [
        f"# {rule.code}: {rule.title}",
        f"*{rule.severity.value}, {on}*",
        rule.why,
        *([f"`--fix` {rule.fixes}."] if rule.fixes else []),
        "## Wrong",
        example(rule.bad),
        "## Right",
        example(rule.good),
    ]
    return "\n\n".join(parts) + "\n"


def example(files: str | Mapping[str, str]) -> str:
    """Files as fenced blocks, with their names where there are several."""
    if isinstance(files, str):
        return fenced(files, "python")
    blocks = [
        f"`{name}`\n\n{fenced(text, LANGUAGES[name[name.rindex('.') :]])}"
        for name, text in files.items()
    ]
    return "\n\n".join(blocks)


def fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def table(rules: Iterable[Rule]) -> str:
    """All rules in one table."""
    rows = [
        f"| [{rule.code}](rules/{rule.code}.md) | {rule.title} | {rule.severity.value} "
        f"| {'on' if rule.default else 'off'} | {'yes' if rule.fixes else ''} |"
        for rule in rules
    ]
    return "\n".join(
        ["| code | what is wrong | weight | default | fix |", "|---|---|---|---|---|", *rows]
    )
