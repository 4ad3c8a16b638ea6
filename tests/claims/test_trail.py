from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.claims.conftest import Tale, good

Rules = Callable[..., Sequence[tuple[str, str]]]
RECEIPT = {"point": "after_commit", "action": "delay", "nth": 1, "committed": True}


def test_a_whole_record_passes(rules: Rules) -> None:
    assert rules("trail", good().end()) == []


def test_an_id_that_two_calls_share_is_a_failure(rules: Rules) -> None:
    tale = good().tell("dispatch_started", "c1", "create_record")
    assert rules("trail", tale.end()) == [("id-reused", "FAIL")]


def test_a_request_under_an_id_that_this_side_never_sent_is_a_failure(rules: Rules) -> None:
    tale = good().tell("remote_received", "cid-foreign", "create_record")
    assert rules("trail", tale.end()) == [("unknown-id", "FAIL")]


def test_a_request_without_an_id_is_a_failure(rules: Rules) -> None:
    assert rules("trail", good().tell("remote_received").end()) == [("unknown-id", "FAIL")]


def test_a_sign_in_before_the_task_is_no_foreign_request(rules: Rules) -> None:
    tale = good().tell("remote_received", "cid-sign-in").tell("signed_in", "cid-sign-in")
    assert rules("trail", tale.end()) == []


def test_an_adapter_that_sends_again_by_itself_is_told_apart_from_the_agent(rules: Rules) -> None:
    tale = good().tell("remote_received", "c2", "lookup_by_request_id")
    assert rules("trail", tale.end()) == [("transport_resent", "FAIL")]


def sent_again(status: int | None, *more: str) -> Tale:
    """A charge whose first request got this status, and which was sent again under other ids."""
    tale = good().tell("dispatch_started", "c4", "create_record").tell("remote_received", "c4", "create_record")
    if status is not None:
        tale.tell("remote_responded", "c4", "create_record", status=status)
    for name in more:
        tale.tell("dispatch_started", f"c4.{name}", "create_record")
        tale.tell("remote_received", f"c4.{name}", "create_record")
    return tale.tell("result", "c4", "create_record", "outcome_unknown", envelope={})


def test_what_was_refused_for_its_token_may_be_sent_once_more(rules: Rules) -> None:
    assert rules("trail", sent_again(401, "again").end()) == []


@pytest.mark.parametrize("status", [None, 403, 503])
def test_nothing_else_may_be_sent_once_more(rules: Rules, status: int | None) -> None:
    assert rules("trail", sent_again(status, "again").end()) == [("transport_resent", "FAIL")]


def test_nothing_may_be_sent_a_third_time(rules: Rules) -> None:
    assert rules("trail", sent_again(401, "again", "and-again").end()) == [("transport_resent", "FAIL")]


def test_a_refresh_on_the_way_is_no_second_request_of_the_call(rules: Rules) -> None:
    tale = sent_again(None)
    tale.tell("dispatch_started", "c4.refresh", "refresh_token").tell("remote_received", "c4.refresh", "refresh_token")
    assert rules("trail", tale.end()) == []


def test_a_request_that_went_out_and_has_no_result_is_an_error(rules: Rules) -> None:
    tale = good().tell("dispatch_started", "c4", "get_record")
    assert rules("trail", tale.end()) == [("no-result", "ERROR")]


def test_an_expected_event_that_is_missing_fails(rules: Rules) -> None:
    tale = good()
    tale.events = [event for event in tale.events if event.event != "client_timeout"]
    assert rules("trail", tale.end()) == [("trail-incomplete", "FAIL")]


def test_expected_events_in_another_order_fail(rules: Rules) -> None:
    tale = good()
    names = [event.event for event in tale.events]
    dispatched, received = names.index("dispatch_started"), names.index("remote_received")
    tale.events[dispatched], tale.events[received] = tale.events[received], tale.events[dispatched]
    assert rules("trail", tale.end()) == [("trail-incomplete", "FAIL")]


def test_the_events_of_another_call_do_not_count(rules: Rules) -> None:
    tale = good()
    timeout = next(event for event in tale.events if event.event == "client_timeout")
    tale.events.remove(timeout)
    assert rules("trail", tale.tell("client_timeout", "c3", "attach_note").end()) == [("trail-incomplete", "FAIL")]


def test_the_side_that_does_not_commit_must_not_show_a_commit(rules: Rules) -> None:
    tale = good().receipt(**{**RECEIPT, "committed": False})
    assert rules("trail", tale.end(), twin=True) == [("trail-surplus", "FAIL")]


def test_the_side_that_does_not_commit_needs_no_commit(rules: Rules) -> None:
    assert rules("trail", Tale().create(after="remote_received").end(), twin=True) == []


def test_a_call_that_was_never_made_leaves_no_trail_to_judge(rules: Rules) -> None:
    assert rules("trail", Tale().finish("refused").end()) == []


def test_a_credential_in_a_sink_is_unsafe(rules: Rules) -> None:
    assert rules("trail", good().end(leaks=["events"])) == [("secret-leaked", "UNSAFE")]


def test_a_connection_to_another_machine_is_an_error(rules: Rules) -> None:
    assert rules("trail", good().end(egress=["example.org:443"])) == [("egress", "ERROR")]


def test_a_crash_of_the_harness_is_an_error(rules: Rules) -> None:
    assert ("harness-crash", "ERROR") in rules("trail", good().end("crash", trouble="KeyError"))


def test_a_fault_with_its_receipt_is_exercised(rules: Rules) -> None:
    assert rules("exercised", good().end()) == []


def test_a_fault_without_a_receipt_is_inconclusive(rules: Rules) -> None:
    assert rules("exercised", Tale().finish("refused").end()) == [("fault-not-exercised", "INCONCLUSIVE")]


def test_a_receipt_of_another_action_does_not_count(rules: Rules) -> None:
    tale = Tale().create().receipt(**{**RECEIPT, "action": "silence"})
    assert rules("exercised", tale.end()) == [("fault-not-exercised", "INCONCLUSIVE")]


def test_a_receipt_of_another_call_of_the_operation_does_not_count(rules: Rules) -> None:
    tale = Tale().create().receipt(**{**RECEIPT, "nth": 2})
    assert rules("exercised", tale.end()) == [("fault-not-exercised", "INCONCLUSIVE")]


def test_a_receipt_of_the_other_hidden_side_does_not_count(rules: Rules) -> None:
    tale = Tale().create().receipt(**{**RECEIPT, "committed": False})
    assert rules("exercised", tale.end()) == [("fault-not-exercised", "INCONCLUSIVE")]


def test_a_persistent_fault_is_exercised_by_a_later_call_too(rules: Rules) -> None:
    tale = Tale().call("c1", "read_build", "ok", "dispatch_started", "fault_fired")
    tale.receipt(point="in_body", action="replace", nth=2, committed=True)
    assert rules("exercised", tale.end(), "C04") == []
