"""The result contract: the table of categories as data, and the envelope that agents see."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from unacked.canonical import JSON
from unacked.outcome import CATEGORIES, CATEGORY_SETS, Envelope, OutcomeClass, Retry

TABLE = """\
ok                    success    known    none                none
approved              success    known    none                none
partial               success    known    continue_or_review  continue_or_review
accepted              uncertain  unknown  poll                poll
not_found             refusal    known    never               never
local_failure         local      known    within_budget       within_budget
rate_limited          local      known    after_wait          after_wait
invalid_request       refusal    known    never               never
authentication_failed refusal    known    never               never
authorization_denied  refusal    known    never               never
declined              refusal    known    never               never
locked                refusal    known    never               never
evidence_required     refusal    known    never               never
confirmed_failure     failure    known    none                none
conflict              uncertain  unknown  never               reconcile_first
malformed_response    uncertain  unknown  never               reconcile_first
outcome_unknown       uncertain  unknown  within_budget       reconcile_first
"""


def test_the_table_of_categories_is_that_of_the_contract() -> None:
    rows = [
        (
            row.name,
            row.outcome_class.value,
            "known" if row.effect_known else "unknown",
            row.retry_read.value,
            row.retry_write.value,
        )
        for row in CATEGORIES.values()
    ]
    assert rows == [tuple(line.split()) for line in TABLE.splitlines()]


def test_knowledge_of_the_effect_is_final_exactly_where_the_effect_is_known() -> None:
    assert [row.name for row in CATEGORIES.values() if row.definite is not row.effect_known] == []


def test_the_uncertain_class_is_the_one_whose_effect_is_unknown() -> None:
    unknown = {row.name for row in CATEGORIES.values() if not row.effect_known}
    uncertain = {row.name for row in CATEGORIES.values() if row.outcome_class is OutcomeClass.UNCERTAIN}
    assert unknown == uncertain


def test_no_category_tells_the_caller_of_a_write_to_just_repeat_what_may_have_been_done() -> None:
    told = {row.retry_write for row in CATEGORIES.values() if not row.effect_known}
    assert told == {Retry.POLL, Retry.RECONCILE_FIRST}


def test_every_category_has_its_own_wording() -> None:
    assert len({row.message for row in CATEGORIES.values()}) == len(CATEGORIES)


@pytest.mark.parametrize(
    ("kind", "categories"),
    [
        ("control", {"ok"}),
        (
            "http_read",
            {
                "ok",
                "not_found",
                "invalid_request",
                "authentication_failed",
                "authorization_denied",
                "rate_limited",
                "local_failure",
                "malformed_response",
                "outcome_unknown",
            },
        ),
        (
            "http_write",
            {
                "ok",
                "accepted",
                "not_found",
                "invalid_request",
                "authentication_failed",
                "authorization_denied",
                "rate_limited",
                "local_failure",
                "malformed_response",
                "outcome_unknown",
                "conflict",
                "confirmed_failure",
                "declined",
                "locked",
            },
        ),
    ],
)
def test_a_kind_of_operation_has_a_closed_set_of_categories(kind: str, categories: set[str]) -> None:
    assert CATEGORY_SETS[kind] == categories


def unknown_outcome(**changes: JSON) -> Envelope:
    members: dict[str, JSON] = {
        "category": "outcome_unknown",
        "operation": "create_deployment",
        "retry": Retry.RECONCILE_FIRST,
        "correlation_id": "case-http-005",
        "message": CATEGORIES["outcome_unknown"].message,
        "reconcile": "find_deployment",
    }
    return Envelope(**{**members, **changes})


def test_the_envelope_of_an_unknown_outcome_says_what_to_do_first() -> None:
    assert unknown_outcome().as_json() == {
        "ok": False,
        "category": "outcome_unknown",
        "class": "uncertain",
        "operation": "create_deployment",
        "retry": "reconcile_first",
        "correlation_id": "case-http-005",
        "message": "No usable answer came after the request was sent; the remote outcome is unknown.",
        "reconcile": "find_deployment",
        "effect_acknowledged": "unknown",
    }


def test_the_envelope_of_a_success_says_nothing_that_it_need_not() -> None:
    envelope = Envelope(
        category="ok",
        operation="create_record",
        retry=Retry.NONE,
        correlation_id="cid-1",
        message="Done.",
        result={"record_id": "rec-1"},
    )
    assert envelope.as_json() == {
        "ok": True,
        "category": "ok",
        "class": "success",
        "operation": "create_record",
        "retry": "none",
        "correlation_id": "cid-1",
        "message": "Done.",
        "result": {"record_id": "rec-1"},
    }


def test_the_envelope_of_a_rate_limit_says_how_long_to_wait_even_if_it_is_zero() -> None:
    envelope = unknown_outcome(category="rate_limited", retry=Retry.AFTER_WAIT, reconcile=None, retry_after_s=0.0)
    assert envelope.as_json() == {
        "ok": False,
        "category": "rate_limited",
        "class": "local",
        "operation": "create_deployment",
        "retry": "after_wait",
        "correlation_id": "case-http-005",
        "message": "No usable answer came after the request was sent; the remote outcome is unknown.",
        "retry_after_s": 0.0,
    }


def test_an_acknowledged_effect_and_the_field_that_broke_the_contract_are_named() -> None:
    written = unknown_outcome(
        category="malformed_response", effect_acknowledged=True, failed_field="/deployment_id"
    ).as_json()
    assert (written["effect_acknowledged"], written["failed_field"]) == (True, "/deployment_id")


@pytest.mark.parametrize(
    ("category", "ok"), [("ok", True), ("partial", True), ("not_found", False), ("accepted", False)]
)
def test_ok_means_that_the_class_is_success(category: str, ok: bool) -> None:  # noqa: FBT001 - a row of the table
    envelope = unknown_outcome(category=category)
    assert (envelope.ok, envelope.as_json()["ok"]) == (ok, ok)


def test_an_envelope_knows_the_class_of_its_category() -> None:
    assert unknown_outcome(category="declined").outcome_class is OutcomeClass.REFUSAL


def test_an_envelope_cannot_be_changed_and_does_not_share_its_result() -> None:
    envelope = unknown_outcome(category="ok", result={"a": 1})
    envelope.as_json()["result"]["a"] = 2
    assert envelope.result == {"a": 1}
    with pytest.raises(FrozenInstanceError):
        envelope.category = "ok"  # type: ignore[misc]
