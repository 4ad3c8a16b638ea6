"""An OAuth 2.0 token endpoint: exchanges refresh tokens for access tokens that the other services accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unacked.canonical import JSON
from unacked.clock import Clock
from unacked.fault import Action
from unacked.services import (
    AGENT,
    Call,
    Field,
    Grant,
    Issuer,
    RefusedError,
    Result,
    Route,
    SeedError,
    Service,
    Setting,
    Standing,
    check_seed,
)


class TokenEndpoint(Issuer):
    """RFC 6749, section 6, for clients without a secret of their own.

    An access token lives for ``lifetime_s`` seconds, the first of them for ``first_lifetime_s``. Where refresh
    tokens rotate, one that was exchanged is dead for good, whether or not the answer arrived.
    """

    name = "tokens"

    def __init__(
        self, setting: Setting, state: dict[str, Any], *, lifetime_s: int, first_lifetime_s: int, rotates: bool
    ) -> None:
        super().__init__(setting, state)
        self.rotates = rotates
        self._mint: Callable[[], str] = setting.mint
        self._clock: Clock = setting.clock
        self._lifetime_s, self._next_lifetime_s = lifetime_s, first_lifetime_s

    def grant(self, identity: str = AGENT) -> Grant:
        """Give an identity its tokens, as signing in does."""
        given = Grant(self._access(identity, self._next_lifetime_s), self._refresh(identity))
        self._next_lifetime_s = self._lifetime_s
        return given

    def issued(self) -> Mapping[str, Standing]:
        """Return every access token with its standing at this moment."""
        now = self._clock.now()
        return {
            token: Standing(row["identity"], None if now < row["until_s"] else "token_expired")
            for token, row in self.state["access"].items()
        }

    def refresh(self, call: Call) -> Result:
        """Exchange a refresh token; one that is not good any more is an ``invalid_grant``."""
        if call.fields["grant_type"] != "refresh_token":
            raise RefusedError(400, "unsupported_grant_type")
        row = self.state["refresh"].get(call.fields["refresh_token"])
        if row is None or row["over"]:
            self.state["refused"] += 1
            raise RefusedError(400, "invalid_grant")
        body: dict[str, JSON] = {
            "access_token": self._access(row["identity"], self._lifetime_s),
            "token_type": "Bearer",
            "expires_in": self._lifetime_s,
        }
        if self.rotates:
            row["over"] = True
            body["refresh_token"] = self._refresh(row["identity"])
        self.state["refreshes"] += 1
        return Result(200, body, (("cache-control", "no-store"),), committed=True)

    def disturb(self, action: Action, operation: str) -> None:
        """Arm a fault; one that ends or forgets credentials means the refresh tokens here."""
        match action.name:
            case "expire_credential" | "revoke_credential":
                for row in self.state["refresh"].values():
                    row["over"] = True
            case "never_valid":
                self.state["refresh"].clear()
            case _:
                super().disturb(action, operation)

    def _access(self, identity: str, lifetime_s: int) -> str:
        token = self._mint()
        self.state["access"][token] = {"identity": identity, "until_s": self._clock.now() + lifetime_s}
        return token

    def _refresh(self, identity: str) -> str:
        token = self._mint()
        self.state["refresh"][token] = {"identity": identity, "over": False}
        return token

    def summary(self) -> dict[str, JSON]:
        """Count the exchanges that were made, and those that were refused."""
        return {"refreshes": self.state["refreshes"], "refused_refreshes": self.state["refused"]}

    routes = (
        Route(
            "refresh_token",
            "POST",
            "/v1/token",
            refresh,
            fields={"grant_type": Field(), "refresh_token": Field()},
            form=True,
            public=True,
        ),
    )


def build(seed: Mapping[str, JSON], setting: Setting) -> Service:
    """Return the endpoint with nothing issued yet; raises SeedError where the seed does not fit."""
    check_seed(seed, ["lifetime_s", "first_lifetime_s", "rotates"])
    lifetime_s = _seconds(seed, "lifetime_s", 300)
    first_lifetime_s = _seconds(seed, "first_lifetime_s", lifetime_s)
    rotates = seed.get("rotates", False)
    if not isinstance(rotates, bool):
        raise SeedError(("rotates",), f"expected true or false, got {rotates!r}")
    state = {"access": {}, "refresh": {}, "refreshes": 0, "refused": 0}
    return TokenEndpoint(setting, state, lifetime_s=lifetime_s, first_lifetime_s=first_lifetime_s, rotates=rotates)


def _seconds(seed: Mapping[str, JSON], key: str, usual: int) -> int:
    given = seed.get(key, usual)
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise SeedError((key,), f"expected a whole number of seconds, got {given!r}")
    return given
