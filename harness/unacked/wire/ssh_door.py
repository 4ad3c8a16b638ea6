"""SSH on real ports: one for each host, as the served services have theirs, with the faults of ``Arrivals``.

A call is an order, counted when it arrives. What acts before that, a wrong host key or a refused credential, takes the
next connection. Importing this module imports asyncssh, which is an extra.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from itertools import count

import asyncssh

from unacked.clock import Clock
from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.fault import Point
from unacked.wire.arrival import Arrival, Arrivals
from unacked.wire.remote import OPERATION, CommandHost
from unacked.wire.ssh import TRUSTED, SSHHost, host_key

__all__ = ["SSHDoor"]

_BEFORE_THE_ORDER = (Point.TLS, Point.AFTER_ACCEPT, Point.BEFORE_COMMIT)
_BACKLOG = 100


class SSHDoor:
    """The SSH server of the host ``name`` on 127.0.0.1; everything here happens in the server's loop.

    ``handler`` is the service behind it. ``failed`` hears what the service fails with.
    """

    def __init__(
        self, name: str, handler: CommandHost, emit: Emit, clock: Clock, port: int, failed: Callable[[Exception], None]
    ) -> None:
        self.name, self.port = name, port
        self._handler, self._emit, self._clock, self._failed = handler, emit, clock, failed
        self.operations = (OPERATION,)
        self._numbers = count(1)
        self._socket: socket.socket
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: set[asyncio.TimerHandle] = set()

    @property
    def host_key(self) -> str:
        """The public key that the host shows, as a line of a ``known_hosts`` file has it."""
        return host_key(TRUSTED).export_public_key().decode().strip().rpartition(" ")[0]

    def open(self, faults: Arrivals) -> None:
        """Listen; raises OSError where the port is taken."""
        self._faults = faults
        self._socket = socket.create_server(("127.0.0.1", self.port), backlog=_BACKLOG)
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    async def close(self) -> None:
        """Close the port and every connection."""
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        self._drop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def replace(self, handler: CommandHost) -> None:
        """Put another service behind the port; what the old one still had to do never happens."""
        self._handler = handler
        self._drop()

    def _drop(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for task in tuple(self._tasks):
            task.cancel()

    def _call_at(self, at_s: float, callback: Callable[[], None]) -> None:
        def due() -> None:
            self._timers.discard(timer)
            callback()

        timer = asyncio.get_running_loop().call_later(max(0.0, at_s - self._clock.now()), due)
        self._timers.add(timer)

    def _accept(self) -> None:
        try:
            client, _ = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # it was there, and has gone
        client.setblocking(False)
        task = asyncio.get_running_loop().create_task(self._serve(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: socket.socket) -> None:
        """Serve one connection until its end."""
        call = self._faults.coming((OPERATION,), *_BEFORE_THE_ORDER) or Arrival(self._faults)
        host = SSHHost(
            self._handler,
            call,
            self._emit,
            self._call_at,
            self._clock.now,
            arrived=lambda order: call.begin(OPERATION, order.correlation_id or None),
            numbers=self._numbers,
        )
        connection: asyncssh.SSHServerConnection | None = None
        try:
            with contextlib.suppress(OSError, asyncssh.Error):  # the client went away, or was not let in
                connection = await asyncssh.run_server(client, **host.options(self.name))
                await connection.wait_closed()
            host.leave()
        except HarnessError as error:
            self._failed(error)
        finally:
            if connection is not None:
                connection.abort()
