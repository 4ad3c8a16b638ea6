"""One order to one host, in memory on virtual time or on loopback in real time, and what this side knew of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from unacked.canonical import JSON, dumps
from unacked.clock import MonotonicClock, VirtualClock
from unacked.event import Emit
from unacked.fault import Fault, FaultPlan
from unacked.marker import Order
from unacked.services import Service, Setting, load_service
from unacked.tools import Timeouts
from unacked.tools.remote import RemoteExchange, classify_remote
from unacked.tools.ssh import Access, send_order
from unacked.wire import SimulatedNetwork
from unacked.wire.connection import Timer
from unacked.wire.remote import CommandHost
from unacked.wire.ssh import TRUSTED, SimulatedSSH, SSHHost, host_key

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "tok_9f2c61d7a0b4e8835cd1f6a7b2093e4d5c6f7a8b"
ORDER = Order("op-1", "cid-1", "restart")
HOST = "web-1"
IN_MEMORY = Timeouts()
ON_LOOPBACK = Timeouts(connect_s=1.0, total_s=1.5)


@dataclass
class Shell:
    """A host with its faults; ``events`` holds the names of everything that was recorded."""

    faults: tuple[Fault, ...] = ()
    seconds: float = 0.05
    output: str = "silent"
    events: list[str] = field(default_factory=list)

    def emit(self) -> Emit:
        def emit(event: str, **_: Any) -> None:
            self.events.append(event)

        return emit

    def service(self, clock: VirtualClock | MonotonicClock) -> Service:
        commands = [
            {"command": "restart", "restart": "billing", "seconds": self.seconds, "output": self.output},
            {"command": "deploy", "revision": "r42", "seconds": self.seconds},
        ]
        build = load_service(ROOT / "fake_services" / "host.py")
        return build({"hosts": [{"host": HOST}], "commands": commands}, Setting(clock, TOKEN))

    def plan(self) -> FaultPlan:
        plan = FaultPlan(self.faults)
        plan.begin_call("run_command", "cid-1")
        return plan

    def in_memory(self, order: Order = ORDER, token: str = TOKEN, host: str = HOST) -> RemoteExchange:
        """Send one order on virtual time; afterwards ``world`` is the state of the host an hour later."""
        clock = VirtualClock()
        service = self.service(clock)
        network = SimulatedNetwork(clock, {service.host: service}, self.plan(), self.emit())
        assert isinstance(service, CommandHost)
        access = Access(host_key=host_key(TRUSTED), token=token)
        exchange = SimulatedSSH(network, [service]).run(host, lambda: send_order(host, order, access, IN_MEMORY))
        network.pass_until(clock.now() + 3600)
        self.world = service.summary()
        return exchange

    def on_loopback(self, order: Order = ORDER) -> RemoteExchange:
        """Send one order to a real port of this machine, in real time."""
        return asyncio.run(self._on_loopback(order))

    async def _on_loopback(self, order: Order) -> RemoteExchange:
        clock = MonotonicClock()
        service = self.service(clock)
        assert isinstance(service, CommandHost)
        server = SSHHost(service, self.plan(), self.emit(), real_timer(clock), clock.now)
        acceptor = await server.listen(HOST, "127.0.0.1", 0)
        access = Access(host_key=host_key(TRUSTED), token=TOKEN, address="127.0.0.1", port=acceptor.get_port())
        try:
            return await send_order(HOST, order, access, ON_LOOPBACK)
        finally:
            acceptor.close()


def real_timer(clock: MonotonicClock) -> Timer:
    """Calls back on the running event loop, in real time."""
    loop = asyncio.get_running_loop()

    def call_at(at_s: float, callback: Callable[[], None]) -> None:
        loop.call_later(max(0.0, at_s - clock.now()), callback)

    return call_at


def seen(exchange: RemoteExchange) -> str:
    """What the client saw, in the words of the table of the documentation."""
    stage = exchange.stage.name.lower().replace("_", " ")
    if exchange.exit_status is not None:
        return f"{stage}: exit status {exchange.exit_status}"
    if exchange.exit_signal is not None:
        return f"{stage}: signal {exchange.exit_signal}"
    if exchange.refused is not None:
        return f"{stage}: {exchange.refused.name.lower()} refused"
    return f"{stage}: {'time is up' if exchange.timed_out else 'no status'}"


def category(exchange: RemoteExchange, order: Order = ORDER) -> str:
    """What the tool makes of it."""
    return classify_remote(exchange, order).category


class Served:
    """A host on a port of this machine, in a thread of its own, with the file that tells a helper of it."""

    def __init__(self, shell: Shell, folder: Path, on_event: Callable[[str], None] = lambda _: None) -> None:
        self._shell, self._on_event = shell, on_event
        self._ready = threading.Event()
        self.ended = threading.Event()
        self.access, self.token_file = folder / "access.json", folder / "token"
        self._key_file = folder / "host_key.pub"
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def world(self) -> dict[str, JSON]:
        """The state of the host now."""
        return self._service.summary()

    def _emit(self, event: str, **_: Any) -> None:
        if event == "remote_ended":
            self.ended.set()
        self._on_event(event)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        clock = MonotonicClock()
        self._service = self._shell.service(clock)
        assert isinstance(self._service, CommandHost)
        timer = real_timer(clock)
        server = SSHHost(self._service, self._shell.plan(), self._emit, timer, clock.now)
        async with await server.listen(HOST, "127.0.0.1", 0) as acceptor:
            self.token_file.write_text(TOKEN + "\n")
            self._key_file.write_bytes(host_key(TRUSTED).export_public_key())
            self.access.write_text(
                dumps(
                    {
                        "address": "127.0.0.1",
                        "port": acceptor.get_port(),
                        "account": "operator",
                        "host_key": str(self._key_file),
                        "token_file": str(self.token_file),
                    }
                )
            )
            self._ready.set()
            await self._stop.wait()
