"""The server's end of one real connection: what the state machine schedules, at its time, on a socket."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Protocol

from unacked.clock import Clock
from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.wire.arrival import Arrival, Arrivals
from unacked.wire.connection import ServerConnection, Uplink
from unacked.wire.message import Handler, Request
from unacked.wire.script import Signal

__all__ = ["Host", "Peer", "reset_on_close"]

_CHUNK = 65536
_DISCARD_AND_RESET = struct.pack("ii", 1, 0)


class Host(Protocol):
    """What a connection needs of the listener that accepted it."""

    clock: Clock
    emit: Emit
    faults: Arrivals
    handler: Handler
    peers: set[Peer]
    wants_fresh: bool

    def call_at(self, at_s: float, callback: Callable[[], None]) -> None:
        """Call ``callback`` once the clock has come to ``at_s``, unless the listener is cleared before."""
        ...

    def failed(self, error: Exception) -> None:
        """Note that a fake service or the wire itself is broken."""
        ...


def reset_on_close(sock: socket.socket) -> None:
    """Let the closing of ``sock`` be a reset, and not an orderly end."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DISCARD_AND_RESET)


class Peer(asyncio.Protocol):
    """One accepted connection, after its TLS handshake where there is one."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._transport: asyncio.Transport | None = None
        self._full = False  # the socket takes no more at the moment
        self._ended = False
        self._speaks_tls = False
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._call = Arrival(host.faults)
        self._connection = ServerConnection(
            host.handler, self._call, host.emit, self._call_at, 0.0, arriving=self._arriving
        )

    def _arriving(self, head: Request) -> None:
        operation = self._host.handler.operation_of(head.method, head.place)
        self._call.begin(operation, head.correlation_id)

    def _call_at(self, at_s: float, callback: Callable[[], None]) -> None:
        self._host.call_at(at_s, lambda: self._guarded(callback))

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - it is a stream
        self._transport = transport
        self._speaks_tls = transport.get_extra_info("sslcontext") is not None
        transport.set_write_buffer_limits(high=1, low=0)  # asyncio's TLS takes a 0 for always full
        self._host.peers.add(self)

    def data_received(self, data: bytes) -> None:
        """Hand bytes to the state machine, and do what they cause."""
        self._guarded(lambda: self._receive(data))

    def pause_writing(self) -> None:
        """Wait: a reset would discard what the socket has not taken."""
        self._full = True

    def resume_writing(self) -> None:
        """Go on."""
        self._full = False
        self.proceed()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's interface
        """End; what the service still has to do happens all the same."""
        self._ended = True
        self._connection.leave()
        self._host.peers.discard(self)
        self.closed.set_result(None)

    # What happens in between

    def _receive(self, data: bytes) -> None:
        now = self._host.clock.now()
        self._connection.receive(data, now)
        self._connection.interrupt(now)
        if self._connection.uplink is Uplink.STALLED and self._transport is not None:
            self._transport.pause_reading()

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except HarnessError as error:
            self._host.failed(error)
            self.abort()
        self.proceed()

    def proceed(self) -> None:
        """Write whatever is due, and come back for the rest; give way where a fresh connection is wanted."""
        if self._transport is None or self._ended:
            return
        if not self._host.wants_fresh:
            self._write(self._transport)
            return
        # The answer and the end travel together, or the client would use the connection again in between.
        self._cork(held=True)
        self._write(self._transport)
        if self._connection.at_rest and not self._ended:
            self._ended = True
            self._transport.close()
        if not self._ended or self._speaks_tls:
            self._cork(held=False)  # a plain socket sends what it holds when it is closed

    def _write(self, transport: asyncio.Transport) -> None:
        outbox = self._connection.outbox
        while not self._full and not self._ended:
            segment = outbox.peek()
            if segment is None:
                return
            if segment.signal is not Signal.DATA and self._connection.awaits_rest:
                return
            if segment.at_s > self._host.clock.now():
                self._host.call_at(segment.at_s, self.proceed)
                return
            if segment.signal is Signal.DATA:
                transport.write(outbox.take(_CHUNK))
            elif segment.signal is Signal.FIN:
                self._ended = True
                transport.close()
            else:
                self.abort()

    def _cork(self, *, held: bool) -> None:
        sock = self._socket()
        if sock is not None and hasattr(socket, "TCP_CORK"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, held)

    def _socket(self) -> socket.socket | None:
        """The socket, as far as asyncio shows it; None once it is closed."""
        sock: socket.socket | None = self._transport.get_extra_info("socket") if self._transport else None
        return sock if sock is not None and sock.fileno() != -1 else None

    def abort(self) -> None:
        """End the connection by a reset, at once."""
        self._ended = True
        if (sock := self._socket()) is not None:
            reset_on_close(sock)
        if self._transport is not None:
            self._transport.abort()
