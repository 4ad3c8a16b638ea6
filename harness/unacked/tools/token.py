"""The credential of the tools: an access token that is cached with its end, and refreshed when it is over.

Nothing here sends anything: the toolbox makes the exchange, and tells the source what came of it. A refresh is
one more write whose answer can be lost, so one that nothing is known of is never simply made again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from urllib.parse import urlencode

from unacked.contract import Argument, Effect, Operation
from unacked.outcome import CATEGORIES, CATEGORY_SETS, OutcomeClass
from unacked.tools.classify import Finding
from unacked.tools.client import Exchange
from unacked.tools.endpoint import Endpoint, Tool

__all__ = ["REFRESH", "TokenSource", "Tokens", "is_over"]

REFRESH = Tool(
    Operation(
        name="refresh_token",
        effect=Effect.ROTATE,
        description="Exchange the refresh token for a new access token; the tools do it, no agent can.",
        result=(
            Argument("access_token"),
            Argument("token_type", choices=("Bearer", "bearer")),
            Argument("expires_in", "integer"),
            Argument("refresh_token", required=False),
        ),
        categories=CATEGORY_SETS["http_write"],
        target_class="token",
        identity="access_token",
    ),
    Endpoint(service="tokens", method="POST", path="/v1/token"),
)
"""The refresh_token grant of OAuth 2.0 (RFC 6749, section 6)."""

LEEWAY_S = 10.0
"""How long before its end a token that a refresh brought is given up: its request has still to arrive."""

_LONGEST_S = 1e9

_OVER = re.compile(r'\bBearer\b.*\berror="?invalid_token\b', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the tools hold: an access token, what it is refreshed with, and when it is thought to end.

    ``expires_at_s`` is in seconds of the tools' own clock; it is a belief, and the service may know better.
    """

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    expires_at_s: float = inf


class TokenSource:
    """Keeps the tokens of one trial.

    ``rotates`` is what the provider declares: each refresh token is good for one exchange. Then one whose
    exchange has no known outcome may be dead, and using it again would look like theft; so it is let go.
    """

    def __init__(self, tokens: Tokens, *, rotates: bool = False) -> None:
        self.tokens = tokens
        self._rotates = rotates

    def use(self, tokens: Tokens) -> None:
        """Forget what there was: somebody has signed in anew, or was granted another credential."""
        self.tokens = tokens

    @property
    def can_refresh(self) -> bool:
        """Whether there is a refresh token that may be used."""
        return self.tokens.refresh is not None

    def is_stale(self, now_s: float) -> bool:
        """Whether the access token is over by the tools' own clock, so that it is not even sent."""
        return now_s >= self.tokens.expires_at_s

    def content(self) -> bytes:
        """Return the body of the exchange: a web form, as the standard has it."""
        return urlencode({"grant_type": "refresh_token", "refresh_token": self.tokens.refresh or ""}).encode()

    def learn(self, finding: Finding, asked_at_s: float) -> str | None:
        """Take in what came of an exchange; returns None, or the category that it means for a call not made.

        Refused for now, or never sent: the same exchange may be tried again later. Refused for good: the
        credential is over. Of anything else nothing is known, and only where refresh tokens do not rotate may
        the exchange be repeated.
        """
        match CATEGORIES[finding.category].outcome_class:
            case OutcomeClass.SUCCESS:
                self.tokens = _given(finding, self.tokens.refresh, asked_at_s)
                return None
            case OutcomeClass.LOCAL:
                return finding.category
            case OutcomeClass.UNCERTAIN if not self._rotates:
                return "local_failure"
        self.let_go()
        return "authentication_failed"

    def let_go(self) -> None:
        """Refresh no more: only a person can help now."""
        self.tokens = replace(self.tokens, refresh=None)


def _given(finding: Finding, kept: str | None, asked_at_s: float) -> Tokens:
    """The tokens of a good answer; a provider that sends no new refresh token leaves the old one in force."""
    result = finding.result
    return Tokens(
        result["access_token"],
        result.get("refresh_token") or kept,
        asked_at_s + max(0.0, min(result["expires_in"], _LONGEST_S) - LEEWAY_S),
    )


def is_over(exchange: Exchange, finding: Finding) -> bool:
    """Whether the service says of the token, and of nothing else, that it is not good (RFC 6750, section 3.1).

    A scope that does not suffice is a 403 and stays one after any refresh; so is a denial behind a 404.
    """
    headers: Mapping[str, str] = exchange.headers or {}
    challenge = headers.get("www-authenticate", "")
    return finding.category == "authentication_failed" and _OVER.search(challenge) is not None
