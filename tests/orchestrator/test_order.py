"""Serial, parallel, condition, join, propagation, and how many at once."""

from __future__ import annotations

import asyncio

import pytest
from tests.orchestrator.conftest import Desk, Diary, now, states, virtually

from unacked.canonical import JSON
from unacked.errors import HarnessError
from unacked.orchestrator import Context, Join, Plan, Propagation, Runner, Task


async def fails(_context: Context) -> JSON:
    raise ValueError("no")


def test_a_chain_runs_one_after_the_other(desk: Desk, diary: Diary) -> None:
    work = diary.work(takes_s=1)
    desk.run([Task("c", work, after=["b"]), Task("b", work, after=["a"]), Task("a", work)])
    assert diary.lines == [
        (0, "a begins"),
        (1, "a ends"),
        (1, "b begins"),
        (2, "b ends"),
        (2, "c begins"),
        (3, "c ends"),
    ]


def test_what_does_not_depend_on_each_other_runs_at_once(desk: Desk, diary: Diary) -> None:
    work = diary.work(takes_s=5)
    desk.run([Task("a", work), Task("b", work), Task("join", work, after=["a", "b"])])
    assert [at for at, what in diary.lines if what.endswith("begins")] == [0, 0, 5]


def test_a_join_gets_every_result_by_name(desk: Desk, diary: Diary) -> None:
    async def add(context: Context) -> JSON:
        return sum(context.upstream.values())

    report = desk.run(
        [
            Task("slow", diary.work(takes_s=9, result=1)),
            Task("fast", diary.work(result=2)),
            Task("sum", add, after=["slow", "fast"]),
        ]
    )
    assert report.results == {"slow": 1, "fast": 2, "sum": 3}


def test_a_join_of_any_starts_with_the_first_success(desk: Desk, diary: Diary) -> None:
    desk.run(
        [
            Task("slow", diary.work(takes_s=9)),
            Task("fast", diary.work(takes_s=2)),
            Task("any", diary.work(), after=["slow", "fast"], join=Join.ANY),
        ]
    )
    assert (2, "any begins") in diary.lines


@pytest.mark.parametrize(("temperature", "status"), [(31, "succeeded"), (12, "skipped")])
def test_a_condition_sees_the_results_it_depends_on(desk: Desk, diary: Diary, temperature: int, status: str) -> None:
    report = desk.run(
        [
            Task("measure", diary.work(result=temperature)),
            Task("cool", diary.work(), after=["measure"], condition=lambda results: results["measure"] > 30),
        ]
    )
    assert states(report)["cool"] == status
    assert report.succeeded


def test_a_condition_that_crashes_fails_its_task_and_no_other(desk: Desk, diary: Diary) -> None:
    report = desk.run(
        [Task("a", diary.work(), condition=lambda results: bool(results["nothing"])), Task("b", diary.work())]
    )
    assert states(report) == {"a": "failed", "b": "succeeded"}
    assert report.tasks["a"].error == "its condition raised KeyError: 'nothing'"


def test_what_depends_on_a_skipped_task_is_skipped_too(desk: Desk, diary: Diary) -> None:
    report = desk.run(
        [
            Task("a", diary.work(), condition=lambda _results: False),
            Task("b", diary.work(), after=["a"]),
            Task("c", diary.work(), after=["b"]),
        ]
    )
    assert states(report) == {"a": "skipped", "b": "skipped", "c": "skipped"}
    assert report.tasks["b"].reason == "a is SKIPPED"


@pytest.mark.parametrize(
    ("propagation", "status", "alerts"),
    [
        (Propagation.SKIP, "skipped", 0),
        (Propagation.ALERT, "skipped", 1),
        (Propagation.FAIL, "failed", 0),
        (Propagation.RUN, "succeeded", 0),
    ],
)
def test_a_failure_is_propagated_as_each_task_says(
    desk: Desk, diary: Diary, propagation: Propagation, status: str, alerts: int
) -> None:
    report = desk.run([Task("a", fails), Task("b", diary.work(), after=["a"], on_upstream_failure=propagation)])
    assert states(report) == {"a": "failed", "b": status}
    assert desk.kinds("b").count("alert") == alerts


def test_who_runs_in_spite_of_a_failure_is_told_what_is_missing(desk: Desk, diary: Diary) -> None:
    async def work(context: Context) -> JSON:
        return {"upstream": dict(context.upstream), "missing": list(context.missing)}

    report = desk.run(
        [
            Task("a", fails),
            Task("b", diary.work(result=1)),
            Task("c", work, after=["a", "b"], on_upstream_failure=Propagation.RUN),
        ]
    )
    assert report.results["c"] == {"upstream": {"b": 1}, "missing": ["a"]}


def test_a_long_chain_of_skipped_tasks_needs_no_long_stack(desk: Desk) -> None:
    chain = [Task(f"t{number}", fails, after=[f"t{number - 1}"]) for number in range(1, 3000)]
    report = desk.run([Task("t0", fails), *chain])
    assert list(states(report).values()).count("skipped") == 2999


@pytest.mark.parametrize("parallel", [1, 3])
def test_no_more_run_at_once_than_allowed_and_the_rest_queues(desk: Desk, parallel: int) -> None:
    inside, peak = 0, 0

    async def work(_context: Context) -> JSON:
        nonlocal inside, peak
        inside += 1
        peak = max(peak, inside)
        await asyncio.sleep(1)
        inside -= 1
        return now()

    report = desk.run([Task(f"t{number}", work) for number in range(9)], parallel=parallel)
    assert peak == parallel
    assert max(report.results.values()) == 9 / parallel


def test_a_long_task_does_not_idle_the_other_slots(desk: Desk, diary: Diary) -> None:
    desk.run(
        [Task("long", diary.work(takes_s=100)), *(Task(f"t{n}", diary.work(takes_s=1)) for n in range(10))], parallel=2
    )
    assert (10, "t9 ends") in diary.lines


def test_priority_goes_first(desk: Desk, diary: Diary) -> None:
    tasks = [Task(f"t{priority}", diary.work(takes_s=1), priority=priority) for priority in (0, 2, 1)]
    desk.run(tasks, parallel=1)
    assert [name for name in diary.names if "begins" in name] == ["t2 begins", "t1 begins", "t0 begins"]


def test_a_low_priority_waits_no_longer_than_its_ageing(desk: Desk, diary: Diary) -> None:
    async def spawn(context: Context) -> JSON:
        return await diary.work(takes_s=1)(context)

    chains = [
        Task(f"high {n}.{chain}", spawn, after=[f"high {n - 1}.{chain}"] if n else [], priority=1)
        for n in range(40)
        for chain in "ab"
    ]
    desk.run([Task("low", spawn), *chains], parallel=1, ageing_s=10)
    begun = {what: at for at, what in diary.lines}
    assert 9 <= begun["low begins"] <= 12


def test_results_are_by_name_in_the_order_of_the_plan_however_they_end(desk: Desk, diary: Diary) -> None:
    report = desk.run([Task(f"t{n}", diary.work(takes_s=10 - n, result=n)) for n in range(10)])
    assert list(report.results.items()) == [(f"t{n}", n) for n in range(10)]
    assert diary.names[-1] == "t0 ends"


def test_two_plans_on_two_journals_do_not_see_each_other(desk: Desk, diary: Diary) -> None:
    first = desk.run([Task("a", diary.work(result=1))])
    other = Desk(desk.path.with_name("other.db"))
    assert (first.results, other.run([Task("a", diary.work(result=2))]).results) == ({"a": 1}, {"a": 2})


def test_a_plan_without_tasks_is_done_at_once(desk: Desk) -> None:
    assert desk.run([]).finished


def test_at_least_one_slot_is_needed(desk: Desk) -> None:
    plan = Plan([])
    with desk.journal(plan) as journal, pytest.raises(ValueError, match="parallel is 0: expected 1 or more"):
        Runner(plan, journal, parallel=0)


def test_a_result_that_is_no_json_is_a_failure_that_says_so(desk: Desk) -> None:
    async def work(_context: Context) -> JSON:
        return {1, 2}

    (task,) = desk.run([Task("a", work)]).tasks.values()
    assert task.error is not None
    assert "the result of task 'a' is not JSON: set is not JSON" in task.error


def test_a_crash_of_the_journal_ends_the_run_and_is_told(desk: Desk, diary: Diary) -> None:
    plan = Plan([Task("a", diary.work(takes_s=1)), Task("b", diary.work(takes_s=50))])

    async def break_it(_runner: Runner) -> None:
        await asyncio.sleep(0.5)
        journal._db.execute("drop table event")

    async def both() -> None:
        runner = Runner(plan, journal)
        beside = asyncio.ensure_future(break_it(runner))
        try:
            await runner.run()
        finally:
            await beside

    with desk.journal(plan) as journal:
        with pytest.raises(HarnessError, match="cannot be written: no such table: event"):
            virtually(both())
        assert "b ends" not in diary.names
