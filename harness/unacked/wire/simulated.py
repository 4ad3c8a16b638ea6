"""A network in memory, on the virtual clock, for a real HTTP client of httpcore.

A read whose data would come later than its timeout advances the clock by the timeout and raises what the
real network would raise. Both flavours, for synchronous and asynchronous clients, are thin covers over
the same core.
"""

from __future__ import annotations

import heapq
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NoReturn

import httpcore2

from unacked.clock import VirtualClock
from unacked.errors import HarnessError, nearest
from unacked.event import Emit
from unacked.fault import Fault, FaultPlan, Point
from unacked.wire.connection import CallFaults, Outbox, ServerConnection, Uplink, land
from unacked.wire.message import Handler
from unacked.wire.script import Signal

__all__ = ["SimulatedNetwork"]

_SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
_ON_A_FRESH_CONNECTION = (Point.DNS, Point.BEFORE_CONNECT, Point.TLS, Point.AFTER_ACCEPT)
_REFUSALS = {
    Point.DNS: "[Errno -2] Name or service not known",
    Point.BEFORE_CONNECT: "[Errno 111] Connection refused",
    Point.TLS: "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate",
}
_RESET = "[Errno 104] Connection reset by peer"


class SimulatedNetwork:
    """The whole network of one trial: its hosts, its time, and what is still to happen in it.

    ``handlers`` maps host names to fake services. ``latency_s`` is the time that a connection, a TLS
    handshake and an answer take each. ``connections`` holds every attempt to
    connect: in which call, and to which service.
    """

    def __init__(
        self,
        clock: VirtualClock,
        handlers: Mapping[str, Handler],
        plan: FaultPlan,
        emit: Emit,
        *,
        latency_s: float = 0.001,
    ) -> None:
        self.clock, self.plan, self.emit = clock, plan, emit
        self.latency_s = latency_s
        self._handlers = handlers
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self.connections: list[tuple[str | None, str]] = []

    @property
    def backend(self) -> httpcore2.NetworkBackend:
        """The network for a synchronous pool; made anew each time, so that nothing holds itself alive."""
        return _Backend(self)

    @property
    def async_backend(self) -> httpcore2.AsyncNetworkBackend:
        """The network for an asynchronous pool, likewise."""
        return _AsyncBackend(self)

    def close(self) -> None:
        """Forget what was still to happen: the trial is over, and nothing may keep its world alive."""
        self._timers.clear()

    def settle(self) -> None:
        """Let everything happen at the services that is due by now, such as a late commit."""
        if self._timers:
            self.pass_until(self.clock.now())

    @property
    def pending(self) -> tuple[float, ...]:
        """The times at which something is still to happen at the services, in order."""
        return tuple(sorted(at_s for at_s, _, _ in self._timers))

    def call_at(self, at_s: float, callback: Callable[[], None]) -> None:
        """Call ``callback`` once the clock has come to ``at_s``."""
        heapq.heappush(self._timers, (round(at_s, 6), next(self._order), callback))

    def pass_until(self, at_s: float) -> None:
        """Let time pass until ``at_s``, and everything happen that is due on the way."""
        while self._timers and self._timers[0][0] <= at_s:
            due_s, _, callback = heapq.heappop(self._timers)
            self.clock.advance_to(due_s)
            callback()
        self.clock.advance_to(at_s)

    def connect(self, host: str, timeout: float | None) -> _Link:
        """Open a connection to a host; raises what httpcore raises, and HarnessError for an unknown host."""
        self.settle()
        handler = self._handlers.get(host)
        if handler is None:
            raise HarnessError(f"no fake service answers for the host {host!r}; {nearest(host, self._handlers)}")
        plan = _FaultsOf(handler, self.plan)
        self.connections.append((plan.call_id, handler.name))
        self.set_up(plan, timeout, Point.DNS, Point.BEFORE_CONNECT)
        return _Link(self, plan, ServerConnection(handler, plan, self.emit, self.call_at, self.latency_s))

    def set_up(self, plan: CallFaults, timeout: float | None, *points: Point) -> None:
        """Pass one latency of connecting, unless a fault at one of ``points`` acts."""
        fault = plan.at(*points)
        if fault is not None:
            land(plan, self.emit, fault)
            if fault.action.name == "silence":
                self._give_up(self._deadline(timeout), httpcore2.ConnectTimeout("timed out"))
        if timeout is not None and timeout < self.latency_s:
            self._give_up(self._deadline(timeout), httpcore2.ConnectTimeout("timed out"))
        self.pass_until(self.clock.now() + self.latency_s)
        if fault is not None:
            raise httpcore2.ConnectError(_how_it_failed(fault.point, fault.action.name))

    def _deadline(self, timeout: float | None) -> float | None:
        return None if timeout is None else self.clock.now() + timeout

    def _give_up(self, deadline_s: float | None, error: Exception) -> NoReturn:
        if deadline_s is None:
            raise HarnessError("a client waits for the network without a timeout, and nothing will ever come")
        self.pass_until(deadline_s)
        raise error

    # What a stream does

    def write(self, connection: ServerConnection, data: bytes, timeout: float | None) -> None:
        """Hand bytes to the server; raises WriteTimeout or WriteError where a fault stops them."""
        self.settle()
        connection.receive(data, self.clock.now())
        if connection.uplink is Uplink.OPEN:
            return
        if connection.uplink is Uplink.STALLED:
            self._give_up(self._deadline(timeout), httpcore2.WriteTimeout("timed out"))
        self.pass_until(self.clock.now() + self.latency_s)
        raise httpcore2.WriteError(_RESET)

    def read(self, outbox: Outbox, max_bytes: int, timeout: float | None) -> bytes:
        """Wait for the next bytes; an empty string is the end. Raises ReadTimeout and ReadError."""
        deadline_s = self._deadline(timeout)
        while True:
            segment = outbox.peek()
            if self._timers and (segment is None or self._timers[0][0] <= segment.at_s):
                due_s = self._timers[0][0]
                if deadline_s is None or due_s <= deadline_s:
                    self.pass_until(due_s)
                    continue
            if segment is None or (deadline_s is not None and segment.at_s > deadline_s):
                self._give_up(deadline_s, httpcore2.ReadTimeout("The read operation timed out"))
            self.clock.advance_to(segment.at_s)
            if segment.signal is Signal.RST:
                raise httpcore2.ReadError(_RESET)
            return outbox.take(max_bytes) if segment.signal is Signal.DATA else b""

    def is_readable(self, plan: CallFaults, outbox: Outbox) -> bool:
        """Whether an idle connection has bytes or its end waiting, or must give way to a fresh one."""
        self.settle()
        if plan.armed and plan.at(*_ON_A_FRESH_CONNECTION):
            return True  # a kept connection would hide the fault: as if the server had closed it
        segment = outbox.peek()
        return segment is not None and segment.at_s <= self.clock.now()


def _how_it_failed(point: Point, action: str) -> str:
    if action == "rst":
        return _RESET
    if action == "fin":
        return "[SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred in violation of protocol"
    return _REFUSALS[point]


class _FaultsOf:
    """The faults of the current call as far as one service is concerned: those of its own operations.

    A tool may have to ask a second service, such as a gate, in the middle of a call.
    """

    __slots__ = ("_operations", "_plan", "fire")

    def __init__(self, handler: Handler, plan: FaultPlan) -> None:
        self._operations, self._plan = handler.operations, plan
        self.fire = plan.fire

    @property
    def call_id(self) -> str | None:
        return self._plan.call_id

    @property
    def nth(self) -> int:
        return self._plan.nth

    @property
    def armed(self) -> Sequence[Fault]:
        armed = self._plan.armed
        return armed if not armed or armed[0].operation in self._operations else ()

    def at(self, *points: Point) -> Fault | None:
        return self._plan.at(*points) if self.armed else None

    def begin_page(self) -> None:
        if self.armed:
            self._plan.begin_page()


class _Link:
    """The client's end of one connection, without a flavour."""

    __slots__ = ("_connection", "_network", "_plan")

    def __init__(self, network: SimulatedNetwork, plan: CallFaults, connection: ServerConnection) -> None:
        self._network, self._plan, self._connection = network, plan, connection

    def read(self, max_bytes: int, timeout: float | None) -> bytes:
        return self._network.read(self._connection.outbox, max_bytes, timeout)

    def write(self, data: bytes, timeout: float | None) -> None:
        self._network.write(self._connection, data, timeout)

    def close(self) -> None:
        self._connection.leave()

    def start_tls(self, timeout: float | None) -> None:
        self._network.set_up(self._plan, timeout, Point.TLS)

    def extra_info(self, info: str) -> Any:
        return self._network.is_readable(self._plan, self._connection.outbox) if info == "is_readable" else None


class _Stream(httpcore2.NetworkStream):
    def __init__(self, link: _Link) -> None:
        self._link = link

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._link.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._link.write(buffer, timeout)

    def close(self) -> None:
        self._link.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,  # noqa: ARG002 - TLS is simulated
        server_hostname: str | None = None,  # noqa: ARG002 - likewise
        timeout: float | None = None,
    ) -> _Stream:
        self._link.start_tls(timeout)
        return self

    def get_extra_info(self, info: str) -> Any:
        return self._link.extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, network: SimulatedNetwork) -> None:
        self._network = network

    def connect_tcp(
        self,
        host: str,
        port: int,  # noqa: ARG002 - a fake service answers on every port
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002 - there is one client
        socket_options: Iterable[_SocketOption] | None = None,  # noqa: ARG002 - there is no socket
    ) -> _Stream:
        return _Stream(self._network.connect(host, timeout))

    def sleep(self, seconds: float) -> None:
        self._network.pass_until(self._network.clock.now() + seconds)


class _AsyncStream(httpcore2.AsyncNetworkStream):
    def __init__(self, link: _Link) -> None:
        self._link = link

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return self._link.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self._link.write(buffer, timeout)

    async def aclose(self) -> None:
        self._link.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,  # noqa: ARG002 - TLS is simulated
        server_hostname: str | None = None,  # noqa: ARG002 - likewise
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> _AsyncStream:
        self._link.start_tls(timeout)
        return self

    def get_extra_info(self, info: str) -> Any:
        return self._link.extra_info(info)


class _AsyncBackend(httpcore2.AsyncNetworkBackend):
    def __init__(self, network: SimulatedNetwork) -> None:
        self._network = network

    async def connect_tcp(
        self,
        host: str,
        port: int,  # noqa: ARG002 - a fake service answers on every port
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,  # noqa: ARG002 - there is one client
        socket_options: Iterable[_SocketOption] | None = None,  # noqa: ARG002 - there is no socket
    ) -> _AsyncStream:
        return _AsyncStream(self._network.connect(host, timeout))

    async def sleep(self, seconds: float) -> None:
        self._network.pass_until(self._network.clock.now() + seconds)
