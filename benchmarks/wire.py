"""How many requests a second one core sends through a real client and the simulated wire, without a fault."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from typing import Any

import httpcore2
import httpx2

from unacked.clock import VirtualClock
from unacked.fault import Action, FaultPlan
from unacked.wire import Request, Response, SimulatedNetwork

SSL_CONTEXT = ssl.create_default_context()
CALLS, TRIALS = 3000, 300
HEADERS = (("content-type", "application/json"), ("x-correlation-id", "c-0001"))


class Service:
    """Answers every request with the same record."""

    name = "records"
    operations = ("create_record",)

    def operation_of(self, method: str, path: str) -> str:  # noqa: ARG002
        """Answer."""
        return "create_record"

    def handle(self, request: Request, *, commit: bool = True) -> Response:  # noqa: ARG002
        """Answer."""
        return Response(201, b'{"correlation_id":"c-0001","id":"rec-1"}', HEADERS, committed=True)

    def disturb(self, action: Action, operation: str) -> None:
        """Do nothing."""


class Body(httpx2.SyncByteStream):
    """The body of an answer."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        """Give the connection back."""
        self._stream.close()


class Transport(httpx2.BaseTransport):
    """A transport over a pool on the simulated network."""

    def __init__(self, network: SimulatedNetwork) -> None:
        self._pool = httpcore2.ConnectionPool(ssl_context=SSL_CONTEXT, network_backend=network.backend)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request."""
        url = request.url
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        outgoing = httpcore2.Request(
            request.method, target, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        response = self._pool.handle_request(outgoing)
        return httpx2.Response(response.status, headers=response.headers, stream=Body(response.stream))


def ignore(event: str, **_: Any) -> None:
    """Record nothing: the recorder is measured elsewhere."""


def build() -> tuple[SimulatedNetwork, FaultPlan]:
    """Build one trial's network."""
    plan = FaultPlan(())
    return SimulatedNetwork(VirtualClock(), {"records.test": Service()}, plan, ignore), plan


def report(what: str, count: int, started: float) -> None:
    """Print the processor time of one repetition."""
    each = (time.process_time() - started) / count
    print(f"{what}: {each * 1e3:.4f} ms of processor time each, {1 / each:,.0f}/s")


def main() -> None:
    """Measure."""
    network, plan = build()
    client = httpx2.Client(transport=Transport(network), base_url="https://records.test", timeout=5, trust_env=False)
    for measured in (False, True):
        started = time.process_time()
        for _ in range(CALLS):
            plan.begin_call("create_record", "c-0001")
            client.post("/v1/records", json={"title": "x"}, headers={"x-correlation-id": "c-0001"})
            plan.end_call()
        if measured:
            report("request on a kept connection", CALLS, started)
    started = time.process_time()
    for _ in range(TRIALS):
        client._transport = Transport(build()[0])  # noqa: SLF001 - a client costs more than all that is measured
        client.post("/v1/records", json={"title": "x"})
    report("network, pool and first request", TRIALS, started)
    started = time.process_time()
    for _ in range(CALLS):
        build()
    report("network alone", CALLS, started)


if __name__ == "__main__":
    main()
