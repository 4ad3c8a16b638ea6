from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from unacked.canonical import JSON
from unacked.orchestrator import Context, Event, Join, Plan, Propagation, State, Task, lifecycle, schedule, task
from unacked.orchestrator.schedule import Decision, Queue, Schedule, decide

P, R, S, F, C, T, K = (
    State.PENDING,
    State.RUNNING,
    State.SUCCEEDED,
    State.FAILED,
    State.CANCELLED,
    State.TIMED_OUT,
    State.SKIPPED,
)


async def nothing(_context: Context) -> JSON:
    return None


def both(join: Join = Join.ALL, propagation: Propagation = Propagation.SKIP) -> Task:
    return Task("x", nothing, after=["a", "b"], join=join, on_upstream_failure=propagation)


@pytest.mark.parametrize(
    ("a", "b", "event"),
    [(S, S, Event.START), (S, R, None), (S, P, None), (F, R, None), (S, F, Event.SKIPPED_UPSTREAM)]
    + [(S, bad, Event.SKIPPED_UPSTREAM) for bad in (F, C, T, K)],
)
def test_a_task_waits_for_all_and_is_skipped_with_one_that_did_not_succeed(
    a: State, b: State, event: Event | None
) -> None:
    decision = decide(both(), {"a": a, "b": b})
    assert (None if decision is None else decision.event) is event


@pytest.mark.parametrize(
    ("a", "b", "event"), [(S, R, Event.START), (F, R, None), (F, S, Event.START), (F, T, Event.SKIPPED_UPSTREAM)]
)
def test_one_success_is_enough_where_any_will_do(a: State, b: State, event: Event | None) -> None:
    decision = decide(both(Join.ANY), {"a": a, "b": b})
    assert (None if decision is None else decision.event) is event


@pytest.mark.parametrize(
    ("propagation", "decision"),
    [
        (Propagation.SKIP, Decision("x", Event.SKIPPED_UPSTREAM, "b")),
        (Propagation.ALERT, Decision("x", Event.SKIPPED_UPSTREAM, "b", alert=True)),
        (Propagation.FAIL, Decision("x", Event.FAILED_UPSTREAM, "b")),
        (Propagation.RUN, Decision("x", Event.START)),
    ],
)
def test_what_a_failure_upstream_means_is_the_tasks_own_choice(propagation: Propagation, decision: Decision) -> None:
    assert decide(both(propagation=propagation), {"a": S, "b": F}) == decision


def test_equals_go_in_the_order_of_the_plan() -> None:
    queue = Queue(60)
    for index in (2, 0, 1):
        queue.push(f"t{index}", priority=0, index=index, now_s=5)
    assert [queue.pop() for _ in range(3)] == ["t0", "t1", "t2"]


def test_a_higher_priority_overtakes_what_has_waited_less_than_its_worth() -> None:
    queue = Queue(10)
    queue.push("old", priority=0, index=0, now_s=0)
    queue.push("young", priority=0, index=1, now_s=15)
    queue.push("important", priority=1, index=2, now_s=16)
    assert [queue.pop() for _ in range(3)] == ["old", "important", "young"]


def test_nobody_starves_behind_an_endless_stream_of_higher_priority() -> None:
    queue = Queue(10)
    queue.push("low", priority=0, index=0, now_s=0)
    served = []
    for now in range(1, 100):  # one more important task comes each second, one is served
        queue.push(f"high {now}", priority=3, index=now, now_s=now)
        served.append(queue.pop())
    assert served.index("low") == 29


def test_no_more_start_than_there_are_slots() -> None:
    plan = Plan([Task(f"t{number}", nothing) for number in range(5)])
    schedule = Schedule(plan, {task.id: P for task in plan.tasks}, parallel=3, ageing_s=1)
    for decision in schedule.initial():
        schedule.ready(decision.task, 0)
    assert list(schedule.startable(1)) == ["t0", "t1"]
    assert list(schedule.startable(3)) == []
    assert list(schedule.startable(2)) == ["t2"]


def test_whoever_was_cancelled_in_the_queue_is_left_out() -> None:
    plan = Plan([Task("a", nothing), Task("b", nothing)])
    states = {"a": P, "b": P}
    schedule = Schedule(plan, states, parallel=1, ageing_s=1)
    for decision in schedule.initial():
        schedule.ready(decision.task, 0)
    states["a"] = C
    assert list(schedule.startable(0)) == ["b"]


def test_a_task_is_decided_once() -> None:
    plan = Plan([Task("a", nothing), Task("b", nothing), Task("c", nothing, after=["a", "b"], join=Join.ANY)])
    states = {"a": S, "b": R, "c": P}
    schedule = Schedule(plan, states, parallel=1, ageing_s=1)
    assert [decision.task for decision in schedule.ended("a")] == ["c"]
    states["b"] = S
    assert list(schedule.ended("b")) == []


@pytest.mark.parametrize("module", [lifecycle, schedule, task], ids=lambda module: module.__name__)
def test_what_may_follow_and_what_runs_next_is_decided_without_disk_clock_or_loop(module: ModuleType) -> None:
    nodes = list(ast.walk(ast.parse(inspect.getsource(module))))
    names = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    allowed = {"__future__", "collections.abc", "dataclasses", "enum", "functools", "graphlib", "hashlib", "heapq"}
    allowed |= {"math", "typing", "unacked.canonical", "unacked.errors"}
    allowed |= {"unacked.orchestrator.lifecycle", "unacked.orchestrator.task"}
    assert names <= allowed
    assert not [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open"]
