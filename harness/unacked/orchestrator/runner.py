"""Running a plan: whatever is ready starts, as many at once as allowed, and every change is journalled first.

Only the loop's time and the seed decide anything; the wall clock is recorded and never asked.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from unacked.canonical import JSON, loads
from unacked.errors import HarnessError
from unacked.orchestrator.context import Context, StepTimedOut, canonical_text, enter
from unacked.orchestrator.journal import Journal
from unacked.orchestrator.lifecycle import FINAL, Event, State
from unacked.orchestrator.records import Entry, StepRecord, TaskRecord
from unacked.orchestrator.saga import compensate, shielded
from unacked.orchestrator.schedule import Decision, Schedule
from unacked.orchestrator.task import Plan, Propagation, Saga, Task, draw

__all__ = ["Report", "Runner", "redrive", "run"]

_BAD = frozenset({State.FAILED, State.TIMED_OUT, State.CANCELLED})


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a run: every task by name, in the order of the plan, whichever ended first.

    ``need_a_person`` are steps of unknown effect and compensations that failed.
    """

    tasks: Mapping[str, TaskRecord]
    need_a_person: Sequence[StepRecord] = ()

    @property
    def finished(self) -> bool:
        """Whether nothing is left that a resumed run would do."""
        return all(task.state in FINAL for task in self.tasks.values())

    @property
    def succeeded(self) -> bool:
        """Whether every task succeeded, or was skipped because its condition did not hold."""
        return all(task.state in (State.SUCCEEDED, State.SKIPPED) for task in self.tasks.values())

    @property
    def results(self) -> dict[str, JSON]:
        """The results of those that succeeded, by name."""
        return {name: task.result for name, task in self.tasks.items() if task.state is State.SUCCEEDED}

    @property
    def dead_letters(self) -> list[str]:
        """The tasks that were given up after all of their attempts."""
        return [name for name, task in self.tasks.items() if task.dead]


class Runner:
    """Runs one plan on one journal, on the running loop; an object of this class runs once.

    ``parallel`` is how many tasks run at once, ``ageing_s`` the wait that outweighs one level of priority. A task that
    took the process with it more than ``max_recoveries`` times is a dead letter. ``grace_s`` is how long a task that
    was cancelled may clean up before the run no longer waits for it.
    """

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        *,
        parallel: int = 8,
        seed: str = "0",
        ageing_s: float = 60.0,
        max_recoveries: int = 3,
        grace_s: float = 30.0,
    ) -> None:
        if parallel < 1:
            raise ValueError(f"parallel is {parallel}: expected 1 or more")
        self._plan, self._journal, self._seed = plan, journal, seed
        self._max_recoveries, self._grace_s = max_recoveries, grace_s
        journal.add_tasks(task.id for task in plan.tasks)
        self._tasks = journal.read.tasks()
        self._states = {name: task.state for name, task in self._tasks.items()}
        self._schedule = Schedule(plan, self._states, parallel=parallel, ageing_s=ageing_s)
        self._live: dict[str, asyncio.Task[None]] = {}
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._wake = asyncio.Event()
        self._trouble: BaseException | None = None
        self._interrupted = False
        self._draining = False

    async def run(self, *, deadline_s: float | None = None) -> Report:
        """Run what is not done yet.

        After ``deadline_s`` seconds what is running ends as TIMED_OUT, and the rest stays for another run on the same
        journal. So it does where the asyncio task that awaits this is cancelled; what was running is then as if it
        had not been started. Raises HarnessError where the journal cannot be written.
        """
        try:
            async with asyncio.timeout(deadline_s) as scope:
                self._recover()
                await self._settle_debts()
                await self._drive()
        except TimeoutError:
            if not scope.expired():
                raise
            await self._end_all(Event.TIMED_OUT, f"the run's deadline of {deadline_s:g} s")
        except BaseException:
            self._interrupted = True
            await self._end_all(None, "")
            raise
        if self._plan.saga is Saga.PLAN:
            await shielded(self._take_back_all())
        return Report(self._journal.read.tasks(), self._journal.read.need_a_person())

    def cancel(self, reason: str, *, task: str | None = None) -> None:
        """Cancel one task, or everything that has not ended; ``reason`` is kept.

        Raises IllegalTransition for a task that has ended, KeyError for one that is not in the plan.
        """
        names = [task] if task is not None else [name for name, state in self._states.items() if state not in FINAL]
        for name in names:
            self._end(name, Event.CANCEL, reason)

    def drain(self) -> None:
        """Start nothing more; the run ends with what is running, and the rest stays for another."""
        self._draining = True
        self._wake.set()

    @property
    def running(self) -> int:
        """How many tasks are running."""
        return len(self._live)

    def _recover(self) -> None:
        """Let what was running when the process ended run again, or give it up."""
        for name, record in self._tasks.items():
            if record.state is State.RUNNING:
                recoveries = record.recoveries + 1
                if recoveries > self._max_recoveries:
                    error = f"the process ended {recoveries} times while this was running"
                    self._move(name, Event.GIVEN_UP, {"recoveries": recoveries, "dead": 1, "error": error})
                else:
                    self._move(name, Event.RECOVERED, {"recoveries": recoveries})

    async def _settle_debts(self) -> None:
        """Take back what an earlier part of the run still owed when its process ended."""
        for name, state in self._states.items():
            if state in _BAD:
                await shielded(self._take_back(self._plan.by_id[name]))

    async def _drive(self) -> None:
        self._settle(self._schedule.initial())
        while True:
            self._start_what_may()
            if self._trouble is not None:
                raise self._trouble
            if not self._live and (self._draining or not self._later):
                return
            self._wake.clear()
            await self._wake.wait()

    def _start_what_may(self) -> None:
        loop = asyncio.get_running_loop()
        for name in () if self._draining else self._schedule.startable(len(self._live)):
            self._move(name, Event.START, {"attempt": self._tasks[name].attempt + 1})
            task = loop.create_task(
                self._attempt(self._plan.by_id[name]), name=name, context=contextvars.copy_context()
            )
            self._live[name] = task
            task.add_done_callback(self._attempt_ended)

    def _settle(self, decisions: Iterable[Decision]) -> None:
        """Let decisions about waiting tasks take effect, and those that follow from them."""
        waiting = deque(decisions)
        while waiting:
            decision = waiting.popleft()
            event, columns = self._with_condition(decision)
            if event is Event.START:
                self._schedule.ready(decision.task, asyncio.get_running_loop().time())
                continue
            self._move(decision.task, event, columns)
            if decision.alert:
                self._journal.note(decision.task, "alert", because=decision.because)
            waiting.extend(self._schedule.ended(decision.task))

    def _with_condition(self, decision: Decision) -> tuple[Event, dict[str, JSON]]:
        task = self._plan.by_id[decision.task]
        if decision.event is not Event.START:
            return decision.event, {"reason": f"{decision.because} is {self._states[decision.because].value}"}
        if task.condition is None or self._tasks[task.id].attempt:
            return Event.START, {}
        try:
            holds = task.condition(self._upstream(task))
        except Exception as error:  # noqa: BLE001 - a condition that crashes is the task's failure, not the run's
            return Event.CONDITION_FAILED, {"error": f"its condition raised {type(error).__name__}: {error}"}
        return (Event.START, {}) if holds else (Event.CONDITION_UNMET, {"reason": "its condition does not hold"})

    def _upstream(self, task: Task) -> dict[str, JSON]:
        return {name: self._tasks[name].result for name in task.after if self._states[name] is State.SUCCEEDED}

    async def _attempt(self, task: Task) -> None:
        """Run a task once, and take back what it did where it ends badly for good."""
        loop = asyncio.get_running_loop()
        upstream = self._upstream(task)
        missing = [name for name in task.after if name not in upstream]
        context = Context(task, self._journal, self._tasks[task.id].attempt, self._seed, upstream, missing)
        enter(context)
        began = loop.time()
        try:
            async with asyncio.timeout(task.timeout_s) as scope:
                result = canonical_text(await task.work(context), f"the result of task {task.id!r}")
            if scope.expired():  # the work kept the cancellation to itself
                raise TimeoutError  # noqa: TRY301 - the handlers below say what it means
        except asyncio.CancelledError:
            if self._states[task.id] is State.RUNNING:
                event, reason = (
                    (Event.INTERRUPTED, None) if self._interrupted else (Event.CANCEL, "it cancelled itself")
                )
                self._move(task.id, event, {"reason": reason}, duration_s=loop.time() - began)
        except Exception as error:  # noqa: BLE001 - whatever the work raises is its failure
            late = isinstance(error, StepTimedOut) or (isinstance(error, TimeoutError) and scope.expired())
            self._failed(task, error, late=late, duration_s=loop.time() - began)
        else:
            self._move(task.id, Event.SUCCEEDED, {"result": loads(result)}, duration_s=loop.time() - began)
        if self._states[task.id] in _BAD:
            await shielded(self._take_back(task))

    def _failed(self, task: Task, error: Exception, *, late: bool, duration_s: float) -> None:
        told = f"{type(error).__name__}: {error}"
        if late:
            reason = str(error) or f"no end within {task.timeout_s:g} s"
            self._move(task.id, Event.TIMED_OUT, {"reason": reason}, duration_s=duration_s)
            return
        failures = self._tasks[task.id].failures + 1
        columns: dict[str, JSON] = {"failures": failures, "error": told}
        if failures < task.retry.max_attempts:
            self._move(task.id, Event.ATTEMPT_FAILED, columns, duration_s=duration_s)
        else:
            self._move(
                task.id, Event.FAILED, {**columns, "dead": int(task.retry.max_attempts > 1)}, duration_s=duration_s
            )

    def _attempt_ended(self, attempt: asyncio.Task[None]) -> None:
        name = attempt.get_name()
        del self._live[name]
        self._wake.set()
        if not attempt.cancelled() and attempt.exception() is not None:
            self._trouble = self._trouble or attempt.exception()
            return
        try:
            self._go_on(name)
        except HarnessError as error:
            self._trouble = self._trouble or error

    def _go_on(self, name: str) -> None:
        """Let those that waited for a task go on, or the task itself wait for its next attempt."""
        if self._states[name] in FINAL:
            self._settle(self._schedule.ended(name))
        elif self._states[name] is State.PENDING and not self._interrupted:
            failures = self._tasks[name].failures
            delay_s = self._plan.by_id[name].retry.delay_s(failures, draw(self._seed, name, failures))
            self._journal.note(name, "retry_due", delay_s=round(delay_s, 6))
            self._later[name] = asyncio.get_running_loop().call_later(delay_s, self._again, name)

    def _again(self, name: str) -> None:
        del self._later[name]
        self._schedule.ready(name, asyncio.get_running_loop().time())
        self._wake.set()

    def _end(self, name: str, event: Event, reason: str) -> None:
        """End a task from outside: its state first, then its work, which may still clean up."""
        was = self._states[name]
        self._move(name, event, {"reason": reason})
        if was is State.RUNNING and name in self._live:
            self._live[name].cancel(reason)
            return
        if (handle := self._later.pop(name, None)) is not None:
            handle.cancel()
        self._settle(self._schedule.ended(name))
        self._wake.set()

    async def _end_all(self, event: Event | None, reason: str) -> None:
        """End whatever is running, and wait until it has cleaned up; no ``event`` leaves its state to itself."""
        self._draining = True
        for handle in self._later.values():
            handle.cancel()
        self._later.clear()
        for name, attempt in list(self._live.items()):
            if event is not None and self._states[name] is State.RUNNING:
                self._move(name, event, {"reason": reason})
            attempt.cancel(reason)
        if self._live:
            _, left = await asyncio.wait(list(self._live.values()), timeout=self._grace_s)
            for attempt in left:
                with suppress(HarnessError):
                    self._journal.note(attempt.get_name(), "does_not_end", grace_s=self._grace_s)
            await asyncio.sleep(0)  # let the callbacks of those that ended run

    def _move(self, name: str, event: Event, columns: dict[str, JSON], **detail: JSON) -> None:
        state = self._states[name]
        rounded = {key: round(value, 6) if isinstance(value, float) else value for key, value in detail.items()}
        following = self._journal.move(name, state, event, columns=columns, **rounded)
        if following is not state:
            self._states[name] = following
            self._tasks[name] = replace(self._tasks[name], state=following, **columns)

    async def _take_back(self, task: Task) -> None:
        if self._plan.saga is Saga.TASK and task.compensations:
            await compensate(self._plan, self._journal, self._journal.read.steps(task.id), self._seed)

    async def _take_back_all(self) -> None:
        states = self._states.values()
        if all(state in FINAL for state in states) and any(state in _BAD for state in states):
            await compensate(self._plan, self._journal, self._journal.read.steps(), self._seed)


async def run(
    plan: Plan,
    path: Path,
    name: str,
    *,
    parallel: int = 8,
    seed: str = "0",
    deadline_s: float | None = None,
    durability: Literal["normal", "full"] = "normal",
    told: Callable[[Entry], None] | None = None,
) -> Report:
    """Run a plan under a name in the journal at ``path``; the same call again resumes it. See Runner."""
    with Journal(path, name, plan.digest, durability=durability, told=told) as journal:
        return await Runner(plan, journal, parallel=parallel, seed=seed).run(deadline_s=deadline_s)


def redrive(plan: Plan, journal: Journal, tasks: Sequence[str]) -> list[str]:
    """Give tasks that failed or timed out another chance, and those that ended because of them; returns all names.

    What was taken back is done again. Raises IllegalTransition for a task in any other state, and HarnessError where
    the whole plan was taken back.
    """
    if plan.saga is Saga.PLAN and any(step.compensation for step in journal.read.steps()):
        raise HarnessError(f"run {journal.run!r} was taken back as a whole\n    hint: begin another run of this plan")
    records, revived = journal.read.tasks(), []
    fresh: dict[str, JSON] = {"failures": 0, "recoveries": 0, "dead": 0, "error": None, "reason": None}
    with journal.transaction():
        waiting = deque((name, Event.RETRY) for name in tasks)
        while waiting:
            name, event = waiting.popleft()
            if name in revived:
                continue
            journal.move(name, records[name].state, event, columns=fresh)
            journal.forget_compensated(name)
            revived.append(name)
            waiting.extend(
                (following, Event.RETRIED_UPSTREAM)
                for following in plan.downstream[name]
                if _ended_by_upstream(plan.by_id[following], records[following])
            )
    return revived


def _ended_by_upstream(task: Task, record: TaskRecord) -> bool:
    """Whether a task ended without a start of its own, because of what it comes after."""
    if record.attempt or task.on_upstream_failure is Propagation.RUN:
        return False
    return record.state in (State.SKIPPED, State.FAILED)
