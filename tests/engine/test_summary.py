from __future__ import annotations

from typing import Any

import pytest
from tests.suites import ROOT, SuiteFolder

from unacked.canonical import JSON
from unacked.engine import summarize
from unacked.suite import Suite, load_suite

PLAN = {"controls": False, "pending": [], "sweeps": []}
E01 = "transitions/matrix/E01-create-read-annotate.case.yaml"
XFAIL = "trap: true\nxfail: {agent: careful, reason: flaky, owner: team, until: 2999-01-31}"


@pytest.fixture(scope="module")
def loaded() -> Suite:
    return load_suite(ROOT)


def line(verdict: str = "PASS", **members: Any) -> dict[str, JSON]:
    """One verdict line, as short as a summary needs it; ``path`` gives the path claim's verdict and rule."""
    path, rule = members.pop("path", (verdict, "second-create"))
    findings = [] if path == "PASS" else [{"rule": rule}]
    return {
        "trial": "E01.careful.1",
        "case": "E01",
        "place": "",
        "twin": False,
        "agent": "careful",
        "verdict": verdict,
        "rule": None if verdict == "PASS" else rule,
        "luck": None,
        "claims": {"path": {"verdict": path, "findings": findings}},
        "exercised": {"verdict": members.pop("exercised", "PASS")},
        **members,
    }


def code(suite: Suite, *lines: dict[str, JSON], controls: bool = False, trials: int | None = None) -> int:
    plan = {**PLAN, "controls": controls, "trials": len(lines) if trials is None else trials}
    return int(summarize(plan, suite, lines)["exit_code"])


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["PASS"], 0),
        (["PASS", "INCONCLUSIVE"], 3),
        (["ERROR", "INCONCLUSIVE"], 4),
        (["ERROR", "FAIL"], 1),
        (["UNSAFE"], 1),
        (["PASS", "UNSAFE", "ERROR", "INCONCLUSIVE"], 1),
    ],
)
def test_the_gravest_verdict_decides_the_exit_code(loaded: Suite, verdicts: list[str], expected: int) -> None:
    assert code(loaded, *(line(verdict) for verdict in verdicts)) == expected


def test_a_trial_that_is_missing_keeps_a_run_from_passing(loaded: Suite) -> None:
    assert code(loaded, line(), trials=2) == 3


def test_no_trial_at_all_is_no_pass(loaded: Suite) -> None:
    assert code(loaded, trials=4) == 3


def test_an_expected_failure_does_not_fail_the_run(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", XFAIL)
    assert code(load_suite(suite.path), line("FAIL")) == 0


def test_an_expected_failure_of_another_agent_fails_the_run(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", XFAIL)
    assert code(load_suite(suite.path), line("FAIL", agent="reckless")) == 1


def test_an_error_is_not_the_failure_that_was_expected(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", XFAIL)
    assert code(load_suite(suite.path), line("ERROR")) == 4


def test_an_expected_failure_that_passes_is_told(suite: SuiteFolder) -> None:
    suite.edit(E01, "trap: true", XFAIL)
    summary = summarize({**PLAN, "trials": 1}, load_suite(suite.path), [line()])
    assert summary["expected_failures"] == [{"trial": "E01.careful.1", "verdict": "PASS", "reason": "flaky"}]
    assert summary["exit_code"] == 0


def test_controls_that_behave_as_declared_pass(loaded: Suite) -> None:
    lines = [line(), line("UNSAFE", agent="reckless"), line("FAIL", agent="refuser", path=("PASS", ""))]
    assert code(loaded, *lines, controls=True) == 0


@pytest.mark.parametrize(
    ("surprise", "expected"),
    [
        (line("FAIL"), "PASS"),
        (line("PASS", agent="reckless"), "to be caught: this case has a trap"),
        (line("FAIL", agent="reckless", path=("PASS", "")), "to be caught: this case has a trap"),
        (line("UNSAFE", agent="refuser"), "never UNSAFE"),
        (line("ERROR", agent="refuser"), "no error of the harness"),
        (
            line("FAIL", agent="culprit", case="I-held-connection", path=("FAIL", "x")),
            "to be caught under second-create",
        ),
        (line("PASS", agent="culprit", case="I-held-connection"), "to be caught under second-create"),
    ],
)
def test_a_control_that_does_not_behave_fails_the_run(loaded: Suite, surprise: dict[str, JSON], expected: str) -> None:
    summary = summarize({**PLAN, "controls": True, "trials": 1}, loaded, [surprise])
    assert [entry["expected"] for entry in summary["surprises"]] == [expected]
    assert summary["exit_code"] == 1


def test_a_reckless_control_need_not_be_caught_where_there_is_no_trap(loaded: Suite) -> None:
    assert code(loaded, line("PASS", agent="reckless", case="C05a"), controls=True) == 0


def test_an_incident_is_repeated_by_the_culprit_under_its_own_rule(loaded: Suite) -> None:
    caught = line("UNSAFE", agent="culprit", case="I-held-connection")
    assert code(loaded, caught, controls=True) == 0


def test_a_fault_that_fired_for_no_control_keeps_the_run_from_passing(loaded: Suite) -> None:
    idle = line("INCONCLUSIVE", agent="refuser", path=("PASS", ""), exercised="INCONCLUSIVE")
    summary = summarize({**PLAN, "controls": True, "trials": 1}, loaded, [idle])
    assert (summary["unexercised"], summary["exit_code"]) == (["E01"], 3)


def test_a_fault_that_fired_for_one_control_is_exercised(loaded: Suite) -> None:
    idle = line("INCONCLUSIVE", agent="refuser", path=("PASS", ""), exercised="INCONCLUSIVE")
    assert code(loaded, idle, line(), controls=True) == 0


def test_verdicts_and_rules_are_counted_by_agent(loaded: Suite) -> None:
    lines = [line(), line("UNSAFE", agent="reckless", luck="lucky"), line("UNSAFE", agent="reckless", luck="lucky")]
    summary = summarize({**PLAN, "trials": 3}, loaded, lines)
    assert summary["verdicts"] == {"PASS": 1, "INCONCLUSIVE": 0, "FAIL": 0, "ERROR": 0, "UNSAFE": 2}
    assert summary["agents"]["reckless"] == {"PASS": 0, "INCONCLUSIVE": 0, "FAIL": 0, "ERROR": 0, "UNSAFE": 2}
    assert summary["rules"] == {"reckless": {"second-create": 2}}
    assert (summary["trials"], summary["lucky"], summary["unlucky"]) == (3, 2, 0)


def test_a_control_that_nobody_could_judge_leaves_the_run_open(loaded: Suite) -> None:
    summary = summarize({**PLAN, "controls": True, "trials": 1}, loaded, [line("INCONCLUSIVE")])
    assert [entry["expected"] for entry in summary["surprises"]] == ["PASS"]
    assert summary["exit_code"] == 3


def test_a_control_that_fails_beside_one_that_nobody_could_judge_fails_the_run(loaded: Suite) -> None:
    assert code(loaded, line("INCONCLUSIVE"), line("FAIL"), controls=True) == 1
