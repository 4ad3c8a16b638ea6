from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.suites import SuiteFolder

from unacked.report import transcript
from unacked.suite import load_suite
from unacked.trial import Bench, TrialPlan

Told = Callable[..., list[str]]
CREATE = 'yield Call("create_record", {"title": "Pump 7 inspection", "request_id": "r", "idempotency_key": "k"})'


@pytest.fixture
def told(suite: SuiteFolder, tmp_path: Path) -> Told:
    """The transcript of a trial of E01 with a policy, blanks run together."""

    def run(policy: str, case: str = "E01", *, twin: bool = False) -> list[str]:
        suite.agent("test", policy)
        suite.keep(case)
        loaded = load_suite(suite.path)
        record = Bench(loaded).run(TrialPlan(0, case, twin, "test", 1, "0", "run"), tmp_path / "events.jsonl")
        lines = transcript(loaded.cases[case].side(twin=twin), record.history)
        return [" ".join(line.plain.split()) for line in lines]

    return run


def test_a_trial_is_told_as_calls_results_and_what_the_service_knew(told: Told) -> None:
    *story, end = told(f'{CREATE}\nyield Call("finish", {{"status": "unknown"}})')
    assert story == [
        '0.000 #0 create_record(idempotency_key="k", request_id="r", title="Pump 7 inspection")',
        "0.002 service: received",
        "0.002 service: committed",
        "0.002 fault: delay at after_commit (committed)",
        "0.002 service: holds its answer back",
        "10.002 tool: gave up waiting",
        "10.002 #1 -> outcome_unknown retry: reconcile_first",
        '10.002 #2 finish(status="unknown")',
        "10.002 #3 -> ok",
    ]
    assert end.startswith("10.002 end: finished; world: records=1, ")


def test_a_refused_call_is_marked_with_its_rule(told: Told) -> None:
    lines = told(f'{CREATE}\nyield Call("finish", {{"status": "success"}})')
    assert '10.002 #2 finish(status="success") <== false-claim' in lines


def test_a_call_that_the_tool_refused_has_no_number(told: Told) -> None:
    lines = told(f'yield Call("finish", {{"status": "maybe"}})\n{CREATE}')
    assert lines[0] == '0.000 finish(status="maybe")'
    assert lines[2].startswith("0.000 #0 create_record(")


def test_a_call_of_a_tool_that_is_not_there_has_a_number_and_a_mark(told: Told) -> None:
    assert told('yield Call("drop_database")')[0] == "0.000 #0 drop_database() <== unknown_tool"


def test_what_a_person_said_is_told(told: Told) -> None:
    assert "0.000 person: nobody answered" in told('yield Call("ask_human", {"question": "?"})')


def test_what_went_wrong_inside_the_agent_is_told(told: Told) -> None:
    assert told('raise ValueError("by\\x1b itself")\nyield')[-1].startswith(
        "0.000 end: finished (ValueError: by\\x1b itself); world: "
    )


def test_hostile_text_in_a_transcript_is_escaped(told: Told) -> None:
    lines = told('yield Call("finish", {"status": "failed", "summary": "\\x1b[2J [red] \\u202e"})')
    assert lines[0] == '0.000 #0 finish(status="failed", summary="\\u001b[2J [red] \\u202e")'


def test_a_hostile_name_of_a_tool_is_escaped(told: Told) -> None:
    assert told('yield Call("x\\x1b[2J")')[0] == "0.000 #0 x\\x1b[2J() <== unknown_tool"


def test_who_was_asked_and_what_they_said_is_told(tmp_path: Path) -> None:
    suite = SuiteFolder(tmp_path / "suite")
    suite.agent("test", 'yield Call("request_approval", {"action": "delete_release", "target": "rel-3"})')
    suite.keep("A01", "A02")
    loaded = load_suite(suite.path)
    record = Bench(loaded).run(TrialPlan(0, "A02", False, "test", 1, "0", "run"), tmp_path / "events.jsonl")
    lines = [line.plain for line in transcript(loaded.cases["A02"].side(twin=False), record.history)]
    asked, said, result = (" ".join(line.split()) for line in lines[3:6])
    assert asked == "0.003 person: asked: delete_release rel-3 call"
    assert said == "0.003 person: call_declined"
    assert result == "0.003 #1 -> declined (call_declined) retry: never"
