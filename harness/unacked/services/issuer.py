"""Services that give credentials to others: what they gave, and who takes their word for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unacked.services.credential import AGENT, Standing
from unacked.services.service import Service

__all__ = ["Grant", "Issuer", "federate"]


@dataclass(frozen=True, slots=True)
class Grant:
    """What signing in, or a refresh, gives: an access token and the refresh token that goes with it."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)


class Issuer(Service):
    """A service whose access tokens other services accept.

    ``rotates``: a refresh token is good for one exchange, whose answer brings the next one.
    """

    rotates: bool

    @abstractmethod
    def grant(self, identity: str = AGENT) -> Grant:
        """Sign ``identity`` in anew, as a person would: what it held before stays as it is."""

    @abstractmethod
    def issued(self) -> Mapping[str, Standing]:
        """Return every access token that was issued so far, with its standing now."""


def federate(services: Iterable[Service]) -> Issuer | None:
    """Let every service accept the tokens of the issuer among them; returns it, if there is one."""
    known = list(services)
    issuer = next((service for service in known if isinstance(service, Issuer)), None)
    if issuer is not None:
        for service in known:
            service.credentials.trust(issuer.issued)
    return issuer
