"""The HTTP client of the tools: one attempt per call, no redirects, and a total deadline of its own.

An answer that drips one byte at a time, or interim answers without end, never meet a per-read timeout;
so every read is capped by what is left of the whole call. The same wrapper counts what was written: that,
not the class of an exception, decides whether the service can have seen anything.

Requests go to httpx2's transport, without the layer for redirects, cookies, proxies and authentication flows
that stands above it: none of these may happen here, so none of it is there.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any

import httpcore2
import httpx2

from unacked.clock import Clock
from unacked.errors import HarnessError

__all__ = ["Exchange", "Phase", "Timeouts", "ToolClient"]


_HEADERS = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "unacked"}


_parsed = lru_cache(maxsize=1024)(httpx2.URL)


class Phase(IntEnum):
    """How far one exchange got, as seen from this side."""

    NOTHING_SENT = 0
    REQUEST_STARTED = 1
    REQUEST_SENT = 2
    HEAD_RECEIVED = 3
    COMPLETE = 4


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The client's patience, in seconds: per phase, and for the call as a whole."""

    connect_s: float = 3.0
    write_s: float = 5.0
    read_s: float = 10.0
    total_s: float = 20.0

    def as_json(self) -> list[float]:
        """Return the four in the order above: a pin of the tools."""
        return [self.connect_s, self.write_s, self.read_s, self.total_s]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What this side knows of one exchange when it is over.

    ``status`` and ``headers`` are there from HEAD_RECEIVED on, ``body`` (decoded) at COMPLETE. ``error``
    is the client's exception; it never reaches the agent.
    """

    phase: Phase
    sent_bytes: int
    elapsed_s: float
    status: int | None = None
    headers: Mapping[str, str] | None = None
    body: bytes | None = None
    error: Exception | None = None

    @property
    def timed_out(self) -> bool:
        """Whether this side gave up waiting."""
        return isinstance(self.error, httpx2.TimeoutException)


class ToolClient:
    """A real HTTP client on whatever network it is given; kept for many trials, connected anew for each."""

    def __init__(self, timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self._transport = _SwappableTransport()
        patience = httpx2.Timeout(
            connect=timeouts.connect_s, write=timeouts.write_s, read=timeouts.read_s, pool=timeouts.connect_s
        )
        self._extensions = {"timeout": patience.as_dict()}

    def now(self) -> float:
        """Return the seconds of the clock that the client is connected with."""
        return self._transport.backend.now()

    def connect(self, backend: httpcore2.NetworkBackend, clock: Clock) -> None:
        """Use a fresh connection pool on ``backend``; nothing of an earlier trial is left."""
        self._transport.reset(_MeteredBackend(backend, clock))

    def send(self, method: str, url: str, *, headers: Mapping[str, str], content: bytes) -> Exchange:
        """Send one request, once, and return how far it got; never raises for what the network does."""
        backend = self._transport.backend
        began = backend.begin(self.timeouts.total_s)
        phase = Phase.NOTHING_SENT
        status: int | None = None
        response_headers: Mapping[str, str] | None = None
        body: bytes | None = None
        error: Exception | None = None
        response: httpx2.Response | None = None
        try:
            request = httpx2.Request(
                method,
                _parsed(url),
                headers={**_HEADERS, **headers},
                content=content or None,
                extensions=self._extensions,
            )
            response = self._transport.handle_request(request)
            response.request = request
            phase, status, response_headers = Phase.HEAD_RECEIVED, response.status_code, response.headers
            body = _body(response)
            phase = Phase.COMPLETE
        except HarnessError:
            raise  # no network does that: a service or the wire itself is broken
        except Exception as caught:  # noqa: BLE001 - unknown by default: whatever it was, the phase decides
            error = _without_frames(caught)
            phase = max(phase, backend.phase)
        finally:
            if response is not None:
                response.close()
        return Exchange(phase, backend.sent_bytes, backend.now() - began, status, response_headers, body, error)


def _body(response: httpx2.Response) -> bytes:
    """Read a body to its end, and decode it where that is needed, which hardly any answer does."""
    if "content-encoding" in response.headers or not isinstance(response.stream, httpx2.SyncByteStream):
        return response.read()
    return b"".join(response.stream)


def _without_frames(error: Exception) -> Exception:
    """Let an error go of the frames that it came through: only the garbage collector can part the two."""
    link: BaseException | None = error
    while link is not None:
        link = link.with_traceback(None).__context__
    return error


class _MeteredBackend(httpcore2.NetworkBackend):
    """A network backend that caps every wait by the call's deadline and counts what was written."""

    def __init__(self, inner: httpcore2.NetworkBackend, clock: Clock) -> None:
        self._inner = inner
        self.now = clock.now
        self.sent_bytes = 0
        self.phase = Phase.NOTHING_SENT
        self._deadline = 0.0

    def begin(self, total_s: float) -> float:
        """Start the measure of one call; returns its beginning, in seconds of the clock."""
        began = self.now()
        self._deadline = began + total_s
        self.sent_bytes = 0
        self.phase = Phase.NOTHING_SENT
        return began

    def remaining(self, timeout: float | None, expired: type[Exception]) -> float:
        left = self._deadline - self.now()
        if left <= 0:
            raise expired("the total deadline of the call has passed")
        return left if timeout is None else min(timeout, left)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = self.remaining(timeout, httpcore2.ConnectTimeout)
        return _MeteredStream(self._inner.connect_tcp(host, port, left, local_address, socket_options), self)


class _MeteredStream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, meter: _MeteredBackend) -> None:
        self._inner = inner
        self._meter = meter

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        meter = self._meter
        if meter.sent_bytes:
            meter.phase = Phase.REQUEST_SENT
        return self._inner.read(max_bytes, meter.remaining(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        meter = self._meter
        left = meter.remaining(timeout, httpcore2.WriteTimeout)
        if buffer:
            meter.sent_bytes += len(buffer)
            meter.phase = Phase.REQUEST_STARTED
        self._inner.write(buffer, left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = self._meter.remaining(timeout, httpcore2.ConnectTimeout)
        return _MeteredStream(self._inner.start_tls(ssl_context, server_hostname, left), self._meter)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


_TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""The TLS of fake services is simulated; to read the machine's certificates would take longer than a trial."""


class _SwappableTransport(httpx2.HTTPTransport):
    """httpx2's own transport with its pool exchanged: the pool takes a network backend, the transport does not."""

    backend: _MeteredBackend

    def __init__(self) -> None:
        super().__init__(verify=_TRUSTS_NOBODY, trust_env=False)

    def reset(self, backend: _MeteredBackend) -> None:
        """Forget every connection and use ``backend`` from now on."""
        self.backend = backend
        self._pool.close()
        self._pool = httpcore2.ConnectionPool(ssl_context=_TRUSTS_NOBODY, network_backend=backend, retries=0)
