"""Which categories a fault can bring about, and why not the others."""

from __future__ import annotations

import pytest

from unacked.selftest.provoke import producible, unproducible, ways
from unacked.tools import TOOLS


@pytest.mark.parametrize(
    ("operation", "left"),
    [
        ("charge", {"declined", "evidence_required", "locked"}),
        ("create_record", {"confirmed_failure", "declined", "evidence_required", "locked"}),
        ("lookup_by_request_id", set()),
        ("get_record", {"partial"}),
        ("ask_human", set()),
    ],
)
def test_what_a_tool_declares_can_be_produced_but_for(operation: str, left: set[str]) -> None:
    assert TOOLS[operation].operation.categories - producible(operation) == left


def test_what_nothing_produces_has_a_reason() -> None:
    assert unproducible("declined") == "no approval gate stands before a tool here"
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
