"""The SDKs by themselves, against answers mocked by respx: one attempt, our headers, our errors, strict answers."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpcore2
import pytest
import respx

from unacked.agents import ProviderError
from unacked.agents.model.answer import Delivery, Setup
from unacked.agents.model.driver import APIS, Access
from unacked.agents.model.sdk import SdkConnection
from unacked.canonical import loads

KEY = "sk-of-the-user"
URLS = {
    "anthropic": "http://provider.test/v1/messages",
    "openai-chat": "http://provider.test/v1/chat/completions",
    "openai-responses": "http://provider.test/v1/responses",
}
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [{"type": "tool_use", "id": "c1", "name": "wait", "input": {"seconds": 1}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 3},
    },
    "openai-chat": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "wait", "arguments": '{"seconds":1}'}}
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
    },
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m-1",
        "status": "completed",
        "output": [
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "wait", "arguments": '{"seconds":1}'}
        ],
        "usage": {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8},
    },
}


@dataclass
class Wire:
    """One SDK, connected to mocked answers."""

    driver: str
    connection: SdkConnection
    route: respx.Route
    body: Mapping[str, Any]

    def answers(self, status: int = 200, headers: Mapping[str, str] | None = None, **content: Any) -> Delivery:
        self.route.mock(return_value=respx.MockResponse(status, headers=dict(headers or {}), **content))
        return self.connection.send(self.body)

    def fails(self, how: Exception) -> None:
        self.route.mock(side_effect=how)
        self.connection.send(self.body)


Connect = Callable[..., Wire]


@pytest.fixture(params=URLS)
def wire(request: pytest.FixtureRequest, httpx2_mock: respx.Router) -> Iterator[Wire]:
    driver, api = request.param, APIS[request.param]
    prefix = "" if driver == "anthropic" else "/v1"
    access = Access(api.dialect.operation, KEY, f"http://provider.test{prefix}", 5.0)
    connection = importlib.import_module(f"unacked.agents.model.{api.module}").connect(access)
    setup = Setup("m-1", "Be careful.", "Do it.", [], {"max_tokens": 64} if driver == "anthropic" else {})
    body = api.dialect.request(setup, api.dialect.opening(setup), stream=False)
    yield Wire(driver, connection, httpx2_mock.post(URLS[driver]), body)
    connection.close()


def kind(wire: Wire, status: int = 200, headers: Mapping[str, str] | None = None, **content: Any) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        wire.answers(status, headers, **content)
    return raised.value


def test_an_answer_is_taken_as_it_came_and_read_strictly(wire: Wire) -> None:
    name = "request-id" if wire.driver == "anthropic" else "x-request-id"
    delivery = wire.answers(headers={name: "req_7"}, json=ANSWERS[wire.driver])
    assert (delivery.body, delivery.request_id) == (ANSWERS[wire.driver], "req_7")
    answer = APIS[wire.driver].dialect.read(delivery.body)
    assert [(call.id, call.name) for call in answer.calls] == [("c1", "wait")]
    assert (answer.served, answer.usage.input_tokens, answer.usage.output_tokens) == ("m-1", 5, 3)


def test_what_is_sent_is_what_is_on_the_record(wire: Wire) -> None:
    wire.answers(json=ANSWERS[wire.driver])
    sent = loads(wire.route.calls.last.request.content)
    assert {name: value for name, value in sent.items() if value not in ([], None)} == {
        name: value for name, value in wire.body.items() if value not in ([], None)
    }


def test_the_key_goes_into_its_header_and_nowhere_else(wire: Wire) -> None:
    wire.answers(json=ANSWERS[wire.driver])
    request = wire.route.calls.last.request
    holding = {name.lower() for name, value in request.headers.items() if KEY in value}
    assert holding <= {"authorization", "x-api-key"}
    assert len(holding) == 1
    assert KEY.encode() not in request.content
    assert KEY not in str(request.url)


def test_the_version_of_the_api_is_known_where_there_is_one(wire: Wire) -> None:
    wire.answers(json=ANSWERS[wire.driver])
    sent = wire.route.calls.last.request.headers.get("anthropic-version")
    assert wire.connection.api_version == sent
    assert (sent is not None) is (wire.driver == "anthropic")


@pytest.mark.parametrize(
    ("status", "told", "again"),
    [
        (429, "rate_limited", True),
        (500, "provider_error", True),
        (529, "overloaded", True),
        (408, "timeout", True),
        (400, "refused_request", False),
        (401, "refused_key", False),
        (404, "unknown_model_or_url", False),
    ],
)
def test_a_refusal_is_told_after_one_attempt(wire: Wire, status: int, told: str, *, again: bool) -> None:
    error = kind(wire, status, {"retry-after": "3600"}, json={"error": {"type": "x", "message": KEY}})
    assert (error.kind, error.again, error.retry_after_s) == (told, again, 3600.0)
    assert wire.route.call_count == 1
    assert KEY not in str(error)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (httpcore2.ReadTimeout, "timeout"),
        (httpcore2.ConnectTimeout, "timeout"),
        (httpcore2.ConnectError, "no_connection"),
        (httpcore2.ReadError, "no_connection"),
        (httpcore2.RemoteProtocolError, "no_connection"),
    ],
)
def test_no_answer_is_told_after_one_attempt(wire: Wire, failure: type[Exception], told: str) -> None:
    with pytest.raises(ProviderError) as raised:
        wire.fails(failure(f"on the way to {KEY}"))
    assert (raised.value.kind, raised.value.again, wire.route.call_count) == (told, True, 1)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [
        {"html": "<html>Sign in</html>"},
        {"text": '{"id": "msg'},
        {"json": {"error": {"type": "api_error"}}},
        {"json": ["no", "object"]},
        {"text": '{"id":"a","id":"b"}'},
        {"text": '{"n":NaN}'},
    ],
)
def test_a_success_that_is_no_answer_is_an_error(wire: Wire, content: Mapping[str, Any]) -> None:
    assert kind(wire, **content).kind == "malformed_answer"


@pytest.mark.parametrize("missing", ["usage", "model", "id"])
def test_an_answer_without_what_it_must_hold_is_an_error(wire: Wire, missing: str) -> None:
    answer = {name: value for name, value in ANSWERS[wire.driver].items() if name != missing}
    delivery = wire.answers(json=answer)
    with pytest.raises(ProviderError, match=missing):
        APIS[wire.driver].dialect.read(delivery.body)


def test_a_parameter_that_the_sdk_does_not_know_is_named(wire: Wire) -> None:
    wire.answers(json=ANSWERS[wire.driver])
    with pytest.raises(ProviderError, match="could not make or read this request: it has no parameter 'temperture'"):
        wire.connection.send({**wire.body, "temperture": 2})
    assert wire.route.call_count == 1


def test_a_page_in_place_of_an_answer_is_called_one(wire: Wire) -> None:
    told = str(kind(wire, html="<!doctype html><title>hello</title>"))
    assert told == "the provider's answer cannot be used: it is HTML or XML, and no JSON; is the base URL right?"


def test_a_redirect_is_not_followed(wire: Wire) -> None:
    error = kind(wire, 307, {"location": "http://elsewhere.test/"}, json={})
    assert (error.again, wire.route.call_count) == (False, 1)


def test_a_page_in_place_of_a_stream_is_an_error(wire: Wire) -> None:
    wire.route.mock(return_value=respx.MockResponse(200, html="<html>Sign in</html>"))
    with pytest.raises(ProviderError, match="a stream was asked for, and text/html came"):
        wire.connection.stream({**wire.body, "stream": True}, APIS[wire.driver].dialect.gather)


FIRST_EVENTS = {
    "anthropic": ("message_start", {"type": "message_start", "message": {**ANSWERS["anthropic"], "content": []}}),
    "openai-chat": (None, {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": []}),
    "openai-responses": (
        "response.created",
        {"type": "response.created", "sequence_number": 0, "response": {**ANSWERS["openai-responses"], "output": []}},
    ),
}


def test_a_stream_that_ends_cleanly_but_early_is_cut(wire: Wire) -> None:
    name, event = FIRST_EVENTS[wire.driver]
    told = (f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n"
    answer = respx.MockResponse(200, headers={"content-type": "text/event-stream"}, text=told)
    wire.route.mock(return_value=answer)
    with pytest.raises(ProviderError) as raised:
        wire.connection.stream({**wire.body, "stream": True}, APIS[wire.driver].dialect.gather)
    assert (raised.value.kind, raised.value.again) == ("cut_stream", True)
