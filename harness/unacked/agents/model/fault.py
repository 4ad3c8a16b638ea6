"""From what an SDK raises to one ProviderError: told in our own words, for its words may hold the key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from unacked.agents.protocol import ProviderError

__all__ = ["refused", "unreachable"]

_WORD = re.compile(r"[a-z0-9_.-]{1,60}")
_LATER: Mapping[int, str] = {
    408: "timeout",
    429: "rate_limited",
    500: "provider_error",
    502: "provider_error",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
_NOW: Mapping[int, str] = {
    400: "refused_request",
    401: "refused_key",
    403: "refused_key",
    404: "unknown_model_or_url",
    413: "context_too_long",
}
_LATE = ("timeout", "the provider did not answer in time")
_BROKEN = ("no_connection", "the connection to the provider failed or broke off")
_DEEPEST = 20
_FOR_GOOD = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = re.compile(r"context_length|prompt is too long|context window|maximum context", re.IGNORECASE)


def refused(status: int, headers: Mapping[str, str], body: Any) -> ProviderError:
    """Return the error of a status that is no success; ``body`` is whatever the SDK made of the answer."""
    word = _error_word(body)
    kind = _LATER.get(status) or _NOW.get(status, "refused_request")
    if status == 400 and _TOO_LONG.search(str(body)):
        kind = "context_too_long"
    named = f" ({word})" if word else ""
    return ProviderError(
        kind,
        f"the provider answered {status}{named}: {kind.replace('_', ' ')}",
        again=status in _LATER and word not in _FOR_GOOD,
        retry_after_s=_retry_after_s(headers),
        raw={"status": status, "body": str(body)[:4096]},
    )


def unreachable(error: Exception, address: str, *, late: bool = False) -> ProviderError:
    """Return the error of a request that got no answer; whether it was carried out cannot be known, nor matters.

    ``address`` is told where the agent names one: a fake provider's changes from run to run.
    """
    kind, told = _LATE if late else _BROKEN
    if address:
        told += f" ({address}{_reason(error)})"
    return ProviderError(kind, told, again=True, raw={"error": [type(error).__name__, str(error)[:1000]]})


def _reason(error: BaseException) -> str:
    """What the operating system says, such as ``: Connection refused``, where an error goes back to it."""
    below: BaseException | None = error
    for _ in range(_DEEPEST):
        if below is None or (isinstance(below, OSError) and below.strerror):
            break
        below = below.__cause__ or below.__context__
    return f": {below.strerror}" if isinstance(below, OSError) and below.strerror else ""


def _error_word(body: Any) -> str:
    """The provider's own word for the error, where it is one: a whole message may quote anything."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    for name in ("code", "type"):
        word = inner.get(name) if isinstance(inner, dict) else None
        if isinstance(word, str) and _WORD.fullmatch(word):
            return word
    return ""


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None
