from __future__ import annotations

from typing import Any

import pytest

from unacked.contract import Idempotency
from unacked.services import SeedError

SEED = {"charges": [{"charge_id": "ch-7", "amount": 2000, "currency": "EUR", "customer": "cus-12"}]}
BILL = {"amount": 900, "currency": "EUR", "customer": "cus-1"}
CHARGE = ("POST", "/v1/charges", {**BILL, "request_id": "req-1"})
REFUND = ("POST", "/v1/charges/ch-7/refunds", {"amount": 500, "request_id": "req-2"})
INVOICE = ("POST", "/v1/invoices", {**BILL, "request_id": "req-3"})
ECHO = {"correlation_id": "c-1"}


@pytest.fixture
def payments(start: Any) -> Any:
    return start("payments", SEED)


def test_the_world_counts_each_kind_and_its_money(payments: Any) -> None:
    assert payments.service.summary() == {
        "charges": 1,
        "charged_total": 2000,
        "refunds": 0,
        "refunded_total": 0,
        "invoices": 0,
        "invoiced_total": 0,
        "duplicate_charges": 0,
        "duplicate_refunds": 0,
        "duplicate_invoices": 0,
    }


def test_a_charge_answers_its_new_id(payments: Any) -> None:
    assert payments(*CHARGE) == (201, {"charge_id": "ch-1", **BILL, "replayed": False, **ECHO})
    assert payments.service.summary()["charged_total"] == 2900


def test_a_charge_is_found_by_the_request_that_made_it(payments: Any) -> None:
    payments(*CHARGE)

    found = payments("GET", "/v1/charges?request_id=req-1")
    assert found == (200, {"items": [{"charge_id": "ch-1", "amount": 900}], "complete": True, **ECHO})
    assert payments("GET", "/v1/charges?request_id=req-9")[1] == {"items": [], "complete": True, **ECHO}


def test_a_charge_shows_how_much_of_it_was_given_back(payments: Any) -> None:
    payments(*REFUND)

    shown = {"charge_id": "ch-7", "amount": 2000, "currency": "EUR", "customer": "cus-12", "refunded": 500}
    assert payments("GET", "/v1/charges/ch-7") == (200, {**shown, **ECHO})


def test_a_refund_answers_its_new_id(payments: Any) -> None:
    answer = {"refund_id": "re-1", "charge_id": "ch-7", "amount": 500, "replayed": False, **ECHO}

    assert payments(*REFUND) == (201, answer)
    assert payments.service.summary()["refunded_total"] == 500


def test_a_refund_is_found_by_the_request_that_made_it(payments: Any) -> None:
    payments(*REFUND)

    found = payments("GET", "/v1/refunds?request_id=req-2")
    assert found == (200, {"items": [{"refund_id": "re-1", "amount": 500}], "complete": True, **ECHO})


def test_no_more_is_given_back_than_was_taken(payments: Any) -> None:
    refund = ("POST", "/v1/charges/ch-7/refunds")
    assert payments(*refund, {"amount": 1500, "request_id": "req-2"})[0] == 201

    assert payments(*refund, {"amount": 501, "request_id": "req-4"}) == (
        422,
        {"error": "amount_too_large", "field": "amount"},
    )
    assert payments(*refund, {"amount": 500, "request_id": "req-5"})[0] == 201
    assert payments.service.summary()["refunded_total"] == 2000


def test_an_invoice_answers_its_new_id_and_is_found(payments: Any) -> None:
    assert payments(*INVOICE) == (201, {"invoice_id": "inv-1", **BILL, "replayed": False, **ECHO})

    found = payments("GET", "/v1/invoices?request_id=req-3")
    assert found == (200, {"items": [{"invoice_id": "inv-1", "amount": 900}], "complete": True, **ECHO})


@pytest.mark.parametrize(
    ("request_", "count", "duplicates"),
    [
        (CHARGE, "charges", "duplicate_charges"),
        (REFUND, "refunds", "duplicate_refunds"),
        (INVOICE, "invoices", "duplicate_invoices"),
    ],
)
def test_what_is_paid_twice_is_visible_in_the_world(payments: Any, request_: Any, count: str, duplicates: str) -> None:
    before = payments.service.summary()[count]
    for _ in range(2):
        payments(*request_)

    summary = payments.service.summary()
    assert (summary[count] - before, summary[duplicates]) == (2, 1)


def test_another_amount_under_the_same_request_id_is_a_duplicate(payments: Any) -> None:
    payments(*CHARGE)
    payments("POST", "/v1/charges", {**BILL, "amount": 901, "request_id": "req-1"})

    assert payments.service.summary()["duplicate_charges"] == 1


@pytest.mark.parametrize(
    ("operation", "request_", "count"),
    [("charge", CHARGE, "charges"), ("refund", REFUND, "refunds"), ("create_invoice", INVOICE, "invoices")],
)
def test_money_moves_once_where_the_service_replays(start: Any, operation: str, request_: Any, count: str) -> None:
    payments = start("payments", SEED, **{operation: Idempotency.REPLAY_SUCCESS})
    before = payments.service.summary()[count]

    assert [payments(*request_)[1]["replayed"], payments(*request_)[1]["replayed"]] == [False, True]
    assert payments.service.summary()[count] - before == 1


@pytest.mark.parametrize(
    ("target", "body"),
    [("/v1/charges", {**BILL}), ("/v1/invoices", {**BILL}), ("/v1/charges/ch-7/refunds", {"amount": 1})],
)
@pytest.mark.parametrize("amount", [0, -5, 9.5, "900", True, None])
def test_an_amount_is_a_positive_whole_number(payments: Any, target: str, body: Any, amount: Any) -> None:
    before = payments.service.summary()

    answer = payments("POST", target, {**body, "amount": amount, "request_id": "req-1"})

    assert answer == (422, {"error": "invalid_request", "field": "amount"})
    assert payments.service.summary() == before


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [("GET", "/v1/charges/ch-9", None), ("POST", "/v1/charges/ch-9/refunds", {"amount": 1})],
)
def test_an_unknown_charge_is_not_found(payments: Any, method: str, target: str, body: Any) -> None:
    assert payments(method, target, body) == (404, {"error": "no_such_charge"})


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        CHARGE,
        ("GET", "/v1/charges?request_id=req-1", None),
        ("GET", "/v1/charges/ch-7", None),
        REFUND,
        ("GET", "/v1/refunds?request_id=req-2", None),
        INVOICE,
        ("GET", "/v1/invoices?request_id=req-3", None),
    ],
)
def test_the_two_sides_of_a_twin_are_the_same_bytes(start: Any, method: str, target: str, body: Any) -> None:
    modes = dict.fromkeys(("charge", "refund", "create_invoice"), Idempotency.REPLAY_SUCCESS)
    payments = start("payments", SEED, **modes)
    before = payments.service.summary()

    unmade = payments.raw(method, target, body, commit=False)
    assert payments.service.summary() == before
    made = payments.raw(method, target, body)

    assert (unmade.status, unmade.headers, unmade.body) == (made.status, made.headers, made.body)


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"charge": []}, "seed.charge: unknown key; did you mean 'charges'?"),
        (
            {"charges": [{"charge_id": "ch-7", "currency": "EUR", "customer": "c"}]},
            "seed.charges[0].amount: is missing; expected an integer",
        ),
        (
            {"charges": [{"charge_id": "ch-7", "amount": 0, "currency": "EUR", "customer": "c"}]},
            "seed.charges[0].amount: expected a positive amount, got 0",
        ),
    ],
)
def test_a_bad_seed_is_refused_with_its_key(start: Any, seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        start("payments", seed)

    assert str(caught.value) == message
