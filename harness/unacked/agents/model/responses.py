"""OpenAI's Responses API, without any state at the provider: every request carries the whole conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

__all__ = ["Responses"]

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class Responses:
    """The Responses API as a dialect."""

    operation = "responses"

    def opening(self, setup: Setup) -> list[JSON]:
        """The task is the first input; the prompt travels as the instructions of every request."""
        return [{"role": "user", "content": setup.task}]

    def request(self, setup: Setup, messages: Sequence[JSON], *, stream: bool) -> dict[str, Any]:
        """The body of ``POST /v1/responses``; thoughts come back sealed, so that they can be sent again."""
        tools = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema(),
                "strict": False,
            }
            for tool in setup.tools
        ]
        body: dict[str, Any] = {"model": setup.model, "tools": tools, "store": False}
        if setup.prompt:
            body["instructions"] = setup.prompt
        if "reasoning" in setup.parameters:
            body["include"] = ["reasoning.encrypted_content"]
        return {**body, **setup.parameters, "input": list(messages), **({"stream": True} if stream else {})}

    def read(self, body: JSON) -> Answer:
        """One response; its output holds messages, thoughts and calls."""
        output = member(body, "output", list, of="response")
        calls = [_call(item) for item in output if item.get("type") == "function_call"]
        parts = [part for item in output if item.get("type") == "message" for part in item.get("content") or ()]
        refused = any(part.get("type") == "refusal" for part in parts)
        usage = member(body, "usage", dict, of="response")
        return Answer(
            id=member(body, "id", str, of="response"),
            served=member(body, "model", str, of="response"),
            stop=Stop.REFUSED if refused else _stop(body, calls),
            calls=calls,
            text="".join(part.get("text") or part.get("refusal") or "" for part in parts),
            messages=output,
            usage=_usage(usage),
            raw_usage=usage,
        )

    def results(self, answered: Sequence[Answered]) -> list[JSON]:
        """One output for each call."""
        return [{"type": "function_call_output", "call_id": done.call.id, "output": done.text} for done in answered]

    def said(self, calls: Sequence[WrittenCall], text: str) -> list[JSON]:
        """One item for the text and one for each call; thoughts are never made up."""
        spoken: list[JSON] = [{"role": "assistant", "content": text}] if text else []
        written = [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": dumps(call.arguments)}
            for call in calls
        ]
        return [*spoken, *written]

    def gather(self, events: Iterable[JSON]) -> JSON:
        """The last event holds the whole response; the ones before only announce it."""
        for event in events:
            if event.get("type") in _ENDS:
                return event["response"]
        raise incomplete("no response.completed")


def _call(item: JSON) -> WrittenCall:
    return WrittenCall(
        member(item, "call_id", str, of="function_call"),
        member(item, "name", str, of="function_call"),
        member(item, "arguments", str, of="function_call"),
    )


def _stop(body: JSON, calls: Sequence[WrittenCall]) -> Stop:
    status = member(body, "status", str, of="response")
    if status == "completed":
        return Stop.CALLS if calls else Stop.ENDED
    reason = (body.get("incomplete_details") or {}).get("reason")
    if status == "incomplete" and reason == "max_output_tokens":
        return Stop.TRUNCATED
    if status == "incomplete" and reason == "content_filter":
        return Stop.REFUSED
    raise malformed(f"its status is {status!r} ({reason!r})")


def _usage(usage: JSON) -> Usage:
    sent, written = used(usage, "input_tokens", "output_tokens")
    return Usage(
        sent,
        written,
        count(usage.get("input_tokens_details"), "cached_tokens"),
        None,
        count(usage.get("output_tokens_details"), "reasoning_tokens"),
    )
