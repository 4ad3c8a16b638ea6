"""Fake services on real sockets: 127.0.0.1, real time, TLS where it is wanted, the same faults.

The connections are those of the simulated wire; only their bytes travel through the kernel. Three things
differ, because nobody announces calls here and a kernel stands in between:

*   A call is recognised by method and path when the head of its request arrives (see ``arrival``).
*   Faults at ``before_connect`` and ``tls`` take the next connection to the service while their call is the
    next one of its operation. With one client that makes one call at a time that is the call that they
    name. Where several operations are in flight, it is whichever connects first: arm such a fault when its
    call is the next to come. A fault ``after_accept`` is exact: it acts on a fresh connection whose first
    request is the call. Kept connections would hide all three, so a service closes its idle ones while
    such a fault is next.
*   What no service on a socket can do, or could not see itself do, is refused by name: ``impossible``.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self, TypeVar

from unacked.canonical import JSON
from unacked.clock import MonotonicClock
from unacked.errors import HarnessError, nearest
from unacked.event import Emit
from unacked.fault import Fault, Point
from unacked.wire.arrival import Arrivals
from unacked.wire.certificates import Certificates
from unacked.wire.knock import can_be_silent
from unacked.wire.listener import Listener
from unacked.wire.message import Handler
from unacked.wire.remote import OPERATION

__all__ = ["Door", "LoopbackServer", "impossible"]

_T = TypeVar("_T")
_PATIENCE_S = 10.0


def impossible(fault: Fault, *, tls: bool) -> str | None:
    """Return why ``fault`` cannot exist on this wire, or None where it can."""
    if fault.page is not None:
        return "here every request is a call of its own: count with 'nth' in place of 'page'"
    over_ssh = fault.operation == OPERATION
    match fault.point, fault.action.name:
        case Point.BEFORE_CONNECT, "silence" if over_ssh:
            return "the port of an SSH host cannot be silent: let it accept and be silent then, at after_accept"
        case Point.DNS, _:
            return "the client is given an address, so no name is ever looked up"
        case Point.BEFORE_CONNECT, "refuse":
            return "the kernel refuses a connection without a word to the service, so there could be no receipt"
        case Point.BEFORE_CONNECT, "silence" if not can_be_silent():
            return "only Linux lets a port be silent and shows who waits there"
        case Point.TLS, _ if not tls and not over_ssh:
            return "these services speak plain HTTP; serve them with TLS"
    return None


class Door(Protocol):
    """A port that is opened and closed with the others, for a protocol that is not HTTP."""

    @property
    def operations(self) -> Collection[str]:
        """What is asked for there."""
        ...

    def open(self, faults: Arrivals) -> None:
        """Listen, in the server's loop; raises OSError where the port is taken."""
        ...

    async def close(self) -> None:
        """Close the port and every connection."""
        ...


class LoopbackServer:
    """Fake services on 127.0.0.1, each on a port of its own, in a thread of their own.

    ``handlers`` are the services. ``ports`` names the port of some of them; the others get free ones.
    ``emit`` is called in the server's thread, and so is ``told``, with whatever goes wrong in a service or
    in the server itself. ``doors`` are further ports, for other protocols. Use it as a context manager: at its
    end everything is closed, and HarnessError is raised if anything went wrong.
    """

    def __init__(
        self,
        handlers: Iterable[Handler],
        faults: Iterable[Fault] = (),
        emit: Emit | None = None,
        *,
        certificates: Certificates | None = None,
        ports: Mapping[str, int] | None = None,
        clock: MonotonicClock | None = None,
        told: Callable[[Exception], None] | None = None,
        doors: Sequence[Door] = (),
    ) -> None:
        self._doors = doors
        self.clock = clock or MonotonicClock()
        self.certificates = certificates
        self.troubles: list[Exception] = []
        self._told = told
        self.faults = Arrivals()
        self._listeners = {
            handler.name: Listener(
                handler,
                self.faults,
                emit or _ignore,
                self.clock,
                certificates,
                (ports or {}).get(handler.name, 0),
                self.failed,
            )
            for handler in handlers
        }
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="loopback", daemon=True)
        self.refuse_impossible(faults := tuple(faults))
        self.faults.arm(faults)

    def url(self, name: str) -> str:
        """Return the base URL of one service, without a slash at its end."""
        scheme = "https" if self.certificates else "http"
        return f"{scheme}://127.0.0.1:{self._listeners[name].port}"

    def arm(self, *faults: Fault) -> Sequence[Fault]:
        """Add faults whose ``nth`` counts from now on; raises ValueError where one cannot exist here."""
        self.refuse_impossible(faults)
        armed = self.run(lambda: self.faults.arm(faults))
        self.settle()
        return armed

    def refuse_impossible(self, faults: Iterable[Fault]) -> None:
        """Raise ValueError for the first of ``faults`` that has no target here or cannot exist on this wire."""
        known = {operation for listener in self._listeners.values() for operation in listener.handler.operations}
        known |= {operation for door in self._doors for operation in door.operations}
        for fault in faults:
            if fault.operation not in known:
                raise ValueError(f"unknown fault target {fault.operation!r}; {nearest(fault.operation, known)}")
            reason = impossible(fault, tls=self.certificates is not None)
            if reason is not None:
                raise ValueError(f"{fault} cannot exist on the loopback wire: {reason}")

    def replace(self, handlers: Iterable[Handler], faults: Iterable[Fault] = ()) -> None:
        """Put other services in the place of those of the same names, and forget all faults and all calls.

        Their connections are reset, and what the old ones still had to do never happens.
        """
        self.faults.restart(faults)
        for handler in handlers:
            self._listeners[handler.name].replace(handler)

    def settle(self) -> None:
        """Wait until the server has dealt with everything that has reached it by now; not in its own thread."""
        if self._loop is not None and threading.current_thread() is not self._thread:
            asyncio.run_coroutine_threadsafe(_passes(), self._loop).result(_PATIENCE_S)

    def run(self, step: Callable[[], _T]) -> _T:
        """Run ``step`` in the server's thread, where the services and faults may be touched; return its result."""
        if self._loop is None or threading.current_thread() is self._thread:
            return step()
        done: concurrent.futures.Future[_T] = concurrent.futures.Future()

        def call() -> None:
            try:
                done.set_result(step())
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
                done.set_exception(error)

        self._loop.call_soon_threadsafe(call)
        return done.result(_PATIENCE_S)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.result(_PATIENCE_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_PATIENCE_S)
        if self.troubles and error is None:
            raise HarnessError(str(self.troubles[0])) from self.troubles[0]

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(self._unexpected)
        async with contextlib.AsyncExitStack() as opened:
            try:
                for listener in self._listeners.values():
                    listener.open()
                    opened.push_async_callback(listener.close)
                for door in self._doors:
                    door.open(self.faults)
                    opened.push_async_callback(door.close)
            except OSError as error:
                self._ready.set_exception(HarnessError(f"cannot serve: {error.strerror}"))
            else:
                self._ready.set_result(None)
                await self._stop.wait()
        self._loop = None

    def _unexpected(self, _: asyncio.AbstractEventLoop, context: Mapping[str, JSON]) -> None:
        error = context.get("exception")
        self.failed(error if isinstance(error, Exception) else HarnessError(str(context["message"])))

    def failed(self, error: Exception) -> None:
        """Note what went wrong in a service or in the server."""
        self.troubles.append(error)
        if self._told is not None:
            self._told(error)


def _ignore(event: str, **_: object) -> None:
    """Record nothing."""


async def _passes() -> None:
    # A connection's end takes a few turns of the loop: readable, closed, told to the task that waits.
    for _ in range(10):
        await asyncio.sleep(0)
