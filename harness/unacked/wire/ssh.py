"""Hosts that take commands over SSH: asyncssh's own server, faults in between, in memory or on loopback.

Only what carries commands is here; what a command does to a host is ``wire/remote.py`` and the host's own
business. Importing this module imports asyncssh, which is an extra: nothing else does so at its top.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import cache
from itertools import count
from typing import Any, TypeVar

import asyncssh

from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.fault import Fault, Point
from unacked.marker import REFUSED_STATUS, Order, Report, State, read_order
from unacked.wire.connection import CallFaults, Timer, land
from unacked.wire.memory import VirtualLoop
from unacked.wire.remote import OPERATION, CommandHost, Ending, Output, Program, Run, Stop
from unacked.wire.simulated import SimulatedNetwork

__all__ = ["TRUSTED", "SSHHost", "SimulatedSSH", "host_key"]

TRUSTED = "trusted"
_PORT = 22
_CHEAP: Mapping[str, Any] = {
    "kex_algs": ["curve25519-sha256"],
    "encryption_algs": ["aes128-gcm@openssh.com"],
    "compression_algs": ["none"],
}
"""Every client has these, and a trial needs no protection from tomorrow's computers: half the CPU of the defaults."""

_NOT_FOUND = 127
"""What a shell says of a command that is not there."""

_T = TypeVar("_T")
_LINK = ("fin", "rst", "silence")
_CREDENTIALS = ("expire_credential", "revoke_credential", "never_valid")


@cache
def host_key(name: str) -> asyncssh.SSHKey:
    """Return a host's key, one for each name and process; clients trust the one named ``TRUSTED``."""
    return asyncssh.generate_private_key("ssh-ed25519", comment=name)


class SSHHost:
    """A fake service behind SSH servers; what is common to all its connections.

    ``timer`` is asked for a call back when a command has something to do, ``now`` for the time in seconds.
    ``arrived`` hears of an order before any fault can act on it. ``numbers`` count the bare commands.
    """

    def __init__(
        self,
        handler: CommandHost,
        plan: CallFaults,
        emit: Emit,
        timer: Timer,
        now: Callable[[], float],
        *,
        arrived: Callable[[Order], None] = lambda _: None,
        numbers: Iterator[int] | None = None,
    ) -> None:
        self.handler, self.plan, self.emit = handler, plan, emit
        self.timer, self.now = timer, now
        self.sessions: set[_Session] = set()
        self.arrived = arrived
        self._numbers = numbers or count(1)
        self._failed: HarnessError | None = None

    def bare(self, command: str) -> Order:
        """Return the order in a command that came without the wrapper."""
        return Order.bare(next(self._numbers), command)

    def ask(self, act: Callable[[], _T]) -> _T:
        """Let the service do something; the SSH library would take its failure for one of the link's."""
        try:
            return act()
        except HarnessError as error:
            self._failed = error
            raise
        except Exception as error:
            trouble = f"the fake service {self.handler.name!r} failed: {type(error).__name__}: {error}"
            self._failed = HarnessError(trouble)
            raise self._failed from error

    def leave(self) -> None:
        """End every link that is still open: whoever was there has gone. Raises what the service has failed with."""
        for session in self.sessions:
            session.leave()
        self.sessions.clear()
        if self._failed is not None:
            raise self._failed

    async def listen(self, name: str, address: str, port: int) -> asyncssh.SSHAcceptor:
        """Let a server at an address answer for the host ``name``."""
        return await asyncssh.listen(address, port, **self.options(name))

    def options(self, name: str) -> dict[str, Any]:
        """Return how asyncssh serves the host ``name``; its key is a wrong one where a fault says so."""
        fault = self.plan.at(Point.TLS)
        wrong = fault is not None and fault.action.name == "fail"
        if fault is not None and wrong:
            land(self.plan, self.emit, fault)
        return {
            "server_factory": lambda: _Door(self, name),
            "server_host_keys": [host_key("somebody else" if wrong else TRUSTED)],
            "config": None,
            "gss_host": None,
            "encoding": None,
            **_CHEAP,
        }


class _Door(asyncssh.SSHServer):
    """One connection: who is let in, and to what."""

    def __init__(self, host: SSHHost, name: str) -> None:
        self._host, self._name = host, name
        self._token = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Let a fault of the handshake act before a byte is said."""
        self._conn = conn
        fault = self._host.plan.at(Point.AFTER_ACCEPT, Point.TLS)
        if fault is not None:
            land(self._host.plan, self._host.emit, fault)
            _cut(conn, fault.action.name)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - one account is enough
        """Ask everybody for a credential."""
        return True

    def password_auth_supported(self) -> bool:
        """Take the credential of the trial in the place of a password."""
        return True

    def validate_password(self, username: str, password: str) -> bool:  # noqa: ARG002 - likewise
        """Let in whoever has a credential that is accepted now."""
        host, fault = self._host, self._host.plan.at(Point.BEFORE_COMMIT)
        if fault is not None and fault.action.name in _CREDENTIALS:
            host.ask(lambda: host.handler.disturb(fault.action, fault.operation))
            land(host.plan, host.emit, fault)
        self._token = password
        return host.ask(lambda: host.handler.accepts(password))

    def session_requested(self) -> asyncssh.SSHServerSession[bytes]:
        """Open a session for one order."""
        session = _Session(self._host, self._name, self._token, self._conn)
        self._host.sessions.add(session)
        return session


class _Session(asyncssh.SSHServerSession[bytes]):
    """One order, from its arrival to the end of its link."""

    def __init__(self, host: SSHHost, name: str, token: str, conn: asyncssh.SSHServerConnection) -> None:
        self._host, self._name, self._token, self._conn = host, name, token, conn
        self._order: Order | None = None
        self._run: Run | None = None
        self._refused: State | None = None
        self._fault: Fault | None = None  # acts on the answer
        self._silent = False

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        """Keep the way back."""
        self._chan = chan

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - whatever ended it
        """Note that nobody listens any more."""
        self.leave()
        self._host.sessions.discard(self)

    def eof_received(self) -> bool:
        """Go on: that the client has nothing to say to the command does not end it."""
        return True

    def leave(self) -> None:
        """Let the command feel that its link is gone."""
        self._silent = True
        if self._run is not None:
            self._run.hang_up()

    def exec_requested(self, command: str) -> bool:
        """Take an order, or a bare command; False refuses it, and nothing is run."""
        host = self._host
        order = self._order = read_order(command) or host.bare(command)
        host.arrived(order)
        fault = host.plan.at(Point.DURING_REQUEST)
        if fault is not None:
            if fault.commits:
                self._received(order)
                self._start(order, None)
            self._cut_off(fault)
            return fault.action.name == "silence"
        self._received(order)
        fault = host.plan.at(Point.BEFORE_COMMIT, Point.AFTER_COMMIT, Point.IN_BODY)
        if fault is not None and fault.action.name == "deny":
            self._disturb(fault)
        if not host.ask(lambda: host.handler.permits(self._token, OPERATION)):
            return False
        self._start(order, fault)
        return True

    def session_started(self) -> None:
        """Answer at once where nothing was run."""
        if self._refused is not None:
            is_marked = self._order is not None and self._order.is_marked
            self._answer(Ending(REFUSED_STATUS if is_marked else _NOT_FOUND), self._refused)

    def _disturb(self, fault: Fault) -> None:
        self._host.ask(lambda: self._host.handler.disturb(fault.action, fault.operation))
        land(self._host.plan, self._host.emit, fault)

    def _received(self, order: Order) -> None:
        detail = {"service": self._host.handler.name, "host": self._name, "operation_id": order.operation_id}
        self._host.emit("remote_received", id=order.correlation_id or None, detail=detail)

    def _start(self, order: Order, fault: Fault | None) -> None:
        host, action = self._host, "" if fault is None else fault.action.name
        program = host.ask(lambda: host.handler.start(self._name, order, marker=action != "no_marker"))
        if isinstance(program, State):
            self._refused = program
            if fault is not None and program is State.MARKER_REFUSED:
                land(host.plan, host.emit, fault)
            return
        self._launch(order, program, fault)
        if fault is not None and fault.point is Point.BEFORE_COMMIT:
            self._meet(fault)
        else:
            self._fault = fault

    def _launch(self, order: Order, program: Program, fault: Fault | None) -> None:
        host, stop, commits = self._host, Stop(), True
        if fault is not None:
            program, stop, commits = host.ask(lambda: _hindered(program, fault))
        self._run = Run(
            host.handler,
            order,
            program,
            timer=host.timer,
            emit=host.emit,
            ask=host.ask,
            ended=self._ended,
            stop=stop,
            commits=commits,
        )
        self._run.begin(host.now())

    def _meet(self, fault: Fault) -> bool:
        """Let a fault act now; returns whether the link is still there."""
        if fault.action.name in _LINK:
            self._cut_off(fault)
            return False
        land(self._host.plan, self._host.emit, fault)
        return True

    def _cut_off(self, fault: Fault) -> None:
        land(self._host.plan, self._host.emit, fault)
        _cut(self._conn, fault.action.name)
        self._silent = True
        if fault.action.name != "silence" and self._run is not None:
            self._run.hang_up()

    def _ended(self, ending: Ending) -> None:
        if not self._silent and (self._fault is None or self._meet(self._fault)):
            self._answer(ending, State.COMPLETED)

    def _answer(self, ending: Ending, state: State) -> None:
        order, chan = self._order, self._chan
        if order is None:
            return
        if ending.signal is not None:
            chan.exit_with_signal(ending.signal)
            return
        status = ending.exit_status if state is State.COMPLETED else None
        line = Report(order.operation_id, order.correlation_id, state, status).as_line().encode()
        if order.is_marked:
            chan.write(_broken(line, self._fault))
        chan.exit(ending.exit_status or 0)
        told = {"exit_status": ending.exit_status}
        self._host.emit("remote_responded", id=order.correlation_id or None, detail=told)


def _hindered(program: Program, fault: Fault) -> tuple[Program, Stop, bool]:
    """What a fault makes of a command: how long it takes, how it stops, and whether it does anything at all."""
    given, lives_on = fault.action.parameters, program.output is Output.SILENT
    match fault.action.name:
        case "exit":
            parts = (given["parts"] or None) if fault.commits else 0
            return program, Stop(parts, given["exit_status"]), True
        case "kill":
            return program, Stop(None if fault.commits else 0, signal=given["kind"]), True
        case "delay":
            longer = program.seconds + given["seconds"] / program.parts
            return program._replace(seconds=longer), Stop(), fault.commits
        case "fin" | "rst" if fault.point is Point.BEFORE_COMMIT and fault.commits and not lives_on:
            told = f"a command with the output '{program.output}' dies with its link, so no fault of it is committed"
            raise HarnessError(told)
    # What dies by itself when its link ends is not killed a second time.
    return program, Stop(), fault.commits or not lives_on


def _broken(line: bytes, fault: Fault | None) -> bytes:
    match fault.action.name if fault is not None else "":
        case "garbage":
            return b"Last login: Thu Jan  1 00:00:00 1970\n"
        case "cut":
            return line[: fault.action.parameters["bytes"]] if fault is not None else line
    return line


def _cut(conn: asyncssh.SSHServerConnection, action: str) -> None:
    """End a connection without a word of SSH, as a network does."""
    if action not in _LINK:
        return
    link, sock = conn.get_extra_info("link"), conn.get_extra_info("socket")
    if link is not None:
        link.cut(action)
    elif action != "silence":
        if action == "rst":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        conn.abort()


class SimulatedSSH:
    """The SSH side of a simulated network: every call gets an event loop of its own, on the network's time."""

    def __init__(self, network: SimulatedNetwork, handlers: Iterable[CommandHost]) -> None:
        self._network = network
        self._hosts = {
            name: SSHHost(handler, network.plan, network.emit, network.call_at, network.clock.now)
            for handler in handlers
            for name in handler.hosts
        }

    def run(self, name: str, client: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Let an asynchronous client of the host ``name`` do its work; whatever it leaves behind is ended.

        Returns what the client returns; raises HarnessError where the fake service failed.
        """
        self._network.settle()
        loop, host = VirtualLoop(self._network, self._dial), self._hosts.get(name)
        try:
            if host is not None:
                loop.run_until_complete(host.listen(name, name, _PORT))
            return loop.run_until_complete(client())
        finally:
            loop.end()
            if host is not None:
                host.leave()

    async def _dial(self, name: str) -> None:
        """Meet what there is to meet before a connection."""
        network = self._network
        if name in self._hosts:
            network.connections.append((network.plan.call_id, self._hosts[name].handler.name))
        fault = network.plan.at(Point.DNS, Point.BEFORE_CONNECT)
        if fault is not None:
            land(network.plan, network.emit, fault)
            if fault.action.name == "silence":
                await asyncio.get_running_loop().create_future()
        await asyncio.sleep(network.latency_s)
        if name not in self._hosts or (fault is not None and fault.point is Point.DNS):
            raise socket.gaierror(-2, "Name or service not known")
        if fault is not None:
            raise ConnectionRefusedError(111, "Connection refused")
