"""Every action at every point where it applies: no tool claims more than its side can know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.tools.bench import Bench, records
from tests.tools.conftest import Build

from unacked.canonical import JSON
from unacked.fault import ACTIONS, Action, ActionKind, Fault, Point
from unacked.outcome import CATEGORIES, Envelope, OutcomeClass
from unacked.tools import TOOLS, Timeouts
from unacked.tools.client import ToolClient

ARGUMENTS: Mapping[str, Mapping[str, JSON]] = {
    "create_record": {"title": "alpha", "request_id": "req-1", "idempotency_key": "key-1"},
    "attach_note": {"record_id": "rec-0", "text": "seen"},
    "get_record": {"record_id": "rec-0"},
    "lookup_by_request_id": {"request_id": "req-0"},
}
REQUIRED: Mapping[str, JSON] = {
    "seconds": 60,
    "bytes": 10,
    "field": "correlation_id",
    "value": "cid-9",
    "text": "{}",
    "code": 500,
    "retry_after_s": 30,
}
"""A value for every parameter that has no default."""

NOT_DONE = frozenset({OutcomeClass.REFUSAL, OutcomeClass.FAILURE, OutcomeClass.LOCAL})


def forms(kind: ActionKind) -> list[dict[str, JSON]]:
    required = {name: REQUIRED[name] for name, default in kind.parameters.items() if default is None}
    words = [{name: word} for name, choices in kind.choices.items() for word in choices]
    return [{**required, **word} for word in words or [{}]]


def every_fault(operation: str) -> list[Fault]:
    """Every action at every point where it applies, in every kind; on a kept connection at the second call."""
    return [
        Fault(operation, point, Action.parse({kind.name: form}), 2 if point is Point.REUSE else 1)
        for kind in ACTIONS.values()
        for point in sorted(kind.points)
        for form in forms(kind)
    ]


WRITES = [fault for operation in ("create_record", "attach_note") for fault in every_fault(operation)]
READS = [fault for operation in ("get_record", "lookup_by_request_id") for fault in every_fault(operation)]
AMBIGUOUS = [fault for fault in WRITES if fault.ambiguous and fault.action.name != "drip"]  # a drip may come whole


def play(bench: Bench, fault: Fault) -> Envelope:
    """Make calls up to the one that the fault meets, and let everything happen that is still to come."""
    if fault.nth == 2:
        bench.call("get_record", record_id="rec-0")
        if fault.operation != "get_record":
            bench.plan.begin_call(fault.operation, "cid-0")
            bench.plan.end_call()
    seen = bench.call(fault.operation, **ARGUMENTS[fault.operation])
    bench.network.pass_until(bench.clock.now() + 100)
    return seen


def committed(bench: Bench, seen: Envelope) -> bool:
    return any(event.id == seen.correlation_id for event in bench.named("remote_committed"))


@pytest.mark.parametrize("fault", WRITES, ids=str)
def test_no_write_that_was_committed_is_called_undone_and_none_that_was_not_is_called_done(
    on_records: Build, fault: Fault
) -> None:
    bench = on_records(fault)
    seen = play(bench, fault)
    if committed(bench, seen):
        assert seen.outcome_class not in NOT_DONE
    else:
        assert not seen.ok


@pytest.mark.parametrize("fault", AMBIGUOUS, ids=str)
def test_the_agent_sees_the_same_of_a_fault_and_of_its_twin(on_records: Build, fault: Fault) -> None:
    one = on_records(fault)
    seen = play(one, fault).as_json()
    other = on_records(fault.twin())
    assert seen == play(other, fault.twin()).as_json()
    assert one.clock.now() == other.clock.now()


@pytest.mark.parametrize("fault", AMBIGUOUS, ids=str)
def test_an_effect_that_nobody_can_know_is_uncertain_and_must_be_settled_first(on_records: Build, fault: Fault) -> None:
    seen = play(on_records(fault), fault)
    assert seen.outcome_class is OutcomeClass.UNCERTAIN
    assert (seen.retry.value, seen.reconcile is None) in {("reconcile_first", False), ("poll", False)}


@pytest.mark.parametrize("fault", READS, ids=str)
def test_a_read_is_ok_only_with_the_true_content_and_never_needs_reconciliation(
    on_records: Build, fault: Fault
) -> None:
    seen = play(on_records(fault), fault)
    assert seen.reconcile is None
    if seen.ok:
        assert seen.result in (
            {"title": "beta", "notes": 0, "patch": None},
            {"record_id": "rec-0", "complete": True},
        )


def test_every_fault_lands_in_one_request_whose_category_is_declared_within_the_deadline(on_records: Build) -> None:
    odd: list[str] = []
    for fault in (*WRITES, *READS):
        bench = on_records(fault)
        seen = play(bench, fault)
        landed = [event.detail["action"] for event in bench.named("fault_fired")] == [fault.action.name]
        requests = [event for event in bench.named("remote_received") if event.id == seen.correlation_id]
        declared = seen.category in TOOLS[fault.operation].operation.categories
        in_time = bench.clock.now() <= 100 + 20 + 0.01  # the deadline, and what came before this call
        if not (landed and len(requests) <= 1 and declared and in_time):
            odd.append(str(fault))
    assert odd == []


# The table of design: what a fault of the wire looks like to the caller, for a write and for a read

TABLE: list[tuple[str, Any, str, str]] = [
    ("dns", "fail", "local_failure", "local_failure"),
    ("dns", "silence", "local_failure", "local_failure"),
    ("before_connect", "refuse", "local_failure", "local_failure"),
    ("before_connect", "silence", "local_failure", "local_failure"),
    ("tls", "fail", "local_failure", "local_failure"),
    ("tls", "fin", "local_failure", "local_failure"),
    ("tls", "rst", "local_failure", "local_failure"),
    ("tls", "silence", "local_failure", "local_failure"),
    ("after_accept", "fin", "outcome_unknown", "outcome_unknown"),
    ("after_accept", "rst", "outcome_unknown", "outcome_unknown"),
    ("after_accept", "silence", "outcome_unknown", "outcome_unknown"),
    ("during_request", "rst", "outcome_unknown", "outcome_unknown"),
    ("during_request", "silence", "outcome_unknown", "outcome_unknown"),
    ("before_commit", "fin", "outcome_unknown", "outcome_unknown"),
    ("before_commit", "rst", "outcome_unknown", "outcome_unknown"),
    ("before_commit", "silence", "outcome_unknown", "outcome_unknown"),
    ("before_commit", {"delay": 60}, "outcome_unknown", "outcome_unknown"),
    ("before_commit", {"status": 500}, "outcome_unknown", "outcome_unknown"),
    ("before_commit", {"status": 408}, "outcome_unknown", "outcome_unknown"),
    ("before_commit", "redirect", "malformed_response", "malformed_response"),
    ("before_commit", {"rate_limit": 30}, "rate_limited", "rate_limited"),
    ("before_commit", "expire_credential", "authentication_failed", "authentication_failed"),
    ("before_commit", "deny", "authorization_denied", "authorization_denied"),
    ("after_commit", "fin", "outcome_unknown", "outcome_unknown"),
    ("after_commit", "rst", "outcome_unknown", "outcome_unknown"),
    ("after_commit", "silence", "outcome_unknown", "outcome_unknown"),
    ("after_commit", {"delay": 60}, "outcome_unknown", "outcome_unknown"),
    ("after_commit", {"status": 503}, "outcome_unknown", "outcome_unknown"),
    ("in_head", "fin", "outcome_unknown", "outcome_unknown"),
    ("in_head", "silence", "outcome_unknown", "outcome_unknown"),
    ("in_head", {"cut": 10}, "outcome_unknown", "outcome_unknown"),
    ("in_head", "garbage", "outcome_unknown", "outcome_unknown"),
    ("in_head", "http09", "outcome_unknown", "outcome_unknown"),
    ("in_head", "huge_head", "outcome_unknown", "outcome_unknown"),
    ("in_head", "unsolicited_101", "outcome_unknown", "outcome_unknown"),
    ("in_head", "interim_forever", "outcome_unknown", "outcome_unknown"),
    ("in_head", {"wrong_framing": "bad_length"}, "outcome_unknown", "outcome_unknown"),
    ("in_head", {"wrong_framing": "conflicting_length"}, "outcome_unknown", "outcome_unknown"),
    ("in_body", "fin", "malformed_response", "malformed_response"),
    ("in_body", "rst", "malformed_response", "malformed_response"),
    ("in_body", "silence", "malformed_response", "malformed_response"),
    ("in_body", "drip", "malformed_response", "malformed_response"),
    ("in_body", {"cut": 10}, "malformed_response", "malformed_response"),
    ("in_body", "garbage", "malformed_response", "malformed_response"),
    ("in_body", "html", "malformed_response", "malformed_response"),
    ("in_body", "nan", "malformed_response", "malformed_response"),
    ("in_body", "invalid_utf8", "malformed_response", "malformed_response"),
    ("in_body", "duplicate_keys", "malformed_response", "malformed_response"),
    ("in_body", {"gzip": "corrupt"}, "malformed_response", "malformed_response"),
    ("in_body", {"gzip": "truncated"}, "malformed_response", "malformed_response"),
    ("in_body", {"gzip": "second_member"}, "malformed_response", "malformed_response"),
    ("in_body", {"wrong_framing": "short_length"}, "malformed_response", "malformed_response"),
    ("in_body", {"wrong_framing": "surplus"}, "malformed_response", "malformed_response"),
    ("in_body", {"wrong_framing": "eof_delimited"}, "malformed_response", "malformed_response"),
    ("in_body", {"wrong_framing": "bad_chunk"}, "malformed_response", "malformed_response"),
    ("in_body", {"wrong_framing": "cut_chunk"}, "malformed_response", "malformed_response"),
    ("in_body", {"remove": "record_id"}, "malformed_response", "ok"),
    ("in_body", {"replace": {"field": "record_id", "value": ""}}, "malformed_response", "malformed_response"),
    ("after_response", "fin", "ok", "ok"),
    ("after_response", "rst", "ok", "ok"),
    ("reuse", "fin", "outcome_unknown", "outcome_unknown"),
    ("reuse", "rst", "outcome_unknown", "outcome_unknown"),
    ("reuse", "silence", "outcome_unknown", "outcome_unknown"),
    ("reuse", "stale_response", "malformed_response", "malformed_response"),
    ("reuse", "eager_response", "malformed_response", "malformed_response"),
]


@pytest.mark.parametrize(("point", "action", "write", "read"), TABLE)
def test_a_fault_of_the_wire_is_what_the_table_says(
    on_records: Build, point: str, action: Any, write: str, read: str
) -> None:
    found = []
    for operation in ("create_record", "get_record"):
        fault = Fault(operation, Point(point), Action.parse(action), 2 if point == "reuse" else 1)
        found.append(play(on_records(fault), fault).category)
    assert found == [write, read]


@pytest.mark.parametrize(
    ("point", "action", "acknowledged"),
    [
        ("in_body", "silence", True),
        ("in_body", "garbage", True),
        ("in_body", {"remove": "record_id"}, True),
        ("in_body", {"replace": {"field": "correlation_id", "value": "cid-9"}}, None),
        ("before_commit", "redirect", None),
        ("after_commit", "silence", None),
        ("reuse", "stale_response", None),
        ("reuse", "eager_response", None),
    ],
)
def test_an_effect_is_acknowledged_only_by_the_head_of_an_answer_to_us(
    on_records: Build,
    point: str,
    action: Any,
    acknowledged: bool | None,  # noqa: FBT001 - a row of the table
) -> None:
    fault = Fault("create_record", Point(point), Action.parse(action), 2 if point == "reuse" else 1)
    assert play(on_records(fault), fault).effect_acknowledged is acknowledged


@pytest.mark.parametrize(
    ("patience", "category"),
    [
        (Timeouts(connect_s=0.0005), "local_failure"),
        (Timeouts(total_s=0.0015), "local_failure"),
        (Timeouts(read_s=0.0005), "outcome_unknown"),
        (Timeouts(total_s=0.0025), "outcome_unknown"),
    ],
)
def test_impatience_alone_is_classified_by_what_was_sent(patience: Timeouts, category: str) -> None:
    bench = Bench(ToolClient(patience), records)
    assert bench.call("create_record", **ARGUMENTS["create_record"]).category == category


def test_every_category_of_the_table_is_known() -> None:
    assert {name for row in TABLE for name in row[2:]} <= set(CATEGORIES)
