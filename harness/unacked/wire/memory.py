"""An event loop without sockets on virtual time, for asynchronous clients and servers in one process.

Nothing here waits. Where every task has gone to sleep, the clock moves to the next moment at which anything
is due, in the loop or elsewhere in the network of the trial; where nothing is, that is an error of ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from unacked.errors import HarnessError
from unacked.wire.simulated import SimulatedNetwork

__all__ = ["MemoryTransport", "VirtualLoop"]

_T = TypeVar("_T")
_Protocol = Callable[[], asyncio.Protocol]
_TICK_S = 0.000001


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop that takes its time from a simulated network and moves it on.

    ``dial`` is what a client's attempt to connect meets before there is a connection: it may wait, or raise
    what a real network raises. Servers are found by their host names.
    """

    def __init__(self, network: SimulatedNetwork, dial: Callable[[str], Any]) -> None:
        super().__init__()
        self._network, self._dial = network, dial
        self._selector = self  # what BaseEventLoop asks for events; see ``select``
        self._servers: dict[str, _Protocol] = {}

    def time(self) -> float:
        """Virtual seconds since the trial began."""
        return self._network.clock.now()

    def select(self, timeout: float | None) -> list[Any]:
        """Let time pass: by ``timeout`` seconds at most, and no further than the next thing that is due."""
        due_s = next(iter(self._network.pending), None)
        if timeout is None and due_s is None:
            raise HarnessError("a client waits for the network without a timeout, and nothing will ever come")
        if timeout == 0:
            return []
        until_s = None if timeout is None else self.time() + max(timeout, _TICK_S)
        if due_s is not None and (until_s is None or due_s <= until_s):
            until_s = due_s
        assert until_s is not None  # noqa: S101 - one of the two is there
        self._network.pass_until(until_s)
        return []

    def run_in_executor(self, executor: Any, func: Callable[..., _T], *args: Any) -> asyncio.Future[_T]:  # type: ignore[override]  # noqa: ARG002
        """Run ``func`` here and now: a thread would bring its own time."""
        future: asyncio.Future[_T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits the future
            future.set_exception(error)
        return future

    async def create_connection(self, protocol_factory: _Protocol, host: str, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        """Connect a client to the server of a host."""
        await self._dial(host)
        client, server = protocol_factory(), self._servers[host]()
        near, far = MemoryTransport(self, client), MemoryTransport(self, server)
        near.peer, far.peer = far, near
        server.connection_made(far)
        client.connection_made(near)
        return near, client

    async def create_server(self, protocol_factory: _Protocol, host: str, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        """Let a server answer for a host."""
        self._servers[host] = protocol_factory
        return _MemoryServer()

    def end(self) -> None:
        """Cancel whatever still runs, and close."""
        left = asyncio.all_tasks(self)
        for task in left:
            task.cancel()
        if left:
            self.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.close()

    def _process_events(self, event_list: list[Any]) -> None:
        """Do nothing: there are no sockets."""

    def _write_to_self(self) -> None:
        """Do nothing: there are no other threads."""


class _MemoryServer:
    """What is left to say about a server in memory: it goes when its loop goes."""

    sockets = ()

    def close(self) -> None:
        """Do nothing."""


class MemoryTransport(asyncio.Transport):
    """One end of a connection in memory. Bytes arrive in the same instant: time is the business of faults.

    A server finds its own end as the extra information ``link``.
    """

    peer: MemoryTransport

    def __init__(self, loop: VirtualLoop, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop, self._protocol = loop, protocol
        self._mute = False
        self._closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return this end as ``link``, and an address that says nothing."""
        if name == "link":
            return self
        return ("127.0.0.1", 22) if name in ("peername", "sockname") else default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes to the other end."""
        if not (self._closed or self._mute):
            self._loop.call_soon(self.peer._arrive, bytes(data))  # noqa: SLF001 - the two ends are one thing

    def cut(self, action: str) -> None:
        """End the connection as ``fin``, ``rst`` or ``silence`` does, seen from the other end."""
        self._mute = True
        if action != "silence":
            error = ConnectionResetError(104, "Connection reset by peer") if action == "rst" else None
            self._loop.call_soon(self.peer._lose, error)  # noqa: SLF001 - likewise

    def close(self) -> None:
        """End the connection in order."""
        if not self._closed:
            self.cut("fin")
            self._loop.call_soon(self._lose, None)

    def abort(self) -> None:
        """End the connection at once."""
        self.close()

    def is_closing(self) -> bool:
        """Whether the connection is over."""
        return self._closed

    def can_write_eof(self) -> bool:
        """Return False: a connection ends in both directions at once."""
        return False

    def get_write_buffer_size(self) -> int:
        """Return 0: nothing is ever held back."""
        return 0

    def pause_reading(self) -> None:
        """Do nothing: what is sent is small."""

    def resume_reading(self) -> None:
        """Do nothing, likewise."""

    def _arrive(self, data: bytes) -> None:
        if not self._closed:
            self._protocol.data_received(data)

    def _lose(self, error: Exception | None) -> None:
        if not self._closed:
            self._closed = True
            self._protocol.connection_lost(error)
