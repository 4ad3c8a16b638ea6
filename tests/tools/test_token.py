"""What a token source makes of each outcome of a refresh, and of what a service says of its token."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

from unacked.tools import Tokens, TokenSource
from unacked.tools.classify import Finding
from unacked.tools.client import Exchange, Phase
from unacked.tools.token import is_over

OLD = Tokens("tok_a1", "tok_r1", expires_at_s=50.0)


def source(*, rotates: bool = False) -> TokenSource:
    return TokenSource(OLD, rotates=rotates)


def given(**more: Any) -> Finding:
    return Finding("ok", {"access_token": "tok_a2", "token_type": "Bearer", "expires_in": 300, **more})


def test_a_token_is_stale_from_the_second_on_at_which_it_ends() -> None:
    assert [source().is_stale(now_s) for now_s in (49.999, 50.0, 51.0)] == [False, True, True]


def test_the_exchange_is_a_web_form_of_the_standard() -> None:
    assert parse_qs(source().content().decode()) == {"grant_type": ["refresh_token"], "refresh_token": ["tok_r1"]}


def test_a_new_token_is_given_up_ten_seconds_before_it_ends() -> None:
    tokens = source()
    assert tokens.learn(given(), asked_at_s=100.0) is None
    assert tokens.tokens == Tokens("tok_a2", "tok_r1", expires_at_s=390.0)


def test_a_new_refresh_token_takes_the_place_of_the_old_one() -> None:
    tokens = source(rotates=True)
    tokens.learn(given(refresh_token="tok_r2"), asked_at_s=0.0)
    assert tokens.tokens.refresh == "tok_r2"


@pytest.mark.parametrize(("expires_in", "stale_after_s"), [(5, 100.0), (-7, 100.0), (10**400, 100.0 + 1e9 - 10)])
def test_a_lifetime_that_makes_no_sense_does_no_harm(expires_in: int, stale_after_s: float) -> None:
    tokens = source()
    tokens.learn(given(expires_in=expires_in), asked_at_s=100.0)
    assert tokens.tokens.expires_at_s == stale_after_s


@pytest.mark.parametrize("category", ["invalid_request", "authentication_failed", "authorization_denied", "not_found"])
def test_a_refresh_that_is_denied_is_not_asked_for_again(category: str) -> None:
    tokens = source()
    assert tokens.learn(Finding(category), 0.0) == "authentication_failed"
    assert (tokens.can_refresh, tokens.tokens.access) == (False, "tok_a1")


@pytest.mark.parametrize("category", ["local_failure", "rate_limited"])
@pytest.mark.parametrize("rotates", [False, True])
def test_a_refresh_that_was_never_made_can_be_made_later(category: str, rotates: bool) -> None:  # noqa: FBT001 - a row of the table
    tokens = source(rotates=rotates)
    assert (tokens.learn(Finding(category), 0.0), tokens.can_refresh) == (category, True)


@pytest.mark.parametrize("category", ["outcome_unknown", "malformed_response", "conflict", "accepted"])
def test_a_refresh_with_an_unknown_outcome_is_made_again_only_where_refresh_tokens_do_not_rotate(category: str) -> None:
    kept, rotated = source(), source(rotates=True)
    assert (kept.learn(Finding(category), 0.0), kept.can_refresh) == ("local_failure", True)
    assert (rotated.learn(Finding(category), 0.0), rotated.can_refresh) == ("authentication_failed", False)


def test_tokens_do_not_stand_in_their_own_description() -> None:
    assert repr(OLD) == "Tokens(expires_at_s=50.0)"


def refused(category: str, **headers: str) -> bool:
    return is_over(Exchange(Phase.COMPLETE, 1, 0.0, 401, {**headers}), Finding(category))


@pytest.mark.parametrize(
    "challenge",
    [
        'Bearer error="invalid_token"',
        'Bearer realm="api", error="invalid_token", error_description="expired"',
        "bearer error=invalid_token",
        'Basic realm="api", Bearer error="invalid_token"',
    ],
)
def test_a_challenge_that_blames_the_token_says_that_it_is_over(challenge: str) -> None:
    assert refused("authentication_failed", **{"www-authenticate": challenge})


@pytest.mark.parametrize(
    "challenge", ["", "Bearer", 'Bearer error="insufficient_scope"', 'Bearer error="invalid_tokens"', "invalid_token"]
)
def test_any_other_challenge_does_not(challenge: str) -> None:
    assert not refused("authentication_failed", **{"www-authenticate": challenge})


@pytest.mark.parametrize("category", ["authorization_denied", "not_found", "malformed_response", "outcome_unknown"])
def test_no_other_outcome_has_to_do_with_the_token(category: str) -> None:
    assert not refused(category, **{"www-authenticate": 'Bearer error="invalid_token"'})
