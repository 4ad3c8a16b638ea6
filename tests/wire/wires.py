"""A small service behind either wire, a real client before it, and the whole record of what happened."""

from __future__ import annotations

import asyncio
import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpcore2
import httpx2

from unacked.canonical import JSON
from unacked.clock import Clock, MonotonicClock, VirtualClock
from unacked.event import Event
from unacked.fault import Action, Fault, FaultPlan
from unacked.wire import Request, Response, SimulatedNetwork
from unacked.wire.certificates import Certificates, issue_certificates
from unacked.wire.loopback import LoopbackServer

SSL_CONTEXT = ssl.create_default_context()
VIRTUAL_PATIENCE_S = 5.0
PATIENCE_S, SHORT_S = 10.0, 0.25
"""On real sockets nobody may be hasty on a busy machine, except where a timeout is what is looked for."""
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
    operations: tuple[str, ...] = ("create_record", "count_records")

    def __init__(self) -> None:
        self.received: list[Request] = []
        self.records = 0
        self.disturbed: list[tuple[str, str]] = []

    def operation_of(self, method: str, path: str) -> str | None:
        if path != "/v1/records":
            return None
        return "count_records" if method == "GET" else "create_record"

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


class Wire(ABC):
    """A service behind a wire, with a client on it; ``asynchronous`` chooses the flavour of the client."""

    clock: Clock

    def __init__(self, *, asynchronous: bool) -> None:
        self.service = Records()
        self.events: list[Event] = []
        self._runner = asyncio.Runner() if asynchronous else None

    def connect(self, **settings: Any) -> None:
        """Make the two clients."""
        self._client = httpx2.Client(trust_env=False, **settings)
        self._async_client = httpx2.AsyncClient(trust_env=False, **settings)

    def close(self) -> None:
        self._client.close()
        if self._runner is not None:
            self._runner.run(self._async_client.aclose())
            self._runner.close()

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
        """Make one call as a tool would: announced where the wire wants that, sent once, over."""
        phases: list[str] = []
        started_s = self.clock.now()
        method = "GET" if operation == "count_records" else "POST"
        options.setdefault("content", None if method == "GET" else b'{"title":"x"}')
        headers = {"X-Correlation-Id": call_id, **options.pop("headers", {})}
        error, status, body = None, None, b""
        self.begin(operation, call_id)
        try:
            response = self._send(method, phases, headers=headers, **options)
            status, body = response.status_code, response.content
        except (httpx2.HTTPError, *_NETWORK_ERRORS) as raised:
            error = type(raised).__name__
        finally:
            self.end()
        return Seen(error, status, body, " ".join(phases), round(self.clock.now() - started_s, 6))

    @abstractmethod
    def begin(self, operation: str, call_id: str) -> None: ...

    @abstractmethod
    def end(self) -> None: ...

    @property
    @abstractmethod
    def unfired(self) -> Sequence[Fault]: ...

    def _send(self, method: str, phases: list[str], **options: Any) -> httpx2.Response:
        def note(name: str, info: Mapping[str, Any]) -> None:  # noqa: ARG001 - httpcore gives both
            phase, _, mark = name.partition(".")[2].rpartition(".")
            if phase in PHASES and mark in MARKS:
                phases.append(PHASES[phase] + MARKS[mark])

        async def note_later(name: str, info: Mapping[str, Any]) -> None:
            note(name, info)

        path = options.pop("path", "/v1/records")
        if self._runner is None:
            return self._client.request(method, path, extensions={"trace": note}, **options)
        return self._runner.run(self._async_client.request(method, path, extensions={"trace": note_later}, **options))

    def named(self, *names: str) -> Sequence[Event]:
        return [event for event in self.events if event.event in names]

    @property
    def receipts(self) -> Sequence[Mapping[str, JSON]]:
        return [event.detail for event in self.named("fault_fired")]


class SimulatedWire(Wire):
    """One trial's network in memory."""

    clock: VirtualClock

    def __init__(self, *faults: Fault, asynchronous: bool = False) -> None:
        super().__init__(asynchronous=asynchronous)
        self.clock, self.plan = VirtualClock(), FaultPlan(faults)
        self.network = SimulatedNetwork(self.clock, {"records.test": self.service}, self.plan, self.emit)
        self.connect(transport=Transport(self.network), base_url="https://records.test", timeout=VIRTUAL_PATIENCE_S)

    def begin(self, operation: str, call_id: str) -> None:
        self.plan.begin_call(operation, call_id)

    def end(self) -> None:
        self.plan.end_call()

    @property
    def unfired(self) -> Sequence[Fault]:
        return self.plan.unfired


class LoopbackWire(Wire):
    """Real sockets with TLS; ``hasty`` names the phases in which the client has no patience."""

    def __init__(self, *faults: Fault, asynchronous: bool = False, hasty: Sequence[str] = ()) -> None:
        super().__init__(asynchronous=asynchronous)
        self.clock = MonotonicClock()
        self.server = LoopbackServer(
            [self.service], faults, self.emit, certificates=certificates(), clock=self.clock
        ).__enter__()
        self.connect(
            verify=certificates().client_context(),
            base_url=self.server.url("records"),
            timeout=httpx2.Timeout(PATIENCE_S, **dict.fromkeys(hasty, SHORT_S)),
        )

    def close(self) -> None:
        super().close()
        self.server.__exit__(None, None, None)

    def begin(self, operation: str, call_id: str) -> None:
        """Nobody announces a call here."""

    def end(self) -> None:
        self.server.settle()

    @property
    def unfired(self) -> Sequence[Fault]:
        return self.server.run(lambda: self.server.faults.unfired)


@cache
def certificates() -> Certificates:
    """Making them is slow; one set serves all tests of a process."""
    return issue_certificates()


def call_of(one: Wire, nth: int, **options: Any) -> tuple[Seen, list[Event]]:
    """Make the calls up to the nth, and return how that one looked and what it caused."""
    for earlier in range(1, nth):
        one.call(call_id=f"c-{earlier:04}", **options)
    before = len(one.events)
    seen = one.call(call_id=f"c-{nth:04}", **options)
    return seen, one.events[before:]


_NETWORK_ERRORS = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
)
