"""What an exchange proves: by phase reached, effect class and contract, never by the class of an exception."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from unacked.contract import Operation
from unacked.outcome import CATEGORIES, CATEGORY_SETS
from unacked.tools import TOOLS
from unacked.tools.classify import Finding, classify, envelope
from unacked.tools.client import Exchange, Phase

CID = "cid-1"
ECHO = {"x-correlation-id": CID}
BODIES: Mapping[str, dict[str, Any]] = {
    "create_record": {"record_id": "rec-1", "replayed": False, "correlation_id": CID},
    "lookup_by_request_id": {"items": [{"record_id": "rec-1"}], "complete": True, "correlation_id": CID},
    "get_record": {"record_id": "rec-1", "title": "alpha", "notes": 0, "patch": None, "correlation_id": CID},
    "delete_release": {"release_id": "rel-1", "correlation_id": CID},
    "read_build": {"build_id": "b-1", "status": "passed", "revision": "r42", "correlation_id": CID},
}
TARGETS = {"get_record": "rec-1", "delete_release": "rel-1", "read_build": "b-1"}


def answered(
    operation: str = "create_record",
    status: int | None = None,
    body: Any = ...,
    headers: Mapping[str, str] = ECHO,
    phase: Phase = Phase.COMPLETE,
) -> Finding:
    """Classify one answer; the status is that of success and the body a good one unless it is said otherwise."""
    tool = TOOLS[operation]
    assert tool.endpoint is not None
    raw = None
    if phase is Phase.COMPLETE:
        chosen = BODIES[operation] if body is ... else body
        raw = chosen if isinstance(chosen, bytes) else json.dumps(chosen).encode()
    exchange = Exchange(
        phase,
        sent_bytes=100,
        elapsed_s=0.1,
        status=tool.endpoint.success if status is None else status,
        headers=httpx2.Headers(headers),
        body=raw,
        error=None if raw is not None else httpx2.ReadTimeout("x"),
    )
    return classify(exchange, tool.operation, tool.endpoint, CID, TARGETS.get(operation))


def broken(operation: str, phase: Phase, error: Exception) -> Finding:
    """Classify an exchange that ended before a head had come."""
    tool = TOOLS[operation]
    assert tool.endpoint is not None
    return classify(Exchange(phase, 100, 0.1, error=error), tool.operation, tool.endpoint, CID)


# Before a head has come

EVERY_ERROR = [
    httpx2.ConnectError("x"),
    httpx2.ConnectTimeout("x"),
    httpx2.ReadError("x"),
    httpx2.ReadTimeout("x"),
    httpx2.WriteError("x"),
    httpx2.WriteTimeout("x"),
    httpx2.PoolTimeout("x"),
    httpx2.RemoteProtocolError("x"),
    httpx2.LocalProtocolError("x"),
    httpx2.UnsupportedProtocol("x"),
    httpx2.ProxyError("x"),
    httpx2.DecodingError("x"),
    ValueError("x"),
    OSError("x"),
]


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("operation", ["create_record", "get_record", "delete_release"])
@pytest.mark.parametrize(
    ("phase", "category"),
    [
        (Phase.NOTHING_SENT, "local_failure"),
        (Phase.REQUEST_STARTED, "outcome_unknown"),
        (Phase.REQUEST_SENT, "outcome_unknown"),
    ],
)
def test_before_a_head_the_phase_alone_decides(operation: str, phase: Phase, category: str, error: Exception) -> None:
    assert broken(operation, phase, error) == Finding(category)


# A status and a whole answer

STATUSES = """\
200 malformed_response malformed_response  ok
201 ok                 ok                  malformed_response
202 accepted           accepted            malformed_response
203 malformed_response malformed_response  malformed_response
204 malformed_response malformed_response  malformed_response
206 malformed_response malformed_response  malformed_response
300 malformed_response malformed_response  malformed_response
301 malformed_response malformed_response  malformed_response
302 malformed_response malformed_response  malformed_response
304 malformed_response malformed_response  malformed_response
307 malformed_response malformed_response  malformed_response
308 malformed_response malformed_response  malformed_response
400 invalid_request    invalid_request     invalid_request
401 authentication_failed authentication_failed authentication_failed
402 malformed_response malformed_response  malformed_response
403 authorization_denied authorization_denied authorization_denied
404 not_found          not_found           not_found
405 malformed_response malformed_response  malformed_response
408 outcome_unknown    outcome_unknown     outcome_unknown
409 conflict           conflict            malformed_response
412 conflict           conflict            malformed_response
413 invalid_request    invalid_request     invalid_request
418 malformed_response malformed_response  malformed_response
422 invalid_request    invalid_request     invalid_request
425 malformed_response malformed_response  malformed_response
429 rate_limited       rate_limited        rate_limited
451 malformed_response malformed_response  malformed_response
500 outcome_unknown    outcome_unknown     outcome_unknown
501 outcome_unknown    outcome_unknown     outcome_unknown
502 outcome_unknown    outcome_unknown     outcome_unknown
503 outcome_unknown    outcome_unknown     outcome_unknown
504 outcome_unknown    outcome_unknown     outcome_unknown
599 outcome_unknown    outcome_unknown     outcome_unknown
"""
ROWS = [line.split() for line in STATUSES.splitlines()]


@pytest.mark.parametrize(("status", "create", "annotate", "read"), ROWS, ids=[row[0] for row in ROWS])
def test_a_status_means_the_same_whatever_the_body_claims(status: str, create: str, annotate: str, read: str) -> None:
    fields = {"record_id": "rec-1", "title": "a", "notes": 1, "correlation_id": CID}
    body = fields if int(status) < 300 else {**fields, "error": "no"}
    found = [
        answered("create_record", int(status), body).category,
        _note(int(status), body),
        answered("get_record", int(status), body).category,
    ]
    assert found == [create, annotate, read]


def _note(status: int, body: dict[str, Any]) -> str:
    tool = TOOLS["attach_note"]
    assert tool.endpoint is not None
    exchange = Exchange(Phase.COMPLETE, 1, 0.1, status, httpx2.Headers(ECHO), json.dumps(body).encode())
    return classify(exchange, tool.operation, tool.endpoint, CID, "rec-1").category


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 422, 429])
@pytest.mark.parametrize("body", [b"", b"{}", b"<html>no</html>", b'{"error":7}', b'["error"]', b'{"error":"a"'])
def test_a_refusal_without_the_documented_body_is_no_refusal(status: int, body: bytes) -> None:
    assert answered("create_record", status, body).category == "malformed_response"


@pytest.mark.parametrize("status", [200, 201, 400, 401, 403, 404, 409, 429])
@pytest.mark.parametrize(
    "headers", [{}, {"x-correlation-id": ""}, {"x-correlation-id": "cid-2"}, {"x-correlation-id": "cid-1, cid-1"}]
)
def test_an_answer_without_our_correlation_id_is_no_answer_to_us(status: int, headers: dict[str, str]) -> None:
    found = answered("create_record", status, {**BODIES["create_record"], "error": "no"}, headers)
    assert (found.category, found.failed_field, found.effect_acknowledged) == (
        "malformed_response",
        "x-correlation-id",
        None,
    )


@pytest.mark.parametrize("echoed", ["cid-2", None, 7])
def test_a_body_with_another_correlation_id_acknowledges_nothing_of_ours(echoed: Any) -> None:
    found = answered(body={**BODIES["create_record"], "correlation_id": echoed})
    assert (found.category, found.failed_field, found.effect_acknowledged) == (
        "malformed_response",
        "/correlation_id",
        None,
    )


# An answer that cannot be used


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"done"',
        b"<html>",
        b'{"record_id":"rec-1","correlation_id":"cid-1"',
        b'{"record_id":"rec-1","record_id":"rec-2","correlation_id":"cid-1"}',
        b'{"record_id":"rec-1","correlation_id":"cid-1","amount":NaN}',
        b'{"record_id":"rec-1","correlation_id":"cid-1","amount":1e999}',
        b'{"record_id":"rec-1","correlation_id":"cid-1"}{}',
        b'{"record_id":"rec-1","correlation_id":"cid-1","note":"\xff"}',
        b"\xef\xbb\xbf" + b'{"record_id":"rec-1","correlation_id":"cid-1"}',
        b'{"correlation_id":"cid-1","amount":' + b"9" * 5000 + b"}",
        b"[" * 100_000,
    ],
    ids=range(14),
)
def test_a_body_that_is_not_one_strict_json_object_is_malformed_and_the_status_acknowledges(body: bytes) -> None:
    assert answered(body=body) == Finding(
        "malformed_response", effect_acknowledged=True, failed_field="/", expected="a JSON object"
    )


@pytest.mark.parametrize(
    ("operation", "status", "acknowledged"),
    [
        ("create_record", 201, True),
        ("create_record", 200, True),
        ("get_record", 200, None),
        ("create_record", 403, None),
    ],
)
def test_an_answer_that_broke_off_after_its_head_acknowledges_a_write_only_by_a_2xx(
    operation: str,
    status: int,
    acknowledged: bool | None,  # noqa: FBT001 - a row of the table
) -> None:
    assert answered(operation, status, phase=Phase.HEAD_RECEIVED) == Finding(
        "malformed_response", effect_acknowledged=acknowledged, failed_field="/", expected="complete"
    )


def test_a_head_for_somebody_else_that_broke_off_acknowledges_nothing() -> None:
    found = answered(headers={"x-correlation-id": "cid-2"}, phase=Phase.HEAD_RECEIVED)
    assert (found.failed_field, found.effect_acknowledged) == ("x-correlation-id", None)


@pytest.mark.parametrize(
    ("operation", "change", "failed_field", "expected"),
    [
        ("create_record", {"record_id": None}, "/record_id", "a string"),
        ("create_record", {"record_id": ""}, "/record_id", "an identifier"),
        ("create_record", {"record_id": 7}, "/record_id", "a string"),
        ("create_record", {"replayed": "no"}, "/replayed", "a boolean"),
        ("get_record", {"notes": "0"}, "/notes", "an integer"),
        ("get_record", {"notes": True}, "/notes", "an integer"),
        ("get_record", {"patch": 3}, "/patch", "a string"),
        ("get_record", {"record_id": "rec-2"}, "/record_id", "the one that was asked for"),
        ("get_record", {"record_id": None}, "/record_id", "the one that was asked for"),
        ("delete_release", {"release_id": "rel-2"}, "/release_id", "the one that was asked for"),
        ("read_build", {"status": 7}, "/status", "a string"),
        ("lookup_by_request_id", {"items": None}, "/items", "an array"),
        ("lookup_by_request_id", {"items": {}}, "/items", "an array"),
        ("lookup_by_request_id", {"complete": None}, "/complete", "a boolean"),
        ("lookup_by_request_id", {"complete": "true"}, "/complete", "a boolean"),
        ("lookup_by_request_id", {"items": ["rec-1"]}, "/items", "one match for one request id"),
        (
            "lookup_by_request_id",
            {"items": [{"record_id": "rec-1"}, {"record_id": "rec-2"}]},
            "/items",
            "one match for one request id",
        ),
        ("lookup_by_request_id", {"items": [{}]}, "/items/0/record_id", "a string"),
        ("lookup_by_request_id", {"items": [{"record_id": ""}]}, "/items/0/record_id", "an identifier"),
    ],
)
def test_a_field_that_breaks_the_contract_is_named(
    operation: str, change: dict[str, Any], failed_field: str, expected: str
) -> None:
    found = answered(operation, body={**BODIES[operation], **change})
    assert (found.category, found.failed_field, found.expected) == ("malformed_response", failed_field, expected)


# An answer that holds the contract


def test_a_success_gives_the_declared_fields_and_no_others() -> None:
    assert answered(body={**BODIES["create_record"], "internal": "x"}) == Finding(
        "ok", {"record_id": "rec-1", "replayed": False}
    )


def test_an_optional_field_that_is_absent_is_absent() -> None:
    assert answered(body={"record_id": "rec-1", "correlation_id": CID}) == Finding("ok", {"record_id": "rec-1"})


def test_a_write_that_goes_on_is_accepted_by_its_identity() -> None:
    assert answered(status=202).category == "accepted"
    assert answered(status=202, body={"correlation_id": CID}).failed_field == "/record_id"


def test_a_success_without_declared_fields_is_done() -> None:
    assert answered("delete_release") == Finding("ok", {})


@pytest.mark.parametrize(
    ("items", "complete", "finding"),
    [
        ([{"record_id": "rec-1"}], True, Finding("ok", {"record_id": "rec-1", "complete": True})),
        ([{"record_id": "rec-1"}], False, Finding("ok", {"record_id": "rec-1", "complete": False})),
        ([], True, Finding("not_found", {"complete": True})),
        ([], False, Finding("partial", {"complete": False})),
    ],
)
def test_a_lookup_proves_absence_only_if_it_was_complete(
    items: list[Any],
    complete: bool,  # noqa: FBT001 - a row of the table
    finding: Finding,
) -> None:
    assert (
        answered("lookup_by_request_id", body={"items": items, "complete": complete, "correlation_id": CID}) == finding
    )


def test_a_collection_that_is_not_there_proves_no_absence() -> None:
    found = answered("lookup_by_request_id", 404, {"error": "no_such_route"})
    assert found == Finding("malformed_response", failed_field="status", expected="200")


def test_a_provider_that_hides_denials_behind_404_proves_no_absence() -> None:
    tool = TOOLS["get_record"]
    assert tool.endpoint is not None
    exchange = Exchange(Phase.COMPLETE, 1, 0.1, 404, httpx2.Headers(ECHO), b'{"error":"no_such_record"}')
    hiding = replace(tool.endpoint, hides_denial=True)
    assert classify(exchange, tool.operation, hiding, CID, "rec-1") == Finding("authorization_denied")


def test_an_object_that_is_not_there_is_not_found() -> None:
    assert answered("get_record", 404, {"error": "no_such_record"}) == Finding("not_found")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, 30.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({}, 0.0),
        ({"retry-after": ""}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "9" * 400}, 0.0),
        ({"retry-after": "1e999"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:28:30 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 -0000", "date": "Wed, 21 Oct 2026 07:28:30 GMT"}, 0.0),
    ],
)
def test_a_rate_limit_says_how_long_to_wait_and_zero_where_nothing_usable_is_said(
    headers: dict[str, str], seconds: float
) -> None:
    found = answered("create_record", 429, {"error": "slow_down"}, {**ECHO, **headers})
    assert found == Finding("rate_limited", retry_after_s=seconds)


def test_a_category_that_the_operation_does_not_declare_is_malformed() -> None:
    tool = TOOLS["create_record"]
    assert tool.endpoint is not None
    narrow = replace(tool.operation, categories=CATEGORY_SETS["http_write"] - {"conflict"})
    exchange = Exchange(Phase.COMPLETE, 1, 0.1, 409, httpx2.Headers(ECHO), b'{"error":"in_flight"}')
    assert classify(exchange, narrow, tool.endpoint, CID) == Finding(
        "malformed_response", failed_field="status", expected="201"
    )


@pytest.mark.parametrize("operation", ["create_record", "delete_release", "get_record"])
def test_an_error_under_a_status_that_means_done_is_no_proof_of_anything(operation: str) -> None:
    body = {"error": "quota", "record_id": "rec-1", "title": "a", "notes": 1, "correlation_id": CID}
    endpoint = TOOLS[operation].endpoint
    assert endpoint is not None
    found = answered(operation, endpoint.success, body)
    assert (found.category, found.failed_field) == ("malformed_response", "/error")


def test_an_error_that_is_null_is_none() -> None:
    assert answered("delete_release", 200, {"error": None, "correlation_id": CID}).category == "ok"


def test_a_status_that_the_service_documents_as_not_done_is_a_confirmed_failure() -> None:
    assert answered("charge", 402, {"error": "card_declined"}) == Finding("confirmed_failure")


def test_a_documented_failure_needs_the_documented_body() -> None:
    found = answered("charge", 402, {"message": "card declined"})
    assert (found.category, found.failed_field) == ("malformed_response", "/error")


# The words of the contract


def told(operation: Operation, finding: Finding, *, settles: str | None = "lookup_by_request_id") -> dict[str, Any]:
    return envelope(finding, operation, CID, settles=settles).as_json()


CREATE, GET, DELETE = (TOOLS[name].operation for name in ("create_record", "get_record", "delete_release"))

INSTRUCTIONS = """\
ok                    none                none           -  -
partial               continue_or_review  -              -  -
accepted              poll                -              lookup_by_request_id  -
not_found             never               never          -  -
local_failure         within_budget       within_budget  -  -
rate_limited          after_wait          after_wait     -  -
invalid_request       never               never          -  -
authentication_failed never               never          -  -
authorization_denied  never               never          -  -
confirmed_failure     none                -              -  -
conflict              reconcile_first     -              lookup_by_request_id  -
malformed_response    reconcile_first     never          lookup_by_request_id  -
outcome_unknown       reconcile_first     within_budget  lookup_by_request_id  -
"""


@pytest.mark.parametrize(
    ("category", "write", "read", "reconcile_write", "reconcile_read"),
    [line.split() for line in INSTRUCTIONS.splitlines()],
)
def test_an_uncertain_write_is_reconciled_first_and_a_read_never(
    category: str, write: str, read: str, reconcile_write: str, reconcile_read: str
) -> None:
    found = told(CREATE, Finding(category))
    assert (found["retry"], found.get("reconcile", "-")) == (write, reconcile_write)
    if read != "-":
        found = told(GET, Finding(category))
        assert (found["retry"], found.get("reconcile", "-")) == (read, reconcile_read)


@pytest.mark.parametrize("category", ["accepted", "conflict", "malformed_response", "outcome_unknown"])
@pytest.mark.parametrize("operation", [CREATE, DELETE], ids=["create", "delete"])
def test_where_nothing_can_be_looked_up_the_way_on_is_a_person(operation: Operation, category: str) -> None:
    found = told(operation, Finding(category), settles=None)
    assert (found["retry"], found["reconcile"]) == ("ask_human", "none")


@pytest.mark.parametrize("category", ["malformed_response", "outcome_unknown"])
def test_a_read_needs_no_reconciliation_and_says_nothing_of_it(category: str) -> None:
    assert "reconcile" not in told(GET, Finding(category), settles=None)


def test_the_message_is_the_pinned_wording_and_names_the_field_that_failed() -> None:
    finding = Finding("malformed_response", failed_field="/status", expected="a string")
    assert told(GET, finding)["message"] == (
        "An answer came that cannot be used; it proves neither success nor failure. "
        "Field '/status' should have been a string."
    )


@pytest.mark.parametrize("category", [name for name in CATEGORIES if name in CATEGORY_SETS["http_write"]])
def test_the_message_of_every_category_is_that_of_the_table(category: str) -> None:
    assert told(CREATE, Finding(category))["message"] == CATEGORIES[category].message


def test_the_whole_envelope_of_an_acknowledged_create_without_identity() -> None:
    finding = Finding("malformed_response", effect_acknowledged=True, failed_field="/record_id", expected="a string")
    assert told(CREATE, finding) == {
        "ok": False,
        "category": "malformed_response",
        "class": "uncertain",
        "operation": "create_record",
        "retry": "reconcile_first",
        "correlation_id": "cid-1",
        "message": "An answer came that cannot be used; it proves neither success nor failure. "
        "Field '/record_id' should have been a string.",
        "reconcile": "lookup_by_request_id",
        "effect_acknowledged": True,
        "failed_field": "/record_id",
    }
