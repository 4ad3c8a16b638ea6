"""Carries out a plan by the orchestrator of unacked: every step of the plan is a task of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unacked.conformance.walk import run_probe
from unacked.orchestrator import (
    Compensation,
    Context,
    Journal,
    Locked,
    Plan,
    Propagation,
    Report,
    Retry,
    Runner,
    Saga,
    State,
    Task,
)

VERB, STATE = sys.argv[1], Path(sys.argv[3])
PLAN = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))


async def probe(step: str, argument: Any, context: Any) -> Any:
    """Run one probe."""
    return await run_probe(PLAN["probe"], step, argument, context)


def task_of(step: Mapping[str, Any]) -> Task:
    """Return a step of the plan as a task."""

    async def work(context: Context) -> Any:
        await asyncio.sleep(step["delay_s"])
        return await context.step(
            "probe", probe, step["id"], step["argument"], list(map(list, context.upstream.items()))
        )

    async def undo(name: str, *_: Any, output: Any) -> None:
        await probe(step["undo"], None, [[name, output]])

    when = step["when"]
    return Task(
        step["id"],
        work,
        step["after"],
        on_upstream_failure=Propagation(step["after_failure"]),
        condition=None if when is None else lambda results: results.get(when[0]) == when[1],
        priority=step["priority"],
        retry=Retry(step["attempts"], step["first_s"], step["factor"], jitter=step["jitter"]),
        timeout_s=step["timeout_s"],
        input=step["argument"],
        compensations={"probe": Compensation(undo)} if step["undo"] else {},
    )


async def tell(report: Report) -> None:
    """Run the steps that the plan has for how a run ends."""
    states = {task.state for task in report.tasks.values()}
    told: list[tuple[str, str | None]] = [("deadletter", name) for name in report.dead_letters]
    told += [("compensation_failed", step.task) for step in report.need_a_person]
    told += [(state.value.lower(), None) for state in (State.TIMED_OUT, State.CANCELLED) if state in states]
    for kind, name in told:
        if kind in PLAN["on"]:
            await probe(PLAN["on"][kind], None, [] if name is None else [[name, None]])


async def carry_out(journal: Journal, plan: Plan) -> None:
    """Run what is left of the plan; SIGTERM cancels it."""
    runner = Runner(plan, journal, parallel=PLAN["cap"], ageing_s=0.3)
    (STATE / "pid").write_text(str(os.getpid()), encoding="utf-8")
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, runner.cancel, "asked for")
    await tell(await runner.run(deadline_s=PLAN["deadline_s"]))


def main() -> None:
    """Start or resume the run; a worker waits until whoever runs it is gone."""
    plan = Plan([task_of(step) for step in PLAN["steps"]], saga=Saga.PLAN)
    while True:
        try:
            with Journal(STATE / "journal.db", PLAN["run"], plan.digest) as journal:
                return asyncio.run(carry_out(journal, plan))
        except Locked:
            if VERB != "worker":
                raise
            time.sleep(0.1)


if VERB == "cancel":
    os.kill(int((STATE / "pid").read_text(encoding="utf-8")), signal.SIGTERM)
else:
    main()
