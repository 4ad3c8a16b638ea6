"""For adapters in Python: carry out a plan by coroutines.

Where an orchestrator has users write runs as coroutines, its order, joins and conditions are those of Python: ``walk``
is then the user's code, and only what it calls is the orchestrator's. Orchestrators with graphs of their own need none
of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from unacked.canonical import JSON
from unacked.conformance.job import StepFailed, StepTimedOut, context_of, is_wanted, worst_of

__all__ = ["walk"]

Call = Callable[[str, JSON, JSON, Mapping[str, JSON]], Awaitable[JSON]]
"""How an orchestrator carries out one step: by name, argument, context, and what else the plan says of it."""


async def walk(plan: Mapping[str, JSON], call: Call, sleep: Callable[[float], Awaitable[object]]) -> str:
    """Carry out a plan with an orchestrator's own steps and timers; return the state in which the run ended."""
    return await _Walk(plan, call, sleep).run()


class _Walk:
    def __init__(self, plan: Mapping[str, JSON], call: Call, sleep: Callable[[float], Awaitable[object]]) -> None:
        self._plan, self._call, self._sleep = plan, call, sleep
        self._over = {step["id"]: asyncio.Event() for step in plan["steps"]}
        self._values: dict[str, JSON] = {}
        self._states: dict[str, str] = {}

    async def run(self) -> str:
        state = "succeeded"
        try:
            await asyncio.gather(*(self._node(step) for step in self._plan["steps"]))
        except asyncio.CancelledError:
            state = "cancelled"
        if state == "succeeded":
            state = worst_of(self._states.values())
        if state != "succeeded":
            await _shielded(self._end(state))
        return state

    async def _node(self, step: Mapping[str, JSON]) -> None:
        name = step["id"]
        for before in step["after"]:
            await self._over[before].wait()
        try:
            self._states[name] = await self._step(step)
        finally:
            self._over[name].set()

    async def _step(self, step: Mapping[str, JSON]) -> str:
        if step["after_failure"] == "skip" and any(self._states[before] != "done" for before in step["after"]):
            return "skipped"
        if not is_wanted(step, self._values):
            return "skipped"
        if step["delay_s"]:
            await self._sleep(step["delay_s"])
        try:
            self._values[step["id"]] = await self._call(
                step["id"], step["argument"], context_of(step, self._values), step
            )
        except StepTimedOut:
            return "timed_out"
        except StepFailed:
            if step["attempts"] > 1:
                await self._tell("deadletter", step["id"])
            return "failed"
        return "done"

    async def _end(self, state: str) -> None:
        """Take back what was done, last first, and tell of the end."""
        undos = {step["id"]: step["undo"] for step in self._plan["steps"] if step["undo"]}
        stuck = []
        for name in reversed([name for name in self._values if name in undos]):
            try:
                await self._call(undos[name], None, [[name, self._values[name]]], {})
            except StepFailed:
                stuck.append(name)
        for name in stuck:
            await self._tell("compensation_failed", name)
        await self._tell(state, None)

    async def _tell(self, state: str, step: str | None) -> None:
        handler = self._plan["on"].get(state)
        if handler is not None:
            await self._call(handler, None, [] if step is None else [[step, None]], {})


async def _shielded(work: Awaitable[None]) -> None:
    """Carry out ``work`` to its end, whatever is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            continue
