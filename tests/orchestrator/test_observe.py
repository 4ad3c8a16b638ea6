"""Step log, metrics, trace, contexts, shared limits, and work that has to be killed."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import time
from pathlib import Path

import pytest
from tests.orchestrator.conftest import Desk, Diary, now, states, virtually

from unacked.canonical import JSON
from unacked.orchestrator import (
    Context,
    Gate,
    Limiter,
    Plan,
    Retry,
    Runner,
    Task,
    current,
    idempotency_token,
    killable,
    metrics_of,
    prometheus,
    run,
)


def test_the_step_log_tells_begin_end_and_duration(desk: Desk) -> None:
    async def slow() -> JSON:
        await asyncio.sleep(2)
        return "there"

    async def work(context: Context) -> JSON:
        return await context.step("ask", slow)

    desk.run([Task("a", work)])
    log = [(entry.kind, entry.detail) for entry in desk.entries]
    assert [kind for kind, _ in log] == ["start", "step_ended", "succeeded"]
    assert log[0][1] == {"state": "RUNNING", "attempt": 1}
    assert log[1][1]["duration_s"] == 2
    assert log[2][1] == {"state": "SUCCEEDED", "duration_s": 2}


def test_the_log_on_disk_is_what_was_told(desk: Desk, diary: Diary) -> None:
    desk.run([Task("a", diary.work(fails=1), retry=Retry(2)), Task("b", diary.work())])
    with desk.reader() as reader:
        assert list(reader.log()) == desk.entries
        assert [entry.kind for entry in reader.log("b")] == ["start", "succeeded"]
        assert list(reader.log(after=desk.entries[-2].seq)) == desk.entries[-1:]
    told = desk.entries[0].as_json()
    assert (told["run"], told["task"], told["kind"], told["attempt"], len(told["trace"])) == (
        "run",
        "a",
        "start",
        1,
        32,
    )


def test_every_entry_of_a_resumed_run_has_the_same_trace(desk: Desk, diary: Diary) -> None:
    plan = Plan([Task("a", diary.work(fails=1), retry=Retry(2, base_s=60))])
    desk.run(plan, deadline_s=1)
    desk.run(plan)
    assert len({entry.trace for entry in desk.entries}) == 1


def test_a_run_in_numbers(desk: Desk, diary: Diary) -> None:
    desk.run(
        [
            Task("a", diary.work(takes_s=2, fails=1), retry=Retry(2)),
            Task("b", diary.work(takes_s=1)),
            Task("c", diary.work(fails=9), retry=Retry(2)),
            Task("d", diary.work(), after=["c"]),
            Task("e", diary.work(takes_s=99), timeout_s=5),
        ],
        parallel=3,
    )
    metrics = metrics_of(desk.entries)
    assert dict(metrics.ended) == {"succeeded": 2, "failed": 1, "skipped": 1, "timed_out": 1}
    assert (metrics.attempts, metrics.retries, metrics.peak, metrics.running) == (6, 2, 3, set())
    assert metrics.duration_sum_s == 2 + 2 + 1 + 0 + 0 + 5


def test_numbers_in_the_text_that_prometheus_reads(desk: Desk, diary: Diary) -> None:
    desk.run([Task("a", diary.work(takes_s=0.4)), Task("b", diary.work(takes_s=2))])
    text = prometheus(metrics_of(desk.entries).samples(), labels={"run": 'a "b"\\'})
    lines = text.splitlines()
    label = 'run="a \\"b\\"\\\\"'
    assert "# HELP unacked_tasks_total Tasks that ended." in lines
    assert "# TYPE unacked_tasks_total counter" in lines
    assert f'unacked_tasks_total{{{label},outcome="succeeded"}} 2' in lines
    assert "# TYPE unacked_running gauge" in lines
    assert "# TYPE unacked_attempt_duration_seconds histogram" in lines
    assert f'unacked_attempt_duration_seconds_bucket{{{label},le="0.5"}} 1' in lines
    assert f'unacked_attempt_duration_seconds_bucket{{{label},le="5"}} 2' in lines
    assert f'unacked_attempt_duration_seconds_bucket{{{label},le="+Inf"}} 2' in lines
    assert f"unacked_attempt_duration_seconds_sum{{{label}}} 2.4" in lines
    assert text.endswith("\n")
    names = [line.split("{")[0].split(" ")[0] for line in lines if not line.startswith("#")]
    assert len([line for line in lines if line.startswith("# TYPE")]) == len(
        {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in names}
    )


VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="nobody")


def test_tasks_that_run_at_once_do_not_see_each_others_context(desk: Desk) -> None:
    async def work(context: Context) -> JSON:
        before = VARIABLE.get()
        VARIABLE.set(context.task.id)
        await asyncio.sleep(1)
        return [before, VARIABLE.get(), current().task.id]

    report = desk.run([Task(name, work) for name in "abc"])
    assert report.results == {name: ["nobody", name, name] for name in "abc"}


def test_a_failure_of_one_task_leaves_the_others_alone(desk: Desk, diary: Diary) -> None:
    report = desk.run([Task("bad", diary.work(takes_s=1, fails=9)), Task("good", diary.work(takes_s=2))])
    assert states(report) == {"bad": "failed", "good": "succeeded"}


def test_a_step_has_the_same_token_whenever_it_is_tried(desk: Desk) -> None:
    tokens: list[str] = []

    async def write(_what: str) -> JSON:
        tokens.append(idempotency_token())
        if len(tokens) < 3:
            raise ConnectionError
        return None

    async def work(context: Context) -> JSON:
        return await context.step("write", write, "x", retry=Retry(2))

    desk.run([Task("a", work, retry=Retry(2))])
    assert len(tokens) == 3
    assert len(set(tokens)) == 1
    assert tokens[0].startswith("run/a/write:")


def test_a_token_is_not_seen_outside_of_its_step(desk: Desk) -> None:
    async def write() -> JSON:
        return idempotency_token()

    async def work(context: Context) -> JSON:
        await context.step("write", write)
        return idempotency_token()

    (task,) = desk.run([Task("a", work)]).tasks.values()
    assert task.error is not None
    assert task.error.startswith("LookupError")


def test_sharers_of_a_limit_take_turns_however_many_each_has() -> None:
    gate: Gate[str] = Gate(at_once=1)
    for number in range(4):
        gate.enqueue("greedy", f"g{number}")
    gate.enqueue("modest", "m0")
    order = []
    while (item := gate.take(0)) is not None:
        order.append(item)
        assert gate.take(0) is None
        gate.release()
    assert order == ["g0", "m0", "g1", "g2", "g3"]


def test_a_rate_lets_a_burst_through_and_then_so_many_a_second() -> None:
    gate: Gate[int] = Gate(per_s=2, burst=3)
    for number in range(6):
        gate.enqueue("a", number)
    taken = []
    for tenths in range(30):
        while (item := gate.take(tenths / 10)) is not None:
            taken.append((tenths / 10, item))
    assert taken == [(0, 0), (0, 1), (0, 2), (0.5, 3), (1.0, 4), (1.5, 5)]


def test_a_limit_is_a_positive_number() -> None:
    with pytest.raises(ValueError, match="expected numbers above 0"):
        Gate[int](at_once=0)


def test_a_shared_limiter_is_fair_among_tasks(desk: Desk) -> None:
    limiter = Limiter(per_s=1)
    served: list[tuple[float, str]] = []

    async def work(context: Context) -> JSON:
        async def one() -> None:
            async with limiter.slot(context.task.id):
                served.append((now(), context.task.id))

        await asyncio.gather(*(one() for _ in range(3 if context.task.id == "greedy" else 1)))
        return None

    desk.run([Task("greedy", work), Task("modest", work)])
    assert [at for at, _ in served] == [0, 1, 2, 3]
    assert (3, "modest") not in served


def test_whoever_is_cancelled_frees_its_place_inside_and_in_the_queue(desk: Desk, diary: Diary) -> None:
    limiter = Limiter(at_once=1)

    async def work(context: Context) -> JSON:
        async with limiter.slot(context.task.id):
            diary.write(context.task.id)
            await asyncio.sleep(100)
        return None

    async def stop(runner: Runner) -> None:
        await asyncio.sleep(1)
        runner.cancel("no", task="b")  # waits
        await asyncio.sleep(1)
        runner.cancel("no", task="a")  # is inside

    desk.run([Task(name, work) for name in "abc"], meanwhile=stop)
    assert diary.lines == [(0, "a"), (2, "c")]


def test_a_place_that_was_given_to_somebody_who_is_gone_is_given_on() -> None:
    async def all_of_it() -> list[str]:
        limiter, served = Limiter(at_once=1), list[str]()
        waiting: list[asyncio.Task[None]] = []

        async def hold(name: str) -> None:
            async with limiter.slot(name):
                served.append(name)
                await asyncio.sleep(1)
            if name == "first":
                waiting[1].cancel()  # in the moment in which its turn has come

        waiting.extend(asyncio.ensure_future(hold(name)) for name in ("first", "second", "third"))
        await asyncio.wait(waiting)
        return served

    assert virtually(all_of_it()) == ["first", "third"]


def spin() -> JSON:
    while True:
        pass


def triple(number: int) -> JSON:
    return number * 3


def shout() -> JSON:
    raise ValueError("loud")


def die() -> JSON:
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def test_work_that_computes_for_ever_is_killed_and_the_others_are_unharmed(tmp_path: Path) -> None:
    async def hung(context: Context) -> JSON:
        return await context.step("spin", killable(spin), timeout_s=1)

    async def good(context: Context) -> JSON:
        return await context.step("triple", killable(triple), 4)

    async def bad(context: Context) -> JSON:
        return await context.step("shout", killable(shout))

    async def dead(context: Context) -> JSON:
        return await context.step("die", killable(die))

    began = time.monotonic()
    plan = Plan([Task("hung", hung), Task("good", good), Task("bad", bad), Task("dead", dead)])
    report = asyncio.run(run(plan, tmp_path / "journal.db", "run"))
    assert states(report) == {"hung": "timed_out", "good": "succeeded", "bad": "failed", "dead": "failed"}
    assert report.results == {"good": 12}
    assert report.tasks["bad"].error == "HarnessError: ValueError: loud"
    assert report.tasks["dead"].error == "WorkerDied: the process of die ended with -9"
    assert time.monotonic() - began < 20
