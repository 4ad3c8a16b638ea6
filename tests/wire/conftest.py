"""A small service, and a real client over the simulated wire with the whole record of what happened."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2
import pytest

from unacked.canonical import JSON
from unacked.clock import VirtualClock
from unacked.event import Event
from unacked.fault import Action, Fault, FaultPlan, Point
from unacked.wire import Request, Response, SimulatedNetwork

SSL_CONTEXT = ssl.create_default_context()
TIMEOUTS = httpx2.Timeout(5.0)
PHASES = {
    "connect_tcp": "tcp",
    "start_tls": "tls",
    "send_request_headers": "request",
    "send_request_body": "content",
    "receive_response_headers": "head",
    "receive_response_body": "body",
}
MARKS = {"complete": "+", "failed": "x"}


class Records:
    """Creates and counts records; keeps what it was asked."""

    name = "records"

    def __init__(self) -> None:
        self.received: list[Request] = []
        self.records = 0
        self.disturbed: list[tuple[str, str]] = []

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        self.received.append(request)
        echo = (("content-type", "application/json"), ("x-correlation-id", request.correlation_id or ""))
        if self.disturbed:
            return Response(429, b'{"error":"slow_down"}', echo)
        if request.method == "GET":
            return Response(200, b'{"count":%d}' % self.records, echo)
        body = f'{{"correlation_id":"{request.correlation_id}","id":"rec-{self.records + 1}"}}'
        self.records += commit
        return Response(201, body.encode(), echo, committed=True)

    def disturb(self, action: Action, operation: str) -> None:
        self.disturbed.append((action.name, operation))


class Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """The body of an answer, for both flavours."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()


class Transport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """A transport over httpcore's pools, one for each flavour."""

    def __init__(self, network: SimulatedNetwork) -> None:
        self.pool = httpcore2.ConnectionPool(ssl_context=SSL_CONTEXT, network_backend=network.backend)
        self.async_pool = httpcore2.AsyncConnectionPool(ssl_context=SSL_CONTEXT, network_backend=network.async_backend)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._incoming(self.pool.handle_request(self._outgoing(request)))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._incoming(await self.async_pool.handle_async_request(self._outgoing(request)))

    def _outgoing(self, request: httpx2.Request) -> httpcore2.Request:
        url = request.url
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        return httpcore2.Request(
            request.method, target, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )

    def _incoming(self, response: httpcore2.Response) -> httpx2.Response:
        return httpx2.Response(response.status, headers=response.headers, stream=Body(response.stream))


@dataclass(frozen=True)
class Seen:
    """One call as the client saw it; ``phases`` as in ``tcp+ tls+ request+ content+ headx``."""

    error: str | None
    status: int | None
    body: bytes
    phases: str
    elapsed_s: float


class Wire:
    """One trial's network with a client on it; ``asynchronous`` chooses the flavour of the client."""

    def __init__(self, *faults: Fault, asynchronous: bool = False) -> None:
        self.clock, self.service, self.plan = VirtualClock(), Records(), FaultPlan(faults)
        self.events: list[Event] = []
        self.network = SimulatedNetwork(self.clock, {"records.test": self.service}, self.plan, self.emit)
        self._runner = asyncio.Runner() if asynchronous else None
        transport = Transport(self.network)
        settings: dict[str, Any] = {"base_url": "https://records.test", "timeout": TIMEOUTS, "trust_env": False}
        self._client = httpx2.Client(transport=transport, **settings)
        self._async_client = httpx2.AsyncClient(transport=transport, **settings)

    def emit(
        self,
        event: str,
        *,
        id: str | None = None,  # noqa: A002 - the name that Emit has
        operation: str | None = None,
        category: str | None = None,
        diagnostics_ref: str | None = None,
        detail: Mapping[str, JSON] | None = None,
    ) -> None:
        self.events.append(
            Event(self.clock.now(), event, id, operation, None, category, diagnostics_ref, dict(detail or {}))
        )

    def call(self, operation: str = "create_record", call_id: str = "c-0001", **options: Any) -> Seen:
        """Make one call as a tool would: armed, sent once, over."""
        phases: list[str] = []
        started_s = self.clock.now()
        self.plan.begin_call(operation, call_id)
        method = "GET" if operation == "count_records" else "POST"
        options.setdefault("content", None if method == "GET" else b'{"title":"x"}')
        error, status, body = None, None, b""
        try:
            response = self._send(method, phases, headers={"X-Correlation-Id": call_id}, **options)
            status, body = response.status_code, response.content
        except (httpx2.HTTPError, *_NETWORK_ERRORS) as raised:
            error = type(raised).__name__
        finally:
            self.plan.end_call()
        return Seen(error, status, body, " ".join(phases), round(self.clock.now() - started_s, 6))

    def _send(self, method: str, phases: list[str], **options: Any) -> httpx2.Response:
        def note(name: str, info: Mapping[str, Any]) -> None:  # noqa: ARG001 - httpcore gives both
            phase, _, mark = name.partition(".")[2].rpartition(".")
            if phase in PHASES and mark in MARKS:
                phases.append(PHASES[phase] + MARKS[mark])

        async def note_later(name: str, info: Mapping[str, Any]) -> None:
            note(name, info)

        if self._runner is None:
            return self._client.request(method, "/v1/records", extensions={"trace": note}, **options)
        return self._runner.run(
            self._async_client.request(method, "/v1/records", extensions={"trace": note_later}, **options)
        )

    def named(self, *names: str) -> Sequence[Event]:
        return [event for event in self.events if event.event in names]

    @property
    def receipts(self) -> Sequence[Mapping[str, JSON]]:
        return [event.detail for event in self.named("fault_fired")]


_NETWORK_ERRORS = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def wire(request: pytest.FixtureRequest) -> Iterator[Callable[..., Wire]]:
    """Build wires of one flavour; a test that asks for it runs in both."""
    built: list[Wire] = []

    def build(*faults: Fault) -> Wire:
        built.append(Wire(*faults, asynchronous=request.param))
        return built[-1]

    yield build
    for one in built:
        if one._runner is not None:
            one._runner.close()


@pytest.fixture
def fault() -> Callable[..., Fault]:
    """Build faults from the words that a case uses."""

    def build(point: str, action: JSON, **options: Any) -> Fault:
        return Fault(options.pop("operation", "create_record"), Point(point), Action.parse(action), **options)

    return build
