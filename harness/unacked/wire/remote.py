"""Commands on a host, whatever carries them: what a host is asked, and how one command runs on it.

A command that has started goes on by itself. What becomes of it when its link ends depends on what it does
with its output; the durable markers say afterwards how far it came.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

from unacked.event import Emit
from unacked.fault import Action, Point
from unacked.marker import Order, State
from unacked.wire.connection import Timer

__all__ = ["REMOTE_FAULTS", "CommandHost", "Ending", "Output", "Program", "Run", "Stop"]

_CREDENTIALS = frozenset({"expire_credential", "revoke_credential", "never_valid"})
_LINK = frozenset({"fin", "rst", "silence"})

REMOTE_FAULTS: Mapping[Point, frozenset[str]] = {
    Point.DNS: frozenset({"fail", "silence"}),
    Point.BEFORE_CONNECT: frozenset({"refuse", "silence"}),
    Point.TLS: frozenset({"fail", *_LINK}),
    Point.AFTER_ACCEPT: _LINK,
    Point.DURING_REQUEST: _LINK,
    Point.BEFORE_COMMIT: frozenset({*_LINK, *_CREDENTIALS, "deny", "delay", "exit", "kill", "no_marker"}),
    Point.AFTER_COMMIT: frozenset({*_LINK, "exit", "kill"}),
    Point.IN_BODY: frozenset({"garbage", "cut"}),
}
"""Which faults a remote command can meet, and what the points mean there.

``tls`` is the handshake, with the host's key in it; ``during_request`` the order on its way; ``before_commit``
the time between the start marker and the first change; ``after_commit`` the time after the last one;
``in_body`` the report of the wrapper.
"""


class Output(StrEnum):
    """What a command does with its output, which decides what the end of its link does to it."""

    SILENT = "silent"
    LATER = "later"
    TTY = "tty"


OPERATION = "run_command"
"""The operation that an order means."""


class Program(NamedTuple):
    """What a host makes of one command: so many parts, each of so many seconds, one after the other."""

    parts: int
    seconds: float
    output: Output


class Stop(NamedTuple):
    """How a fault ends a command before its time: after ``parts`` of it (None: all), by a status or a signal."""

    parts: int | None = None
    exit_status: int = 0
    signal: str | None = None


class Ending(NamedTuple):
    """How a command ended."""

    exit_status: int | None
    signal: str | None = None


@runtime_checkable
class CommandHost(Protocol):
    """A fake service that takes commands, as the wire knows it; ``hosts`` are the names it answers to."""

    @property
    def name(self) -> str:
        """The service's name in events."""
        ...

    @property
    def hosts(self) -> Collection[str]:
        """The names of its hosts."""
        ...

    def accepts(self, token: str) -> bool:
        """Whether a credential lets anybody in."""
        ...

    def permits(self, token: str, operation: str) -> bool:
        """Whether the identity behind an accepted credential may do this."""
        ...

    def start(self, host: str, order: Order, *, marker: bool) -> Program | State:
        """Write the start marker, if that is possible, and say what will run; else why nothing will.

        A bare order needs no marker.
        """
        ...

    def perform(self, order: Order, part: int, at_s: float) -> None:
        """Make the change that part ``part`` (from 0) of a started command makes, at ``at_s``, which may be past."""
        ...

    def complete(self, order: Order, exit_status: int) -> None:
        """Write the completion marker."""
        ...

    def disturb(self, action: Action, operation: str) -> None:
        """Change the host's own rules before the next order."""
        ...


_BROKEN_PIPE = 141
"""What the shell reports of a command that wrote to a pipe whose other end is gone: 128 + SIGPIPE."""


class Run:
    """One command on a host, from its start marker to its end.

    ``commits=False`` is the hidden side: the command is killed right after its start marker, while whoever
    watches the link sees it end at the same moment and in the same way. ``ended`` is told of the end; ``ask``
    lets the host do something, and knows what to do where it fails.
    """

    def __init__(
        self,
        host: CommandHost,
        order: Order,
        program: Program,
        *,
        timer: Timer,
        emit: Emit,
        ask: Callable[[Callable[[], None]], None],
        ended: Callable[[Ending], None],
        stop: Stop,
        commits: bool = True,
    ) -> None:
        self._host, self._order, self._program = host, order, program
        self._timer, self._emit, self._ask, self._ended = timer, emit, ask, ended
        self._stop = stop
        self._commits = commits
        self._until = program.parts if stop.parts is None else min(stop.parts, program.parts)
        self._done = 0
        self._over = False
        self._pipe_broken = False

    def begin(self, now: float) -> None:
        """Start the command at ``now``, in seconds."""
        self._tell("remote_started", marked=None if self._order.is_marked else False)
        if not self._commits:
            self._tell("remote_ended", signal="KILL")
        self._timer(now + self._program.seconds, lambda: self._step(now + self._program.seconds))

    def hang_up(self) -> None:
        """Let the command feel that its link is gone."""
        match self._program.output:
            case Output.TTY:
                self.kill()
            case Output.LATER:
                self._pipe_broken = True

    def kill(self) -> None:
        """End the command at once; only the start marker stays."""
        if not self._over:
            self._over = True
            self._tell("remote_ended", signal="HUP")

    def _step(self, at_s: float) -> None:
        if self._over:
            return
        if self._pipe_broken:
            self._end(Ending(_BROKEN_PIPE), at_s)
            return
        if self._done < self._until:
            self._perform(at_s)
        if self._done < self._until:
            self._timer(at_s + self._program.seconds, lambda: self._step(at_s + self._program.seconds))
        else:
            self._end(Ending(None if self._stop.signal else self._stop.exit_status, self._stop.signal), at_s)

    def _perform(self, at_s: float) -> None:
        if self._commits:
            self._ask(lambda: self._host.perform(self._order, self._done, at_s))
            self._tell("remote_committed", at=at_s)
        self._done += 1

    def _end(self, ending: Ending, at_s: float) -> None:
        self._over = True
        status = ending.exit_status
        if self._commits:
            if status is not None:
                self._ask(lambda: self._host.complete(self._order, status))
            self._tell("remote_ended", exit_status=status, signal=ending.signal, at=at_s)
        self._ended(ending)

    def _tell(self, event: str, **more: float | str | None) -> None:
        said = {name: value for name, value in more.items() if value is not None}
        self._emit(event, id=self._order.correlation_id or None, detail={"service": self._host.name, **said})
