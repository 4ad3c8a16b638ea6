"""Carries out a plan by the orchestrator of unacked: every step of the plan is a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from unacked.conformance.job import Job, is_wanted
from unacked.orchestrator import Compensation, Context, Journal, Locked, Plan, Propagation, Retry, Runner, Saga, Task

JOB = Job.told()


def task_of(step: Mapping[str, Any]) -> Task:
    """Return a step of the plan as a task."""

    async def work(context: Context) -> Any:
        await asyncio.sleep(step["delay_s"])
        return await context.step("probe", JOB.probe, step["id"], step["argument"], list(context.upstream.items()))

    async def undo(name: str, *_: Any, output: Any) -> None:
        await JOB.probe(step["undo"], None, [(name, output)])

    return Task(
        step["id"],
        work,
        step["after"],
        input=step["argument"],
        condition=(lambda results: is_wanted(step, results)) if step["when"] else None,
        on_upstream_failure=Propagation(step["after_failure"]),
        priority=step["priority"],
        retry=Retry(step["attempts"], step["first_s"], step["factor"], jitter=step["jitter"]),
        timeout_s=step["timeout_s"],
        compensations={"probe": Compensation(undo)} if step["undo"] else {},
    )


async def carry_out(journal: Journal, plan: Plan) -> None:
    """Run what is left of the plan, and tell how it ended."""
    runner = Runner(plan, journal, parallel=JOB.plan["cap"], ageing_s=0.3)
    JOB.heed_cancel(lambda: runner.cancel("asked for"))
    report = await runner.run(deadline_s=JOB.plan["deadline_s"])
    stuck = [step.task for step in report.need_a_person]
    await JOB.tell_end({task.state.lower() for task in report.tasks.values()}, report.dead_letters, stuck)


def main() -> None:
    """Start the run, or go on with it."""
    plan = Plan([task_of(step) for step in JOB.plan["steps"]], saga=Saga.PLAN)
    with Journal(JOB.state / "journal.db", JOB.plan["run"], plan.digest) as journal:
        asyncio.run(carry_out(journal, plan))


if JOB.verb == "cancel":
    JOB.send_cancel()
else:
    JOB.once_free(main, Locked)
