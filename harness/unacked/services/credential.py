"""Which bearer tokens a service accepts, did accept, or never knew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from unacked.services.route import RefusedError

__all__ = ["AGENT", "Credentials", "Standing"]

AGENT = "agent"
"""The identity that tools work as, unless a person granted another."""

_SCHEME = "bearer "


class Standing(NamedTuple):
    """What an issuer says of one of its access tokens; ``error`` is None while the token is good."""

    identity: str
    error: str | None = None


class Credentials:
    """The credentials that a service knows, each of some identity.

    Tokens that are over and one that was never valid are told apart, as a provider does: the former get a
    challenge and ``token_expired`` or ``token_revoked``, the latter ``invalid_token`` without a challenge.
    """

    __slots__ = ("_identities", "_issued", "_over")

    def __init__(self, token: str) -> None:
        self._identities = {token: AGENT}
        self._issued: Callable[[], Mapping[str, Standing]] = dict
        self._over: dict[str, str] = {}

    @property
    def identities(self) -> AbstractSet[str]:
        """Every identity that has had a token so far."""
        return frozenset(standing.identity for standing in self._known().values())

    def admit(self, token: str, *, identity: str = AGENT) -> None:
        """Accept ``token`` from now on: a renewal, or the credential of another identity."""
        self._identities[token] = identity
        self._over.pop(token, None)

    def trust(self, issued: Callable[[], Mapping[str, Standing]]) -> None:
        """Accept the access tokens of an issuer, too."""
        self._issued = issued

    def expire(self) -> None:
        """Let every token that is accepted now expire."""
        self._end("token_expired")

    def revoke(self) -> None:
        """Take back every token that is accepted now."""
        self._end("token_revoked")

    def forget(self) -> None:
        """Know no token any more, as if there had never been one."""
        self._identities.clear()
        self._issued = dict

    def _known(self) -> dict[str, Standing]:
        own = {token: Standing(identity) for token, identity in self._identities.items()}
        return {**self._issued(), **own}

    def _end(self, error: str) -> None:
        self._over.update(dict.fromkeys(self._known().keys() - self._over.keys(), error))

    def check(self, authorization: str | None) -> str:
        """Return the identity behind an Authorization header; raises RefusedError (401) for any other."""
        standing = self.standing(authorization)
        if standing is None:
            raise RefusedError(401, "invalid_token")
        if standing.error is not None:
            challenge = (("www-authenticate", 'Bearer error="invalid_token"'),)
            raise RefusedError(401, standing.error, headers=challenge)
        return standing.identity

    def standing(self, authorization: str | None) -> Standing | None:
        """Return whose token an Authorization header holds, and whether it is over; None for one never known."""
        if authorization is None or authorization[: len(_SCHEME)].lower() != _SCHEME:
            return None
        token = authorization[len(_SCHEME) :].strip()
        identity = self._identities.get(token)
        known = self._issued().get(token) if identity is None else Standing(identity)
        return known if known is None or token not in self._over else known._replace(error=self._over[token])
