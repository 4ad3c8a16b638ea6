from __future__ import annotations

from typing import Any

from unacked.canonical import JSON
from unacked.report import findings_text, first_of_each


def line(*findings: dict[str, JSON], claim: str = "world", **members: Any) -> dict[str, JSON]:
    """A verdict line with findings in one claim."""
    claims: dict[str, JSON] = {name: {"findings": []} for name in ("result", "path", "world", "trail")}
    exercised: dict[str, JSON] = {"findings": []}
    (exercised if claim == "exercised" else claims[claim])["findings"] = list(findings)
    return {"claims": claims, "exercised": exercised, **members}


FINDING = {"rule": "wrong-world", "verdict": "FAIL", "expected": "records = 1", "observed": "records = 2"}


def test_a_clean_verdict_has_nothing_to_tell() -> None:
    assert findings_text(line()) == ""


def test_a_finding_says_what_was_expected_and_what_was_seen() -> None:
    text = findings_text(line(FINDING))
    assert text == "FAIL wrong-world in the claim world: expected records = 1; observed records = 2"


def test_a_finding_says_what_to_do() -> None:
    assert findings_text(line({**FINDING, "remedy": "look again"})).splitlines()[1] == "  remedy: look again"


def test_an_explanation_is_told_whole_in_place_of_the_short_form() -> None:
    explained = {**FINDING, "explanation": "UNSAFE second-create\n  why: because", "remedy": "because"}
    assert findings_text(line(explained)) == "UNSAFE second-create\n  why: because"


def test_a_fault_that_never_fired_is_told_too() -> None:
    assert "in the claim exercised" in findings_text(line(FINDING, claim="exercised"))


def test_hostile_text_moves_no_terminal() -> None:
    hostile = {**FINDING, "observed": "\x1b]0;title\x07", "explanation": "first\x1b[2J\nsecond\x9b"}
    assert findings_text(line(hostile)) == "first\\x1b[2J\nsecond\\x9b"


def test_failures_of_one_kind_are_told_once_with_their_number() -> None:
    lines = [
        {"trial": "a", "agent": "x", "verdict": "FAIL", "rule": "r"},
        {"trial": "b", "agent": "x", "verdict": "FAIL", "rule": "r"},
        {"trial": "c", "agent": "y", "verdict": "FAIL", "rule": "r"},
    ]
    assert [(first["trial"], count) for first, count in first_of_each(lines)] == [("a", 2), ("c", 1)]
