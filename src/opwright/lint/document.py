"""Rules as Markdown: one page each, and a table of them all.

Knows what a rule says of itself; knows nothing of where the pages go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opwright.lint.rule import Rule

LANGUAGES = {".py": "py", ".cpp": "cpp"}
"""`py`, not `python`: what is wrong is not to be run."""


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
        return fenced(files, LANGUAGES[".py"])
    blocks = [
        f"`{name}`\n\n{fenced(text, LANGUAGES[name[name.rindex('.') :]])}"
        for name, text in files.items()
    ]
    return "\n\n".join(blocks)


def fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


FAMILIES = {
    "OW0": "The text of a schema",
    "OW1": "Annotations",
    "OW2": "A handwritten schema against its annotations",
    "OW3": "A kernel, fake or backward against the schema",
    "OW4": "Writes and aliases",
    "OW5": "Registering",
    "OW6": "Calls",
    "OW7": "C++",
}
"""The first characters of a code to what the rules are about."""


def overview(rules: Iterable[Rule]) -> str:
    """All rules, family by family."""
    known = list(rules)
    parts = ["# Rules", INTRODUCTION]
    for prefix, title in FAMILIES.items():
        own = [rule for rule in known if rule.code.startswith(prefix)]
        parts += [f"## {title}", table(own)]
    parts += ["```{toctree}\n:hidden:\n:glob:\n\nrules/*\n```"]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = (
    "Errors are wrong when they are reached, warnings are wrong for some callers, notes are "
    "guesses and habits. `opwright lint --explain CODE` prints a page. Besides these, OW900 and "
    "OW901 say that a file could not be read, and OW910 that a `noqa` comment silences nothing."
)


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
