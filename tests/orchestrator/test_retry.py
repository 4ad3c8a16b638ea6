from __future__ import annotations

import pytest
from tests.orchestrator.conftest import Desk, Diary, now, states

from unacked.canonical import JSON
from unacked.orchestrator import Context, IllegalTransition, Plan, Propagation, Retry, Saga, Task, redrive
from unacked.orchestrator.task import Compensation


class Flaky:
    """Fails the first ``failures`` times that it is called; keeps when that was."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, list[float]()

    async def __call__(self, *_arguments: JSON) -> JSON:
        self.calls.append(now())
        if len(self.calls) <= self.failures:
            raise ConnectionError("reset")
        return len(self.calls)

    @property
    def waits(self) -> list[float]:
        return [round(b - a, 6) for a, b in zip(self.calls, self.calls[1:], strict=False)]


def test_a_retry_that_succeeds_counts_three_calls_one_and_two_seconds_apart(desk: Desk) -> None:
    flaky = Flaky(2)
    report = desk.run([Task("a", flaky, retry=Retry(5))])
    assert (flaky.waits, states(report), report.tasks["a"].attempt) == ([1, 2], {"a": "succeeded"}, 3)


def test_what_always_fails_ends_as_a_dead_letter(desk: Desk) -> None:
    flaky = Flaky(99)
    report = desk.run([Task("a", flaky, retry=Retry(3))])
    assert (len(flaky.calls), states(report), report.dead_letters) == (3, {"a": "deadletter"}, ["a"])
    with desk.reader() as reader:
        (letter,) = reader.dead_letters()
    assert (letter.id, letter.error, letter.failures) == ("a", "ConnectionError: reset", 3)


def test_what_is_tried_once_fails_and_is_no_dead_letter(desk: Desk) -> None:
    assert states(desk.run([Task("a", Flaky(99))])) == {"a": "failed"}


def test_waits_grow_up_to_the_cap(desk: Desk) -> None:
    flaky = Flaky(5)
    desk.run([Task("a", flaky, retry=Retry(9, cap_s=5))])
    assert flaky.waits == [1, 2, 4, 5, 5]


def jittered(desk: Desk, seed: str) -> list[float]:
    flaky = Flaky(4)
    desk.run([Task("a", flaky, retry=Retry(9, jitter=0.5))], seed=seed)
    return flaky.waits


def test_jitter_is_the_same_for_the_same_seed_and_another_for_another(desk: Desk) -> None:
    desks = [Desk(desk.path.with_name(f"{name}.db")) for name in "abc"]
    a, again, b = jittered(desks[0], "1"), jittered(desks[1], "1"), jittered(desks[2], "2")
    assert a == again != b
    assert all(whole / 2 < wait <= whole for wait, whole in zip(a, (1, 2, 4, 8), strict=True))


def test_those_that_failed_together_do_not_come_back_together(desk: Desk) -> None:
    flakies = [Flaky(1) for _ in range(20)]
    desk.run([Task(f"t{n}", flaky, retry=Retry(2, jitter=1)) for n, flaky in enumerate(flakies)], parallel=20)
    assert len({flaky.calls[1] for flaky in flakies}) == 20


def test_a_task_frees_its_slot_while_it_waits_for_its_next_attempt(desk: Desk, diary: Diary) -> None:
    desk.run([Task("a", Flaky(1), retry=Retry(2)), Task("b", diary.work(takes_s=0.5))], parallel=1)
    assert diary.lines == [(0, "b begins"), (0.5, "b ends")]


def test_a_retried_task_does_not_repeat_the_steps_that_ended(desk: Desk) -> None:
    write, then = Flaky(0), Flaky(2)

    async def work(context: Context) -> JSON:
        written = await context.step("write", write, {"amount": 1})
        await context.step("then", then)
        return written

    report = desk.run([Task("a", work, retry=Retry(3))])
    assert (len(write.calls), len(then.calls), report.results) == (1, 3, {"a": 1})


def test_a_step_is_retried_by_its_own_rule(desk: Desk) -> None:
    flaky = Flaky(2)

    async def work(context: Context) -> JSON:
        return await context.step("s", flaky, retry=Retry(3))

    report = desk.run([Task("a", work)])
    assert (flaky.waits, report.tasks["a"].attempt) == ([1, 2], 1)
    with desk.reader() as reader:
        (step,) = reader.steps("a")
    assert (step.attempts, step.state, step.output) == (3, "ended", 3)


def test_a_dead_letter_is_driven_again_and_so_is_what_ended_because_of_it(desk: Desk, diary: Diary) -> None:
    flaky = Flaky(3)
    plan = Plan(
        [
            Task("a", flaky, retry=Retry(3)),
            Task("b", diary.work(), after=["a"]),
            Task("c", diary.work(), after=["b"], on_upstream_failure=Propagation.FAIL),
            Task("d", diary.work()),
        ]
    )
    assert states(desk.run(plan)) == {"a": "deadletter", "b": "skipped", "c": "failed", "d": "succeeded"}
    with desk.journal(plan) as journal:
        assert redrive(plan, journal, ["a"]) == ["a", "b", "c"]
    assert states(desk.run(plan)) == {"a": "succeeded", "b": "succeeded", "c": "succeeded", "d": "succeeded"}
    assert (len(flaky.calls), diary.names.count("d begins")) == (4, 1)


def test_what_was_taken_back_is_done_again_by_another_drive(desk: Desk) -> None:
    write, undo, then = Flaky(0), Flaky(0), Flaky(2)

    async def work(context: Context) -> JSON:
        await context.step("write", write)
        return await context.step("then", then)

    async def take_back(*_arguments: JSON, output: JSON) -> None:
        await undo(output)

    plan = Plan([Task("a", work, retry=Retry(2), compensations={"write": Compensation(take_back)})])
    assert states(desk.run(plan)) == {"a": "deadletter"}
    assert (len(write.calls), len(undo.calls)) == (1, 1)
    with desk.journal(plan) as journal:
        redrive(plan, journal, ["a"])
    assert states(desk.run(plan)) == {"a": "succeeded"}
    assert (len(write.calls), len(undo.calls)) == (2, 1)


@pytest.mark.parametrize("task", ["good", "skipped"])
def test_only_what_failed_can_be_driven_again(desk: Desk, diary: Diary, task: str) -> None:
    plan = Plan([Task("good", diary.work()), Task("skipped", diary.work(), condition=lambda _results: False)])
    desk.run(plan)
    with desk.journal(plan) as journal, pytest.raises(IllegalTransition, match="knows no 'retry'"):
        redrive(plan, journal, [task])


def test_a_run_that_was_taken_back_as_a_whole_is_not_driven_again(desk: Desk) -> None:
    async def work(context: Context) -> JSON:
        return await context.step("write", Flaky(0))

    async def take_back(*_arguments: JSON, output: JSON) -> None:
        assert output == 1

    plan = Plan(
        [Task("a", work, compensations={"write": Compensation(take_back)}), Task("b", Flaky(9), after=["a"])],
        saga=Saga.PLAN,
    )
    desk.run(plan)
    with desk.journal(plan) as journal, pytest.raises(Exception, match="was taken back as a whole"):
        redrive(plan, journal, ["b"])
