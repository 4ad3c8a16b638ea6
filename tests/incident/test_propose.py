from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.incident.spans import Spans

from unacked.errors import SpecificationError
from unacked.incident import Draft, Imported, Redactor, bring_in, propose, read_recording
from unacked.incident.mapping import Mapped
from unacked.incident.world import seeds
from unacked.suite import Suite


def imported(spans: Spans, folder: Path, **changes: Any) -> Imported:
    found = bring_in(read_recording(spans.write(folder / "a.json")), Redactor("salt"))
    return Imported(found.recording, found.inferred, found.mapping.model_copy(update=changes))


def made(found: Imported, suite: Suite) -> Draft:
    return propose(found, suite, source="somewhere", digest="0" * 64)


def blind_retry(key: str = "") -> Spans:
    given = {"subject": "valve", **({"idempotency_key": key} if key else {})}
    return Spans().call("send_report", given, error="timed out").call("send_report", given, {"id": "R-2", "sent": True})


def behaviour(draft: Draft) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = draft.value["incident"]["behaviour"]
    return steps


def test_a_blind_retry_becomes_a_case_of_a_create(loaded: Suite, tmp_path: Path) -> None:
    draft = made(imported(blind_retry(), tmp_path), loaded)

    assert draft.rule == "second-create"
    assert behaviour(draft) == [
        {"create_record": {"title": "valve", "request_id": "call-1"}},
        {"create_record": {"title": "valve", "request_id": "call-2"}},
    ]
    assert draft.value["faults"] == [
        {"operation": "create_record", "nth": 1, "point": "after_commit", "action": "silence"}
    ]
    assert draft.value["twins"] is True
    assert draft.value["effects"] == {"create_record": [{"title": "valve"}]}
    assert draft.value["contract"] == {"create_record": {"idempotency": "none"}}
    assert draft.value["expect"]["world"] == {"records": 1, "duplicate_records": 0}


def test_a_mapping_says_why(tmp_path: Path) -> None:
    mapped = imported(blind_retry("k"), tmp_path).mapping.operations["send_report"]

    assert mapped.operation == "create_record"
    assert mapped.because == "its name says 'send'"
    assert mapped.arguments == {
        "title": "subject",
        "idempotency_key": "idempotency_key",
        "request_id": "idempotency_key",
    }
    assert mapped.result == {"record_id": "id"}


def test_a_tool_of_which_nothing_is_known_is_asked_for(tmp_path: Path) -> None:
    found = imported(Spans().call("frobnicate", {"a": 1}, {"b": 2}), tmp_path)

    assert found.mapping.operations["frobnicate"].operation == "ask"
    assert found.asks


def test_a_call_of_which_the_trace_does_not_say_how_it_ended_is_asked_for(tmp_path: Path) -> None:
    found = imported(Spans().call("create_record", {"title": "a"}, "it is what it is"), tmp_path)

    assert found.mapping.calls["e0"].category == "ask"


def test_a_call_without_arguments_is_asked_for(tmp_path: Path) -> None:
    note = imported(Spans().call("create_record", None, {"record_id": "r"}), tmp_path).mapping.calls["e0"]

    assert note.category == "ask"
    assert "does not say with which arguments" in note.because


def test_a_read_by_an_id_that_a_write_was_sent_with_is_the_lookup(tmp_path: Path) -> None:
    spans = blind_retry("k").call("find_report", {"key": "k"}, {"id": "R-2"})

    mapped = imported(spans, tmp_path).mapping.operations["find_report"]

    assert mapped.operation == "lookup_by_request_id"
    assert mapped.because == "a read by the request_id that send_report was sent with"


def test_what_a_lookup_found_decides_where_the_fault_acts(loaded: Suite, tmp_path: Path) -> None:
    spans = Spans().call("send_report", {"subject": "valve", "idempotency_key": "k"}, error="timed out")
    spans.call("find_report", {"key": "k"}, error="404 not found")
    spans.call("send_report", {"subject": "valve", "idempotency_key": "other"}, {"id": "R-2"})

    draft = made(imported(spans, tmp_path), loaded)

    assert draft.rule == "fresh-recreate"
    assert draft.value["faults"][0]["point"] == "before_commit"
    assert "twins" not in draft.value
    assert any("call e1 did not find it later" in note for note in draft.notes)


def test_an_id_of_an_earlier_answer_is_bound(loaded: Suite, tmp_path: Path) -> None:
    spans = blind_retry().call("add_comment", {"report_id": "R-2", "comment": "seen"}, {"notes": 1})

    draft = made(imported(spans, tmp_path), loaded)

    assert behaviour(draft)[2] == {"attach_note": {"record_id": "$record_id", "text": "seen", "request_id": "call-3"}}


def test_an_object_that_was_there_before_is_seeded(tmp_path: Path) -> None:
    spans = Spans().call("get_record", {"record_id": "rec-7"}, {"title": "pump", "notes": 0})
    spans.call("attach_note", {"record_id": "rec-7", "text": "a"}, error="timed out")
    spans.call("attach_note", {"record_id": "rec-7", "text": "a"}, {"notes": 2})
    found = imported(spans, tmp_path, claim="success", effects={"attach_note": [{"record_id": "rec-7", "text": "a"}]})
    found.mapping.operations["get_record"] = Mapped(
        operation="get_record", arguments={"record_id": "record_id"}, result={"title": "title"}
    )

    assert seeds(found.moves()) == {"records": {"records": [{"record_id": "rec-7", "title": "pump"}]}}


def test_one_key_that_made_two_objects_is_a_service_that_ignores_keys(loaded: Suite, tmp_path: Path) -> None:
    spans = Spans().call("send_report", {"subject": "valve", "idempotency_key": "k"}, {"id": "R-1"})
    spans.call("send_report", {"subject": "valve", "idempotency_key": "k"}, {"id": "R-2"})

    draft = made(imported(spans, tmp_path), loaded)

    assert draft.value["contract"] == {"create_record": {"idempotency": "ignored"}}
    assert draft.rule == "dup-create"


def test_a_retry_with_another_text_stays_another_text(tmp_path: Path) -> None:
    spans = Spans().call("send_report", {"to": "x", "subject": "valve", "n": 1}, error="timed out")
    spans.call("send_report", {"to": "x", "subject": "valve", "n": 2}, {"id": "R-2"})

    found = imported(spans, tmp_path)

    titles = [move.arguments["title"] for move in found.moves()]
    assert titles[0] != titles[1]


def test_calls_that_break_no_rule_are_no_incident(loaded: Suite, tmp_path: Path) -> None:
    spans = Spans().call("send_report", {"subject": "valve", "idempotency_key": "k"}, {"id": "R-1"})

    with pytest.raises(SpecificationError, match="the recorded calls break no rule on every side"):
        made(imported(spans, tmp_path, claim="success"), loaded)


def test_where_the_replay_was_answered_otherwise_it_is_told(loaded: Suite, tmp_path: Path) -> None:
    spans = blind_retry().call("create_record", {"title": "other", "request_id": "r"}, error="404 not found")

    draft = made(imported(spans, tmp_path), loaded)

    assert "call e2 (create_record): recorded not_found, replayed ok" in draft.notes


@pytest.mark.parametrize(
    ("error", "category"),
    [
        ("422 unprocessable", "invalid_request"),
        ("409 conflict", "conflict"),
        ("401 unauthorized", "authentication_failed"),
        ("403 forbidden", "authorization_denied"),
        ("429 too many requests", "rate_limited"),
        ("connection refused", "local_failure"),
        ("connection reset by peer", "outcome_unknown"),
        ("503 service unavailable", "outcome_unknown"),
        ("invalid json", "malformed_response"),
    ],
)
def test_the_fault_that_is_proposed_shows_the_agent_what_was_recorded(
    loaded: Suite, tmp_path: Path, error: str, category: str
) -> None:
    given = {"title": "valve", "request_id": "r", "idempotency_key": "k"}
    spans = Spans().call("create_record", given, error=error)
    for key in ("l", "m"):
        spans.call("create_record", {**given, "idempotency_key": key}, {"record_id": f"rec-{key}"})

    draft = made(imported(spans, tmp_path), loaded)

    assert draft.value["expect"]["result"]["category"] == category
    assert not [note for note in draft.notes if note.startswith("call e0")]
