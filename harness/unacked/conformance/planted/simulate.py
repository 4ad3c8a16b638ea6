"""Planted orchestrators in memory: commands are tasks, probes obey their scripts on virtual time, kill -9 is exact."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial

from unacked.canonical import JSON
from unacked.conformance.check import Check, Finding, Pace, Scenario
from unacked.conformance.planted.orchestrator import Planted, StepFailed
from unacked.conformance.planted.virtual import VirtualLoop
from unacked.conformance.probe import acts, value_of
from unacked.conformance.record import Command, Line
from unacked.conformance.run import exercise

__all__ = ["PACE", "simulated"]

PACE = Pace(beat_s=0.25, start_s=0.5, lease_s=0.5, wait_bound_s=1.5)
_PATIENCE_S = 30.0
_KILLED, _INTERRUPTED = -9, -2


def simulated(check: Check, fault: str | None) -> Finding:
    """Play one check against the planted orchestrator, and return what it finds."""
    loop = VirtualLoop()
    try:
        stages = partial(_stage, fault)
        return loop.run_until_complete(exercise(check, stages, PACE, patience_s=_PATIENCE_S))
    finally:
        loop.run_until_complete(_end())
        loop.close()


async def _end() -> None:
    """End what was killed: it still sleeps, without any effect."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _stage(fault: str | None, scenario: Scenario, _: int) -> SimulatedStage:
    return SimulatedStage(scenario, fault)


@dataclass(eq=False)
class _World:
    """What outlives a command: the journal, the lock, the record of the probes."""

    scripts: Mapping[str, Mapping[str, JSON]]
    journal: list[Mapping[str, JSON]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    holder: _Ground | None = None
    cancelled: bool = False
    grown: asyncio.Event = field(default_factory=asyncio.Event)
    chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 - delays are no secrets


class SimulatedStage:
    """One run by the planted orchestrator, in memory."""

    def __init__(self, scenario: Scenario, fault: str | None) -> None:
        self._fault = fault
        self._plans = [plan.as_json("run", []) for plan in scenario.plans]
        self._world = _World({name: asdict(acts) for plan in scenario.plans for name, acts in plan.scripts.items()})
        self._begun: list[tuple[str, _Ground, asyncio.Task[int]]] = []

    def lines(self) -> Sequence[Line]:
        """What the probes have written so far."""
        return self._world.lines

    def commands(self) -> Sequence[Command]:
        """The commands that were begun, in order."""
        return [Command(verb, ground.host, _status(ground, task)) for verb, ground, task in self._begun]

    async def begin(self, verb: str, plan: int) -> None:
        """Begin a command."""
        ground = _Ground(self._world, len(self._begun) + 1)
        if verb == "cancel":
            self._world.cancelled = True
        planted = Planted(self._plans[plan], ground, self._fault)
        does = {"start": planted.start, "resume": planted.resume, "worker": planted.stand_by, "cancel": _nothing}
        task = asyncio.ensure_future(does[verb]())
        task.add_done_callback(lambda _: ground.leave())
        self._begun.append((verb, ground, task))

    async def kill(self, host: int) -> None:
        """Let a command end here and now, unless it has ended."""
        _, ground, task = self._begun[host - 1]
        if not task.done():
            ground.die()

    async def interrupt(self, host: int) -> None:
        """Do what ``asyncio.run`` does at SIGINT."""
        self._begun[host - 1][2].cancel()

    async def changed(self, within_s: float) -> None:
        """Return when a line was written or a command has ended, or after so many seconds."""
        self._world.grown.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._world.grown.wait()

    async def close(self) -> None:
        """End whatever still runs."""
        for _, ground, _ in self._begun:
            ground.die()


async def _nothing() -> int:
    return 0


def _status(ground: _Ground, task: asyncio.Task[int]) -> int | None:
    if not ground.alive:
        return _KILLED
    if task.done() and task.cancelled():
        return _INTERRUPTED
    return task.result() if task.done() else None


class _Ground:
    """What one simulated command stands on. Once it is dead, nothing it does has any effect."""

    def __init__(self, world: _World, host: int) -> None:
        self._world, self.host = world, host
        self.alive = True

    def die(self) -> None:
        """Be killed: no clean-up runs, and the kernel frees the lock."""
        self.alive = False
        self.leave()

    def leave(self) -> None:
        """Be gone, and hold no lock any more."""
        if self._world.holder is self:
            self._world.holder = None
        self._world.grown.set()

    def entries(self) -> Sequence[Mapping[str, JSON]]:
        """What was noted of the run so far."""
        return list(self._world.journal)

    def note(self, entry: Mapping[str, JSON]) -> None:
        """Note one thing more."""
        if self.alive:
            self._world.journal.append(entry)

    def lock(self, *, force: bool = False) -> bool:
        """Take the lock."""
        if self.locked() and self._world.holder is not self and not force:
            return False
        self._world.holder = self
        return True

    def locked(self) -> bool:
        """Whether somebody holds the lock."""
        return self._world.holder is not None

    def cancelled(self) -> bool:
        """Whether the run was cancelled."""
        return self._world.cancelled

    def chance(self) -> float:
        """A number from 0 to 1, the same in every simulation."""
        return self._world.chance.random()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)
        self._live()

    def _live(self) -> None:
        """Stop whoever is dead: nothing that it has begun will have had any effect."""
        if not self.alive:
            raise asyncio.CancelledError

    async def probe(self, step: str, argument: JSON, context: JSON, *, gently: bool) -> JSON:
        """Obey the script of a step."""
        self._live()
        probe = _Probe(self, self._world, step, argument, context)
        script = self._world.scripts.get(step, {})
        value = value_of(step, argument, [value for _, value in context])
        obeying = asyncio.ensure_future(probe.obey(script, value))
        try:
            await asyncio.shield(obeying)
        except asyncio.CancelledError:
            await probe.stop(obeying, gently=gently, stubborn=bool(script.get("stubborn")))
            raise
        finally:
            if gently and script.get("cleanup_s") is not None:
                await asyncio.sleep(script["cleanup_s"])
                probe.write("released")
        self._live()
        return value

    def write(self, line: Line) -> None:
        """Append a line of a probe."""
        if self.alive:
            self._world.lines.append(line)
            self._world.grown.set()


class _Probe:
    def __init__(self, ground: _Ground, world: _World, step: str, argument: JSON, context: JSON) -> None:
        self._ground, self._world = ground, world
        begun = sum(line.step == step and line.event == "begin" for line in world.lines)
        self._line = partial(
            Line,
            step=step,
            attempt=begun + 1,
            host=ground.host,
            pid=ground.host,
            argument=argument,
            context=tuple((before, value) for before, value in context),
        )

    def write(self, event: str, value: JSON = None) -> None:
        at_s = asyncio.get_running_loop().time()
        self._ground.write(self._line(number=len(self._world.lines) + 1, event=event, at_s=at_s, value=value))

    async def obey(self, script: Mapping[str, JSON], value: JSON) -> None:
        attempt = self._line.keywords["attempt"]
        self.write("begin")
        for act, what in acts(dict(script), attempt, value):
            if act == "sleep":
                await asyncio.sleep(what)
                continue
            self.write(act, what)
            if act == "kill":
                self._ground.die()
                raise asyncio.CancelledError
            if act == "raise":
                raise StepFailed

    async def stop(self, obeying: asyncio.Future[None], *, gently: bool, stubborn: bool) -> None:
        if gently and stubborn:
            await asyncio.wait([obeying])
            return
        obeying.cancel()
        if gently:
            self.write("stopped")
