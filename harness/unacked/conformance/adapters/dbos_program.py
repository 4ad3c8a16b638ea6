"""Carries out a plan as a DBOS workflow: the run is Python code, every step of the plan a step of DBOS."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSClient, SetWorkflowID, SetWorkflowTimeout, error

from unacked.conformance.walk import StepFailed, StepTimedOut, run_probe, walk

VERB, FILE, STATE = sys.argv[1:4]
CODE = Path(FILE).read_bytes()  # the plan is the code of the workflow, not its input
PLAN = json.loads(CODE)
DATABASE = f"sqlite:///{STATE}/dbos.sqlite"


async def call(name: str, argument: Any, context: Any, step: Any) -> Any:
    """Carry out one step."""
    options: Any = {"preemptible": True}
    if step.get("timeout_s") is not None:
        options["timeout_seconds"] = step["timeout_s"]
    if step.get("attempts", 1) > 1:
        options |= {"retries_allowed": True, "max_attempts": step["attempts"]}
        options |= {"interval_seconds": step["first_s"], "backoff_rate": step["factor"]}
    try:
        return await DBOS.run_step_async(options, run_probe, PLAN["probe"], name, argument, context)
    except error.DBOSStepTimeoutError:
        raise StepTimedOut(name) from None
    except error.DBOSMaxStepRetriesExceeded:
        raise StepFailed(name) from None


@DBOS.workflow()
async def carry_out(_: str) -> str:
    """The workflow; its input is what the root steps are given."""
    return await walk(PLAN, call, DBOS.sleep_async)


async def main() -> None:
    """Start the run, or wait for what DBOS recovers when it is launched."""
    if VERB == "start":
        given = json.dumps([step["argument"] for step in PLAN["steps"]])
        with SetWorkflowID(PLAN["run"]), SetWorkflowTimeout(PLAN["deadline_s"]):
            handle = await DBOS.start_workflow_async(carry_out, given)
    else:
        handle = await DBOS.retrieve_workflow_async(PLAN["run"])
    await handle.get_result()


if VERB == "cancel":
    DBOSClient(system_database_url=DATABASE).cancel_workflow(PLAN["run"])
else:
    version = hashlib.sha256(CODE).hexdigest()
    DBOS(config={"name": "unacked", "system_database_url": DATABASE, "application_version": version})
    DBOS.launch()
    asyncio.run(main())
