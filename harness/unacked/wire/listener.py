"""One port with a fake service behind it: who may connect, and what becomes of the connection before HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

from unacked.clock import Clock
from unacked.event import Emit
from unacked.fault import Point
from unacked.wire.arrival import FRESH, Arrival, Arrivals
from unacked.wire.certificates import Certificates
from unacked.wire.connection import land
from unacked.wire.knock import BlackHole, deaf_to, waiting
from unacked.wire.message import Handler
from unacked.wire.peer import Peer, reset_on_close

__all__ = ["Listener"]

_BACKLOG = 100
_LOOK_EVERY_S = 0.01
_HELLO = 65536


class Listener:
    """A port on 127.0.0.1; everything here happens in the server's loop.

    ``wants_fresh`` says that a fault waits for a fresh connection, so that idle ones must give way.
    """

    def __init__(
        self,
        handler: Handler,
        faults: Arrivals,
        emit: Emit,
        clock: Clock,
        certificates: Certificates | None,
        port: int,
        failed: Callable[[Exception], None],
    ) -> None:
        self.handler, self.faults, self.emit, self.clock = handler, faults, emit, clock
        self.port = port
        self.failed = failed
        self.peers: set[Peer] = set()
        self.wants_fresh = False
        self._certificates = certificates
        self._socket: socket.socket
        self._hole: BlackHole | None = None
        self._own_ports: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: set[asyncio.TimerHandle] = set()

    def open(self) -> None:
        """Listen; raises OSError where the port is taken."""
        self._socket = socket.create_server(("127.0.0.1", self.port), backlog=_BACKLOG)
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]
        self._accept_from_now_on()
        self.faults.watch(self._review)
        self._review()

    async def close(self) -> None:
        """Close the port and every connection."""
        asyncio.get_running_loop().remove_reader(self._socket)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._drop()
        if self._hole is not None:
            self._hole.close()
        self._socket.close()
        await asyncio.gather(*(peer.closed for peer in tuple(self.peers)))

    def replace(self, handler: Handler) -> None:
        """Put another service behind the port; the connections of the old one are reset."""
        self.handler = handler
        self._drop()

    def _drop(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for peer in tuple(self.peers):
            peer.abort()

    def call_at(self, at_s: float, callback: Callable[[], None]) -> None:
        """Call ``callback`` once the clock has come to ``at_s``, unless the connections are dropped before."""

        def due() -> None:
            self._timers.discard(timer)
            callback()

        timer = asyncio.get_running_loop().call_later(at_s - self.clock.now(), due)
        self._timers.add(timer)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Who may connect

    def _review(self) -> None:
        """Do what the next fault asks for before anybody connects."""
        operations = self.handler.operations
        self.wants_fresh = self.faults.coming(operations, *FRESH) is not None
        if self.wants_fresh:
            for peer in self.peers:
                asyncio.get_running_loop().call_soon(peer.proceed)
        if self._hole is None and self.faults.coming(operations, Point.BEFORE_CONNECT):
            asyncio.get_running_loop().remove_reader(self._socket)
            self._hole = BlackHole(self._socket)
            self._own_ports.add(self._hole.own_port)
            self._start(self._be_silent(self._hole))

    async def _be_silent(self, hole: BlackHole) -> None:
        """Answer nobody, with a receipt for each who knocks, until no fault asks for it any more."""
        seen = frozenset({hole.own_port})
        victim = None
        while call := self.faults.coming(self.handler.operations, Point.BEFORE_CONNECT):
            knocking = waiting(self.port)
            if new := knocking - seen:
                victim = min(new)
                land(call, self.emit, call.armed[0])
                seen |= {victim}
            else:
                seen &= knocking
                await asyncio.sleep(_LOOK_EVERY_S)
        with deaf_to(self._socket, victim or 0):  # it knocks again and again, and must not get through
            hole.close()
            self._accept_from_now_on()
            while victim in waiting(self.port):  # noqa: ASYNC110 - the kernel tells nobody, it must be asked
                await asyncio.sleep(_LOOK_EVERY_S)
        self._hole = None
        self._review()

    def _accept_from_now_on(self) -> None:
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        try:
            client, address = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # it was there, and has gone
        client.setblocking(False)
        if address[1] in self._own_ports:
            self._own_ports.discard(address[1])
            client.close()
        else:
            self._start(self._admit(client))

    # What becomes of a connection before HTTP

    async def _admit(self, client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._certificates is None:
            await self._talk(client, None)
            return
        try:
            await _readable(client)
        except asyncio.CancelledError:
            client.close()
            raise
        call = self.faults.coming(self.handler.operations, Point.TLS)
        if call is not None and call.armed[0].action.name != "fail":
            await self._cut_handshake(client, call)
            return
        with contextlib.suppress(OSError):  # the client went away, or did not like what it saw
            if call is None:
                await self._talk(client, self._certificates.server)
            else:
                await self._distrusted(client, call, self._certificates.untrusted)

    async def _talk(self, client: socket.socket, context: ssl.SSLContext | None) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(lambda: Peer(self), client, ssl=context)

    async def _distrusted(self, client: socket.socket, call: Arrival, untrusted: ssl.SSLContext) -> None:
        """Show a certificate that nobody trusts; without a receipt where the client takes it all the same."""
        fault = call.armed[0]
        self.faults.reserve(fault)
        try:
            await self._talk(client, untrusted)
        except OSError:
            land(call, self.emit, fault)
            raise
        self.faults.give_back(fault)

    async def _cut_handshake(self, client: socket.socket, call: Arrival) -> None:
        """Read the client's greeting and end the connection, or never answer."""
        loop = asyncio.get_running_loop()
        fault = call.armed[0]
        land(call, self.emit, fault)
        try:
            await loop.sock_recv(client, _HELLO)
            while fault.action.name == "silence" and await loop.sock_recv(client, _HELLO):
                pass
            if fault.action.name == "rst":
                reset_on_close(client)
        except ConnectionError:
            pass  # the client did not wait for the end
        finally:
            client.close()


async def _readable(client: socket.socket) -> None:
    """Wait until the client has begun to speak, or has gone."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(client, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(client)
