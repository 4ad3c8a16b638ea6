"""Markdown, SARIF and annotations of a run: numbers as they are, hostile text as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from markdown_it import MarkdownIt

from unacked.report.github import workflow_commands
from unacked.report.markdown import fenced, plain, run_markdown
from unacked.report.page import run_page
from unacked.report.sarif import run_sarif
from unacked.report.stored_run import StoredRun, most_telling

FILES = {"C01": "transitions/matrix/C01.case.yaml", "C02": "transitions/matrix/C02.case.yaml"}

HOSTILE = (
    "<script>alert(1)</script>",
    "[a](https://example.com)",
    "https://example.com www.example.com",
    "**b** _c_ `d` ~~e~~ | f | \\",
    "![i](x)",
    "&lt;",
    "# h",
    "a\n\n# h",
    "\x1b[31m",
    "\u202eexe",
    "::error::x",
    "{{ 7 * 7 }}",
)


def line(case: str, verdict: str, agent: str = "one", repeat: int = 1, **more: Any) -> dict[str, Any]:
    finding = {"rule": "wrong-world", "verdict": verdict, "expected": "records = 1", "observed": "records = 2"}
    claims: dict[str, Any] = {
        name: {"verdict": "PASS", "findings": []} for name in ("result", "path", "world", "trail")
    }
    if verdict != "PASS":
        claims["world"] = {"verdict": verdict, "findings": [finding]}
    return {
        "trial": f"{case}.{agent}.{repeat}",
        "case": case,
        "place": "",
        "twin": False,
        "agent": agent,
        "repeat": repeat,
        "verdict": verdict,
        "rule": None if verdict == "PASS" else "wrong-world",
        "luck": None,
        "final": "success",
        "exercised": {"verdict": "PASS", "findings": []},
        "claims": claims,
        **more,
    }


def run(*lines: dict[str, Any], name: str = "tonight") -> StoredRun:
    verdicts = dict.fromkeys(("PASS", "INCONCLUSIVE", "FAIL", "ERROR", "UNSAFE"), 0)
    for each in lines:
        verdicts[each["verdict"]] += 1
    summary = {"trials": len(lines), "verdicts": verdicts, "lucky": 0, "unlucky": 0, "controls": False, "missing": 0}
    manifest = {"seed": "0", "created": "2027-01-01T00:00:00+00:00", "pins": {"grader": 1}}
    numbered = [{**each, "index": number} for number, each in enumerate(lines)]
    return StoredRun(name, manifest, {**summary, "surprises": []}, numbered)


MIXED = run(
    line("C01", "PASS"),
    line("C01", "PASS", "two"),
    line("C02", "FAIL"),
    line("C02", "FAIL", repeat=2),
    line("C02", "UNSAFE", "two", rule="second-create"),
)


def test_markdown_tells_each_kind_of_failure_once_and_the_worst_case_first() -> None:
    assert run_markdown(MIXED).splitlines() == [
        "# unacked: tonight",
        "",
        "5 trials: 1 UNSAFE, 2 FAIL, 2 PASS",
        "",
        "## What went wrong",
        "",
        "| trials | verdict | rule | agent | such as |",
        "|---|---|---|---|---|",
        "| 1 | UNSAFE | second-create | two | C02.two.1 |",
        "| 2 | FAIL | wrong-world | one | C02.one.1 |",
        "",
        "## Cases and agents",
        "",
        "| case | one | two |",
        "|---|---|---|",
        "| C02 | FAIL wrong-world 0/2 | UNSAFE second-create 0/1 |",
        "| C01 | PASS 1/1 | PASS 1/1 |",
        "",
    ]


def shown(markdown: str) -> str:
    """What somebody reads, where nothing but paragraphs may be made of it."""
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    assert re.fullmatch(r"<p>[^<]*</p>\n", html), html
    return unescape(html[3:-5])


@pytest.mark.parametrize("hostile", HOSTILE)
def test_any_text_is_only_text_in_markdown(hostile: str) -> None:
    expected = "".join(
        each if each.isprintable() else f"\\x{ord(each):02x}" if ord(each) < 256 else f"\\u{ord(each):04x}"
        for each in hostile
    )
    assert shown(f"x {plain(hostile)} y") == f"x {expected} y"


def test_no_line_closes_a_fenced_block() -> None:
    tokens = MarkdownIt("commonmark").parse(fenced("t", "a\n```\n````\n# b"))
    assert [token.type for token in tokens][-1] == "fence"
    assert tokens[-1].content == "a\n```\n````\n# b\n"


def test_sarif_has_a_result_for_every_trial_that_did_not_pass() -> None:
    value = json.loads(run_sarif(MIXED, FILES))
    (told,) = value["runs"]
    assert value["version"] == "2.1.0"
    assert [rule["id"] for rule in told["tool"]["driver"]["rules"]] == ["second-create", "wrong-world"]
    assert [(result["ruleId"], result["ruleIndex"], result["level"]) for result in told["results"]] == [
        ("wrong-world", 1, "error"),
        ("wrong-world", 1, "error"),
        ("second-create", 0, "error"),
    ]
    place = told["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "transitions/matrix/C02.case.yaml"
    assert told["results"][0]["message"]["text"] == (
        "C02.one.1: FAIL wrong-world in the claim world: expected records = 1; observed records = 2"
    )


def test_sarif_calls_what_was_not_decided_a_warning() -> None:
    value = json.loads(run_sarif(run(line("C01", "INCONCLUSIVE")), FILES))
    assert value["runs"][0]["results"][0]["level"] == "warning"


def test_repeats_of_one_failure_have_one_fingerprint_in_sarif() -> None:
    results = json.loads(run_sarif(MIXED, FILES))["runs"][0]["results"]
    prints = [result["partialFingerprints"]["unacked/v1"] for result in results]
    assert (prints[0] == prints[1], prints[0] == prints[2]) == (True, False)


def test_an_annotation_stands_at_the_file_of_the_case() -> None:
    (told,) = workflow_commands(run(line("C02", "FAIL"), line("C02", "FAIL", repeat=2)), FILES)
    assert told == (
        "::error file=transitions/matrix/C02.case.yaml,line=1,title=FAIL wrong-world%3A C02.one.1::FAIL wrong-world"
        " in the claim world: expected records = 1; observed records = 2 (and 1 more of this kind)"
    )


def test_there_are_no_more_annotations_than_are_shown() -> None:
    lines = [line("C01", "FAIL", rule=f"rule-{number}") for number in range(12)]
    assert len(list(workflow_commands(run(*lines), FILES))) == 10


FORMATS: dict[str, Callable[[StoredRun], str]] = {
    "markdown": run_markdown,
    "html": lambda told: run_page(told, []),
    "annotations": lambda told: "\n".join(workflow_commands(told, FILES)),
}


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS.keys())
def test_hostile_names_bring_no_line_and_no_terminal_code_of_their_own(write: Callable[[StoredRun], str]) -> None:
    bad = "<b>x</b>\n::error::y\x1b\u202e"
    calm, wild = (write(run(line("C01", "FAIL", agent=agent, rule=agent), name=agent)) for agent in ("calm", bad))
    assert len(wild.splitlines()) == len(calm.splitlines())
    assert "\x1b" not in wild
    assert "\u202e" not in wild
    assert not [told for told in wild.splitlines() if told.startswith("::error::y")]


def test_a_page_loads_nothing_and_allows_no_script() -> None:
    page = run_page(MIXED, [])
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert re.findall(r"<script|<link|<img|<iframe|\bsrc=|@import|url\(", page) == []


def test_each_kind_of_failure_is_told_before_a_second_one_of_a_kind() -> None:
    assert [told["trial"] for told in most_telling(MIXED, 3)] == ["C02.two.1", "C02.one.1", "C01.one.1"]
    assert [told["trial"] for told in most_telling(MIXED, 1)] == ["C02.two.1"]


def test_hostile_names_are_text_in_a_page() -> None:
    page = run_page(run(line("C01", "FAIL", agent="<b>x</b>", rule="<i>"), name="</title>"), [])
    assert re.findall(r"<b>|<i>|</title></title>", page) == []
    assert "&lt;b&gt;x&lt;/b&gt;" in page
