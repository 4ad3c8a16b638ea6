"""Temporal as a queue of shards that knows who holds which: an activity's heartbeat is its lease.

The workflow is trivial: it starts all shards and waits. Nothing but orders, digests and names goes through Temporal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.common import RetryPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from unacked.canonical import JSON
from unacked.errors import HarnessError, Place, Problem, SpecificationError, UnackedError
from unacked.scale.attend import attended
from unacked.scale.shard import Order, ShardResult, ShardState

__all__ = ["MOST_SHARDS", "RunStatus", "TemporalQueue"]

MOST_SHARDS = 1000
"""Shards of one workflow: its history has a few events for each, and is limited to 51,200."""
_ATTEMPTS = 5
_LONGEST = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How far a run is: shards that are done, those at work, and those that were given up, with the reason.

    ``state`` is ``running``, ``completed``, ``failed``, ``canceled``, ``terminated`` or ``timed_out``, as Temporal
    calls it.
    """

    order: Order
    state: str
    done: Sequence[ShardResult]
    running: Sequence[ShardState]
    given_up: Mapping[int, str]


@workflow.defn(name="unacked-run")
class RunShards:
    """All shards of one order."""

    def __init__(self) -> None:
        self._order: dict[str, JSON] = {}
        self._done: list[dict[str, JSON]] = []
        self._given_up: dict[str, str] = {}

    @workflow.run
    async def run(self, order: dict[str, JSON], lease_s: float) -> None:
        """Run every shard; one that fails for good does not stop the others."""
        self._order = order
        await asyncio.gather(*(self._shard(number, lease_s) for number in range(order["shards"])))
        if self._given_up:
            raise ApplicationError(f"shards given up: {', '.join(sorted(self._given_up))}", type="GivenUp")

    async def _shard(self, number: int, lease_s: float) -> None:
        try:
            result = await workflow.execute_activity(
                "unacked-shard",
                args=[self._order, number],
                start_to_close_timeout=_LONGEST,
                heartbeat_timeout=timedelta(seconds=lease_s),
                retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=_ATTEMPTS),
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self._given_up[str(number)] = str(error.cause or error)
            return
        self._done.append(result)

    @workflow.query(name="progress")
    def progress(self) -> dict[str, JSON]:
        """Return the order, the shards that are done, and those that were given up."""
        return {"order": self._order, "done": self._done, "given_up": self._given_up}


class TemporalQueue:
    """A queue of shards in one namespace of a Temporal, and one task queue in it."""

    def __init__(self, client: Client, queue: str) -> None:
        self._client, self._queue = client, queue

    @classmethod
    async def connect(cls, address: str, *, namespace: str = "default", queue: str = "unacked") -> TemporalQueue:
        """Connect to ``host:port``; raises HarnessError."""
        try:
            return cls(await Client.connect(address, namespace=namespace), queue)
        except (RPCError, RuntimeError) as error:
            hint = "say with --address where yours is, or start one to try: temporal server start-dev"
            raise HarnessError(f"{address}: no Temporal answers: {error}\n    hint: {hint}") from None

    async def submit(self, order: Order, *, lease_s: float = 30.0) -> None:
        """Put an order into the queue; raises SpecificationError where there is a run of this name already.

        A shard whose worker gives no sign of life for ``lease_s`` seconds goes to another.
        """
        if order.shards > MOST_SHARDS:
            message = f"{order.shards} shards are more than one workflow may have: expected {MOST_SHARDS} or fewer"
            raise SpecificationError([Problem(Place(order.name), message, "make them larger, or several runs")])
        try:
            await self._client.start_workflow(
                RunShards.run,
                args=[order.as_json(), lease_s],
                id=order.name,
                task_queue=self._queue,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
        except WorkflowAlreadyStartedError:
            problem = Problem(Place(order.name), "there is a run of this name already", "choose another --run-id")
            raise SpecificationError([problem]) from None

    async def status(self, name: str) -> RunStatus:
        """Say how far a run is; raises SpecificationError where there is none of this name.

        Asking needs a worker that is alive: what is done stands in the workflow.
        """
        handle = self._client.get_workflow_handle(name)
        try:
            described = await handle.describe()
            told = await handle.query(RunShards.progress, rpc_timeout=timedelta(seconds=30))
        except RPCError as error:
            raise _told(name, error) from None
        running: list[ShardState] = []
        for pending in described.raw_description.pending_activities:
            beats = await self._client.data_converter.decode(pending.heartbeat_details.payloads)
            running.extend(ShardState(**beat) for beat in beats[:1])
        return RunStatus(
            Order.of(told["order"]),
            _state(described.status),
            sorted((ShardResult(**result) for result in told["done"]), key=lambda result: result.number),
            sorted(running, key=lambda state: state.number),
            {int(number): reason for number, reason in told["given_up"].items()},
        )

    async def cancel(self, name: str, *, patience_s: float = 10.0) -> str:
        """Cancel a run, and terminate it where it has not ended after ``patience_s``; finished trials are kept.

        Returns how it ended, in Temporal's words: a run may have completed before.
        """
        handle = self._client.get_workflow_handle(name)
        try:
            await handle.cancel()
            async with asyncio.timeout(patience_s):
                await handle.result()
        except WorkflowFailureError:
            pass
        except TimeoutError:
            await handle.terminate("it did not end after it was cancelled")
        except RPCError as error:
            raise _told(name, error) from None
        return _state((await handle.describe()).status)

    async def results(self, name: str) -> tuple[Order, Sequence[ShardResult]]:
        """Wait for the end of a run and return its order and what every shard gave.

        Raises HarnessError where it ended in any other way, with the shards that were given up and why.
        """
        handle = self._client.get_workflow_handle(name)
        with suppress(WorkflowFailureError):
            try:
                await handle.result()
            except RPCError as error:
                raise _told(name, error) from None
        status = await self.status(name)
        if status.state != "completed":
            why = "".join(f"\n    shard {number}: {reason}" for number, reason in sorted(status.given_up.items()))
            raise HarnessError(f"run {name!r} is {status.state}: {len(status.done)} of {status.order.shards} done{why}")
        return status.order, status.done

    async def work(
        self, root: Path, out: Path, *, jobs: int, told: Callable[[ShardResult], None] = lambda _: None
    ) -> None:
        """Run shards of the suite in ``root``, as many at once as ``jobs``, into run folders under ``out``.

        ``told`` hears of each that is done. Goes on until it is cancelled; then shards at work go back into the queue.
        """

        @activity.defn(name="unacked-shard")
        async def shard(stored: dict[str, JSON], number: int) -> dict[str, JSON]:
            order = Order.of(stored)
            try:
                result = await attended(order, number, root, out, lambda state: activity.heartbeat(asdict(state)))
            except SpecificationError as error:  # the same suite would give the same answer
                raise ApplicationError(str(error), non_retryable=True) from None
            except UnackedError as error:
                raise ApplicationError(str(error)) from None
            told(result)
            return asdict(result)

        worker = Worker(
            self._client,
            task_queue=self._queue,
            workflows=[RunShards],
            activities=[shard],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_activities=jobs,
        )
        await worker.run()


def _state(status: WorkflowExecutionStatus | None) -> str:
    return (status or WorkflowExecutionStatus.RUNNING).name.lower()


def _told(name: str, error: RPCError) -> UnackedError:
    if error.status is RPCStatusCode.NOT_FOUND:
        return SpecificationError([Problem(Place(name), "there is no run of this name", "submit it first")])
    return HarnessError(f"run {name!r}: Temporal says {error.status.name.lower()}: {error.message}")
