from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from unacked.clock import VirtualClock
from unacked.fault import Action
from unacked.services import Issuer, SeedError, Setting, Standing, load_service
from unacked.wire.message import Request

FILE = Path(__file__).parents[2] / "fake_services" / "tokens.py"


class Endpoint:
    """The token endpoint; secrets are s-1, s-2 and so on."""

    def __init__(self, seed: dict[str, Any]) -> None:
        self.clock, self._minted = VirtualClock(), 0
        service = load_service(FILE)(seed, Setting(self.clock, "tok", mint=self._mint))
        assert isinstance(service, Issuer)
        self.service = service

    def _mint(self) -> str:
        self._minted += 1
        return f"s-{self._minted}"

    def __call__(self, *, body: bytes | None = None, commit: bool = True, **form: str) -> Any:
        encoded = urlencode({"grant_type": "refresh_token", "refresh_token": "s-2", **form}).encode()
        headers = {"x-correlation-id": "c-1"}
        request = Request("POST", "/v1/token", "", headers, encoded if body is None else body)
        response = self.service.handle(request, commit=commit)
        return response.status, json.loads(response.body)

    @property
    def counts(self) -> tuple[Any, Any]:
        told = self.service.summary()
        return told["refreshes"], told["refused_refreshes"]


Start = Callable[..., Endpoint]


@pytest.fixture
def start() -> Start:
    """An endpoint that has signed the agent in: its access token is s-1, its refresh token s-2."""

    def start(**seed: Any) -> Endpoint:
        endpoint = Endpoint(seed)
        endpoint.service.grant()
        return endpoint

    return start


def test_a_refresh_needs_no_bearer_token_and_brings_a_new_one(start: Start) -> None:
    endpoint = start()
    answer = {"access_token": "s-3", "token_type": "Bearer", "expires_in": 300, "correlation_id": "c-1"}
    assert endpoint() == (200, answer)
    assert endpoint.service.issued()["s-3"] == Standing("agent")


def test_a_refresh_token_that_does_not_rotate_is_good_again_and_again(start: Start) -> None:
    endpoint = start()
    assert [endpoint()[0], endpoint()[0], endpoint.counts] == [200, 200, (2, 0)]


def test_a_refresh_token_that_rotates_is_dead_after_one_exchange(start: Start) -> None:
    endpoint = start(rotates=True)
    assert endpoint()[1]["refresh_token"] == "s-4"
    assert endpoint() == (400, {"error": "invalid_grant"})
    assert (endpoint(refresh_token="s-4")[0], endpoint.counts) == (200, (2, 1))


def test_an_exchange_that_was_not_made_leaves_the_refresh_token_alive(start: Start) -> None:
    endpoint = start(rotates=True)
    assert endpoint(commit=False)[0] == 200
    assert (endpoint.counts, sorted(endpoint.service.issued())) == ((0, 0), ["s-1"])
    assert endpoint()[0] == 200


@pytest.mark.parametrize("action", ["expire_credential", "revoke_credential", "never_valid"])
def test_a_credential_that_ends_here_is_the_refresh_token(start: Start, action: str) -> None:
    endpoint = start()
    endpoint.service.disturb(Action(action), "refresh_token")
    assert endpoint() == (400, {"error": "invalid_grant"})
    assert endpoint.service.issued()["s-1"] == Standing("agent")


def test_other_disturbances_are_those_of_every_service(start: Start) -> None:
    endpoint = start()
    endpoint.service.disturb(Action.parse({"failure": {"status": 503}}), "refresh_token")
    assert [endpoint()[0], endpoint()[0]] == [503, 200]


def test_signing_in_anew_helps_after_a_refresh_token_has_ended(start: Start) -> None:
    endpoint = start()
    endpoint.service.disturb(Action("revoke_credential"), "refresh_token")
    assert endpoint(refresh_token=endpoint.service.grant().refresh_token)[0] == 200


def test_the_first_token_has_a_lifetime_of_its_own(start: Start) -> None:
    endpoint = start(lifetime_s=60, first_lifetime_s=5)
    endpoint()
    endpoint.clock.advance(5)
    assert endpoint.service.issued() == {"s-1": Standing("agent", "token_expired"), "s-3": Standing("agent")}
    endpoint.clock.advance(55)
    assert endpoint.service.issued()["s-3"].error == "token_expired"


@pytest.mark.parametrize(
    ("asked", "status", "error"),
    [
        ({"refresh_token": "s-1"}, 400, "invalid_grant"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"body": b""}, 400, "invalid_request"),
        ({"body": b"grant_type=refresh_token&refresh_token=s-2&refresh_token=s-2"}, 400, "invalid_request"),
        ({"scope": "more"}, 400, "invalid_request"),
        ({"body": b'{"grant_type": "refresh_token"}'}, 400, "invalid_request"),
    ],
)
def test_whatever_is_no_exchange_is_refused_without_a_token(
    start: Start, asked: dict[str, Any], status: int, error: str
) -> None:
    endpoint = start()
    seen, body = endpoint(**asked)
    assert (seen, body["error"], endpoint.counts[0]) == (status, error, 0)


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"rotate": True}, "seed.rotate: unknown key; did you mean 'rotates'?"),
        ({"rotates": "yes"}, "seed.rotates: expected true or false, got 'yes'"),
        ({"lifetime_s": -1}, "seed.lifetime_s: expected a whole number of seconds, got -1"),
        ({"first_lifetime_s": True}, "seed.first_lifetime_s: expected a whole number of seconds, got True"),
    ],
)
def test_a_bad_seed_is_refused_with_its_key(seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        Endpoint(seed)
    assert str(caught.value) == message
