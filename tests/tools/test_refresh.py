"""A call whose token is over: the refresh is an exchange of its own, and the call stays one call with one result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import respx
from tests.tools.bench import ROOT, TOKEN, Bench, Canned, records

from unacked.canonical import dumps
from unacked.clock import VirtualClock
from unacked.fault import Action, Fault, Point
from unacked.services import Grant, Issuer, Service, Setting, federate, load_service
from unacked.tools import Tokens, TokenSource
from unacked.tools.client import ToolClient
from unacked.wire.message import Handler

CREATE = {"title": "alpha", "request_id": "R1", "idempotency_key": "K1"}
CALL, REFRESH, AGAIN = "cid-1", "cid-1.refresh", "cid-1.again"
SECRETS = [f"tok_{number:040}" for number in range(9)]


class Remote:
    """The services ``records`` and ``tokens``, of which the one accepts what the other issues."""

    issuer: Issuer
    grant: Grant
    records: Service

    def __init__(self, cached_for_s: float, **seed: Any) -> None:
        self._cached_for_s, self._seed = cached_for_s, seed

    def build(self, clock: VirtualClock) -> Handler:
        secrets = iter(SECRETS)
        setting = Setting(clock, TOKEN, mint=lambda: next(secrets))
        self.records = records(clock)
        issuer = federate([self.records, load_service(ROOT / "fake_services" / "tokens.py")(self._seed, setting)])
        assert issuer is not None
        self.issuer, self.grant = issuer, issuer.grant()
        return self.records

    def others(self) -> Mapping[str, Handler]:
        return {"tokens.test": self.issuer}

    def source(self) -> TokenSource:
        tokens = Tokens(self.grant.access_token, self.grant.refresh_token, self._cached_for_s)
        return TokenSource(tokens, rotates=self.issuer.rotates)


class RefreshBench(Bench):
    """Tools with a token that can be refreshed."""

    def __init__(self, client: ToolClient, *faults: Fault, cached_for_s: float = 3600.0, **seed: Any) -> None:
        self.remote = Remote(cached_for_s, **seed)
        super().__init__(client, self.remote.build, faults, source=self.remote.source, others=self.remote.others)

    @property
    def exchanges(self) -> list[tuple[str | None, str | None]]:
        """Every request that a service saw: its id and operation."""
        return [(event.id, event.operation) for event in self.named("remote_received")]

    @property
    def world(self) -> tuple[Any, Any, Any]:
        """How many records, refreshes and refused refreshes there are."""
        told = {**self.remote.records.summary(), **self.remote.issuer.summary()}
        return told["records"], told["refreshes"], told["refused_refreshes"]


Start = Callable[..., RefreshBench]


@pytest.fixture
def start(client: ToolClient) -> Start:
    return lambda *faults, **options: RefreshBench(client, *faults, **options)


def fault(operation: str, point: str, action: str, nth: int = 1, **options: Any) -> Fault:
    return Fault(operation, Point(point), Action.parse(options.pop("parameters", None) or action), nth, **options)


EXPIRED = fault("create_record", "before_commit", "expire_credential")
SILENT = fault("refresh_token", "after_commit", "silence")


def test_a_request_that_was_refused_for_its_token_is_sent_once_more_with_its_names_and_bytes(start: Start) -> None:
    bench = start(EXPIRED)
    seen = bench.call("create_record", **CREATE)
    assert (seen.category, seen.correlation_id, seen.result) == ("ok", CALL, {"record_id": "rec-1", "replayed": False})
    assert bench.exchanges == [(CALL, "create_record"), (REFRESH, "refresh_token"), (AGAIN, "create_record")]
    assert bench.world == (2, 1, 0)
    sent = [entry for entry in bench.remote.records.ledger if entry.moment == "received"]
    assert len(sent) == 2
    assert sent[0].key_digest == sent[1].key_digest is not None


def test_the_refresh_is_an_exchange_of_its_own_on_the_record(start: Start) -> None:
    bench = start(EXPIRED)
    bench.call("create_record", **CREATE)
    steps = [(event.id, event.event) for event in bench.events if event.event not in ("fault_fired", "client_timeout")]
    before = ["request_constructed", "dispatch_started", "remote_received"]
    assert steps == [
        *((CALL, event) for event in [*before, "remote_responded"]),
        *((REFRESH, event) for event in [*before, "remote_committed", "remote_responded", "token_refreshed"]),
        *((AGAIN, event) for event in [*before, "remote_committed", "remote_responded"]),
        (CALL, "result"),
    ]


def test_a_token_that_is_stale_by_the_own_clock_is_refreshed_before_it_is_sent(start: Start) -> None:
    bench = start(cached_for_s=0.0)
    assert bench.call("create_record", **CREATE).category == "ok"
    assert bench.exchanges == [(REFRESH, "refresh_token"), (CALL, "create_record")]


def test_the_refreshed_token_is_cached_for_the_next_call(start: Start) -> None:
    bench = start(cached_for_s=0.0)
    bench.call("create_record", **CREATE)
    bench.call("get_record", record_id="rec-1")
    assert bench.world == (2, 1, 0)


def test_a_service_that_ends_a_token_earlier_than_the_cache_believes_is_right(start: Start) -> None:
    bench = start(first_lifetime_s=5)
    bench.clock.advance(5.0)
    assert bench.call("create_record", **CREATE).category == "ok"
    assert bench.world == (2, 1, 0)


def test_a_refused_refresh_ends_the_call_and_is_not_asked_for_again(start: Start) -> None:
    bench = start(EXPIRED, fault("refresh_token", "before_commit", "revoke_credential"))
    assert (bench.call("create_record", **CREATE).category, bench.world) == ("authentication_failed", (1, 0, 1))
    assert bench.call("create_record", **CREATE).category == "authentication_failed"
    assert bench.world == (1, 0, 1)


def test_a_new_token_that_is_refused_as_well_is_not_refreshed_again(start: Start) -> None:
    bench = start(fault("create_record", "before_commit", "expire_credential", persistent=True))
    assert (bench.call("create_record", **CREATE).category, bench.world) == ("authentication_failed", (1, 1, 0))
    assert bench.call("create_record", **CREATE).category == "authentication_failed"
    assert bench.world == (1, 1, 0)


def test_a_token_that_was_refreshed_before_the_call_is_not_refreshed_after_it(start: Start) -> None:
    bench = start(EXPIRED, cached_for_s=0.0)
    assert bench.call("create_record", **CREATE).category == "authentication_failed"
    assert bench.exchanges == [(REFRESH, "refresh_token"), (CALL, "create_record")]


@pytest.mark.parametrize("committed", [True, False])
def test_a_rotation_whose_answer_is_lost_is_never_made_again(start: Start, committed: bool) -> None:  # noqa: FBT001 - a side of the twin
    bench = start(EXPIRED, fault("refresh_token", "after_commit", "silence", committed=committed), rotates=True)
    assert bench.call("create_record", **CREATE).category == "authentication_failed"
    assert bench.call("create_record", **CREATE).category == "authentication_failed"
    assert bench.world == (1, int(committed), 0)


def test_a_lost_refresh_is_made_again_where_refresh_tokens_do_not_rotate(start: Start) -> None:
    bench = start(SILENT, cached_for_s=0.0)
    lost = bench.call("create_record", **CREATE)
    assert (lost.category, lost.retry, bench.exchanges) == (
        "local_failure",
        "within_budget",
        [(REFRESH, "refresh_token")],
    )
    assert bench.call("create_record", **CREATE).category == "ok"


def test_a_token_endpoint_that_says_wait_is_given_time(start: Start) -> None:
    slow = fault("refresh_token", "before_commit", "", parameters={"rate_limit": 30})
    bench = start(slow, cached_for_s=0.0)
    seen = bench.call("create_record", **CREATE)
    assert (seen.category, seen.retry_after_s, bench.world) == ("rate_limited", 30.0, (1, 0, 0))
    assert bench.call("create_record", **CREATE).category == "ok"


def test_silence_after_the_request_was_sent_again_is_no_matter_of_the_token(start: Start) -> None:
    bench = start(EXPIRED, fault("create_record", "after_commit", "silence", 2))
    seen = bench.call("create_record", **CREATE)
    assert (seen.category, seen.retry, bench.world) == ("outcome_unknown", "reconcile_first", (2, 1, 0))


@pytest.mark.parametrize(
    ("action", "category"),
    [
        ({"deny": {}}, "authorization_denied"),
        ({"never_valid": {}}, "authentication_failed"),
        ({"failure": {"status": 500}}, "outcome_unknown"),
    ],
)
def test_nothing_but_a_refused_token_is_refreshed(start: Start, action: dict[str, Any], category: str) -> None:
    bench = start(Fault("create_record", Point.BEFORE_COMMIT, Action.parse(action)))
    assert bench.call("create_record", **CREATE).category == category
    assert bench.exchanges == [(CALL, "create_record")]


def test_a_request_that_is_refused_for_now_the_second_time_may_be_tried_again(start: Start) -> None:
    bench = start(EXPIRED, fault("create_record", "before_commit", "", 2, parameters={"rate_limit": 1}))
    assert bench.call("create_record", **CREATE).category == "rate_limited"
    assert bench.call("create_record", **CREATE).category == "ok"


@pytest.mark.parametrize(
    "fault_of_the_refresh",
    [SILENT, fault("refresh_token", "in_body", "", parameters={"remove": "token_type"})],
    ids=["silence", "without a field"],
)
def test_no_token_stands_in_an_envelope_or_an_event(start: Start, fault_of_the_refresh: Fault) -> None:
    bench = start(EXPIRED, fault_of_the_refresh)
    seen = bench.call("create_record", **CREATE)
    bench.call("create_record", **CREATE)
    told = dumps([seen.as_json(), *(event.detail for event in bench.events)])
    assert [secret for secret in SECRETS if secret in told] == []


# Mocked answers: what the token endpoint of somebody else might say

URL, TOKENS = "https://records.test/v1/records", "https://tokens.test/v1/token"
ECHO = {"x-correlation-id": REFRESH}
OVER = {"x-correlation-id": CALL, "www-authenticate": 'Bearer error="invalid_token"'}
GIVEN = {"access_token": "tok_new", "token_type": "Bearer", "expires_in": 60, "correlation_id": REFRESH}


@pytest.fixture
def mocked(client: ToolClient, httpx2_mock: respx.Router) -> tuple[Bench, respx.Route, respx.Router]:
    """A bench, the route of its writes, of which the first is refused, and the router."""
    bench = Bench(client, lambda _: Canned(), source=lambda: TokenSource(Tokens(TOKEN, "tok_r1")))
    done = {"record_id": "rec-9", "correlation_id": AGAIN}
    route = httpx2_mock.post(URL)
    route.side_effect = [
        respx.MockResponse(401, json={"error": "token_expired"}, headers=OVER),
        respx.MockResponse(201, json=done, headers={"x-correlation-id": AGAIN}),
    ]
    return bench, route, httpx2_mock


def test_the_new_token_goes_out_with_the_same_bytes_and_the_same_key(
    mocked: tuple[Bench, respx.Route, respx.Router],
) -> None:
    bench, route, router = mocked
    endpoint = router.post(TOKENS).respond(200, json=GIVEN, headers=ECHO)
    assert bench.call("create_record", **CREATE).category == "ok"
    first, second = [call.request for call in route.calls]
    assert [first.headers["authorization"], second.headers["authorization"]] == [f"Bearer {TOKEN}", "Bearer tok_new"]
    assert (first.content, first.headers["idempotency-key"]) == (second.content, second.headers["idempotency-key"])
    (asked,) = endpoint.calls
    assert asked.request.content == b"grant_type=refresh_token&refresh_token=tok_r1"
    assert asked.request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert "authorization" not in asked.request.headers


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (400, {"error": "invalid_grant"}, ECHO),
        (200, {**GIVEN, "access_token": None}, ECHO),
        (200, {**GIVEN, "access_token": ""}, ECHO),
        (200, {**GIVEN, "token_type": "mac"}, ECHO),
        (200, {**GIVEN, "expires_in": "60"}, ECHO),
        (200, {"error": "invalid_grant"}, ECHO),
        (200, GIVEN, {"x-correlation-id": "cid-of-another"}),
        (307, {}, {**ECHO, "location": TOKENS}),
        (503, {}, ECHO),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else None,
)
def test_no_other_answer_of_the_endpoint_makes_the_call_go_out_again(
    mocked: tuple[Bench, respx.Route, respx.Router], status: int, body: Any, headers: dict[str, str]
) -> None:
    bench, route, router = mocked
    endpoint = router.post(TOKENS).respond(status, content=json.dumps(body).encode(), headers=headers)
    assert bench.call("create_record", **CREATE).category == "authentication_failed"
    assert (route.call_count, endpoint.call_count) == (1, 1)
