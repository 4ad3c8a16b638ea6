from __future__ import annotations

from typing import Any

import pytest

from unacked.canonical import JSON
from unacked.engine import RunFolder, read_verdicts, stored_paths
from unacked.event import Event
from unacked.report import story as story_module
from unacked.report.story import Account, Moment, Story, story
from unacked.suite import load_suite


def told(folder: RunFolder, trial: str, **more: Any) -> Story:
    lines = {line["trial"]: line for line in read_verdicts(folder, folder.manifest()["run"])}
    (path,) = stored_paths(folder, load_suite(folder.suite, run_code=False), [trial])
    return story(path.brief, path.history, lines[trial], **more)


@pytest.fixture(scope="module")
def reckless(controls: RunFolder) -> Story:
    return told(controls, "E01.reckless.1")


def test_every_moment_stands_in_the_lane_of_whoever_acts(reckless: Story) -> None:
    assert [(moment.lane, moment.text) for moment in reckless.moments[1:8]] == [
        ("agent", 'create_record(idempotency_key="key-1-1", request_id="req-1-1", title="Pump 7 inspection")'),
        ("tool", "builds the request: records POST /v1/records"),
        ("wire", "the request leaves"),
        ("service", "received: records POST /v1/records"),
        ("service", "committed: records"),
        ("wire", "fault: delay at after_commit (committed)"),
        ("service", "holds its answer back: seconds=60"),
    ]


def test_the_refused_call_bears_the_rule_and_the_number_of_the_explanation(reckless: Story) -> None:
    refused = [moment for moment in reckless.moments if moment.rule == "second-create"]
    assert [(moment.kind, moment.number) for moment in refused] == [("refused", 2)]
    assert "at event #2: create_record" in reckless.findings[0]


def test_what_a_tool_said_stands_beside_what_the_ledger_holds(reckless: Story) -> None:
    assert reckless.accounts[:2] == [
        Account(0, "create_record", "outcome_unknown", "the effect is not known", "committed at 0.002 s"),
        Account(2, "create_record", "ok", "the effect is known", "committed at 10.004 s"),
    ]
    assert reckless.final == 'status="success", summary="done"'
    assert "records=2" in reckless.world
    assert "records=1" in reckless.expected


def test_the_twin_tells_that_nothing_was_committed(controls: RunFolder) -> None:
    first = told(controls, "E01.twin.reckless.1").accounts[0]
    assert (first.category, first.ledger) == ("outcome_unknown", "received, nothing committed")


def test_the_graph_that_refused_the_step_is_drawn_with_it(reckless: Story) -> None:
    (drawing,) = reckless.drawings
    assert drawing.graph == "create-outcome-unknown"
    assert "create_record at #2" in drawing.svg
    assert "<style" not in drawing.svg


def test_a_trial_that_passed_shows_the_path_it_walked(controls: RunFolder) -> None:
    passed = told(controls, "E01.careful.1")
    assert passed.findings == []
    assert [drawing.graph for drawing in passed.drawings] == ["create-outcome-unknown"]
    assert 'class="walk"' in passed.drawings[0].svg


def test_details_are_cleaned_before_they_are_cut(controls: RunFolder) -> None:
    def masked(value: JSON) -> JSON:
        return {**value, "arguments": {"title": "[redacted]"}} if "arguments" in value else value

    moments = told(controls, "E01.reckless.1", clean=masked).moments
    assert moments[1].text == 'create_record(title="[redacted]")'


def test_an_event_of_a_name_that_has_no_words_yet_stands_in_the_lane_of_its_first_word() -> None:
    assert story_module._other(Event(1.0, "remote_seen", detail={"pid": 7})) == Moment(
        1.0, "service", "remote seen: pid=7"
    )


def test_an_event_that_says_what_came_of_it_is_told_with_that() -> None:
    event = Event(1.0, "reconciliation_attempted", category="ok", detail={"tries": 1})
    assert story_module._other(event) == Moment(1.0, "tool", "reconciliation attempted: ok: tries=1")
