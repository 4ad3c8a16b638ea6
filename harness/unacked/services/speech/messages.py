"""Anthropic's Messages API on the server's side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from unacked.canonical import JSON, InvalidJSON, dumps, loads
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

_STOPS = {
    Stop.CALLS: "tool_use",
    Stop.ENDED: "end_turn",
    Stop.TRUNCATED: "max_tokens",
    Stop.REFUSED: "refusal",
    Stop.UNHEARD_OF: "because",
}


def read(body: Mapping[str, Any]) -> Conversation:
    """Read a request; raises ApiRefusedError for whatever the provider would refuse."""
    if asked(body, "max_tokens", int) < 1:
        raise ApiRefusedError("max_tokens: must be at least 1")
    tools = [asked(tool, "name", str) for tool in body.get("tools") or ()]
    for tool in body.get("tools") or ():
        asked(tool, "input_schema", dict)
    said = asked(body, "messages", list)
    if not said or said[0].get("role") != "user":
        raise ApiRefusedError("messages: the first one must be the user's")
    for before, after in pairwise(said):
        if before.get("role") == after.get("role"):
            raise ApiRefusedError("messages: roles must alternate between 'user' and 'assistant'")
    thinks = (body.get("thinking") or {}).get("type") == "enabled"
    task = said[0].get("content")
    return Conversation(
        asked(body, "model", str),
        task if isinstance(task, str) else "".join(part.get("text", "") for part in task or ()),
        tools,
        list(_exchanges(said[1:], thinks=thinks)),
        body.get("stream") is True,
        thinks,
    )


def _exchanges(said: Sequence[Mapping[str, Any]], *, thinks: bool) -> Iterator[Exchange]:
    for reply, answer in zip(said[::2], [*said[1::2], None], strict=False):
        content = reply.get("content")
        blocks: list[Any] = content if isinstance(content, list) else []
        asking = [block for block in blocks if _is(block, "tool_use")]
        calls = [Made(block["id"], block["name"], _text(block.get("input"))) for block in asking]
        if not calls:
            raise ApiRefusedError("messages: nothing is asked after a reply that holds no call")
        if thinks:
            _check_thought(blocks)
        if answer is None:
            raise ApiRefusedError(f"messages: tool_use without tool_result: {[call.id for call in calls]}")
        given = answer.get("content")
        parts: list[Any] = given if isinstance(given, list) else []
        kinds = [_is(part, "tool_result") for part in parts]
        if kinds != sorted(kinds, reverse=True):
            raise ApiRefusedError("messages: tool_result blocks must come first")
        results = [(part["tool_use_id"], _told(part)) for part in parts if _is(part, "tool_result")]
        yield batch(calls, results)


def _is(block: Mapping[str, Any], kind: str) -> bool:
    return block.get("type") == kind


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else dumps(value)


def _told(part: Mapping[str, Any]) -> str:
    content = part.get("content")
    return content if isinstance(content, str) else "".join(piece.get("text", "") for piece in content or ())


def _check_thought(blocks: Sequence[Mapping[str, Any]]) -> None:
    first = blocks[0]
    if not _is(first, "thinking") or first.get("signature") != seal(str(first.get("thinking"))):
        raise ApiRefusedError("messages: a reply with calls must begin with its thinking block, signature unchanged")


def write(speech: Speech) -> dict[str, JSON]:
    """Return the whole message."""
    blocks: list[JSON] = []
    if speech.thought is not None:
        blocks.append({"type": "thinking", "thinking": speech.thought, "signature": seal(speech.thought)})
    if speech.text:
        blocks.append({"type": "text", "text": speech.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _value(call.arguments)} for call in speech.calls
    ]
    return {**_head(speech), "content": blocks, "stop_reason": _STOPS[speech.stop]}


def _head(speech: Speech) -> dict[str, JSON]:
    head: dict[str, JSON] = {
        "id": f"msg_{speech.number}",
        "type": "message",
        "role": "assistant",
        "model": speech.served,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    if speech.counts:
        head["usage"] = {
            "input_tokens": speech.sent_tokens,
            "output_tokens": speech.written_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
    return head


def _value(arguments: str) -> JSON:
    """The API has no text for arguments; what is no JSON stands there as it is."""
    try:
        return loads(arguments)
    except InvalidJSON:
        return arguments


def events(speech: Speech) -> list[Event]:
    """Return the events of the same message as a stream."""
    return [Event(str(data["type"]), data) for data in _events(speech)]


def _events(speech: Speech) -> Iterator[dict[str, JSON]]:
    whole = write(speech)
    yield {"type": "message_start", "message": _head(speech)}
    for index, block in enumerate(whole["content"]):
        start, deltas = _pieces(block, speech)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended: dict[str, JSON] = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    used = {"usage": {"output_tokens": speech.written_tokens}} if speech.counts else {}
    yield {"type": "message_delta", "delta": ended, **used}
    yield {"type": "message_stop"}


def _pieces(block: Mapping[str, Any], speech: Speech) -> tuple[JSON, list[JSON]]:
    """A block as it begins, and what is added to it."""
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    arguments = next(call.arguments for call in speech.calls if call.id == block["id"])
    half = len(arguments) // 2
    pieces = [{"type": "input_json_delta", "partial_json": part} for part in (arguments[:half], arguments[half:])]
    return {**block, "input": {}}, list(pieces)


def refusal(error: ApiRefusedError) -> JSON:
    """Return the body of a refusal."""
    return {"type": "error", "error": {"type": error.word, "message": str(error)}}


API = Api("/v1/messages", read, write, events, refusal, {"anthropic-version": "20"})
