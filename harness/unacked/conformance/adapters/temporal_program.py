"""Carries out a plan as a Temporal workflow: the run is Python code, every step of the plan an activity."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RawValue, RetryPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.exceptions import TimeoutError as OutOfTime
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from unacked.conformance.walk import StepFailed, StepTimedOut, run_probe, walk

VERB, PORT = sys.argv[1:3]
PLAN: dict[str, Any] = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8")) if sys.argv[3:] else {}
HEARTBEAT, LONG = timedelta(seconds=1.5), timedelta(minutes=10)


@activity.defn(dynamic=True)
async def step(given: Sequence[RawValue]) -> Any:
    """Carry out one step; its name is the type of the activity."""
    argument, context, attempts = (activity.payload_converter().from_payload(value.payload) for value in given)
    info = activity.info()

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(0.2)

    beating = asyncio.ensure_future(beat())
    try:
        return await run_probe(PLAN["probe"], info.activity_type, argument, context)
    except StepFailed as failed:
        raise ApplicationError(str(failed), non_retryable=info.attempt >= attempts) from None
    finally:
        beating.cancel()


async def call(name: str, argument: Any, context: Any, about: Any) -> Any:
    """Carry out one step from within the workflow."""
    limit = timedelta(seconds=about["timeout_s"]) if about.get("timeout_s") else None
    retry = RetryPolicy(
        initial_interval=timedelta(seconds=about.get("first_s") or 0.1), backoff_coefficient=about.get("factor", 2.0)
    )
    try:
        return await workflow.execute_activity(
            name,
            args=[argument, context, about.get("attempts", 1)],
            start_to_close_timeout=LONG,
            schedule_to_close_timeout=limit,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=retry,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
    except ActivityError as error:
        raise (StepTimedOut if isinstance(error.cause, OutOfTime) else StepFailed)(name) from None


@workflow.defn
class CarryOut:
    """The workflow; its input is what the root steps are given, the plan is its code."""

    @workflow.run
    async def run(self, _: list[Any]) -> str:
        """Carry out the plan."""
        return await walk(PLAN, call, workflow.sleep)


async def main() -> None:
    """Submit the run and wait for it, cancel it, or work."""
    client = await Client.connect(f"127.0.0.1:{PORT}")
    run = PLAN["run"]
    if VERB == "start":
        deadline = timedelta(seconds=PLAN["deadline_s"]) if PLAN["deadline_s"] else None
        await client.execute_workflow(
            CarryOut.run,
            [found["argument"] for found in PLAN["steps"]],
            id=run,
            task_queue=run,
            execution_timeout=deadline,
            task_timeout=timedelta(seconds=2),
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        )
    elif VERB == "cancel":
        await client.get_workflow_handle(run).cancel()
    else:
        await Worker(
            client,
            task_queue=run,
            workflows=[CarryOut],
            activities=[step],
            workflow_runner=UnsandboxedWorkflowRunner(),
            workflow_failure_exception_types=[workflow.NondeterminismError],
            max_cached_workflows=0,
            max_concurrent_activities=PLAN["cap"],
        ).run()


if VERB == "service":
    temporal = shutil.which("temporal", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    words = ["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", PORT, "--log-level", "error"]
    os.execv(temporal or "temporal", ["temporal", *words])  # noqa: S606 - it takes the place of this program
asyncio.run(main())
