from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.orchestrator.conftest import Desk, Diary, states

from unacked.canonical import JSON
from unacked.orchestrator import Compensation, Context, Plan, Retry, Runner, Saga, Task, idempotency_token


class Booking:
    """Books and takes back; ``broken`` names what cannot be taken back, ``slow_s`` how long that takes."""

    def __init__(self, diary: Diary, *, broken: str = "", slow_s: float = 0, undo_retry: Retry = Retry()) -> None:  # noqa: B008
        self.diary, self.broken, self.slow_s = diary, broken, slow_s
        self.compensations = {name: Compensation(self.undo, undo_retry) for name in ("flight", "hotel", "car")}

    async def book(self, what: str) -> JSON:
        await asyncio.sleep(0)
        self.diary.write(f"book {what}")
        return f"id of {what}"

    async def undo(self, what: str, *, output: JSON) -> None:
        self.diary.write(f"undo {what} {output}")
        await asyncio.sleep(self.slow_s)
        if what == self.broken:
            raise ConnectionError("no answer")
        self.diary.write(f"undone {what}")

    def task(self, name: str, steps: str, then: Callable[[], Awaitable[JSON]] | None = None, after: str = "") -> Task:
        async def work(context: Context) -> JSON:
            for step in steps.split():
                await context.step(step, self.book, step)
            return None if then is None else await then()

        return Task(name, work, after=after.split(), compensations=self.compensations)


async def fails() -> JSON:
    raise ValueError("sold out")


async def hangs() -> JSON:
    await asyncio.sleep(1e6)
    return None


def test_what_was_done_is_taken_back_the_last_first(desk: Desk, diary: Diary) -> None:
    assert states(desk.run([Booking(diary).task("trip", "flight hotel car", fails)])) == {"trip": "failed"}
    assert diary.names[3:] == [
        "undo car id of car",
        "undone car",
        "undo hotel id of hotel",
        "undone hotel",
        "undo flight id of flight",
        "undone flight",
    ]


def test_what_succeeded_is_not_taken_back(desk: Desk, diary: Diary) -> None:
    desk.run([Booking(diary).task("trip", "flight hotel")])
    assert diary.names == ["book flight", "book hotel"]


def test_steps_that_only_read_are_not_taken_back(desk: Desk, diary: Diary) -> None:
    desk.run([Booking(diary).task("trip", "prices flight prices", fails)])
    assert [name for name in diary.names if "undo " in name] == ["undo flight id of flight"]


def test_every_compensation_is_journalled_one_by_one(desk: Desk, diary: Diary) -> None:
    desk.run([Booking(diary).task("trip", "flight hotel", fails)])
    marks = [(entry.kind, str(entry.detail["key"]).partition(":")[0]) for entry in desk.entries if "comp" in entry.kind]
    assert marks == [
        ("compensation_begun", "hotel"),
        ("compensation_done", "hotel"),
        ("compensation_begun", "flight"),
        ("compensation_done", "flight"),
    ]


def test_a_compensation_that_fails_is_left_to_a_person_and_the_others_go_on(desk: Desk, diary: Diary) -> None:
    report = desk.run([Booking(diary, broken="hotel").task("trip", "flight hotel car", fails)])
    (step,) = report.need_a_person
    assert (step.name, step.compensation, step.compensation_error) == (
        "hotel",
        "needs_person",
        "ConnectionError: no answer",
    )
    assert "undone flight" in diary.names
    with desk.reader() as reader:
        assert [(step.name, step.compensation) for step in reader.steps("trip")] == [
            ("flight", "done"),
            ("hotel", "needs_person"),
            ("car", "done"),
        ]


def test_a_compensation_is_tried_as_often_as_it_says(desk: Desk, diary: Diary) -> None:
    desk.run([Booking(diary, broken="flight", undo_retry=Retry(3)).task("trip", "flight", fails)])
    assert [at for at, what in diary.lines if what.startswith("undo ")] == [0, 1, 3]


def test_a_compensation_that_hangs_is_left_to_a_person(desk: Desk, diary: Diary) -> None:
    report = desk.run([Booking(diary, slow_s=1e9).task("trip", "flight", fails)])
    assert report.need_a_person[0].compensation_error == "TimeoutError: "


@pytest.mark.parametrize("way", ["timeout", "cancel", "deadline"])
def test_what_ends_badly_in_any_way_is_taken_back(desk: Desk, diary: Diary, way: str) -> None:
    async def stop(runner: Runner) -> None:
        await asyncio.sleep(5)
        if way == "cancel":
            runner.cancel("no", task="trip")

    booking = Booking(diary, slow_s=3)
    task = booking.task("trip", "flight hotel", hangs)
    plan = Plan([Task(task.id, task.work, compensations=task.compensations, timeout_s=5 if way == "timeout" else None)])
    desk.run(plan, meanwhile=stop, deadline_s=5 if way == "deadline" else None)
    assert diary.lines[-4:] == [
        (5, "undo hotel id of hotel"),
        (8, "undone hotel"),
        (8, "undo flight id of flight"),
        (11, "undone flight"),
    ]


def test_a_cancellation_does_not_reach_a_compensation(desk: Desk, diary: Diary) -> None:
    async def stop(runner: Runner) -> None:
        await asyncio.sleep(1)
        asyncio.current_task()
        for task in asyncio.all_tasks():
            if task.get_name() == "trip":
                task.cancel("again")
        assert runner.running == 1

    desk.run([Booking(diary, slow_s=3).task("trip", "flight hotel", fails)], meanwhile=stop)
    assert diary.names[-1] == "undone flight"


def test_a_step_of_unknown_effect_is_not_taken_back_blindly_but_left_to_a_person(desk: Desk, diary: Diary) -> None:
    async def lost(_what: str) -> JSON:
        return await hangs()

    async def work(context: Context) -> JSON:
        await context.step("flight", booking.book, "flight")
        return await context.step("hotel", lost, "hotel", timeout_s=2)

    booking = Booking(diary)
    report = desk.run([Task("trip", work, compensations=booking.compensations)])
    assert states(report) == {"trip": "timed_out"}
    assert [(step.name, step.state) for step in report.need_a_person] == [("hotel", "unknown")]
    assert [name for name in diary.names if "undo " in name] == ["undo flight id of flight"]


def test_a_crash_inside_a_compensation_is_gone_on_from_there(desk: Desk, diary: Diary) -> None:
    tokens: list[str] = []

    class Crash(BaseException):
        pass

    class Crashing(Booking):
        async def undo(self, what: str, *, output: JSON) -> None:
            tokens.append(idempotency_token())
            if what == "hotel" and len(tokens) == 2:
                raise Crash
            await super().undo(what, output=output)

    plan = Plan([Crashing(diary).task("trip", "flight hotel car", fails)])
    with pytest.raises(Crash):
        desk.run(plan)
    assert states(desk.run(plan)) == {"trip": "failed"}
    assert [name for name in diary.names if "undone" in name] == ["undone car", "undone hotel", "undone flight"]
    assert [name for name in diary.names if "book" in name] == ["book flight", "book hotel", "book car"]
    assert tokens[1] == tokens[2]
    assert tokens[1].startswith("run/trip/hotel:")
    assert tokens[1].endswith("#1/undo")


def test_a_plan_can_be_taken_back_as_a_whole_over_all_its_tasks(desk: Desk, diary: Diary) -> None:
    booking = Booking(diary)
    plan = Plan(
        [
            booking.task("a", "flight"),
            booking.task("b", "hotel", after="a"),
            booking.task("c", "car", fails, after="b"),
        ],
        saga=Saga.PLAN,
    )
    assert states(desk.run(plan)) == {"a": "succeeded", "b": "succeeded", "c": "failed"}
    undone = [name for name in diary.names if "undone" in name]
    assert undone == ["undone car", "undone hotel", "undone flight"]
    desk.run(plan)
    assert [name for name in diary.names if "undone" in name] == undone


def test_a_plan_that_is_not_at_its_end_is_not_taken_back_yet(desk: Desk, diary: Diary) -> None:
    booking = Booking(diary)
    plan = Plan([booking.task("a", "flight", fails), Task("b", lambda _context: hangs())], saga=Saga.PLAN)
    desk.run(plan, deadline_s=5, parallel=1)
    assert "undone flight" in diary.names
    diary.lines.clear()
    other = Desk(desk.path.with_name("other.db"))
    plan = Plan(
        [booking.task("a", "flight", fails), Task("b", lambda _context: hangs()), Task("c", diary.work())],
        saga=Saga.PLAN,
    )
    other.run(plan, deadline_s=5, parallel=1)
    assert "undone flight" not in diary.names
