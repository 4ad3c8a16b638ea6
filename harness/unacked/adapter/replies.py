"""What a reply over MCP must be: the envelope in both places, and ``isError`` exactly where the call failed.

``REPLY_RULES`` is the table of the rules that only replies have. A client branches on the flag and a model reads the
text, so a reply whose parts differ says two things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from unacked.canonical import JSON, InvalidJSON, dumps, loads

__all__ = ["REPLY_RULES", "Misreply", "read_reply"]

REPLY_RULES: Mapping[str, tuple[str, str]] = {
    "failure-as-success": (
        "isError on the reply to every failed call",
        "set it wherever the envelope's ok is false: a text that tells of a failure is a success to the client",
    ),
    "success-as-error": ("isError on replies to failed calls only", "set it exactly where the envelope's ok is false"),
    "error-without-envelope": (
        "the envelope in the reply to a failed call",
        "reply with a result that has isError and the envelope; a JSON-RPC error says nothing of the effect",
    ),
    "prose-for-envelope": (
        "the envelope in structuredContent or, as JSON, in a text",
        "keep the result machine-readable to the last layer; prose may stand beside it",
    ),
    "places-disagree": (
        "one envelope in structuredContent and text",
        "write both from the same value, or leave one of them out",
    ),
    "wrong-reply-id": (
        "the id of the request on its reply",
        "reply under the id that was asked with, of the same type",
    ),
    "duplicate-reply": ("one reply to one request", "a second reply may be taken for that of another request"),
    "no-reply": (
        "a reply to every request",
        "when work cannot be finished in time, reply with outcome_unknown before you end the session",
    ),
}
"""What is expected, and what to do, by rule."""

_FAILED = re.compile(r"error|fail|exception|time[d -]*out|refused|denied|unavailable|traceback", re.IGNORECASE)


class Misreply(Exception):
    """A reply from which no envelope can be taken: the rule that it breaks, and what it was.

    ``empty`` says that there was nothing in it but an empty collection. ``reply`` is all of it, for the leaks.
    """

    def __init__(self, rule: str, observed: str, *, reply: JSON = None, empty: bool = False) -> None:
        super().__init__(f"{rule}: {observed}")
        self.rule, self.observed, self.reply, self.empty = rule, observed, reply, empty


def read_reply(result: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the envelope of a ``tools/call`` result, as JSON-RPC has it; raises Misreply."""
    is_error = result.get("isError") is True
    texts = [block["text"] for block in result.get("content") or () if block.get("type") == "text"]
    values = [value for value in (result.get("structuredContent"), *map(_parsed, texts)) if value is not None]
    envelopes = [value for value in values if isinstance(value, dict) and {"ok", "category"} <= value.keys()]
    if not envelopes:
        raise _without_envelope(is_error, texts, values, result)
    envelope: dict[str, JSON] = envelopes[0]
    flagged = f"isError = {dumps(is_error)} with ok = {dumps(envelope['ok'])}"
    if any(other != envelope for other in envelopes):
        raise Misreply("places-disagree", "two envelopes that differ", reply=dict(result))
    if envelope["ok"] is False and not is_error:
        raise Misreply("failure-as-success", flagged, reply=dict(result))
    if envelope["ok"] is True and is_error:
        raise Misreply("success-as-error", flagged, reply=dict(result))
    return envelope


def _without_envelope(is_error: bool, texts: list[str], values: list[JSON], result: Mapping[str, JSON]) -> Misreply:  # noqa: FBT001 - one private caller
    shown = f"the text {texts[0][:60]!r}" if texts else "no text"
    if is_error:
        return Misreply("error-without-envelope", f"isError with {shown}", reply=dict(result))
    if any(_FAILED.search(text) for text in texts):
        return Misreply("failure-as-success", f"{shown} without isError", reply=dict(result))
    nothing = not values and not any(text.strip() for text in texts)
    empty = nothing or (bool(values) and not any(map(_has_items, values)))
    return Misreply("prose-for-envelope", shown, reply=dict(result), empty=empty)


def _has_items(value: JSON) -> bool:
    """Whether there is anything in a value but empty lists, null and empty objects."""
    return any(_leaves(value))


def _leaves(value: JSON) -> Iterator[bool]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        yield bool(value)
    else:
        yield value is not None


def _parsed(text: str) -> JSON:
    try:
        return loads(text.encode())
    except InvalidJSON:
        return None
