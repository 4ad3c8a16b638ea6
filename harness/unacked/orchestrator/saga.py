"""Taking back what was done: the last step first, one by one, each noted before and after.

A compensation is called with the step's arguments and its output, under the token ``run/task/step/undo``. One that
was interrupted is called again, with the same token. One that fails is left to a person, and the others go on.
A step whose outcome is unknown is not taken back blindly: it is left to a person, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TypeVar

from unacked.orchestrator.context import enter_step
from unacked.orchestrator.journal import Journal
from unacked.orchestrator.records import StepRecord
from unacked.orchestrator.task import Compensation, Plan, draw

__all__ = ["compensate", "owed", "shielded"]

T = TypeVar("T")


def owed(plan: Plan, steps: Sequence[StepRecord]) -> list[StepRecord]:
    """Return the steps that are to be taken back, the last one first; those that only read are left out."""
    return [
        step
        for step in sorted(steps, key=lambda step: -(step.seq or 0))
        if step.state == "ended"
        and step.compensation in (None, "begun")
        and step.name in plan.by_id[step.task].compensations
    ]


async def compensate(plan: Plan, journal: Journal, steps: Sequence[StepRecord], seed: str) -> None:
    """Take ``steps`` back, as far as they have an effect and are not taken back yet."""
    for step in owed(plan, steps):
        journal.mark_compensation(step.task, step.key, "begun")
        error = await _undo(plan.by_id[step.task].compensations[step.name], step, journal.run, seed)
        if error is None:
            journal.mark_compensation(step.task, step.key, "done")
        else:
            journal.mark_compensation(step.task, step.key, "needs_person", error)


async def _undo(compensation: Compensation, step: StepRecord, run: str, seed: str) -> str | None:
    """Call one compensation as often as it may be tried; returns what went wrong the last time."""
    enter_step(f"{run}/{step.task}/{step.key}/undo")
    retry = compensation.retry
    told = None
    for attempt in range(1, retry.max_attempts + 1):
        try:
            async with asyncio.timeout(compensation.timeout_s):
                await compensation.undo(*step.input, output=step.output)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it is, a person has to know
            told = f"{type(error).__name__}: {error}"
        else:
            return None
        if attempt < retry.max_attempts:
            await asyncio.sleep(retry.delay_s(attempt, draw(seed, step.task, step.key, "undo", attempt)))
    return told


async def shielded(work: Coroutine[object, object, T]) -> T:
    """Return what ``work`` returns, once it has ended; a cancellation waits until then."""
    task = asyncio.get_running_loop().create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception:  # noqa: BLE001, S110 - it is told below
            pass
    if cancelled is not None:
        task.exception()
        raise cancelled
    return task.result()
