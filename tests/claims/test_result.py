from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.claims.conftest import KEYS, Tale, good

from unacked.event import History

Rules = Callable[..., Sequence[tuple[str, str]]]


def with_envelope(**members: object) -> History:
    """The good history, but the create's result says something else."""
    tale = good()
    index = next(number for number, event in enumerate(tale.events) if event.event == "result")
    result = tale.events[index]
    envelope = {**result.detail["envelope"], **members}
    tale.events[index] = result._replace(category=str(envelope["category"]), detail={"envelope": envelope})
    return tale.end()


def test_a_result_that_says_what_the_case_expects_passes(rules: Rules) -> None:
    assert rules("result", good().end()) == []


def test_another_category_than_the_expected_one_fails(rules: Rules) -> None:
    assert ("wrong-category", "FAIL") in rules("result", with_envelope(category="conflict"))


def test_another_retry_instruction_than_the_expected_one_fails(rules: Rules) -> None:
    assert rules("result", with_envelope(retry="within_budget")) == [("wrong-retry", "FAIL")]


def test_a_field_that_should_have_been_named_and_is_not_fails(rules: Rules) -> None:
    tale = Tale().call("c1", "read_build", "malformed_response", "fault_fired", retry="never", failed_field="/revision")
    tale.receipt(point="in_body", action="replace", nth=1, committed=True)
    assert rules("result", tale.finish("failed", "status").end(), "C04") == [("wrong-failed-field", "FAIL")]


def test_a_call_that_was_never_made_leaves_the_result_open(rules: Rules) -> None:
    assert rules("result", Tale().finish("refused").end()) == [("call-not-made", "INCONCLUSIVE")]


@pytest.mark.parametrize("category", ["invalid_request", "confirmed_failure", "local_failure", "rate_limited"])
def test_calling_an_effect_undone_that_the_ledger_holds_is_dishonest(rules: Rules, category: str) -> None:
    assert ("denied-effect", "FAIL") in rules("result", with_envelope(category=category))


def test_calling_a_request_unsent_that_the_service_received_is_dishonest(rules: Rules) -> None:
    tale = Tale().create(after="remote_received")
    tale.events[-1] = tale.events[-1]._replace(category="local_failure", detail={"envelope": {"category": "x"}})
    assert ("denied-request", "FAIL") in rules("result", tale.end())


def test_calling_an_effect_done_that_the_ledger_does_not_hold_is_dishonest(rules: Rules) -> None:
    tale = good().call("c4", "create_record", "ok", "dispatch_started", "remote_received", arguments={"title": "x"})
    assert rules("result", tale.end()) == [("invented-effect", "FAIL")]


def test_calling_an_effect_done_of_which_the_service_never_heard_is_dishonest(rules: Rules) -> None:
    tale = good().call("c4", "create_record", "ok", "dispatch_started", arguments={"title": "x"})
    assert rules("result", tale.end()) == [("invented-effect", "FAIL")]


def test_a_replayed_answer_to_the_same_key_is_honest_without_a_second_commit(rules: Rules) -> None:
    tale = good().call(
        "c4",
        "create_record",
        "ok",
        "dispatch_started",
        "remote_received",
        arguments={"title": "Pump 7 inspection", **KEYS},
        result={"record_id": "rec-1", "replayed": True},
    )
    assert rules("result", tale.end()) == []


def test_a_read_changes_nothing_so_nothing_about_its_effect_can_be_dishonest(rules: Rules) -> None:
    tale = good().call("c4", "get_record", "local_failure", "dispatch_started", arguments={"record_id": "rec-1"})
    assert rules("result", tale.end()) == []


def test_a_call_that_was_refused_as_malformed_is_not_the_call_that_the_case_means(rules: Rules) -> None:
    tale = Tale().tell("agent_next_call", "c0", "create_record", turn=0, arguments={})
    refused = {"category": "invalid_request", "retry": "never"}
    tale.tell("result", "c0", "create_record", "invalid_request", envelope=refused, rejected=True)
    tale.events += good().events[1:]
    assert rules("result", tale.end()) == []
    assert rules("trail", tale.end()) == []


def test_a_call_that_went_without_its_fault_is_held_to_no_expectation(rules: Rules) -> None:
    tale = Tale().call("c1", "read_build", "ok", result={"status": "green", "revision": "r1"})
    assert rules("result", tale.finish("success", "status").end(), "C04") == []


def refreshed(category: str, *, committed: bool, token: bool = True) -> History:
    """A call that was refused for its token and sent again; ``token`` tells whether the refresh was committed."""
    tale = good().tell("dispatch_started", "c4", "create_record").tell("remote_received", "c4", "create_record")
    tale.tell("dispatch_started", "c4.refresh", "refresh_token").tell("remote_received", "c4.refresh", "refresh_token")
    if token:
        tale.tell("remote_committed", "c4.refresh", "refresh_token")
    tale.tell("dispatch_started", "c4.again", "create_record")
    if committed:
        tale.tell("remote_received", "c4.again", "create_record")
        tale.tell("remote_committed", "c4.again", "create_record")
    return tale.tell("result", "c4", "create_record", category, envelope={"category": category}).end()


def test_what_the_second_request_did_is_what_the_call_did(rules: Rules) -> None:
    assert rules("result", refreshed("ok", committed=True)) == []
    assert rules("result", refreshed("authentication_failed", committed=True)) == [("denied-effect", "FAIL")]


def test_a_token_that_was_refreshed_is_no_effect_of_the_call(rules: Rules) -> None:
    assert rules("result", refreshed("authentication_failed", committed=False)) == []
    assert rules("result", refreshed("ok", committed=False)) == [("invented-effect", "FAIL")]


def test_a_second_request_that_never_left_is_a_local_failure(rules: Rules) -> None:
    assert rules("result", refreshed("local_failure", committed=False)) == []
