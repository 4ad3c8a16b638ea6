"""Which categories a fault can bring about, and why not the others."""

from __future__ import annotations

import pytest

from unacked.selftest.provoke import decisions, producible, unproducible, ways
from unacked.tools import TOOLS


@pytest.mark.parametrize(
    ("operation", "left"),
    [
        ("charge", {"declined", "locked"}),
        ("create_record", {"declined", "locked"}),
        ("archive_accounts", {"evidence_required"}),
        ("lookup_by_request_id", set()),
        ("get_record", set()),
        ("ask_human", set()),
        ("list_accounts", set()),
        ("search_all", set()),
        ("request_approval", set()),
        ("run_command", {"declined", "locked"}),
        ("command_status", {"partial"}),
    ],
)
def test_what_a_tool_declares_can_be_produced_but_for(operation: str, left: set[str]) -> None:
    assert TOOLS[operation].operation.categories - producible(operation) == left


def test_what_nothing_produces_has_a_reason() -> None:
    assert unproducible("declined").startswith("planted agents ask the gate in advance")
    assert unproducible("partial", "command_status") == (
        "their hosts leave no marker unreadable; the case H21 has such a host"
    )
    assert unproducible("imagined") == "no fault makes a service answer so"


def test_the_stated_time_is_the_one_that_the_trace_says() -> None:
    first = next(ways(TOOLS["update_record"], "rate_limited", {"retry_after": 12}))
    assert first == [{"point": "before_commit", "action": {"rate_limit": 12}}]


def test_an_unknown_outcome_has_two_sides() -> None:
    points = [fault["point"] for (fault,) in ways(TOOLS["charge"], "outcome_unknown")]
    assert points == ["after_commit", "before_commit"]


def test_a_success_is_left_to_the_service_first() -> None:
    assert next(ways(TOOLS["get_record"], "ok", {"notes": 2})) == []
    assert list(ways(TOOLS["get_record"], "ok", {"notes": 2}))[1:] == [
        [{"point": "in_body", "action": {"replace": {"field": "notes", "value": 2}}}]
    ]


def test_a_command_whose_end_was_not_seen_is_done_or_killed_or_failed_or_has_never_started() -> None:
    points = [(fault["point"], fault["action"]) for (fault,) in ways(TOOLS["run_command"], "outcome_unknown")]
    assert points == [
        ("after_commit", "fin"),
        ("before_commit", "kill"),
        ("before_commit", {"exit": 1}),
        ("during_request", "fin"),
    ]


def test_people_at_the_gate_decide_only_upon_what_is_asked_there() -> None:
    assert decisions(TOOLS["request_approval"], "declined") == ("declined",)
    assert decisions(TOOLS["request_approval"], "locked") == ()
    assert decisions(TOOLS["create_record"], "declined") == ()


def test_a_first_page_is_the_last_where_somebody_removes_what_would_follow() -> None:
    arguments = {"scope": "red"}
    assert list(ways(TOOLS["list_accounts"], "ok", {}, arguments)) == [
        [{"point": "before_commit", "action": {"delete": "red-account-2"}}]
    ]
    assert list(ways(TOOLS["list_accounts"], "ok", {}, {**arguments, "cursor": "c"})) == [[]]
    assert next(ways(TOOLS["list_accounts"], "partial", {"next_cursor": "c"}, arguments)) == []
