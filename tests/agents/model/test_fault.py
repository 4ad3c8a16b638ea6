from __future__ import annotations

from typing import Any

import pytest

from unacked.agents.model.fault import refused, unreachable

KEY = "sk-the-users-own-key"


@pytest.mark.parametrize(
    ("status", "body", "kind", "again"),
    [
        (429, {"error": {"type": "rate_limit_error"}}, "rate_limited", True),
        (429, {"code": "insufficient_quota"}, "rate_limited", False),
        (529, {"error": {"type": "overloaded_error"}}, "overloaded", True),
        (503, "busy", "overloaded", True),
        (500, None, "provider_error", True),
        (408, None, "timeout", True),
        (400, {"error": {"message": "bad"}}, "refused_request", False),
        (400, {"error": {"message": "prompt is too long: 9 > 8"}}, "context_too_long", False),
        (400, {"error": {"code": "context_length_exceeded"}}, "context_too_long", False),
        (401, None, "refused_key", False),
        (404, {"error": {"code": "model_not_found"}}, "unknown_model_or_url", False),
        (418, None, "refused_request", False),
    ],
)
def test_a_status_says_whether_to_try_again(status: int, body: Any, kind: str, *, again: bool) -> None:
    error = refused(status, {}, body)
    assert (error.kind, error.again) == (kind, again)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_the_provider_wants_to_be_left_alone(headers: dict[str, str], seconds: float | None) -> None:
    assert refused(429, headers, None).retry_after_s == seconds


def test_what_is_told_never_quotes_the_provider() -> None:
    error = refused(401, {}, {"error": {"message": f"Incorrect API key provided: {KEY}", "type": f"bad {KEY}"}})
    assert str(error) == "the provider answered 401: refused key"
    assert KEY in str(error.raw)  # the diagnostics take it out


def test_what_an_sdk_raises_is_not_told_either() -> None:
    error = unreachable(ValueError(f"header {KEY}"), "", late=True)
    assert (str(error), error.kind, error.again) == ("the provider did not answer in time", "timeout", True)


def test_who_cannot_be_reached_is_named_with_what_the_operating_system_says() -> None:
    refusal = RuntimeError("all attempts failed")
    refusal.__cause__ = ConnectionRefusedError(111, "Connection refused")
    told = "the connection to the provider failed or broke off"
    assert str(unreachable(refusal, "127.0.0.1:9")) == f"{told} (127.0.0.1:9: Connection refused)"
    assert str(unreachable(ValueError("?"), "127.0.0.1:9")) == f"{told} (127.0.0.1:9)"
    assert str(unreachable(refusal, "")) == told
