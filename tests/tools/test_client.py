"""The HTTP client of the tools: one attempt, phases by what was written, a deadline of its own, no memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2
import pytest
from tests.tools.bench import TOKEN, Bench, Canned, records

from unacked.errors import HarnessError
from unacked.fault import Action, Fault, Point
from unacked.tools import Timeouts
from unacked.tools.client import Exchange, Phase, ToolClient

URL = "https://records.test/v1/records"
HEADERS = {"authorization": f"Bearer {TOKEN}", "x-correlation-id": "cid-1"}


def send(bench: Bench, url: str = URL, method: str = "POST", **headers: str) -> Exchange:
    """Send one request as the call cid-1 of create_record."""
    bench.plan.begin_call("create_record", "cid-1")
    try:
        return bench.client.send(
            method, url, headers={**HEADERS, **headers}, content=b'{"title":"alpha"}' if method == "POST" else b""
        )
    finally:
        bench.plan.end_call()


def faulty(client: ToolClient, point: str, action: Any) -> Bench:
    return Bench(client, records, [Fault("create_record", Point(point), Action.parse(action))])


# The one private attribute that this client relies on


def test_the_transport_of_httpx2_sends_through_the_attribute_that_we_exchange() -> None:
    transport = httpx2.HTTPTransport()
    asked: list[str] = []

    class Pool:
        def handle_request(self, request: httpcore2.Request) -> httpcore2.Response:
            asked.append(request.url.host.decode())
            return httpcore2.Response(204)

    assert isinstance(transport._pool, httpcore2.ConnectionPool)
    transport._pool = Pool()  # type: ignore[assignment]
    response = transport.handle_request(httpx2.Request("GET", "https://records.test/"))
    assert (response.status_code, asked) == (204, ["records.test"])


# How far a call came


@pytest.mark.parametrize(
    ("point", "action", "phase", "error"),
    [
        ("dns", "fail", Phase.NOTHING_SENT, "ConnectError"),
        ("dns", "silence", Phase.NOTHING_SENT, "ConnectTimeout"),
        ("before_connect", "refuse", Phase.NOTHING_SENT, "ConnectError"),
        ("before_connect", "silence", Phase.NOTHING_SENT, "ConnectTimeout"),
        ("tls", "fail", Phase.NOTHING_SENT, "ConnectError"),
        ("tls", "silence", Phase.NOTHING_SENT, "ConnectTimeout"),
        ("tls", "rst", Phase.NOTHING_SENT, "ConnectError"),
        ("after_accept", "rst", Phase.REQUEST_SENT, "ReadError"),
        ("during_request", "silence", Phase.REQUEST_STARTED, "WriteTimeout"),
        ("during_request", "rst", Phase.REQUEST_SENT, "ReadError"),
        ("before_commit", "silence", Phase.REQUEST_SENT, "ReadTimeout"),
        ("after_commit", "fin", Phase.REQUEST_SENT, "RemoteProtocolError"),
        ("after_commit", "rst", Phase.REQUEST_SENT, "ReadError"),
        ("in_head", "silence", Phase.REQUEST_SENT, "ReadTimeout"),
        ("in_head", "garbage", Phase.REQUEST_SENT, "RemoteProtocolError"),
        ("in_head", "huge_head", Phase.REQUEST_SENT, "RemoteProtocolError"),
        ("in_body", "silence", Phase.HEAD_RECEIVED, "ReadTimeout"),
        ("in_body", "fin", Phase.HEAD_RECEIVED, "RemoteProtocolError"),
        ("in_body", "rst", Phase.HEAD_RECEIVED, "ReadError"),
        ("in_body", {"gzip": "corrupt"}, Phase.HEAD_RECEIVED, "DecodingError"),
        ("in_body", "garbage", Phase.COMPLETE, "NoneType"),
    ],
)
def test_the_phase_is_how_far_the_call_really_came(
    client: ToolClient, point: str, action: Any, phase: Phase, error: str
) -> None:
    exchange = send(faulty(client, point, action))
    assert (exchange.phase, type(exchange.error).__name__) == (phase, error)
    assert (exchange.sent_bytes > 0) is (phase > Phase.NOTHING_SENT)


@pytest.mark.parametrize(
    ("point", "action", "timed_out"),
    [
        ("tls", "silence", True),
        ("during_request", "silence", True),
        ("after_commit", "silence", True),
        ("in_body", "silence", True),
        ("after_commit", "fin", False),
        ("dns", "fail", False),
    ],
)
def test_a_call_timed_out_where_this_side_gave_up_waiting(
    client: ToolClient,
    point: str,
    action: Any,
    timed_out: bool,  # noqa: FBT001 - a row of the table
) -> None:
    assert send(faulty(client, point, action)).timed_out is timed_out


def test_a_whole_answer_is_there_with_status_headers_and_body(bench: Bench, service: Canned) -> None:
    service.answer(201, b'{"a":1}', ("x-extra", "é"))
    exchange = send(bench)
    assert exchange.headers is not None
    assert (exchange.phase, exchange.status, exchange.body, exchange.headers["x-extra"], exchange.error) == (
        Phase.COMPLETE,
        201,
        b'{"a":1}',
        "é",
        None,
    )


def test_a_head_whose_body_never_came_keeps_its_status(client: ToolClient) -> None:
    exchange = send(faulty(client, "in_body", "silence"))
    assert (exchange.status, exchange.body) == (201, None)


def test_a_compressed_answer_is_unpacked(client: ToolClient) -> None:
    exchange = send(faulty(client, "in_body", {"gzip": "second_member"}))
    assert exchange.body is not None
    assert exchange.body.startswith(b'{"correlation_id":"cid-1"')


def test_writing_nothing_is_not_the_beginning_of_a_request(bench: Bench) -> None:
    backend = bench.client._transport.backend
    backend.begin(1.0)
    backend.connect_tcp("records.test", 443).write(b"")
    assert (backend.phase, backend.sent_bytes) == (Phase.NOTHING_SENT, 0)


# What never leaves this side


@pytest.mark.parametrize("value", [f"Bearer {TOKEN}\n", f"Bearer {TOKEN}\r\nx-admin: yes", f"Bearer {TOKEN}\x00"])
def test_a_header_that_cannot_be_sent_sends_nothing_although_the_error_holds_it(
    bench: Bench, service: Canned, value: str
) -> None:
    exchange = send(bench, authorization=value)
    assert (exchange.phase, exchange.sent_bytes, type(exchange.error).__name__) == (
        Phase.NOTHING_SENT,
        0,
        "LocalProtocolError",
    )
    assert TOKEN in str(exchange.error)
    assert service.received == []


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("ftp://records.test/v1", "UnsupportedProtocol"),
        ("records.test/v1", "UnsupportedProtocol"),
        ("https://records.test:x/", "InvalidURL"),
        ("https://records.test/" + "x" * 70_000, "InvalidURL"),
    ],
    ids=range(4),
)
def test_an_address_that_cannot_be_used_sends_nothing(bench: Bench, url: str, error: str) -> None:
    exchange = send(bench, url)
    assert (exchange.phase, exchange.sent_bytes, type(exchange.error).__name__) == (Phase.NOTHING_SENT, 0, error)


def test_a_header_that_is_not_ascii_sends_nothing(bench: Bench) -> None:
    exchange = send(bench, **{"x-name": "ключ"})
    assert (exchange.phase, type(exchange.error).__name__) == (Phase.NOTHING_SENT, "UnicodeEncodeError")


def test_a_pool_without_a_free_connection_sends_nothing(service: Canned) -> None:
    client = ToolClient(Timeouts(connect_s=0.001))
    bench = Bench(client, lambda _: service)
    client._transport._pool = httpcore2.ConnectionPool(network_backend=client._transport.backend, max_connections=1)
    service.answer(200, {})
    client._transport.backend.begin(1.0)
    with client._transport._pool.stream("GET", URL):
        exchange = send(bench)
    assert (exchange.phase, exchange.sent_bytes, type(exchange.error).__name__) == (
        Phase.NOTHING_SENT,
        0,
        "PoolTimeout",
    )


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch, service: Canned) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    service.answer(200, {})
    assert send(Bench(ToolClient(Timeouts()), lambda _: service)).status == 200


# Waiting


@pytest.mark.parametrize(
    ("point", "action", "elapsed_s"),
    [
        ("dns", "silence", 3.0),
        ("tls", "silence", 3.001),
        ("during_request", "silence", 5.002),
        ("after_commit", "silence", 10.002),
        ("in_body", "silence", 10.003),
        ("in_body", {"drip": 0.4}, 20.0),
        ("in_body", {"drip": 9.9}, 20.0),
        ("in_head", "interim_forever", 20.0),
        ("in_head", {"interim_forever": 9.9}, 20.0),
    ],
)
def test_a_call_ends_by_the_patience_of_its_phase_or_by_its_total_deadline(
    client: ToolClient, point: str, action: Any, elapsed_s: float
) -> None:
    assert round(send(faulty(client, point, action)).elapsed_s, 6) == elapsed_s


def test_a_slow_answer_that_comes_in_time_is_an_answer(client: ToolClient) -> None:
    exchange = send(faulty(client, "in_body", {"delay": 9.5}))
    assert (exchange.phase, round(exchange.elapsed_s, 3)) == (Phase.COMPLETE, 9.503)


@pytest.mark.parametrize(
    ("point", "action", "error"),
    [("dns", "silence", "ConnectTimeout"), ("tls", "silence", "ConnectTimeout"), ("in_head", "silence", "ReadTimeout")],
)
def test_the_total_deadline_is_shorter_than_any_patience_that_would_pass_it(
    point: str, action: Any, error: str
) -> None:
    exchange = send(faulty(ToolClient(Timeouts(total_s=1.0)), point, action))
    assert (round(exchange.elapsed_s, 6), type(exchange.error).__name__) == (1.0, error)


def test_a_deadline_that_has_passed_lets_nothing_more_be_sent() -> None:
    exchange = send(Bench(ToolClient(Timeouts(total_s=0.002)), records))
    assert (exchange.phase, exchange.sent_bytes, type(exchange.error).__name__) == (
        Phase.NOTHING_SENT,
        0,
        "WriteTimeout",
    )


def test_the_deadline_of_a_call_begins_with_the_call(client: ToolClient) -> None:
    bench = Bench(client, records)
    for _ in range(3):
        bench.clock.advance(100)
        assert send(bench).phase is Phase.COMPLETE


def test_the_timeouts_are_a_pin_in_the_order_of_a_call() -> None:
    assert Timeouts(1.0, 2.0, 3.0, 4.0).as_json() == [1.0, 2.0, 3.0, 4.0]


# One attempt


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(bench: Bench, service: Canned, code: int) -> None:
    service.answer(code, b"", ("location", URL))
    assert (send(bench).status, len(service.received)) == (code, 1)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504])
def test_no_status_makes_the_client_ask_again(bench: Bench, service: Canned, status: int) -> None:
    service.answer(status, {}, ("retry-after", "0"))
    assert (send(bench).status, len(service.received)) == (status, 1)


def test_a_challenge_is_not_answered(bench: Bench, service: Canned) -> None:
    service.answer(401, {}, ("www-authenticate", 'Basic realm="x"'))
    assert (send(bench).status, len(service.received)) == (401, 1)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
def test_a_kept_connection_that_was_closed_meanwhile_is_not_tried_again(client: ToolClient, method: str) -> None:
    bench = Bench(client, records, [Fault("create_record", Point.REUSE, Action.parse("fin"), 2)])
    send(bench, method="GET")
    exchange = send(bench, method=method)
    received = [event.id for event in bench.named("remote_received")]
    assert (exchange.phase, len(received)) == (Phase.REQUEST_SENT, 1)


# No memory


class Network(httpcore2.NetworkBackend):
    """Passes everything on, and keeps the streams."""

    def __init__(self, inner: httpcore2.NetworkBackend) -> None:
        self.inner = inner
        self.closed: list[bool] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        number = len(self.closed)
        self.closed.append(False)
        stream = self.inner.connect_tcp(host, port, timeout, local_address, socket_options)
        close = stream.close

        def note() -> None:
            self.closed[number] = True
            close()

        stream.close = note  # type: ignore[method-assign]
        return stream


def test_calls_of_one_trial_share_a_connection_and_those_of_the_next_do_not(client: ToolClient) -> None:
    first, second = Bench(client, records), Bench(client, records)
    networks = [Network(bench.network.backend) for bench in (first, second)]
    client.connect(networks[0], first.clock)
    send(first)
    send(first)
    assert networks[0].closed == [False]
    client.connect(networks[1], second.clock)
    assert networks[0].closed == [True]
    send(second)
    assert (networks[0].closed, networks[1].closed) == ([True], [False])


def test_a_connection_whose_answer_broke_off_is_not_used_again(client: ToolClient) -> None:
    bench = faulty(client, "in_body", "silence")
    network = Network(bench.network.backend)
    client.connect(network, bench.clock)
    send(bench)
    send(bench)
    assert network.closed == [True, False]


def test_a_cookie_never_comes_back(bench: Bench, service: Canned) -> None:
    for _ in range(2):
        service.answer(200, {}, ("set-cookie", "session=abc; Path=/; Domain=records.test"))
        send(bench)
    assert ["cookie" in request.headers for request in service.received] == [False, False]


# What is no network's doing


def test_a_host_that_nobody_plays_is_a_fault_of_the_harness(bench: Bench) -> None:
    with pytest.raises(HarnessError, match=r"^no fake service answers for the host 'elsewhere\.test'"):
        send(bench, "https://elsewhere.test/v1")


def test_a_service_that_breaks_is_a_fault_of_the_harness(bench: Bench, service: Canned) -> None:
    with pytest.raises(HarnessError, match=r"^the fake service 'records' failed: IndexError"):
        send(bench)
    service.answer(200, {})
    assert send(bench).status == 200
