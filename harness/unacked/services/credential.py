"""Which bearer tokens a service accepts, did accept, or never knew."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from unacked.services.route import RefusedError

__all__ = ["Credentials"]

_SCHEME = "bearer "


class Credentials:
    """The credentials that a service knows, each of some identity.

    Tokens that are over and one that was never valid are told apart, as a provider does: the former get a
    challenge and ``token_expired`` or ``token_revoked``, the latter ``invalid_token`` without a challenge.
    """

    __slots__ = ("_identities", "_over")

    def __init__(self, token: str) -> None:
        self._identities = {token: "agent"}
        self._over: dict[str, str] = {}

    @property
    def identities(self) -> AbstractSet[str]:
        """Every identity that has had a token so far."""
        return frozenset(self._identities.values())

    def admit(self, token: str, *, identity: str = "agent") -> None:
        """Accept ``token`` from now on: a renewal, or the credential of another identity."""
        self._identities[token] = identity
        self._over.pop(token, None)

    def expire(self) -> None:
        """Let every token that is accepted now expire."""
        self._end("token_expired")

    def revoke(self) -> None:
        """Take back every token that is accepted now."""
        self._end("token_revoked")

    def forget(self) -> None:
        """Know no token any more, as if there had never been one."""
        self._identities.clear()

    def _end(self, error: str) -> None:
        self._over.update(dict.fromkeys(self._identities.keys() - self._over.keys(), error))

    def check(self, authorization: str | None) -> str:
        """Return the identity behind an Authorization header; raises RefusedError (401) for any other."""
        token = None
        if authorization is not None and authorization[: len(_SCHEME)].lower() == _SCHEME:
            token = authorization[len(_SCHEME) :].strip()
        if token is None or token not in self._identities:
            raise RefusedError(401, "invalid_token")
        if token in self._over:
            challenge = (("www-authenticate", 'Bearer error="invalid_token"'),)
            raise RefusedError(401, self._over[token], headers=challenge)
        return self._identities[token]
