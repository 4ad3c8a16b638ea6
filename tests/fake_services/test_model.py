"""The fake model server enforces what real providers enforce, and tells on clients that change what was said."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.suites import ROOT

from unacked.clock import VirtualClock
from unacked.services import SeedError, Service, Setting, load_service
from unacked.wire.message import Request

TASK = {
    "text": "Create one record.",
    "tools": ["create_record", "lookup_by_request_id", "finish", "wait"],
    "script": [{"create_record": {"title": "x"}}],
}
PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}
UNKNOWN = {"ok": False, "category": "outcome_unknown", "class": "uncertain", "retry": "reconcile_first"}
UNKNOWN["reconcile"] = "lookup_by_request_id"
Ask = Callable[..., tuple[int, Any]]


def build(**seed: Any) -> Service:
    setting = Setting(VirtualClock(), "key")
    return load_service(ROOT / "fake_services" / "model.py")({"tasks": [TASK], **seed}, setting)


@pytest.fixture
def ask() -> Ask:
    service = build()

    def send(api: str, body: Mapping[str, Any], **headers: str) -> tuple[int, Any]:
        given = {"authorization": "Bearer key", "anthropic-version": "2023-06-01", **headers}
        answer = service.handle(Request("POST", PATHS[api], "", given, json.dumps(body).encode()))
        return answer.status, json.loads(answer.body)

    return send


def messages(*said: Any, **more: Any) -> dict[str, Any]:
    tools = [{"name": name, "input_schema": {}} for name in TASK["tools"]]
    first = {"role": "user", "content": TASK["text"]}
    return {"model": "careful", "max_tokens": 99, "tools": tools, "messages": [first, *said], **more}


def chat(*said: Any, **more: Any) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in TASK["tools"]]
    return {"model": "careful", "tools": tools, "messages": [{"role": "user", "content": TASK["text"]}, *said], **more}


def responses(*items: Any, **more: Any) -> dict[str, Any]:
    tools = [{"type": "function", "name": name} for name in TASK["tools"]]
    return {"model": "careful", "tools": tools, "input": [{"role": "user", "content": TASK["text"]}, *items], **more}


BODIES: dict[str, Callable[..., dict[str, Any]]] = {"messages": messages, "chat": chat, "responses": responses}


def test_the_policy_makes_the_first_call_of_the_script(ask: Ask) -> None:
    status, answer = ask("messages", messages())
    assert (status, answer["stop_reason"], answer["model"]) == (200, "tool_use", "careful-20260115")
    assert answer["content"][0]["input"] == {"title": "x", "request_id": "req-1", "idempotency_key": "key-1"}


def test_the_policy_goes_on_from_the_result_that_it_is_told(ask: Ask) -> None:
    _, first = ask("chat", chat())
    said = first["choices"][0]["message"]
    told = {"role": "tool", "tool_call_id": "call_1_1", "content": json.dumps(UNKNOWN)}
    _, second = ask("chat", chat(said, told))
    assert second["choices"][0]["message"]["tool_calls"][0]["function"] == {
        "name": "lookup_by_request_id",
        "arguments": '{"request_id":"req-1"}',
    }


@pytest.mark.parametrize("api", list(PATHS))
def test_a_wrong_key_is_refused_and_repeated_as_real_providers_do(ask: Ask, api: str) -> None:
    status, answer = ask(api, BODIES[api](), authorization="Bearer other")
    assert (status, answer["error"]["message"]) == (401, "Incorrect API key provided: other")


def test_the_key_may_also_come_as_anthropics_old_header(ask: Ask) -> None:
    assert ask("messages", messages(), **{"x-api-key": "key", "authorization": ""})[0] == 200


@pytest.mark.parametrize("api", list(PATHS))
def test_a_model_that_is_no_agent_with_a_policy_is_unknown(ask: Ask, api: str) -> None:
    for model in ("nobody", "../agents/careful", "walker"):
        status, answer = ask(api, {**BODIES[api](), "model": model})
        assert (status, answer["error"]["type"]) == (404, "model_not_found")


CALL = {"type": "tool_use", "id": "call_1_1", "name": "create_record"}
INPUT = {"title": "x", "request_id": "req-1", "idempotency_key": "key-1"}
RESULT = {"type": "tool_result", "tool_use_id": "call_1_1", "content": json.dumps(UNKNOWN)}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([{"role": "user", "content": "again"}], "roles must alternate"),
        ([{"role": "assistant", "content": [{**CALL, "input": INPUT}]}], "tool_use without tool_result"),
        (
            [
                {"role": "assistant", "content": [{**CALL, "input": INPUT}]},
                {"role": "user", "content": [{"type": "text", "text": "x"}, RESULT]},
            ],
            "tool_result blocks must come first",
        ),
        (
            [
                {"role": "assistant", "content": [{**CALL, "input": INPUT}]},
                {"role": "user", "content": [{**RESULT, "tool_use_id": "other"}]},
            ],
            "were answered by results of ['other']",
        ),
        (
            [
                {"role": "assistant", "content": [{**CALL, "input": {**INPUT, "title": "y"}}]},
                {"role": "user", "content": [RESULT]},
            ],
            "the conversation holds calls that were never made",
        ),
        (
            [
                {"role": "assistant", "content": [{**CALL, "input": INPUT}]},
                {"role": "user", "content": [{**RESULT, "content": "it went well"}]},
            ],
            "a result is not the one that the tool gave",
        ),
    ],
)
def test_a_conversation_that_breaks_the_rules_or_was_changed_is_refused(ask: Ask, said: Any, told: str) -> None:
    status, answer = ask("messages", messages(*said))
    assert status == 400
    assert told in answer["error"]["message"]


def test_a_thought_without_its_signature_is_refused(ask: Ask) -> None:
    thinks = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    _, first = ask("messages", messages(**thinks))
    content = first["content"]
    told = {"role": "user", "content": [RESULT]}
    assert ask("messages", messages({"role": "assistant", "content": content}, told, **thinks))[0] == 200
    content[0] = {**content[0], "signature": ""}
    status, answer = ask("messages", messages({"role": "assistant", "content": content}, told, **thinks))
    assert (status, "signature unchanged" in answer["error"]["message"]) == (400, True)


def test_a_call_without_its_reasoning_is_refused(ask: Ask) -> None:
    _, first = ask("responses", responses(reasoning={}))
    told = {"type": "function_call_output", "call_id": "call_1_1", "output": json.dumps(UNKNOWN)}
    assert ask("responses", responses(*first["output"], told, reasoning={}))[0] == 200
    status, answer = ask("responses", responses(first["output"][1], told, reasoning={}))
    assert (status, answer["error"]["message"]) == (400, "input: a function_call without its reasoning item")


@pytest.mark.parametrize("api", list(PATHS))
def test_other_tools_than_the_tasks_are_refused(ask: Ask, api: str) -> None:
    body = BODIES[api]()
    body["tools"] = body["tools"][1:]
    status, answer = ask(api, body)
    assert (status, answer["error"]["message"].startswith("the task has the tools")) == (400, True)


@pytest.mark.parametrize(
    ("seed", "told"),
    [
        ({"tasks": [{"text": "x"}]}, "seed.tasks[0].tools: expected a list"),
        ({"quirks": [{"nth": 1, "quirk": "no_such"}]}, "seed.quirks[0]: expected a 'quirk' of: unknown_tool"),
        ({"quirks": [{"quirk": "empty"}]}, "seed.quirks[0]: expected 'nth'"),
        ({"quirks": [{"nth": 1, "quirk": "cut_stream"}]}, "seed.quirks[0]: 'after', a number of events"),
        ({"quirk": []}, "seed.quirk: unknown key; did you mean 'quirks'?"),
    ],
)
def test_a_seed_that_does_not_fit_is_told(seed: Any, told: str) -> None:
    with pytest.raises(SeedError) as raised:
        build(**seed)
    assert str(raised.value).startswith(told)


def test_a_quirk_that_has_not_shown_is_counted() -> None:
    service = build(quirks=[{"nth": 3, "quirk": "empty"}])
    assert service.summary() == {"model_requests": 0, "quirks_left": 1}
