"""What a monitor knows of one trial: its calls, its threads, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from unacked.canonical import JSON, digest
from unacked.contract import Operation
from unacked.graph.explain import Explanation
from unacked.graph.expression import Undefined
from unacked.graph.model import Step
from unacked.graph.moves import Call
from unacked.graph.verdict import Verdict

__all__ = ["NO_TARGET", "InFlight", "Move", "Thread", "Told", "Violation", "Walked"]

NO_TARGET = Undefined("target missing")
NO_REQUEST = Undefined("request missing")


@dataclass(slots=True)
class Move:
    """A call with what the operation's contract derives from it; shared by the monitors of a trial."""

    event: int
    call: Call
    operation: Operation
    args: Mapping[str, JSON]
    declared: tuple[int, ...] = ()
    """Which of the operation's declared effects it fits."""
    _payload: str | None = None

    @property
    def target(self) -> JSON | Undefined:
        """The value of the argument that plays the part of the target."""
        part = self.operation.target
        return NO_TARGET if part is None else self.args.get(part, NO_TARGET)

    @property
    def request(self) -> JSON | Undefined:
        """The value of the argument that names the logical request."""
        part = self.operation.request
        return NO_REQUEST if part is None else self.args.get(part, NO_REQUEST)

    def payload(self) -> str:
        """Canonical digest of what the call asks for."""
        if self._payload is None:
            self._payload = digest(self.operation.payload(self.call.args))
        return self._payload


@dataclass(slots=True)
class InFlight:
    """A call that an edge allowed and that has no answer yet."""

    step: Step
    state: str
    move: Move


class Told(NamedTuple):
    """What an agent was told of a thread that was not so: by whom, in which words, and at which event."""

    by: str
    status: str
    event: int


@dataclass(slots=True)
class Thread:
    """One walk of the graph. ``bound_by`` gives the event that bound each variable."""

    name: str
    state: str
    variables: dict[str, JSON] = field(default_factory=dict)
    bound_by: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    in_flight: dict[str, InFlight] = field(default_factory=dict)
    last_write_at: float = 0.0
    entered_by: int | None = None
    entered_how: str = ""
    informed: frozenset[str] | None = None
    """Agents that saw the result which led to the state; None while nothing happened."""
    mover: str | None = None
    """Who made the call whose answer led to the state, where a team is at work."""
    holders: set[str] = field(default_factory=set)
    """Who has written in it, or was left it unsettled."""
    told: dict[str, Told] = field(default_factory=dict)
    """By agent, what it was last told of the thread that was not so."""
    withheld: bool = False
    """Whether the record says of that result who saw it; then nobody else may claim success from it."""
    unmodelled: str = ""
    unsafe: bool = False
    broken: bool = False


class Walked(NamedTuple):
    """One answered call that an edge allowed: the edge, the category, from where to where, and the call's event."""

    edge: str
    category: str
    thread: str
    state: str
    to: str
    event: int


class Violation(NamedTuple):
    """One refused call. ``secondary`` where the same thread was refused something before."""

    rule: str
    severity: Verdict
    graph: str
    thread: str
    event: int
    secondary: bool
    explanation: Explanation
