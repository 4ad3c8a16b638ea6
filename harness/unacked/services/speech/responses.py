"""OpenAI's Responses API on the server's side, without any state: every request brings the whole conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unacked.canonical import JSON
from unacked.services.speech import chat
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
    seal,
)

__all__ = ["API"]

_REASONS = {Stop.TRUNCATED: "max_output_tokens", Stop.UNHEARD_OF: "because"}


def read(body: Mapping[str, Any]) -> Conversation:
    """Read a request; raises ApiRefusedError for whatever the provider would refuse."""
    tools = [asked(tool, "name", str) for tool in body.get("tools") or ()]
    given = asked(body, "input", list)
    if not given or given[0].get("role") != "user":
        raise ApiRefusedError("input: the first item must be the user's")
    thinks = "reasoning" in body
    return Conversation(
        asked(body, "model", str),
        str(given[0].get("content")),
        tools,
        list(_exchanges(given[1:], thinks=thinks)),
        body.get("stream") is True,
        thinks,
    )


def _exchanges(items: Sequence[Mapping[str, Any]], *, thinks: bool) -> Iterator[Exchange]:
    calls: list[Made] = []
    results: list[tuple[str, str]] = []
    thought: Mapping[str, Any] = {}
    for item in items:
        kind = item.get("type", "message")
        if results and kind != "function_call_output":
            yield batch(calls, results)
            calls, results = [], []
        if kind == "function_call":
            if thinks and thought.get("encrypted_content") != seal(str(thought.get("id"))):
                raise ApiRefusedError("input: a function_call without its reasoning item")
            calls.append(Made(asked(item, "call_id", str), asked(item, "name", str), asked(item, "arguments", str)))
        elif kind == "function_call_output":
            results.append((asked(item, "call_id", str), str(item.get("output"))))
        elif kind == "reasoning":
            thought = item
    if calls or results:
        yield batch(calls, results)


def write(speech: Speech) -> dict[str, JSON]:
    """Return the whole response."""
    output: list[JSON] = []
    if speech.thought is not None:
        name = f"rs_{speech.number}"
        output.append({"type": "reasoning", "id": name, "summary": [], "encrypted_content": seal(name)})
    if speech.text or speech.stop is Stop.REFUSED:
        refused = speech.stop is Stop.REFUSED
        part: dict[str, JSON] = {"type": "refusal", "refusal": speech.text}
        if not refused:
            part = {"type": "output_text", "text": speech.text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": f"m_{speech.number}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        for call in speech.calls
    ]
    reason = _REASONS.get(speech.stop)
    whole = {
        **_head(speech),
        "status": "completed" if reason is None else "incomplete",
        "incomplete_details": None if reason is None else {"reason": reason},
        "output": output,
        "usage": _usage(speech),
    }
    if not speech.counts:
        del whole["usage"]
    return whole


def _head(speech: Speech) -> dict[str, JSON]:
    return {
        "id": f"resp_{speech.number}",
        "object": "response",
        "created_at": 0,
        "model": speech.served,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }


def _usage(speech: Speech) -> dict[str, JSON]:
    return {
        "input_tokens": speech.sent_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": speech.written_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": speech.sent_tokens + speech.written_tokens,
    }


def events(speech: Speech) -> list[Event]:
    """Return the events of the same response as a stream; the last one holds all of it."""
    whole = write(speech)
    begun = {**_head(speech), "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    data: list[dict[str, JSON]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(whole["output"]):
        data.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "function_call":
            place = {"output_index": index, "item_id": item["id"]}
            half = len(item["arguments"]) // 2
            data += [
                {"type": "response.function_call_arguments.delta", **place, "delta": part}
                for part in (item["arguments"][:half], item["arguments"][half:])
            ]
        data.append({"type": "response.output_item.done", "output_index": index, "item": item})
    data.append({"type": f"response.{whole['status']}", "response": whole})
    return [Event(str(entry["type"]), {**entry, "sequence_number": number}) for number, entry in enumerate(data)]


API = Api("/v1/responses", read, write, events, chat.refusal)
