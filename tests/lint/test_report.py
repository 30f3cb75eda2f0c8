"""Reports: what each form says of the same findings, held against its schema where it has one."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from opwright.codes import CODES
from opwright.findings import Diagnostic, Edit, Fix, Related, Severity, Span
from opwright.lint.report import FORMATS, render
from opwright.lint.report.sarif import uri

SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-rtm.5.json").read_text())
"""The SARIF schema as Microsoft publishes it with jest-sarif (MIT)."""


@pytest.fixture
def findings(tmp_path: Path) -> list[Diagnostic]:
    file = tmp_path / "ops.py"
    file.write_text("first\n\tlib.define('f(Tensr x)')\nthird\n")
    span = Span(str(file), 2, 14, 2, 23)
    fix = Fix("Write it", (Edit(span, "Tensor x"),))
    other = (Related(Span(str(file), 3, 1, 3, 6), "the other"),)
    return [
        Diagnostic("OW304", 'a "wrong" <default>', "write & so", span, related=other, fix=fix),
        Diagnostic("OW504", "no fake\nhere", "", Span(str(file), 1, 1), Severity.WARNING),
        Diagnostic("OW900", "not readable", span=Span("gone.py"), severity=Severity.NOTE),
    ]


def name(file: str) -> str:
    return Path(file).name


def test_text_shows_both_places(findings: list[Diagnostic]) -> None:
    assert render(findings[:1], "text", name) == (
        'ops.py:2:14: error OW304 a "wrong" <default>\n'
        "    2 |  lib.define('f(Tensr x)')\n"
        "      |              ^^^^^^^^^\n"
        "  ops.py:3:1: the other\n"
        "    3 | third\n"
        "      | ^^^^^\n"
        "  hint: write & so\n"
    )


def test_a_long_line_is_shown_around_the_finding(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("x" * 5_000_000 + "HERE" + "y" * 5_000_000)
    span = Span(str(file), 1, 5_000_001, 1, 5_000_005)
    shown = render([Diagnostic("OW304", "m", span=span)], "text", name).splitlines()
    at = shown[1].index("HERE")
    assert shown[2] == f"      |{' ' * (at - 7)}^^^^"
    assert max(map(len, shown)) < 130


def test_concise_is_a_line_each(findings: list[Diagnostic]) -> None:
    shown = render(findings[:1] + findings[2:], "concise", name)
    assert shown == (
        'ops.py:2:14: error OW304 a "wrong" <default>\ngone.py: note OW900 not readable\n'
    )


def test_json_says_everything(findings: list[Diagnostic]) -> None:
    first, second, _ = json.loads(render(findings, "json", name))
    assert first == {
        "code": "OW304",
        "severity": "error",
        "message": 'a "wrong" <default>',
        "file": "ops.py",
        "line": 2,
        "column": 14,
        "end_line": 2,
        "end_column": 23,
        "hint": "write & so",
        "related": [
            {
                "message": "the other",
                "file": "ops.py",
                "line": 3,
                "column": 1,
                "end_line": 3,
                "end_column": 6,
            }
        ],
        "fix": {
            "title": "Write it",
            "safe": True,
            "edits": [
                {
                    "text": "Tensor x",
                    "file": "ops.py",
                    "line": 2,
                    "column": 14,
                    "end_line": 2,
                    "end_column": 23,
                }
            ],
        },
    }
    assert "hint" not in second


def test_github_escapes_what_it_must(findings: list[Diagnostic]) -> None:
    lines = render(findings, "github", name).splitlines()
    assert lines[0] == (
        "::error title=opwright (OW304),file=ops.py,line=2,col=14,endLine=2,endColumn=23"
        '::a "wrong" <default>; write & so'
    )
    assert lines[1].endswith("::no fake%0Ahere")
    assert lines[2].startswith("::notice ")


def test_junit_is_xml_with_a_failure_each(findings: list[Diagnostic]) -> None:
    root = ElementTree.fromstring(render(findings, "junit", name))
    assert root.attrib["failures"] == "3"
    failures = [node.attrib["message"] for node in root.iter("failure")]
    assert sorted(failures) == ['a "wrong" <default>', "no fake\nhere", "not readable"]


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_found_is_said_in_each_form(form: str) -> None:
    shown = render([], form, name)
    assert shown == "" or form in ("json", "sarif", "junit")


def test_sarif_follows_its_schema(findings: list[Diagnostic]) -> None:
    log = json.loads(render(findings, "sarif", name))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["OW304", "OW504", "OW900"]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert run["results"][0]["relatedLocations"][0]["message"] == {"text": "the other"}
    assert run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"]


def test_the_schema_refuses_what_is_no_sarif(findings: list[Diagnostic]) -> None:
    log = json.loads(render(findings, "sarif", name))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not jsonschema.Draft4Validator(SCHEMA).is_valid(log)


def test_paths_become_uris() -> None:
    assert uri("a b/c.py") == "a%20b/c.py"
    assert uri("/a b/c.py") == "file:///a%20b/c.py"


def test_every_code_has_a_level() -> None:
    found = [Diagnostic(code, row.title, severity=row.severity) for code, row in CODES.items()]
    log = json.loads(render(found, "sarif", name))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    assert len(log["runs"][0]["results"]) == len(CODES)
