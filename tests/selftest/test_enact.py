"""Traces that become trials: the faults that bring them about, the names that they use, and what cannot be played."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.canonical import JSON
from unacked.graph import Call, End, EndReason, Event, Result
from unacked.graph.explore import Variant
from unacked.selftest.enact import Enacted, Stage, Unplayable, Wanted
from unacked.selftest.ground import Ground
from unacked.suite import load_suite

CREATE = {"title": "title-1", "request_id": "rid-1", "idempotency_key": "key-1"}
TOKENS = frozenset({"title-1", "rid-1", "key-1", "record_id-1", "record_id-2"})


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    suite = load_suite(ROOT)
    case = suite.cases["E01"]
    (graph,) = case.task().graphs
    return Stage(suite, Ground(suite), case, graph.name, Variant("", graph.roles), tmp_path_factory.mktemp("stage"))


Step = tuple[str, dict[str, JSON], str, dict[str, JSON]]
"""Operation, arguments, category, result fields."""


def trace(*calls: Step, together: bool = False) -> tuple[Event, ...]:
    """A trace of calls with their answers, one a turn or all at once."""
    called: list[Event] = []
    for number, (operation, args, category, fields) in enumerate(calls):
        turn = 1 if together else number
        called.append(Call(id=f"c{number}", operation=operation, args=args, turn=turn))
        called.append(Result(call=f"c{number}", category=category, fields=fields))
    return (*called, End(reason=EndReason.FINISHED))


def played(stage: Stage, events: tuple[Event, ...], mistake: int | None = None) -> Enacted:
    tried = stage.enact(Wanted(events, TOKENS, mistake=mistake))
    assert isinstance(tried, Enacted), tried
    return tried


def calls_of(tried: Enacted) -> list[tuple[str | None, dict[str, JSON]]]:
    return [(event.operation, event.detail["arguments"]) for event in tried.history.named("agent_next_call")]


def test_the_id_that_a_create_gave_is_used_by_the_next_call(stage: Stage) -> None:
    tried = played(
        stage,
        trace(
            ("create_record", CREATE, "ok", {"record_id": "record_id-1"}),
            ("attach_note", {"record_id": "record_id-1", "text": "text"}, "ok", {}),
        ),
    )
    assert calls_of(tried)[1] == ("attach_note", {"record_id": "rec-3", "text": "checked by Asha"})


def test_an_unknown_outcome_is_brought_about_with_what_the_lookup_is_to_say(stage: Stage) -> None:
    lookup = {"request_id": "rid-1"}
    unknown: Step = ("create_record", CREATE, "outcome_unknown", {})
    found = played(stage, trace(unknown, ("lookup_by_request_id", lookup, "ok", {"record_id": "record_id-1"})))
    partial = played(stage, trace(unknown, ("lookup_by_request_id", lookup, "partial", {})))
    assert len(list(found.history.named("remote_committed"))) == 1
    fired = [event.detail["action"] for event in partial.history.named("fault_fired")]
    assert fired == ["fin", "index_behind"]


def test_time_passes_between_calls_as_in_the_trace(stage: Stage) -> None:
    first, answer, second, *rest = trace(
        ("create_record", CREATE, "rate_limited", {"retry_after": 30}), ("create_record", CREATE, "ok", {})
    )
    assert isinstance(second, Call)
    later = Call(id=second.id, operation=second.operation, args=second.args, turn=second.turn, at=30.0)
    assert ("wait", {"seconds": 30.0}) in calls_of(played(stage, (first, answer, later, *rest)))


def test_calls_of_one_turn_are_made_in_one_turn(stage: Stage) -> None:
    tried = played(
        stage, trace(("create_record", CREATE, "ok", {}), ("create_record", CREATE, "ok", {}), together=True), mistake=2
    )
    assert tried.refused == ("concurrent_mutation", 2)


def test_behind_the_mistake_any_answer_will_do(stage: Stage) -> None:
    events = trace(("get_record", {"record_id": "record_id-1"}, "ok", {"notes": 7}))
    assert isinstance(stage.enact(Wanted(events, TOKENS)), Enacted)
    nowhere = trace(("lookup_by_request_id", {"request_id": "rid-1"}, "locked", {}))
    assert isinstance(stage.enact(Wanted(nowhere, TOKENS)), Unplayable)
    assert isinstance(stage.enact(Wanted(nowhere, TOKENS, mistake=0)), Enacted)


def test_a_call_that_the_tool_does_not_send_cannot_be_played(stage: Stage) -> None:
    tried = stage.enact(Wanted(trace(("create_record", {"title": "title-1"}, "ok", {})), TOKENS, mistake=0))
    assert tried == Unplayable("the contract of create_record refuses such a call: nothing is sent", by_contract=True)


def test_a_person_says_what_the_trace_says(stage: Stage) -> None:
    ask = ("ask_human", {"question": "question"}, "ok", {"decision": "renewed", "credential": "record_id-2"})
    tried = played(stage, trace(ask))
    (decided,) = tried.history.named("approval_decided")
    assert decided.detail == {"decision": "renewed"}


def test_nobody_can_grant_a_credential_without_its_name(stage: Stage) -> None:
    tried = stage.enact(Wanted(trace(("ask_human", {"question": "q"}, "ok", {"decision": "granted"})), TOKENS))
    assert tried == Unplayable('nobody can answer {"decision":"granted"}')


def test_every_trial_is_run_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    events = trace(("create_record", CREATE, "ok", {"record_id": "record_id-1"}))
    first = played(stage, events)
    monkeypatch.setattr(Path, "unlink", None)  # a second trial would clear the first one's file
    assert played(stage, events) is first
