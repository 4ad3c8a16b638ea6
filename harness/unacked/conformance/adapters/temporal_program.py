"""Carries out a plan as a Temporal workflow: the run is Python code, every step of the plan an activity."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import activity, exceptions, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy, WorkflowIDReusePolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from unacked.conformance.job import Job, StepFailed, StepTimedOut, beating
from unacked.conformance.walk import walk

JOB = Job.told()
RUN, LIMIT = JOB.plan["run"], JOB.plan["deadline_s"]


@activity.defn
async def step(name: str, argument: Any, context: Any, attempts: int) -> Any:
    """Carry out one step; a worker that dies costs it no attempt."""
    async with beating(activity.heartbeat, every_s=0.2):
        try:
            return await JOB.probe(name, argument, context)
        except StepFailed:
            raise exceptions.ApplicationError(name, non_retryable=activity.info().attempt >= attempts) from None


async def call(name: str, argument: Any, context: Any, about: Any) -> Any:
    """Carry out one step from within the workflow."""
    pause, limit = timedelta(seconds=about.get("first_s") or 0.1), about.get("timeout_s")
    try:
        return await workflow.execute_activity(
            step,
            args=[name, argument, context, about.get("attempts", 1)],
            activity_id=name,
            start_to_close_timeout=timedelta(minutes=10),
            schedule_to_close_timeout=limit and timedelta(seconds=limit),
            heartbeat_timeout=timedelta(seconds=1.5),
            retry_policy=RetryPolicy(initial_interval=pause, backoff_coefficient=about.get("factor", 2.0)),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
    except exceptions.ActivityError as error:
        raise (StepTimedOut if isinstance(error.cause, exceptions.TimeoutError) else StepFailed)(name) from None


@workflow.defn
class CarryOut:
    """The workflow; its input is what the root steps are given, the plan is its code."""

    @workflow.run
    async def run(self, _: list[Any]) -> str:
        """Carry out the plan."""
        return await walk(JOB.plan, call, workflow.sleep)


async def main() -> None:
    """Submit the run and wait for it, or work."""
    client = await Client.connect(f"127.0.0.1:{JOB.port}")
    if JOB.verb == "start":
        options: Any = {"execution_timeout": LIMIT and timedelta(seconds=LIMIT), "task_timeout": timedelta(seconds=2)}
        options["id_reuse_policy"] = WorkflowIDReusePolicy.REJECT_DUPLICATE
        await client.execute_workflow(CarryOut.run, JOB.arguments, id=RUN, task_queue=RUN, **options)
    else:
        await Worker(
            client,
            task_queue=RUN,
            workflows=[CarryOut],
            activities=[step],
            workflow_runner=UnsandboxedWorkflowRunner(),
            workflow_failure_exception_types=[workflow.NondeterminismError],
            max_cached_workflows=0,
            max_concurrent_activities=JOB.plan["cap"],
        ).run()


asyncio.run(main())
