"""What may start now: pure, without a clock, a disk or a loop.

A task waits until everything it comes after has ended, is then *decided* (it starts, is skipped, or fails with what
it depends on), and queues for a free slot. Of those that queue the one with the smallest key goes first, and a key
never changes: the moment it began to queue, less ``ageing_s`` for every level of priority. So a task of priority 2
overtakes whatever came up to 2 x ``ageing_s`` before it, and nothing else: nobody waits for ever.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from unacked.orchestrator.lifecycle import FINAL, Event, State
from unacked.orchestrator.task import Join, Plan, Propagation, Task

__all__ = ["Decision", "Queue", "Schedule", "decide"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a waiting task: START it, or let it end with what it depends on (``because``)."""

    task: str
    event: Event
    because: str = ""
    alert: bool = False


def decide(task: Task, states: Mapping[str, State]) -> Decision | None:
    """Return what becomes of a pending task, None where it has to wait on."""
    upstream = [states[name] for name in task.after]
    succeeded = [state is State.SUCCEEDED for state in upstream]
    if task.join is Join.ANY and any(succeeded):
        return Decision(task.id, Event.START)
    if not all(state in FINAL for state in upstream):
        return None
    if all(succeeded) or task.on_upstream_failure is Propagation.RUN:
        return Decision(task.id, Event.START)
    because = task.after[succeeded.index(False)]
    if task.on_upstream_failure is Propagation.FAIL:
        return Decision(task.id, Event.FAILED_UPSTREAM, because)
    alert = task.on_upstream_failure is Propagation.ALERT
    return Decision(task.id, Event.SKIPPED_UPSTREAM, because, alert=alert)


class Queue:
    """Those that are ready and wait for a slot; ``ageing_s`` is the wait that outweighs one level of priority."""

    def __init__(self, ageing_s: float) -> None:
        self._ageing_s = ageing_s
        self._heap: list[tuple[float, int, str]] = []

    def push(self, task: str, *, priority: int, index: int, now_s: float) -> None:
        """Let a task queue from now on; ``index`` decides between equals."""
        heapq.heappush(self._heap, (now_s - priority * self._ageing_s, index, task))

    def pop(self) -> str:
        """Take the one whose turn it is."""
        return heapq.heappop(self._heap)[2]

    def __len__(self) -> int:
        return len(self._heap)


class Schedule:
    """The order of one plan: hears which tasks ended, and tells what becomes of those that waited for them."""

    def __init__(self, plan: Plan, states: dict[str, State], *, parallel: int, ageing_s: float) -> None:
        self._plan, self._states = plan, states
        self._index = {task.id: number for number, task in enumerate(plan.tasks)}
        self._parallel = parallel
        self._queue = Queue(ageing_s)
        self._decided: set[str] = set()

    def initial(self) -> Iterator[Decision]:
        """Yield what becomes of every pending task that has nothing to wait for."""
        for task in self._plan.tasks:
            yield from self._decision(task)

    def ended(self, task: str) -> Iterator[Decision]:
        """Yield what becomes of those that waited for ``task``."""
        for name in self._plan.downstream[task]:
            yield from self._decision(self._plan.by_id[name])

    def _decision(self, task: Task) -> Iterator[Decision]:
        if task.id not in self._decided and self._states[task.id] is State.PENDING:
            decision = decide(task, self._states)
            if decision is not None:
                self._decided.add(task.id)
                yield decision

    def ready(self, task: str, now_s: float) -> None:
        """Let a task queue for a slot."""
        self._queue.push(task, priority=self._plan.by_id[task].priority, index=self._index[task], now_s=now_s)

    def startable(self, running: int) -> Iterator[str]:
        """Yield whose turn it is, as long as there are free slots; whoever was cancelled meanwhile is left out."""
        while len(self._queue) and running < self._parallel:
            task = self._queue.pop()
            if self._states[task] is State.PENDING:
                running += 1
                yield task
