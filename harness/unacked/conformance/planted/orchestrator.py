"""A small orchestrator that does everything right, or one thing wrong: each check has a fault that it must catch.

It is here to put the checks to the test, not to run agents: plans and journals are plain lists, and nothing is fast.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from unacked.canonical import JSON
from unacked.conformance.planted.slots import Slots

__all__ = ["FAULTS", "Ground", "Planted", "StepFailed"]

FAULTS: Mapping[str, str] = {
    "C1": "after a crash the last finished step runs again",
    "C2": "the last step of a finished run runs again on resume",
    "C3": "a resumer looks for a lock, and takes it a moment later",
    "C4": "a run that was started holds no lock",
    "C5": "a worker that stands by never takes over",
    "C6": "recorded values are matched by the order of calls",
    "C7": "a step that has used up its attempts is dropped silently",
    "C8": "a changed plan is taken for the old one, step by step",
    "C9": "a step that is interrupted is noted as done",
    "L1": "what timed out ends as cancelled",
    "L2": "a second start with other input is taken for the first",
    "L3": "a step that ends after the cancellation is followed by the next",
    "S1": "steps are expected to stand behind those that they depend on",
    "S2": "a join gives up waiting",
    "S3": "conditions are ignored",
    "S4": "what depends on a failed step runs",
    "S5": "one more step at once than the cap allows",
    "S6": "the highest priority always goes first",
    "S7": "slots are filled again when all of them are free",
    "R1": "all delays between attempts are equal",
    "R2": "delays do not vary",
    "R3": "timers know whole seconds",
    "T1": "a time limit acts five times too late",
    "T2": "when a run's time is over, what runs goes on",
    "T3": "what is out of time is killed without a chance to clean up",
    "P1": "branches share one argument",
    "A1": "values are handed on in the order in which they came",
    "A2": "a step that was begun twice is counted twice",
    "A3": "no more than sixteen results are handed on",
    "G1": "what was done is taken back in the order in which it was done",
    "G2": "what was taken back is not written down",
    "G3": "a cancellation stops what is being taken back",
    "G4": "what cannot be taken back is passed over",
}
"""What is wrong where a fault is switched on, by the check that must catch it."""

DONE, REFUSED = 0, 1
_MOMENT_S = 0.05
_IMPATIENT_S = 2.5
_MANY = 3  # a step behind so many others is a join


class StepFailed(Exception):
    """A probe has failed."""


class Ground(Protocol):
    """What one command of the orchestrator stands on: its journal, its lock, and probes."""

    def entries(self) -> Sequence[Mapping[str, JSON]]:
        """What was noted of this run so far, by whichever command."""
        ...

    def note(self, entry: Mapping[str, JSON]) -> None:
        """Note one thing more."""
        ...

    def lock(self, *, force: bool = False) -> bool:
        """Take the lock of the run, unless a living command holds it; ``force`` takes it all the same."""
        ...

    def locked(self) -> bool:
        """Whether a living command holds the lock."""
        ...

    def cancelled(self) -> bool:
        """Whether the run was cancelled."""
        ...

    def chance(self) -> float:
        """A number from 0 to 1."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...

    async def probe(self, step: str, argument: JSON, context: JSON, *, gently: bool) -> JSON:
        """Run a probe and return its value; raises StepFailed. ``gently`` lets it clean up when this is cancelled."""
        ...


class Planted:
    """One command that carries out a run; ``fault`` is what it does wrong."""

    def __init__(self, plan: Mapping[str, JSON], ground: Ground, fault: str | None) -> None:
        self._plan, self._ground, self._fault = plan, ground, fault
        self._steps: Mapping[str, Mapping[str, JSON]] = {step["id"]: step for step in plan["steps"]}
        self._slots = Slots(plan["cap"] + self._has("S5"), batches=self._has("S7"), ageing=not self._has("S6"))
        self._over = {name: asyncio.Event() for name in self._steps}
        self._state: dict[str, str] = {}
        self._values: dict[str, JSON] = {}
        self._recorded: dict[str, JSON] = {}
        self._begun: list[str] = []
        self._order: list[str] = []
        self._ended: str | None = None
        self._undoing: asyncio.Future[None] | None = None
        self._interrupted = False
        self._calls = 0

    def _has(self, fault: str) -> bool:
        return self._fault == fault

    async def start(self) -> int:
        """Begin the run and carry it out; return the exit status."""
        if not self._has("C4") and not self._ground.lock():
            return REFUSED
        if self._ground.entries():
            return DONE if self._has("L2") else REFUSED
        self._ground.note({"plan": self._plan})
        return await self._carry_out()

    async def resume(self) -> int:
        """Go on with a run whose command has ended; return the exit status."""
        if self._has("C3"):
            if self._ground.locked():
                return REFUSED
            await self._ground.sleep(_MOMENT_S)
        if not self._ground.lock(force=self._has("C3")):
            return REFUSED
        if not self._ground.entries():  # its command ended before it could note anything
            self._ground.note({"plan": self._plan})
        entries = self._ground.entries()
        began = entries[0]["plan"]
        if began != self._plan and not self._has("C8"):
            return REFUSED
        if "finished" in entries[-1] and not self._has("C2"):
            return DONE
        self._recall(entries, [step["id"] for step in began["steps"]])
        return await self._carry_out()

    async def stand_by(self) -> int:
        """Wait until a run's command has ended, and take over."""
        while self._has("C5") or self._ground.locked():
            await self._ground.sleep(_MOMENT_S)
        return await self.resume()

    def _recall(self, entries: Sequence[Mapping[str, JSON]], began: Sequence[str]) -> None:
        """Take in what was noted: values by their key, and what was begun."""
        named = dict(zip(began, self._steps, strict=False)) if self._has("C8") else {}
        for entry in entries:
            if "value" in entry:
                self._recorded[named.get(str(entry["key"]), str(entry["key"]))] = entry["value"]
            if "begun" in entry:
                self._begun.append(entry["begun"])
        finished, crashed = "finished" in entries[-1], not entries[-1].keys() & {"finished", "interrupted"}
        done = [entry["key"] for entry in entries if entry.get("key") in self._steps]
        if done and ((self._has("C1") and crashed) or (self._has("C2") and finished)):
            del self._recorded[done[-1]]

    async def _carry_out(self) -> int:
        await self._run_steps()
        state = self._outcome()
        if state != "succeeded":
            await self._take_back()
            confused = self._has("L1") and state == "timed_out" and self._ended is None
            await self._tell("cancelled" if confused else state, None)
        self._ground.note({"finished": state})
        return DONE

    def _outcome(self) -> str:
        found = set(self._state.values())
        return self._ended or next((state for state in ("timed_out", "failed") if state in found), "succeeded")

    async def _run_steps(self) -> None:
        nodes = [asyncio.ensure_future(self._node(step)) for step in self._steps.values()]
        watch = asyncio.ensure_future(self._watch(nodes))
        deadline_s = self._plan["deadline_s"]
        try:
            _, left = await asyncio.wait(nodes, timeout=deadline_s)
        except asyncio.CancelledError:
            self._interrupted = True
            _cancel([*nodes, watch])
            await asyncio.wait(nodes)
            self._ground.note({"interrupted": True})
            raise
        if left:
            self._ended = "timed_out"
            if not self._has("T2"):
                _cancel(left)
            await asyncio.wait(left)
        if not self._has("G3"):
            watch.cancel()

    async def _watch(self, running: Sequence[asyncio.Future[None]]) -> None:
        while not self._ground.cancelled():
            await self._ground.sleep(_MOMENT_S)
        self._ended = "cancelled"
        if not self._has("L3"):
            _cancel(running)
        if self._has("G3") and self._undoing is not None:
            self._undoing.cancel()

    async def _node(self, step: Mapping[str, JSON]) -> None:
        name = step["id"]
        try:
            for before in step["after"]:
                await self._wait_for(step, before)
            self._state[name] = await self._decided(step)
        except asyncio.CancelledError:
            self._state[name] = "cancelled"
            if self._interrupted and self._has("C9") and name in self._begun:
                self._ground.note({"key": name, "value": None})
        finally:
            self._over[name].set()

    async def _wait_for(self, step: Mapping[str, JSON], before: str) -> None:
        names = list(self._steps)
        if self._has("S1") and names.index(before) > names.index(step["id"]):
            return
        with suppress(TimeoutError):
            impatient = self._has("S2") and len(step["after"]) >= _MANY
            async with asyncio.timeout(_IMPATIENT_S if impatient else None):
                await self._over[before].wait()

    async def _decided(self, step: Mapping[str, JSON]) -> str:
        """Skip the step or run it, and return the state in which it ends."""
        harmless = ("done", "failed") if self._has("S4") else ("done",)
        lost = [name for name in step["after"] if self._state.get(name, "done") not in harmless]
        if lost and step["after_failure"] == "skip":
            return "skipped"
        if step["when"] and self._values.get(step["when"][0]) != step["when"][1] and not self._has("S3"):
            return "skipped"
        self._calls += 1
        key = f"#{self._calls}" if self._has("C6") else step["id"]
        if key not in self._recorded:
            state = await self._attempts(step, key)
            if state != "done":
                return state
        self._values[step["id"]] = self._recorded[key]
        self._order.append(step["id"])
        return "done"

    async def _attempts(self, step: Mapping[str, JSON], key: str) -> str:
        delay_s = math.ceil(step["delay_s"]) if self._has("R3") else step["delay_s"]
        await self._ground.sleep(delay_s)
        for attempt in range(1, step["attempts"] + 1):
            if attempt > 1:
                await self._ground.sleep(self._back_off(step, attempt - 1))
            await self._slots.acquire(step["priority"], again=attempt > 1)
            try:
                value = await self._limited(step)
            except TimeoutError:
                return "timed_out"
            except StepFailed:
                continue
            finally:
                self._slots.release()
            self._recorded[key] = value
            self._ground.note({"key": key, "value": value})
            return "done"
        if step["attempts"] > 1 and not self._has("C7"):
            await self._tell("deadletter", step["id"])
        return "failed"

    def _back_off(self, step: Mapping[str, JSON], failed: int) -> float:
        delay_s: float = step["first_s"] * (1 if self._has("R1") else step["factor"] ** (failed - 1))
        jitter = 0 if self._has("R2") else step["jitter"]
        return delay_s * (1 + jitter * (2 * self._ground.chance() - 1))

    async def _limited(self, step: Mapping[str, JSON]) -> JSON:
        name, limit_s = step["id"], step["timeout_s"]
        if limit_s is not None and self._has("T1"):
            limit_s *= 5
        self._begun.append(name)
        self._ground.note({"begun": name})
        async with asyncio.timeout(limit_s):
            gently = not self._has("T3")
            return await self._ground.probe(name, self._argument(step), self._context(step["after"]), gently=gently)

    def _argument(self, step: Mapping[str, JSON]) -> JSON:
        given = [found["argument"] for found in self._steps.values() if found["argument"] is not None]
        return given[-1] if self._has("P1") and step["argument"] is not None and len(given) > 1 else step["argument"]

    def _context(self, before: Sequence[str]) -> list[list[JSON]]:
        """Pairs of each step that a step depends on and its value; none for what was skipped or has failed."""
        names = [name for name in before if name in self._values]
        pairs = [[name, self._values[name]] for name in names]
        if len(before) < _MANY:
            return pairs
        if self._has("A1"):
            came = [name for name in self._order if name in names]
            return [[name, self._values[other]] for name, other in zip(names, came, strict=True)]
        if self._has("A2"):
            return [pair for pair in pairs for _ in range(max(1, self._begun.count(pair[0])))]
        return pairs[:16] if self._has("A3") else pairs

    async def _take_back(self) -> None:
        done = [name for name in self._order if self._steps[name]["undo"]]
        self._undoing = asyncio.ensure_future(self._undo(done if self._has("G1") else done[::-1]))
        await asyncio.wait([self._undoing])

    async def _undo(self, names: Sequence[str]) -> None:
        stuck = []
        for name in names:
            undo = self._steps[name]["undo"]
            if undo in self._recorded:
                continue
            try:
                value = await self._ground.probe(undo, None, [[name, self._values[name]]], gently=True)
            except StepFailed:
                stuck.append(name)
                continue
            if not self._has("G2"):
                self._ground.note({"key": undo, "value": value})
        for name in stuck:
            if not self._has("G4"):
                await self._tell("compensation_failed", name)

    async def _tell(self, state: str, step: str | None) -> None:
        """Run the step that the plan has for a state."""
        handler = self._plan["on"].get(state)
        if handler is not None and handler not in self._recorded:
            value = await self._ground.probe(handler, None, [] if step is None else [[step, None]], gently=True)
            self._ground.note({"key": handler, "value": value})


def _cancel(running: Iterable[asyncio.Future[None]]) -> None:
    for future in running:
        future.cancel()
