"""Carries out a plan as a DBOS workflow: the run is Python code, every step of the plan a step of DBOS."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

from dbos import DBOS, DBOSClient, SetWorkflowID, SetWorkflowTimeout, error

from unacked.conformance.job import Job, StepFailed, StepTimedOut
from unacked.conformance.walk import walk

JOB = Job.told()
RUN, DATABASE = JOB.plan["run"], f"sqlite:///{JOB.state}/dbos.sqlite"


async def call(name: str, argument: Any, context: Any, step: Any) -> Any:
    """Carry out one step."""
    options: Any = {"preemptible": True}
    if step.get("timeout_s") is not None:
        options["timeout_seconds"] = step["timeout_s"]
    if step.get("attempts", 1) > 1:
        options |= {"retries_allowed": True, "max_attempts": step["attempts"]}
        options |= {"interval_seconds": step["first_s"], "backoff_rate": step["factor"]}
    try:
        return await DBOS.run_step_async(options, JOB.probe, name, argument, context)
    except error.DBOSStepTimeoutError:
        raise StepTimedOut(name) from None
    except error.DBOSMaxStepRetriesExceeded:
        raise StepFailed(name) from None


@DBOS.workflow()
async def carry_out(_: str) -> str:
    """The workflow; its input is what the steps are given, the plan is its code."""
    state = await walk(JOB.plan, call, DBOS.sleep_async)
    if state == "cancelled":  # DBOS cancels no coroutine: its process was interrupted, and the run is not over
        raise asyncio.CancelledError
    return state


async def main() -> None:
    """Start the run, or wait for what DBOS recovers when it is launched."""
    if JOB.verb == "start":
        with SetWorkflowID(RUN), SetWorkflowTimeout(JOB.plan["deadline_s"]):
            await DBOS.start_workflow_async(carry_out, json.dumps(JOB.arguments))
    await (await DBOS.retrieve_workflow_async(RUN)).get_result()


if JOB.verb == "cancel":
    DBOSClient(system_database_url=DATABASE).cancel_workflow(RUN)
else:
    version = hashlib.sha256(json.dumps(JOB.plan).encode()).hexdigest()
    DBOS(config={"name": "unacked", "system_database_url": DATABASE, "application_version": version})
    DBOS.launch()
    asyncio.run(main())
