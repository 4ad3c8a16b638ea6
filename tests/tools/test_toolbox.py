"""One call of a tool: what it puts on the record, what it sends, and what the agent sees of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.tools.bench import TOKEN, Bench, Canned
from tests.tools.conftest import Build

from unacked.canonical import dumps
from unacked.fault import Action, Fault, Point
from unacked.tools import TOOLS, Tokens

CREATE = {"title": "alpha", "idempotency_key": "K1", "request_id": "R1"}


def fault(point: str, action: Any, operation: str = "create_record", **options: Any) -> Fault:
    return Fault(operation, Point(point), Action.parse(action), **options)


# What is on the record


def test_the_events_of_a_call_that_is_done_stand_in_their_order(on_records: Build) -> None:
    bench = on_records()
    bench.call("create_record", **CREATE)
    assert [(event.event, event.id, event.operation) for event in bench.events] == [
        ("request_constructed", "cid-1", "create_record"),
        ("dispatch_started", "cid-1", "create_record"),
        ("remote_received", "cid-1", "create_record"),
        ("remote_committed", "cid-1", None),
        ("remote_responded", "cid-1", None),
        ("result", "cid-1", "create_record"),
    ]


def test_the_events_of_a_call_whose_answer_never_came_stand_in_their_order(on_records: Build) -> None:
    bench = on_records(fault("after_commit", "silence"))
    bench.call("create_record", **CREATE)
    assert [event.event for event in bench.events] == [
        "request_constructed",
        "dispatch_started",
        "remote_received",
        "remote_committed",
        "fault_fired",
        "response_write_delayed",
        "client_timeout",
        "result",
    ]


def test_a_request_is_constructed_for_a_service_and_a_form_without_its_values(on_records: Build) -> None:
    bench = on_records()
    bench.call("get_record", record_id="rec-0")
    (constructed,) = bench.named("request_constructed")
    assert constructed.detail == {"service": "records", "method": "GET", "path": "/v1/records/{record_id}"}


def test_a_timeout_says_how_far_the_call_had_come_and_how_long_it_took(on_records: Build) -> None:
    bench = on_records(fault("after_commit", "silence"))
    bench.call("create_record", **CREATE)
    (timeout,) = bench.named("client_timeout")
    assert timeout.detail == {"phase": "request_sent", "elapsed_s": 10.002}


def test_the_result_on_the_record_is_what_the_agent_sees(on_records: Build) -> None:
    bench = on_records()
    seen = bench.call("create_record", **CREATE).as_json()
    (result,) = bench.named("result")
    assert (result.category, result.diagnostics_ref, result.detail) == ("ok", None, {"envelope": seen})
    assert seen["result"] == {"record_id": "rec-1", "replayed": False}


def test_a_call_that_is_not_a_success_has_diagnostics_that_the_record_refers_to(on_records: Build) -> None:
    bench = on_records(fault("in_body", "garbage"))
    bench.call("create_record", **CREATE)
    (result,) = bench.named("result")
    (entry,) = bench.diagnostics
    assert result.diagnostics_ref == "d1"
    assert entry == {
        "id": "cid-1",
        "operation": "create_record",
        "category": "malformed_response",
        "phase": "complete",
        "sent_bytes": entry["sent_bytes"],
        "elapsed_s": 0.003,
        "status": 201,
        "headers": {"content-type": "application/json", "x-correlation-id": "cid-1", "content-length": "31"},
        "body": "upstream said: no healthy host\n",
        "error": None,
        "failed_field": "/",
        "expected": "a JSON object",
        "timeouts_s": [3.0, 5.0, 10.0, 20.0],
    }


def test_diagnostics_hold_the_raw_error_and_only_the_beginning_of_a_long_body(bench: Bench, service: Canned) -> None:
    service.answer(201, b"\xff" + b"x" * 10_000)
    bench.call("create_record", **CREATE)
    (entry,) = bench.diagnostics
    assert (entry["body"][:6], len(entry["body"])) == ("\\xffxx", 4 + 4095)


# What is sent


def test_a_write_carries_its_credential_ids_and_body(bench: Bench, service: Canned) -> None:
    service.answer(201, {"record_id": "rec-1", "correlation_id": "cid-1"})
    bench.call("create_record", **CREATE)
    (request,) = service.received
    assert (request.method, request.path, request.query, request.body) == (
        "POST",
        "/v1/records",
        "",
        b'{"request_id":"R1","title":"alpha"}',
    )
    assert request.headers == {
        "host": "records.test",
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": "unacked",
        "authorization": f"Bearer {TOKEN}",
        "x-correlation-id": "cid-1",
        "content-type": "application/json",
        "idempotency-key": "K1",
        "content-length": "35",
    }


def test_a_read_carries_its_credential_and_id_and_nothing_else(bench: Bench, service: Canned) -> None:
    service.answer(200, {"items": [], "complete": True, "correlation_id": "cid-1"})
    bench.call("lookup_by_request_id", request_id="R 1&x=é")
    (request,) = service.received
    assert (request.method, request.path, request.query, request.body) == (
        "GET",
        "/v1/records",
        "request_id=R+1%26x%3D%C3%A9",
        b"",
    )
    assert sorted(request.headers) == [
        "accept",
        "accept-encoding",
        "authorization",
        "host",
        "user-agent",
        "x-correlation-id",
    ]


@pytest.mark.parametrize(
    ("operation", "arguments", "message"),
    [
        ("get_record", {}, "argument 'record_id' is missing"),
        ("get_record", {"record_id": ""}, "argument 'record_id' must not be empty"),
        ("get_record", {"record_id": ".."}, "argument 'record_id' must be an identifier"),
        ("delete_release", {"release_id": "."}, "argument 'release_id' must be an identifier"),
        ("create_record", {**CREATE, "titel": "x"}, "create_record takes no argument 'titel'"),
        ("create_record", {**CREATE, "title": 3}, "argument 'title' must be of type string"),
        (
            "create_record",
            {**CREATE, "idempotency_key": "K\nX: y"},
            "argument 'idempotency_key' must be printable ASCII",
        ),
    ],
)
def test_a_call_that_breaks_the_contract_sends_nothing_and_is_marked_as_rejected(
    bench: Bench, operation: str, arguments: dict[str, Any], message: str
) -> None:
    result = bench.call(operation, **arguments)
    assert result.as_json() == {
        "ok": False,
        "category": "invalid_request",
        "class": "refusal",
        "operation": operation,
        "retry": "never",
        "correlation_id": "cid-1",
        "message": f"The tool refused the call: {message}. Nothing was sent.",
    }
    assert [(event.event, event.detail.get("rejected")) for event in bench.events] == [("result", True)]


def test_half_a_character_in_a_text_is_sent_as_its_escape(on_records: Build) -> None:
    bench = on_records()
    assert bench.call("create_record", title="\ud800", request_id="R1").category == "ok"
    assert bench.call("attach_note", record_id="rec-1", text="\udfff").category == "ok"


def test_a_hostile_identifier_reaches_the_service_as_an_identifier(on_records: Build) -> None:
    bench = on_records()
    assert bench.call("get_record", record_id="../records?x=1#%2f\r\nX-Admin: yes").category == "not_found"
    (received,) = bench.named("remote_received")
    assert received.detail["path"] == "/v1/records/..%2Frecords%3Fx%3D1%23%252f%0D%0AX-Admin%3A%20yes"


def test_an_operation_that_the_trial_answers_is_not_called_here(bench: Bench) -> None:
    with pytest.raises(ValueError, match=r"^finish never leaves the harness; the trial itself answers it$"):
        bench.call("finish", status="success")


def test_a_credential_that_was_exchanged_is_used_from_the_next_call_on(bench: Bench, service: Canned) -> None:
    service.answer(401, {"error": "expired"})
    service.answer(401, {"error": "expired"})
    bench.call("create_record", **CREATE)
    bench.toolbox.source.use(Tokens("tok_other"))
    bench.call("create_record", **CREATE)
    assert [request.headers["authorization"] for request in service.received] == [
        f"Bearer {TOKEN}",
        "Bearer tok_other",
    ]


@pytest.mark.parametrize(("status", "accepted"), [(200, True), (401, False), (201, False)])
def test_signing_in_uses_the_credential_once(bench: Bench, service: Canned, status: int, accepted: bool) -> None:  # noqa: FBT001 - a row of the table
    service.answer(status, {})
    assert bench.toolbox.sign_in("records.test", "cid-0") is accepted
    assert [(request.method, request.path, request.headers["authorization"]) for request in service.received] == [
        ("GET", "/v1/session", f"Bearer {TOKEN}")
    ]


# What the agent sees


LEAKS = [
    (401, {"error": f"Incorrect API key provided: {TOKEN}"}, ()),
    (500, {"error": f"panic: headers={{Authorization: Bearer {TOKEN}}}"}, ()),
    (201, f"<html>{TOKEN}</html>".encode(), ()),
    (201, {"record_id": 7, "debug": TOKEN}, (("x-debug", TOKEN),)),
    (403, {"error": "no", "token": TOKEN}, ()),
]


@pytest.mark.parametrize(("status", "body", "headers"), LEAKS)
def test_nothing_raw_reaches_the_agent_or_the_record(
    bench: Bench, service: Canned, status: int, body: Any, headers: tuple[tuple[str, str], ...]
) -> None:
    service.answer(status, body, *headers)
    seen = bench.call("create_record", **CREATE)
    assert TOKEN not in dumps(seen.as_json())
    assert TOKEN not in dumps([event.detail for event in bench.events])


def test_a_credential_that_cannot_be_sent_is_a_local_failure_and_stays_here(bench: Bench) -> None:
    bench.toolbox.source.use(Tokens(f"{TOKEN}\n"))
    seen = bench.call("create_record", **CREATE)
    assert (seen.category, [event.event for event in bench.named("remote_received")]) == ("local_failure", [])
    assert TOKEN not in dumps(seen.as_json())
    assert TOKEN not in dumps([event.detail for event in bench.events])
    (entry,) = bench.diagnostics
    assert (entry["phase"], entry["sent_bytes"]) == ("nothing_sent", 0)


LOOKUP = "lookup_by_request_id"


@pytest.mark.parametrize(
    ("tools", "arguments", "retry", "reconcile"),
    [
        (["create_record", LOOKUP], CREATE, "reconcile_first", LOOKUP),
        (["create_record"], CREATE, "reconcile_first", "create_record"),
        (["create_record"], {"title": "alpha", "request_id": "R1"}, "ask_human", "none"),
    ],
)
def test_an_unknown_outcome_names_what_among_the_offered_tools_settles_it(
    on_records: Build, tools: list[str], arguments: dict[str, Any], retry: str, reconcile: str
) -> None:
    bench = on_records(fault("after_commit", "fin"), tools=tools)
    seen = bench.call("create_record", **arguments)
    assert (seen.category, seen.retry.value, seen.reconcile) == ("outcome_unknown", retry, reconcile)


def test_a_replay_under_the_same_key_is_done_and_says_that_it_is_one(on_records: Build) -> None:
    bench = on_records(fault("after_commit", "fin"))
    bench.call("create_record", **CREATE)
    again = bench.call("create_record", **CREATE)
    assert (again.category, again.result) == ("ok", {"record_id": "rec-1", "replayed": True})
    assert len(bench.named("remote_committed")) == 1


# The declarations themselves

SENT = {name: tool for name, tool in TOOLS.items() if tool.endpoint is not None}


@pytest.mark.parametrize("name", SENT)
def test_every_argument_of_a_tool_travels_to_its_service(name: str) -> None:
    tool = SENT[name]
    assert tool.endpoint is not None
    in_path = {argument.name for argument in tool.operation.arguments if f"{{{argument.name}}}" in tool.endpoint.path}
    travels = in_path | {*tool.endpoint.query, *tool.endpoint.body, tool.operation.idempotency} - {None}
    assert {argument.name for argument in tool.operation.arguments} == travels


@pytest.mark.parametrize("name", SENT)
def test_every_part_that_a_tool_declares_is_an_argument_or_a_field_of_it(name: str) -> None:
    operation = SENT[name].operation
    arguments = {argument.name for argument in operation.arguments}
    assert {operation.target, operation.request, operation.idempotency} - {None} <= arguments
    assert {operation.identity} - {None} <= {item.name for item in operation.result if item.required}


@pytest.mark.parametrize("name", [name for name, tool in SENT.items() if tool.operation.reconcile is not None])
def test_what_settles_a_write_is_a_read_of_the_same_service(name: str) -> None:
    tool = SENT[name]
    settling = TOOLS[str(tool.operation.reconcile)]
    assert settling.endpoint is not None
    assert tool.endpoint is not None
    assert (settling.operation.effect, settling.endpoint.service) == ("read", tool.endpoint.service)


@pytest.mark.parametrize("name", [name for name, tool in SENT.items() if tool.endpoint and not tool.endpoint.within])
def test_only_a_read_is_sent_as_a_get_and_only_a_write_as_anything_else(name: str) -> None:
    tool = SENT[name]
    assert tool.endpoint is not None
    assert (tool.endpoint.method == "GET") is (not tool.operation.writes)
