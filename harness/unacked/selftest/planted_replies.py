"""MCP servers that are wrong on purpose: the tool behind them is right, and its reply is spoilt on the way out.

They import the MCP SDK: import this module where it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps

from unacked.adapter import Adapter, Link, Misreply, reference
from unacked.adapter.mcp_tools import Alter, in_memory
from unacked.canonical import JSON, dumps, loads
from unacked.selftest.planted import Arguments, Planted, Told, right

__all__ = ["REPLIES", "RIGHT"]

Reply = dict[str, JSON]


def unspoilt(reply: Reply) -> Sequence[Reply]:
    """Pass a reply on."""
    return [reply]


def says_request_failed(reply: Reply) -> Sequence[Reply]:
    """Tell of a failure in words, without the flag."""
    return [reply] if _ok(reply) else [_with(reply, isError=False, content=_text("Error: request failed"))]


def keeps_the_flag_only(reply: Reply) -> Sequence[Reply]:
    """Set the flag and throw the envelope away."""
    return [reply] if _ok(reply) else [_with(reply, isError=True, content=_text("Something went wrong."))]


def raises_through_the_protocol(reply: Reply) -> Sequence[Reply]:
    """Make of every failure the same JSON-RPC error."""
    error = {"code": -32603, "message": "Internal error"}
    return [reply] if _ok(reply) else [{"jsonrpc": "2.0", "id": reply["id"], "error": error}]


def writes_prose(reply: Reply) -> Sequence[Reply]:
    """Make a sentence of every result."""
    told = _envelope(reply)
    return [_with(reply, isError=not told["ok"], content=_text(f"{told['operation']} gave {told.get('result')}"))]


def finds_nothing(reply: Reply) -> Sequence[Reply]:
    """Answer with an empty list where nobody could look."""
    return [reply] if _ok(reply) else [_with(reply, isError=False, content=_text("[]"))]


def flags_success(reply: Reply) -> Sequence[Reply]:
    """Set the flag on every reply."""
    return [{**reply, "result": {**reply["result"], "isError": True}}]


def shortens_the_text(reply: Reply) -> Sequence[Reply]:
    """Say in the text that all is well, whatever stands beside it."""
    text = dumps(_envelope(reply) | {"ok": True, "category": "ok"})
    return [{**reply, "result": {**reply["result"], "content": _text(text)}}]


def answers_under_text_ids(reply: Reply) -> Sequence[Reply]:
    """Turn the number of the request into a text."""
    return [{**reply, "id": f"request-{reply['id']}"}]


def answers_twice(reply: Reply) -> Sequence[Reply]:
    """Send every reply a second time, to be sure."""
    return [reply, reply]


def hangs_up(reply: Reply) -> Sequence[Reply]:
    """End the session in place of a reply where the tool does not know what has become of the call."""
    return [] if _envelope(reply)["category"] == "outcome_unknown" else [reply]


def calls_again_in_a_new_session(operation: str, arguments: Arguments, link: Link) -> Told:
    """Connect anew where a session ended without a reply, and make the same call there."""
    try:
        return in_memory(right, lambda _: [])(operation, arguments, link)
    except Misreply:
        return in_memory(right, unspoilt)(operation, arguments, link)


def _envelope(reply: Reply) -> Told:
    envelope: Told = loads(reply["result"]["content"][0]["text"].encode())
    return envelope


def _ok(reply: Reply) -> bool:
    return bool(_envelope(reply)["ok"])


def _text(text: str) -> list[JSON]:
    return [{"type": "text", "text": text}]


def _with(reply: Reply, **result: JSON) -> Reply:
    """The reply with another result, in which nothing of the old one is left."""
    return {**reply, "result": result}


def _served(spoilt: Alter) -> Adapter:
    """A server that spoils its replies, under the name of how it does."""
    return wraps(spoilt)(in_memory(right, spoilt))


RIGHT = in_memory(reference.call, unspoilt)
"""A server that is right, with our own tools behind it."""

REPLIES = (
    Planted(_served(says_request_failed), "tells of a failure as a success", "failure-as-success"),
    Planted(_served(keeps_the_flag_only), "sets isError and drops the envelope", "error-without-envelope"),
    Planted(_served(raises_through_the_protocol), "makes a JSON-RPC error of it", "error-without-envelope"),
    Planted(_served(writes_prose), "drops the envelope to prose", "prose-for-envelope"),
    Planted(_served(finds_nothing), "answers an error with an empty list", "error-as-empty", "list_accounts"),
    Planted(_served(flags_success), "sets isError on every reply", "success-as-error"),
    Planted(_served(shortens_the_text), "says two things in two places", "places-disagree"),
    Planted(_served(answers_under_text_ids), "replies under another id", "wrong-reply-id"),
    Planted(_served(answers_twice), "replies twice", "duplicate-reply"),
    Planted(_served(hangs_up), "ends the session in place of a reply", "no-reply"),
    Planted(calls_again_in_a_new_session, "calls again after a lost session", "transport_resent"),
)
"""Every planted MCP server, and a client that sends again."""
