"""From what came back to a category of the result contract, always with the reason, and never without evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.incident.recording import Answer
from unacked.outcome import CATEGORIES

__all__ = ["Inference", "infer"]


@dataclass(frozen=True, slots=True)
class Inference:
    """A category and why; ``category`` None must be asked for. ``action`` is what the wire does to show the same."""

    category: str | None
    because: str
    action: JSON = None


_STATUS: Mapping[int, str] = {
    202: "accepted",
    400: "invalid_request",
    401: "authentication_failed",
    403: "authorization_denied",
    404: "not_found",
    408: "outcome_unknown",
    409: "conflict",
    412: "conflict",
    413: "invalid_request",
    422: "invalid_request",
    429: "rate_limited",
}

_WORDS: tuple[tuple[str, str, JSON], ...] = (
    (r"connect(?:ion)?[ _-]?time(?:d )?out|ConnectTimeout", "local_failure", None),
    (r"connection refused|ECONNREFUSED|ConnectError", "local_failure", None),
    (r"name resolution|getaddrinfo|ENOTFOUND|name or service not known", "local_failure", None),
    (r"timed[ -]?out|time-?out|deadline exceeded|ETIMEDOUT", "outcome_unknown", "silence"),
    (r"connection (?:was )?reset|ECONNRESET|reset by peer|broken pipe", "outcome_unknown", "rst"),
    (
        r"connection (?:was )?(?:closed|aborted|lost|dropped)|socket hang up|server disconnected",
        "outcome_unknown",
        "fin",
    ),
    (r"too many requests|rate[ _-]?limit|\b429\b", "rate_limited", None),
    (r"declined by|(?:denied|rejected) by (?:the )?(?:user|human|person|approver)", "declined", None),
    (
        r"unauthori[sz]ed|unauthenticated|\b401\b|token (?:has )?expired|invalid (?:api[ _]?)?(?:key|token)|credential",
        "authentication_failed",
        None,
    ),
    (
        r"forbidden|permission denied|not permitted|access denied|insufficient[ _]scope|\b403\b",
        "authorization_denied",
        None,
    ),
    (r"\b404\b|not found|no such|does not exist", "not_found", None),
    (r"\b409\b|conflict|already exists|duplicate", "conflict", None),
    (
        r"\b(?:400|413|422)\b|bad request|invalid request|validation (?:error|failed)|unprocessable",
        "invalid_request",
        None,
    ),
    (r"\b502\b|bad gateway", "outcome_unknown", {"status": {"code": 502}}),
    (r"\b503\b|service unavailable", "outcome_unknown", {"status": {"code": 503}}),
    (r"\b504\b|gateway time", "outcome_unknown", {"status": {"code": 504}}),
    (r"\b5\d\d\b|internal (?:server )?error", "outcome_unknown", {"status": {"code": 500}}),
    (r"malformed|invalid json|JSONDecodeError|unexpected (?:token|end of)|parse error", "malformed_response", None),
)
"""Words of errors, the category that they prove, and the action that shows the same; the first that matches counts."""

_FLAGS: Mapping[str, JSON] = {"ok": False, "success": False, "isError": True, "status": "error"}


def infer(answer: Answer | None) -> Inference:
    """Return the category of an answer; None as the category where nothing in the trace proves one."""
    if answer is None:
        return Inference("outcome_unknown", "the trace holds no answer to this call", "silence")
    if answer.category is not None:
        return Inference(answer.category, "the trace names the category")
    content = answer.content
    if isinstance(content, Mapping) and content.get("category") in CATEGORIES:
        return Inference(str(content["category"]), "the answer is a result of this contract and names its category")
    if answer.status is not None:
        return _by_status(answer.status)
    says_no = answer.failed or _says_error(content)
    if says_no or (answer.failed is None and not isinstance(content, Mapping | list)):
        found = _by_words(f"{answer.error} {_words_of(content)}")
        if found is not None:
            return found
        if says_no:
            return Inference(None, "the trace says that the call failed, and not how")
        if answer.failed is None:
            return Inference(None, "a text without a flag: the trace does not say whether the call worked")
    told = "its flag says that the call worked" if answer.failed is False else "an answer that names no error"
    return Inference("ok", told)


def _by_status(status: int) -> Inference:
    because = f"the trace names the HTTP status {status}"
    if status in _STATUS:
        return Inference(_STATUS[status], because, {"status": {"code": status}} if status == 408 else None)
    if 200 <= status < 300:
        return Inference("ok", because)
    if status >= 500:
        return Inference("outcome_unknown", because, {"status": {"code": min(status, 599)}})
    return Inference(None, because)


def _by_words(text: str) -> Inference | None:
    for pattern, category, action in _WORDS:
        if re.search(pattern, text, re.IGNORECASE):
            return Inference(category, f"its words match /{pattern}/", action)
    return None


def _says_error(content: JSON) -> bool:
    if not isinstance(content, Mapping):
        return False
    return bool(content.get("error") or content.get("errors")) or any(
        key in content and content[key] == value and isinstance(content[key], type(value))
        for key, value in _FLAGS.items()
    )


def _words_of(content: JSON) -> str:
    """The texts of an answer in a row; an object's numbers too, for a status may stand in it."""
    if isinstance(content, Mapping):
        return " ".join(_words_of(value) for value in content.values())
    if isinstance(content, list):
        return " ".join(_words_of(value) for value in content)
    return "" if content is None else str(content)
