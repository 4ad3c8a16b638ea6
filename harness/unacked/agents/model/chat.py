"""OpenAI's Chat Completions API, which many other servers speak too, and LiteLLM for all the others."""

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
from unacked.canonical import JSON, dumps

__all__ = ["Chat"]

_STOPS: Mapping[str, Stop] = {
    "tool_calls": Stop.CALLS,
    "stop": Stop.ENDED,
    "length": Stop.TRUNCATED,
    "content_filter": Stop.REFUSED,
}


class Chat:
    """The Chat Completions API as a dialect."""

    operation = "chat_completions"

    def opening(self, setup: Setup) -> list[JSON]:
        """The prompt is the system message, the task the first user message."""
        system: list[JSON] = [{"role": "system", "content": setup.prompt}] if setup.prompt else []
        return [*system, {"role": "user", "content": setup.task}]

    def request(self, setup: Setup, messages: Sequence[JSON], *, stream: bool) -> dict[str, Any]:
        """The body of ``POST /v1/chat/completions``; a stream is asked to count its tokens too."""
        tools = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema()},
            }
            for tool in setup.tools
        ]
        body = {"model": setup.model, "tools": tools, **setup.parameters, "messages": list(messages)}
        return {**body, "stream": True, "stream_options": {"include_usage": True}} if stream else body

    def read(self, body: JSON) -> Answer:
        """One completion with one choice."""
        choices = member(body, "choices", list, of="completion")
        if len(choices) != 1:
            raise malformed(f"it holds {len(choices)} choices, expected 1")
        message = member(choices[0], "message", dict, of="choice")
        reason = member(choices[0], "finish_reason", str, of="choice")
        if reason not in _STOPS:
            raise malformed(f"unknown finish reason {reason!r}")
        usage = member(body, "usage", dict, of="completion")
        calls = [_call(call) for call in message.get("tool_calls") or ()]
        refusal = message.get("refusal")
        return Answer(
            id=member(body, "id", str, of="completion"),
            served=member(body, "model", str, of="completion"),
            stop=Stop.REFUSED if refusal else _STOPS[reason],
            calls=calls,
            text=message.get("content") or refusal or "",
            messages=[_sent_back(message)],
            usage=_usage(usage),
            raw_usage=usage,
            fingerprint=body.get("system_fingerprint"),
            logprobs=choices[0].get("logprobs"),
        )

    def results(self, answered: Sequence[Answered]) -> list[JSON]:
        """One tool message for each call."""
        return [{"role": "tool", "tool_call_id": done.call.id, "content": done.text} for done in answered]

    def said(self, calls: Sequence[WrittenCall], text: str) -> list[JSON]:
        """One assistant's message."""
        written = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": dumps(call.arguments)}}
            for call in calls
        ]
        return [{"role": "assistant", "content": text or None, "tool_calls": written}]

    def gather(self, events: Iterable[JSON]) -> JSON:
        """A completion is whole once its finish reason and then its usage came."""
        head: dict[str, Any] = {}
        message: dict[str, Any] = {"role": "assistant", "content": None}
        reason = usage = None
        for chunk in events:
            head = head or {name: chunk.get(name) for name in ("id", "model", "system_fingerprint")}
            for choice in chunk.get("choices") or ():
                _add(message, choice.get("delta") or {})
                reason = choice.get("finish_reason") or reason
            usage = chunk.get("usage") or usage
        if reason is None:
            raise incomplete("no finish reason")
        if usage is None:
            raise incomplete("no usage")
        return {**head, "choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _call(call: JSON) -> WrittenCall:
    function = member(call, "function", dict, of="tool_call")
    return WrittenCall(
        member(call, "id", str, of="tool_call"),
        member(function, "name", str, of="function"),
        member(function, "arguments", str, of="function"),
    )


def _sent_back(message: Mapping[str, JSON]) -> JSON:
    """What the API takes of its own message: members that say nothing are refused by some servers."""
    kept = {name: value for name, value in message.items() if value is not None or name == "content"}
    return {**kept, "role": "assistant"}


def _usage(usage: JSON) -> Usage:
    sent, written = used(usage, "prompt_tokens", "completion_tokens")
    return Usage(
        sent,
        written,
        count(usage.get("prompt_tokens_details"), "cached_tokens"),
        None,
        count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _add(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Put one piece of a stream into the message."""
    for name in ("content", "refusal"):
        if delta.get(name):
            message[name] = (message.get(name) or "") + delta[name]
    for piece in delta.get("tool_calls") or ():
        calls = message.setdefault("tool_calls", [])
        while len(calls) <= piece["index"]:
            calls.append({"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
        call, function = calls[piece["index"]], piece.get("function") or {}
        call["id"] = call["id"] or piece.get("id")
        for name in ("name", "arguments"):
            call["function"][name] += function.get(name) or ""
