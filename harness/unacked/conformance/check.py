"""A check: scenarios that are played, and a pure function from what the probes wrote to what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from unacked.canonical import JSON
from unacked.conformance.plan import Plan
from unacked.conformance.record import Observation, Unseen

__all__ = [
    "Cancel",
    "Check",
    "Fails",
    "Finding",
    "Interrupt",
    "Judge",
    "Kill",
    "Move",
    "Pace",
    "Resume",
    "Scenario",
    "Settle",
    "Standby",
    "Start",
    "Status",
    "Until",
    "UntilLines",
    "Wait",
    "insist",
    "settle",
]


class Status(StrEnum):
    """What a check says of an orchestrator."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NOT_CLAIMED = "not claimed"
    NOT_EXERCISED = "not exercised"


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of an orchestrator, in seconds.

    ``beat_s`` is the unit of all plans, ``start_s`` what a command takes to start; the others are what is claimed.
    """

    beat_s: float
    start_s: float = 0.0
    lease_s: float = 0.0
    wait_bound_s: float = 0.0

    def beats(self, count: float) -> float:
        """Return so many units in seconds."""
        return round(self.beat_s * count, 6)

    @property
    def late_s(self) -> float:
        """How long a step must last so that a command that is begun meanwhile acts before its end."""
        return round(2 * self.start_s + 6 * self.beat_s, 6)

    @property
    def slack_s(self) -> float:
        """What a busy machine may take for starting a program, and is held against nobody."""
        return max(1.0, 4 * self.beat_s)


@dataclass(frozen=True, slots=True)
class Start:
    """Start the run with the scenario's n-th plan."""

    plan: int = 0


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with the run, from so many commands at once."""

    plan: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Standby:
    """Start a worker that has nothing to do yet."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel the run."""


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill the command that carries out the run, and everything it has started."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Interrupt the command that carries out the run, as Ctrl-C does, and wait until it has ended by itself."""


@dataclass(frozen=True, slots=True)
class Until:
    """Wait for a line; without it the scenario cannot go on."""

    event: str
    step: str


@dataclass(frozen=True, slots=True)
class UntilLines:
    """Wait for so many lines, or for the end of the run."""

    count: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Settle:
    """Wait until one of some steps has ended, or nothing can come any more; then a little longer, for what must not."""

    steps: Sequence[str]
    quiet_beats: float
    quiet_s: float
    limit_beats: float | None
    more_s: float


def settle(
    *steps: str,
    quiet_beats: float = 2.0,
    quiet_s: float = 0.0,
    limit_beats: float | None = None,
    more_s: float = 0.0,
) -> Settle:
    """Return a Settle that waits ``more_s`` seconds longer than usual.

    With ``limit_beats`` that is how long it waits for workers once everything else has ended, for nothing may come of
    them. Both ``quiet`` times are added up.
    """
    return Settle(steps, quiet_beats, quiet_s, limit_beats, more_s)


Move = Start | Resume | Standby | Cancel | Kill | Interrupt | Until | UntilLines | Wait | Settle


@dataclass(frozen=True, slots=True)
class Scenario:
    """Plans of one run, and what is done to it."""

    plans: Sequence[Plan]
    moves: Sequence[Move]
    name: str = ""


class Fails(Exception):
    """The lines show that a check fails; the message names them."""


def insist(condition: object, explanation: str) -> None:
    """Raise Fails unless the lines are as they must be."""
    if not condition:
        raise Fails(explanation)


Judge = Callable[[Observation, Pace, Scenario], str]
"""Return what the lines show, in words; raises Fails."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, and why; it was ``played`` so often, and has ``failed`` in so many of them."""

    check: str
    status: Status
    explanation: str
    observed: Sequence[Observation] = field(default=(), repr=False)
    failed: int = 0
    played: int = 1

    def as_json(self) -> dict[str, JSON]:
        """Return the finding as a JSON object."""
        told = {"check": self.check, "status": self.status.value, "explanation": self.explanation}
        return {**told, "failed": self.failed, "played": self.played}

    @classmethod
    def of(cls, stored: Mapping[str, JSON]) -> Finding:
        """Return the finding that a JSON object holds; raises KeyError or ValueError."""
        check, status, explanation = stored["check"], Status(stored["status"]), stored["explanation"]
        return cls(check, status, explanation, failed=stored["failed"], played=stored["played"])


@dataclass(frozen=True, slots=True)
class Check:
    """One property of an orchestrator.

    ``needs`` are the capabilities without whose claim it is not tested. ``scenarios`` are played one after another, or
    ``abreast`` where their lines are judged by what they hold and not by when they came. All of them are played
    ``repeat`` times, where what they show is a race that can be won by chance.
    """

    id: str
    title: str
    needs: Sequence[str]
    scenarios: Callable[[Pace], Iterable[Scenario]]
    judge: Judge
    abreast: bool = False
    repeat: int = 1

    def finding(self, scenarios: Sequence[Scenario], observed: Sequence[Observation], pace: Pace) -> Finding:
        """Judge what came of the scenarios; one that fails is enough to fail."""
        failed: list[str] = []
        missed: list[str] = []
        shown = ""
        for scenario, observation in zip(scenarios, observed, strict=True):
            name = f"{scenario.name}: " if scenario.name else ""
            if observation.missed is not None or not observation.lines:
                missed.append(f"{name}{observation.missed or _nothing(observation)}")
                continue
            try:
                shown = self.judge(observation, pace, scenario)
            except Fails as fails:
                failed.append(f"{name}{fails}")
            except Unseen as unseen:
                missed.append(f"{name}{unseen}")
        status = Status.FAIL if failed else Status.NOT_EXERCISED if missed else Status.PASS
        worst = failed or missed
        many = f"{len(worst)} of {len(scenarios)}: " if worst and len(scenarios) > 1 else ""
        told = f"{many}{worst[0]}" if worst else shown
        return Finding(self.id, status, told, observed, failed=len(failed), played=len(scenarios))


def _nothing(observation: Observation) -> str:
    return f"no step ever began; {', '.join(map(str, observation.commands)) or 'no command was run'}"
