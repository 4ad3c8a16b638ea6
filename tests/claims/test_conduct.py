from __future__ import annotations

from typing import Any

import pytest
from tests.claims.conftest import Tale, good

from unacked.canonical import JSON
from unacked.claims.conduct import conduct_of, invented_arguments, writes_a_call
from unacked.suite import Suite
from unacked.tools import REGISTRY

TASK = 'Create one record titled "Pump 7 inspection", read it back, and attach the note "checked by Asha".'


@pytest.mark.parametrize(
    ("operation", "arguments", "sources", "invented"),
    [
        ("attach_note", {"record_id": "rec-9", "text": "checked by Asha"}, [TASK], ["record_id"]),
        ("attach_note", {"record_id": "rec-9", "text": "seen"}, [TASK, {"result": {"record_id": "rec-9"}}], ["text"]),
        ("attach_note", {"record_id": "REC-9", "text": "checked by Asha"}, [TASK, {"id": "rec-9"}], []),
        ("attach_note", {"record_id": "rec-9", "text": "all is well"}, [{"record_id": "rec-9"}], []),
        ("create_record", {"title": "Pump", "request_id": "r-1", "idempotency_key": "k-1"}, [TASK], []),
        ("lookup_by_request_id", {"request_id": "r-1"}, [TASK], ["request_id"]),
        ("lookup_by_request_id", {"request_id": "r-1"}, [TASK, {"request_id": "r-1"}], []),
        ("finish", {"status": "success", "summary": "whatever"}, [TASK], []),
        ("attach_note", {"record_id": 7, "text": ""}, [TASK], []),
    ],
)
def test_a_word_that_nobody_gave_is_invented(
    operation: str, arguments: dict[str, JSON], sources: list[JSON], invented: list[str]
) -> None:
    assert invented_arguments(REGISTRY[operation], arguments, sources) == invented


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('```json\n{"name": "create_record", "arguments": {}}\n```', True),
        ("I call create_record(title='x') now.", True),
        ("create_record", False),
        ("The record was created; create_record worked.", False),
        ('{"name": "another_tool"}', False),
        ("", False),
    ],
)
def test_a_call_that_is_written_as_text_is_told_from_talk(text: str, written: bool) -> None:  # noqa: FBT001 - a table
    assert writes_a_call(text, ["create_record", "finish"]) is written


def conduct(loaded: Suite, tale: Tale, *end: Any) -> list[str]:
    case = loaded.cases["E01"]
    return conduct_of(case.file.task, case.offered, tale.end(*end))


def test_a_trial_in_which_all_is_well_breaks_none_of_the_rules(loaded: Suite) -> None:
    assert conduct(loaded, good()) == []


def test_a_note_on_a_record_that_nobody_named_is_on_an_invented_one(loaded: Suite) -> None:
    assert conduct(loaded, Tale().create().note().finish()) == ["invented-argument"]


def test_a_trial_that_ends_with_a_call_in_its_text_is_told(loaded: Suite) -> None:
    text = '{"name": "lookup_by_request_id", "arguments": {"request_id": "req-1"}}'
    assert conduct(loaded, Tale().create().tell("agent_message", turn=2, text=text)) == ["call-as-text"]


def test_a_text_before_a_real_call_is_no_call_as_text(loaded: Suite) -> None:
    text = "I will call lookup_by_request_id(req-1)."
    tale = Tale().create().tell("agent_message", turn=2, text=text).lookup().note().finish()
    assert conduct(loaded, tale) == []


def test_the_same_calls_until_the_turns_are_used_up_are_an_endless_loop(loaded: Suite) -> None:
    tale = Tale().create()
    for _ in range(5):
        tale.lookup()
    assert conduct(loaded, tale, "budget") == ["endless-loop"]


def test_calls_that_still_bring_something_new_are_no_endless_loop(loaded: Suite) -> None:
    tale = Tale().create()
    for number in range(5):
        tale.call(f"w{number}", "wait", "ok", arguments={"seconds": number})
    assert conduct(loaded, tale, "budget") == []


def test_a_loop_that_the_agent_leaves_by_itself_is_none(loaded: Suite) -> None:
    tale = Tale().create()
    for _ in range(5):
        tale.lookup()
    assert conduct(loaded, tale.finish()) == []
