"""Time-outs of steps, tasks and runs; cancellation; clean-up; what comes too late."""

from __future__ import annotations

import asyncio

import pytest
from tests.orchestrator.conftest import Desk, Diary, now, states

from unacked.canonical import JSON
from unacked.orchestrator import Context, IllegalTransition, Plan, Retry, Runner, StepTimedOut, Task


async def hangs(*_arguments: object) -> JSON:
    await asyncio.sleep(1e6)
    return None


def test_a_task_that_takes_too_long_is_timed_out_and_cleans_up(desk: Desk, diary: Diary) -> None:
    async def work(_context: Context) -> JSON:
        try:
            return await hangs()
        finally:
            diary.write("cleaned up")

    report = desk.run([Task("a", work, timeout_s=600), Task("b", diary.work(), after=["a"])])
    assert states(report) == {"a": "timed_out", "b": "skipped"}
    assert diary.lines == [(600, "cleaned up")]
    assert report.tasks["a"].reason == "no end within 600 s"


def test_a_step_that_takes_too_long_ends_its_task_as_timed_out(desk: Desk) -> None:
    async def work(context: Context) -> JSON:
        return await context.step("ask", hangs, timeout_s=2)

    report = desk.run([Task("a", work, retry=Retry(3))])
    assert states(report) == {"a": "timed_out"}
    assert report.tasks["a"].reason == "step 'ask': no answer within 2 s"


def test_a_step_that_timed_out_is_tried_again_by_its_own_rule(desk: Desk) -> None:
    calls = []

    async def slow_once() -> JSON:
        calls.append(now())
        return await hangs() if len(calls) == 1 else "there"

    async def work(context: Context) -> JSON:
        return await context.step("ask", slow_once, retry=Retry(2), timeout_s=5)

    assert desk.run([Task("a", work)]).results == {"a": "there"}
    assert calls == [0, 6]


def test_a_step_that_timed_out_may_be_answered_for_by_its_task(desk: Desk) -> None:
    async def work(context: Context) -> JSON:
        try:
            return await context.step("ask", hangs, timeout_s=2)
        except StepTimedOut:
            return "went on without"

    assert desk.run([Task("a", work)]).results == {"a": "went on without"}


def test_the_agents_own_timeout_is_a_failure_and_not_ours(desk: Desk) -> None:
    async def work(_context: Context) -> JSON:
        async with asyncio.timeout(1):
            return await hangs()

    report = desk.run([Task("a", work, timeout_s=9)])
    assert (states(report), report.tasks["a"].error) == ({"a": "failed"}, "TimeoutError: ")


def test_work_that_keeps_its_cancellation_to_itself_is_timed_out_all_the_same(desk: Desk) -> None:
    async def stubborn(_context: Context) -> JSON:
        try:
            await hangs()
        except asyncio.CancelledError:
            return "done after all"
        return None

    assert states(desk.run([Task("a", stubborn, timeout_s=3)])) == {"a": "timed_out"}


def test_a_deadline_times_out_what_runs_and_leaves_the_rest_to_be_resumed(desk: Desk, diary: Diary) -> None:
    async def work(_context: Context) -> JSON:
        try:
            return await hangs()
        finally:
            diary.write("cleaned up")

    plan = Plan([Task("done", diary.work()), Task("runs", work), Task("waits", diary.work())])
    report = desk.run(plan, parallel=1, deadline_s=10)
    assert states(report) == {"done": "succeeded", "runs": "timed_out", "waits": "pending"}
    assert report.tasks["runs"].reason == "the run's deadline of 10 s"
    assert (diary.lines[-1], report.finished) == ((10, "cleaned up"), False)
    assert states(desk.run(plan)) == {"done": "succeeded", "runs": "timed_out", "waits": "succeeded"}
    assert diary.names.count("done begins") == 1


def test_a_deadline_leaves_retries_that_are_due_to_be_resumed(desk: Desk, diary: Diary) -> None:
    plan = Plan([Task("a", diary.work(fails=1), retry=Retry(2, base_s=60))])
    assert states(desk.run(plan, deadline_s=5)) == {"a": "pending"}
    assert states(desk.run(plan)) == {"a": "succeeded"}


def test_after_a_deadline_nothing_is_left_running(desk: Desk) -> None:
    left: list[str] = []

    async def watch(runner: Runner) -> None:
        await asyncio.sleep(11)
        left.extend(task.get_name() for task in asyncio.all_tasks() if task.get_name() in ("a", "b"))
        assert runner.running == 0

    desk.run([Task("a", hangs), Task("b", hangs)], deadline_s=10, meanwhile=watch)
    assert left == []


def test_what_does_not_end_is_named_and_no_longer_waited_for(desk: Desk) -> None:
    async def never_ends(_context: Context) -> JSON:
        while True:
            try:
                await hangs()
            except asyncio.CancelledError:
                if now() > 50:
                    raise

    async def watch(_runner: Runner) -> None:
        await asyncio.sleep(60)

    desk.run([Task("a", never_ends)], deadline_s=10, grace_s=5, meanwhile=watch)
    assert desk.kinds("a") == ["start", "timed_out", "does_not_end"]


def test_a_running_task_is_cancelled_with_its_reason_and_cleans_up(desk: Desk, diary: Diary) -> None:
    async def work(_context: Context) -> JSON:
        try:
            return await hangs()
        finally:
            diary.write("cleaned up")

    async def stop(runner: Runner) -> None:
        await asyncio.sleep(7)
        runner.cancel("nobody needs it", task="a")

    report = desk.run([Task("a", work), Task("b", diary.work(takes_s=9))], meanwhile=stop)
    assert states(report) == {"a": "cancelled", "b": "succeeded"}
    assert report.tasks["a"].reason == "nobody needs it"
    assert (7, "cleaned up") in diary.lines


def test_a_waiting_task_is_cancelled_and_never_starts(desk: Desk, diary: Diary) -> None:
    async def stop(runner: Runner) -> None:
        await asyncio.sleep(1)
        runner.cancel("no", task="b")

    report = desk.run(
        [Task("a", diary.work(takes_s=3)), Task("b", diary.work()), Task("c", diary.work(), after=["b"])],
        parallel=1,
        meanwhile=stop,
    )
    assert states(report) == {"a": "succeeded", "b": "cancelled", "c": "skipped"}
    assert "b begins" not in diary.names


def test_a_task_that_waits_for_its_next_attempt_is_cancelled(desk: Desk, diary: Diary) -> None:
    async def stop(runner: Runner) -> None:
        await asyncio.sleep(1)
        runner.cancel("enough", task="a")

    assert states(desk.run([Task("a", diary.work(fails=9), retry=Retry(9, base_s=60))], meanwhile=stop)) == {
        "a": "cancelled"
    }


def test_a_whole_run_is_cancelled_with_its_reason(desk: Desk, diary: Diary) -> None:
    async def stop(runner: Runner) -> None:
        await asyncio.sleep(1)
        runner.cancel("the budget is spent")

    report = desk.run([Task("a", hangs), Task("b", diary.work()), Task("c", hangs)], parallel=2, meanwhile=stop)
    assert states(report) == {"a": "cancelled", "b": "succeeded", "c": "cancelled"}
    assert {task.reason for task in report.tasks.values()} == {None, "the budget is spent"}
    assert report.finished


def test_a_success_after_a_cancellation_changes_nothing_and_is_noted_as_late(desk: Desk) -> None:
    async def stubborn(_context: Context) -> JSON:
        try:
            await hangs()
        except asyncio.CancelledError:
            await asyncio.sleep(1)
        return "done after all"

    async def stop(runner: Runner) -> None:
        await asyncio.sleep(1)
        runner.cancel("no", task="a")

    report = desk.run([Task("a", stubborn)], meanwhile=stop)
    assert (states(report), report.results) == ({"a": "cancelled"}, {})
    assert desk.kinds("a") == ["start", "cancel", "late"]
    assert desk.entries[-1].detail == {"event": "succeeded", "state": "CANCELLED"}


def test_a_command_that_comes_too_late_is_refused(desk: Desk, diary: Diary) -> None:
    async def stop(runner: Runner) -> None:
        await asyncio.sleep(2)
        with pytest.raises(IllegalTransition, match="task 'a' that is SUCCEEDED knows no 'cancel'"):
            runner.cancel("too late", task="a")

    assert states(desk.run([Task("a", diary.work()), Task("b", diary.work(takes_s=3))], meanwhile=stop)) == {
        "a": "succeeded",
        "b": "succeeded",
    }


def test_a_task_that_cancels_itself_is_cancelled_alone(desk: Desk, diary: Diary) -> None:
    async def work(_context: Context) -> JSON:
        raise asyncio.CancelledError

    report = desk.run([Task("a", work), Task("b", diary.work(takes_s=1))])
    assert states(report) == {"a": "cancelled", "b": "succeeded"}
    assert report.tasks["a"].reason == "it cancelled itself"


def test_a_drained_run_ends_what_runs_and_leaves_the_rest(desk: Desk, diary: Diary) -> None:
    async def stop(runner: Runner) -> None:
        await asyncio.sleep(1)
        runner.drain()

    plan = Plan([Task("a", diary.work(takes_s=5)), Task("b", diary.work())])
    assert states(desk.run(plan, parallel=1, meanwhile=stop)) == {"a": "succeeded", "b": "pending"}
    assert states(desk.run(plan)) == {"a": "succeeded", "b": "succeeded"}
    assert diary.names.count("a begins") == 1


def test_six_hundred_seconds_pass_in_no_time(desk: Desk, diary: Diary) -> None:
    desk.run([Task("a", diary.work(takes_s=600))])
    assert diary.lines[-1] == (600, "a ends")
