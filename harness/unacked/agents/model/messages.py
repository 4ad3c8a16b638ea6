"""Anthropic's Messages API: content is passed back unchanged, all results of a reply go into one user message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unacked.agents.model.answer import (
    Answer,
    Answered,
    Setup,
    Stop,
    Usage,
    WrittenCall,
    count,
    incomplete,
    malformed,
    member,
    used,
)
from unacked.canonical import JSON, InvalidJSON, loads

__all__ = ["Messages"]

_STOPS: Mapping[str, Stop] = {
    "tool_use": Stop.CALLS,
    "end_turn": Stop.ENDED,
    "stop_sequence": Stop.ENDED,
    "max_tokens": Stop.TRUNCATED,
    "model_context_window_exceeded": Stop.TRUNCATED,
    "refusal": Stop.REFUSED,
    "pause_turn": Stop.PAUSED,
}
_MAX_TOKENS = 4096


class Messages:
    """The Messages API as a dialect."""

    operation = "messages"

    def opening(self, setup: Setup) -> list[JSON]:
        """The task is the first user message; the prompt travels beside the messages."""
        return [{"role": "user", "content": setup.task}]

    def request(self, setup: Setup, messages: Sequence[JSON], *, stream: bool) -> dict[str, Any]:
        """The body of ``POST /v1/messages``."""
        tools = [tool.offer() for tool in setup.tools]
        body: dict[str, Any] = {"model": setup.model, "max_tokens": _MAX_TOKENS, "tools": tools}
        if setup.prompt:
            body["system"] = setup.prompt
        return {**body, **setup.parameters, "messages": list(messages), **({"stream": True} if stream else {})}

    def read(self, body: JSON) -> Answer:
        """One message; its content may hold text, thinking and calls."""
        if member(body, "type", str, of="message") != "message":
            raise malformed(f"its type is {body['type']!r}, expected 'message'")
        content = member(body, "content", list, of="message")
        reason = member(body, "stop_reason", str, of="message")
        if reason not in _STOPS:
            raise malformed(f"unknown stop reason {reason!r}")
        usage = member(body, "usage", dict, of="message")
        return Answer(
            id=member(body, "id", str, of="message"),
            served=member(body, "model", str, of="message"),
            stop=_STOPS[reason],
            calls=[_call(block) for block in content if _kind(block) == "tool_use"],
            text="".join(member(block, "text", str, of="text") for block in content if _kind(block) == "text"),
            messages=[{"role": "assistant", "content": content}] if content else [],
            usage=_usage(usage),
            raw_usage=usage,
        )

    def results(self, answered: Sequence[Answered]) -> list[JSON]:
        """One user message with every result."""
        blocks = [
            {"type": "tool_result", "tool_use_id": done.call.id, "content": done.text, "is_error": done.failed}
            for done in answered
        ]
        return [{"role": "user", "content": blocks}]

    def said(self, calls: Sequence[WrittenCall], text: str) -> list[JSON]:
        """One assistant's message; thinking is never made up."""
        spoken: list[JSON] = [{"type": "text", "text": text}] if text else []
        written = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls]
        return [{"role": "assistant", "content": [*spoken, *written]}]

    def gather(self, events: Iterable[JSON]) -> JSON:
        """A message is whole once ``message_stop`` came."""
        message: dict[str, Any] | None = None
        texts: dict[int, list[str]] = {}
        for event in events:
            kind = event.get("type")
            if kind == "message_start":
                message = dict(event["message"])
                message["content"] = []
            elif kind == "message_stop" and message is not None:
                return message
            elif message is not None:
                _add(message, texts, kind, event)
        raise incomplete("no message_stop")


def _kind(block: JSON) -> str:
    kind: str = member(block, "type", str, of="content")
    return kind


def _call(block: JSON) -> WrittenCall:
    return WrittenCall(
        member(block, "id", str, of="tool_use"), member(block, "name", str, of="tool_use"), block.get("input")
    )


def _usage(usage: JSON) -> Usage:
    fresh, written = used(usage, "input_tokens", "output_tokens")
    cached, stored = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    return Usage(fresh + (cached or 0) + (stored or 0), written, cached, stored)


def _add(message: dict[str, Any], texts: dict[int, list[str]], kind: str | None, event: JSON) -> None:
    """Put one event of a stream into the message that it belongs to."""
    content: list[Any] = message["content"]
    if kind == "content_block_start":
        content.append(dict(event["content_block"]))
        texts[event["index"]] = []
    elif kind == "content_block_delta":
        _add_delta(content[event["index"]], texts[event["index"]], event["delta"])
    elif kind == "content_block_stop" and content[event["index"]].get("type") == "tool_use":
        content[event["index"]]["input"] = _arguments("".join(texts[event["index"]]))
    elif kind == "message_delta":
        message.update({name: value for name, value in event["delta"].items() if value is not None})
        counted = {name: value for name, value in (event.get("usage") or {}).items() if value is not None}
        message["usage"] = {**(message.get("usage") or {}), **counted}


def _add_delta(block: dict[str, Any], texts: list[str], delta: JSON) -> None:
    if delta["type"] == "input_json_delta":
        texts.append(delta["partial_json"])
        return
    for name in ("text", "thinking", "signature"):
        if name in delta:
            block[name] = block.get(name, "") + delta[name]


def _arguments(text: str) -> JSON:
    """The arguments of a streamed call: JSON where the text is that, else the text itself, for the reader to refuse."""
    try:
        return loads(text) if text else {}
    except InvalidJSON:
        return text
