"""Where scenarios are played: what the commands of an adapter can be told to do, and what is heard of them.

There are two: real commands with real probes (``processes``), and planted orchestrators in memory on virtual time
(``planted.simulate``). Who directs a scenario cannot tell them apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from unacked.conformance.check import (
    Cancel,
    Interrupt,
    Kill,
    Move,
    Pace,
    Resume,
    Scenario,
    Settle,
    Standby,
    Start,
    Until,
    UntilLines,
    Wait,
)
from unacked.conformance.record import Command, Line, Observation
from unacked.errors import HarnessError

__all__ = ["Stage", "play"]


class Stage(Protocol):
    """One run of one plan, by one orchestrator."""

    def lines(self) -> Sequence[Line]:
        """What the probes have written so far."""
        ...

    def commands(self) -> Sequence[Command]:
        """The commands that were begun, in order, and what became of each."""
        ...

    async def begin(self, verb: str, plan: int) -> None:
        """Begin a command with the scenario's n-th plan."""
        ...

    async def kill(self, host: int) -> None:
        """Kill a command and all that it has started; return when it is gone."""
        ...

    async def interrupt(self, host: int) -> None:
        """Send a command SIGINT."""
        ...

    async def changed(self, within_s: float) -> None:
        """Return when something may have changed, or after so many seconds."""
        ...

    async def close(self) -> None:
        """Kill whatever still runs."""
        ...


async def play(scenario: Scenario, stage: Stage, pace: Pace, *, patience_s: float) -> Observation:
    """Play a scenario, and return what came of it; no wait lasts longer than ``patience_s`` and the claimed bounds."""
    director = _Director(stage, pace, patience_s + pace.lease_s)
    try:
        await director.play(scenario.moves)
        return Observation(tuple(stage.lines()), tuple(stage.commands()), director.missed, director.killed)
    finally:
        await stage.close()


class _Director:
    """Makes the moves of one scenario; ``missed`` is what it waited for in vain."""

    def __init__(self, stage: Stage, pace: Pace, patience_s: float) -> None:
        self._stage, self._pace, self._patience_s = stage, pace, patience_s
        self._heard = 0  # lines there were when the run was last started or resumed
        self.missed: str | None = None
        self.killed: tuple[float, int] | None = None

    async def play(self, moves: Sequence[Move]) -> None:
        """Make one move after another, as far as possible."""
        try:
            for move in moves:
                await self._make(move)
                if self.missed is not None:
                    return
        except HarnessError as error:
            self.missed = str(error)

    async def _make(self, move: Move) -> None:
        match move:
            case Start(plan):
                await self._begin("start", plan, 1)
            case Resume(plan, count):
                await self._begin("resume", plan, count)
            case Standby():
                await self._stage.begin("worker", 0)
            case Cancel():
                await self._stage.begin("cancel", 0)
            case Kill() | Interrupt():
                await self._stop(gently=isinstance(move, Interrupt))
            case Wait(seconds):
                await asyncio.sleep(seconds)
            case Until(event, step):
                await self._until(event, step)
            case UntilLines(count):
                await self._wait(lambda: len(self._stage.lines()) >= count or self._idle(), self._patience_s)
            case Settle():
                await self._settle(move)

    async def _begin(self, verb: str, plan: int, count: int) -> None:
        self._heard = len(self._stage.lines())
        await asyncio.gather(*(self._stage.begin(verb, plan) for _ in range(count)))

    async def _stop(self, *, gently: bool) -> None:
        """End the command that has written last: by a signal that it can heed, or by one that it cannot."""
        lines = self._stage.lines()
        if not lines:
            self.missed = "no step ever began"
            return
        if gently:
            await self._interrupt(lines[-1])
        else:
            self.killed = asyncio.get_running_loop().time(), lines[-1].host
        await self._end(lines[-1])

    async def _interrupt(self, line: Line) -> None:
        def ended() -> bool:
            return all(command.status is not None for command in self._stage.commands() if command.host == line.host)

        await self._stage.interrupt(line.host)
        await self._wait(ended, self._patience_s)
        if not ended():
            self.missed = f"the command of {line} was interrupted, and ran on"

    async def _end(self, line: Line) -> None:
        """Kill the command that runs the probe of a line; a probe that has left its command shows nothing."""
        if line.host not in {command.host for command in self._stage.commands()}:
            self.missed = f"{line} ran in a session of its own, so that its command could not be killed with it"
        await self._stage.kill(line.host)

    async def _until(self, event: str, step: str) -> None:
        def there() -> Line | None:
            lines = self._stage.lines()
            return next((line for line in lines if (line.event, line.step) == (event, step)), None)

        await self._wait(lambda: there() is not None or self._idle(), self._patience_s)
        line = there()
        if line is None:
            ended = ", ".join(str(command) for command in self._stage.commands() if command.status is not None)
            self.missed = f"waited for the {event} of {step!r} in vain{f'; ended: {ended}' if ended else ''}"
        elif event == "kill":
            await self._end(line)

    async def _settle(self, move: Settle) -> None:
        def over() -> bool:
            ends = (line for line in self._stage.lines()[self._heard :] if line.event == "end")
            return any(line.step in move.steps for line in ends) or self._idle()

        def told() -> bool:
            return over() or all(command.status is not None for command in self._driving())

        if move.limit_beats is None:
            await self._wait(over, self._patience_s + move.more_s)
        else:
            await self._wait(told, self._patience_s)
            await self._wait(over, self._pace.beats(move.limit_beats) + move.more_s)
        await asyncio.sleep(self._pace.beats(move.quiet_beats) + move.quiet_s)

    def _driving(self) -> list[Command]:
        """The commands that end by themselves."""
        return [command for command in self._stage.commands() if command.verb != "worker"]

    def _idle(self) -> bool:
        """Whether every command has ended, so that nothing more can come."""
        return all(command.status is not None for command in self._stage.commands())

    async def _wait(self, there: Callable[[], bool], limit_s: float) -> None:
        loop = asyncio.get_running_loop()
        until_s = loop.time() + limit_s
        while not there() and (left_s := until_s - loop.time()) > 0:
            await self._stage.changed(left_s)
