"""SDKs that nobody here wrote, with their defaults: how often the service saw one call, and what they claimed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import boto3
import github
import pytest
import stripe
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from tests.serve.foreign import OFFER

from unacked.case import FaultFile
from unacked.serve import Stand
from unacked.services import Moment
from unacked.wire.loopback import LoopbackServer

SHORT_S = 0.25
RESET, CLOSED, SILENT = "rst", "fin", "silence"
FAILED: Mapping[str, Any] = {"status": {"code": 500, "body": {"error": {"message": "failed"}}}}
LIMITED: Mapping[str, Any] = {"status": {"code": 429, "body": {"error": {"message": "slow down"}}}}


class Seen(NamedTuple):
    """What the client told its caller, how often the service saw the call, and how many effects there are."""

    claim: str
    calls: int
    effects: int


class Services:
    """The foreign services, served in this process."""

    def __init__(self, stand: Stand, server: LoopbackServer) -> None:
        self.stand, self._server = stand, server

    def see(self, service: str, operation: str, call: Callable[[], str], action: Any, point: str) -> Seen:
        """Let a client make one call of an operation that has a persistent fault."""
        fault = FaultFile.model_validate(
            {"operation": operation, "point": point, "action": action, "persistent": True}
        ).value()
        self._server.arm(fault)
        claim = call()
        self._server.settle()
        moments = [entry.moment for entry in self.stand.services[service].ledger]
        return Seen(claim, self.stand.calls[operation], moments.count(Moment.MUTATION_COMMITTED))


@pytest.fixture
def services() -> Iterator[Services]:
    stand = Stand(OFFER)
    with stand.serving() as server:
        yield Services(stand, server)


def by_stripe(here: Services) -> str:
    """Create a charge."""
    client = stripe.StripeClient(
        here.stand.credential,
        base_addresses={"api": here.stand.url("charges")},
        http_client=stripe.RequestsClient(timeout=SHORT_S),
        max_network_retries=stripe.max_network_retries,
    )
    try:
        return client.v1.charges.create({"amount": 9, "currency": "eur"}).id
    except stripe.StripeError as error:
        return type(error).__name__


def by_boto3(here: Services) -> str:
    """Send a message to a queue."""
    queue = boto3.client(
        "sqs",
        endpoint_url=here.stand.url("queue"),
        region_name="us-east-1",
        config=Config(connect_timeout=SHORT_S, read_timeout=SHORT_S),
        aws_access_key_id="key",
        aws_secret_access_key="key",
    )
    try:
        return str(queue.send_message(QueueUrl=f"{here.stand.url('queue')}/1/q", MessageBody="x")["MessageId"])
    except (BotoCoreError, ClientError) as error:
        return type(error).__name__
    finally:
        queue.close()


def by_pygithub(here: Services) -> str:
    """Open an issue."""
    token = github.Auth.Token(here.stand.credential)
    hub = github.Github(auth=token, base_url=here.stand.url("hub"), timeout=1, lazy=True)
    try:
        return f"#{hub.get_repo('o/r').create_issue('x').number}"
    except (github.GithubException, OSError) as error:
        return type(error).__name__
    finally:
        hub.close()


long = pytest.mark.long  # the client waits between its attempts


def test_every_client_makes_its_call_once_where_nothing_is_wrong(services: Services) -> None:
    assert (by_stripe(services), by_boto3(services), by_pygithub(services)) == ("ch-1", "m-1", "#1")
    assert services.stand.calls == {"charge": 1, "send_message": 1, "open_issue": 1}


@pytest.mark.parametrize(
    ("point", "action", "seen"),
    [
        pytest.param("after_commit", SILENT, Seen("APIConnectionError", 3, 1), marks=long),
        ("after_commit", RESET, Seen("APIConnectionError", 3, 1)),
        pytest.param("before_commit", CLOSED, Seen("APIConnectionError", 3, 0), marks=long),
        pytest.param("after_commit", FAILED, Seen("APIError", 3, 1), marks=long),
        ("before_commit", LIMITED, Seen("RateLimitError", 1, 0)),
    ],
    ids=["timeout", "reset", "closed", "500", "429"],
)
def test_stripe_sends_a_charge_three_times_under_one_key(
    services: Services, point: str, action: Any, seen: Seen
) -> None:
    assert services.see("charges", "charge", lambda: by_stripe(services), action, point) == seen


@pytest.mark.parametrize(
    ("point", "action", "seen"),
    [
        pytest.param("after_commit", SILENT, Seen("ReadTimeoutError", 3, 3), marks=long),
        ("after_commit", RESET, Seen("ConnectionClosedError", 3, 3)),
        pytest.param("after_commit", FAILED, Seen("ClientError", 3, 3), marks=long),
        pytest.param("before_commit", LIMITED, Seen("ClientError", 3, 0), marks=long),
        ("after_commit", {"redirect": 307}, Seen("ClientError", 1, 1)),
    ],
    ids=["timeout", "reset", "500", "429", "307"],
)
def test_boto3_puts_a_message_into_a_queue_three_times(services: Services, point: str, action: Any, seen: Seen) -> None:
    assert services.see("queue", "send_message", lambda: by_boto3(services), action, point) == seen


@pytest.mark.parametrize(
    ("point", "action", "seen"),
    [
        pytest.param("after_commit", SILENT, Seen("ConnectionError", 11, 11), marks=long),
        ("after_commit", RESET, Seen("ConnectionError", 11, 11)),
        ("after_commit", FAILED, Seen("RetryError", 11, 11)),
        ("before_commit", LIMITED, Seen("GithubException", 1, 0)),
    ],
    ids=["timeout", "reset", "500", "429"],
)
def test_pygithub_opens_eleven_issues(services: Services, point: str, action: Any, seen: Seen) -> None:
    assert services.see("hub", "open_issue", lambda: by_pygithub(services), action, point) == seen
