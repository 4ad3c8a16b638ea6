"""OpenAI's Chat Completions API on the server's side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unacked.canonical import JSON
from unacked.services.speech.talk import (
    Api,
    ApiRefusedError,
    Conversation,
    Event,
    Exchange,
    Made,
    Speech,
    Stop,
    asked,
    batch,
)

__all__ = ["API"]

_STOPS = {
    Stop.CALLS: "tool_calls",
    Stop.ENDED: "stop",
    Stop.TRUNCATED: "length",
    Stop.REFUSED: "content_filter",
    Stop.UNHEARD_OF: "because",
}


def read(body: Mapping[str, Any]) -> Conversation:
    """Read a request; raises ApiRefusedError for whatever the provider would refuse."""
    tools = [asked(asked(tool, "function", dict), "name", str) for tool in body.get("tools") or ()]
    said = [message for message in asked(body, "messages", list) if message.get("role") not in ("system", "developer")]
    if not said or said[0].get("role") != "user":
        raise ApiRefusedError("messages: there is no user's message")
    return Conversation(
        asked(body, "model", str),
        str(said[0].get("content")),
        tools,
        list(_exchanges(said[1:])),
        body.get("stream") is True,
    )


def _exchanges(said: Sequence[Mapping[str, Any]]) -> Iterator[Exchange]:
    place = 0
    while place < len(said):
        calls = [_made(call) for call in said[place].get("tool_calls") or ()]
        if said[place].get("role") != "assistant" or not calls:
            raise ApiRefusedError("messages: expected an assistant's message with tool_calls")
        end = place + 1
        while end < len(said) and said[end].get("role") == "tool":
            end += 1
        results = [(asked(told, "tool_call_id", str), str(told.get("content"))) for told in said[place + 1 : end]]
        yield batch(calls, results)
        place = end


def _made(call: Mapping[str, Any]) -> Made:
    function = asked(call, "function", dict)
    return Made(asked(call, "id", str), asked(function, "name", str), asked(function, "arguments", str))


def write(speech: Speech) -> dict[str, JSON]:
    """Return the whole completion."""
    message: dict[str, JSON] = {"role": "assistant", "content": speech.text or None}
    if speech.calls:
        message["tool_calls"] = [_call(call) for call in speech.calls]
    completion = {
        **_head(speech, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": _STOPS[speech.stop]}],
        "usage": _usage(speech),
    }
    if not speech.counts:
        del completion["usage"]
    return completion


def _call(call: Made) -> dict[str, JSON]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _head(speech: Speech, kind: str) -> dict[str, JSON]:
    return {
        "id": f"chatcmpl-{speech.number}",
        "object": kind,
        "created": 0,
        "model": speech.served,
        "system_fingerprint": "fp_fake",
    }


def _usage(speech: Speech) -> dict[str, JSON]:
    return {
        "prompt_tokens": speech.sent_tokens,
        "completion_tokens": speech.written_tokens,
        "total_tokens": speech.sent_tokens + speech.written_tokens,
    }


def events(speech: Speech) -> list[Event]:
    """Return the chunks of the same completion as a stream."""
    head = _head(speech, "chat.completion.chunk")
    deltas: list[dict[str, JSON]] = [{"role": "assistant", "content": ""}]
    if speech.text:
        deltas.append({"content": speech.text})
    for index, call in enumerate(speech.calls):
        half = len(call.arguments) // 2
        begun = {**_call(call), "index": index, "function": {"name": call.name, "arguments": ""}}
        deltas.append({"tool_calls": [begun]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
            for part in (call.arguments[:half], call.arguments[half:])
        ]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _STOPS[speech.stop]}]})
    if speech.counts:
        chunks.append({**head, "choices": [], "usage": _usage(speech)})
    return [*(Event(None, chunk) for chunk in chunks), Event(None, "[DONE]")]


def refusal(error: ApiRefusedError) -> JSON:
    """Return the body of a refusal."""
    return {"error": {"message": str(error), "type": error.word, "param": None, "code": error.word}}


API = Api("/v1/chat/completions", read, write, events, refusal)
