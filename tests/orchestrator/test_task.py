from __future__ import annotations

import math

import pytest

from unacked.canonical import JSON
from unacked.errors import SpecificationError
from unacked.orchestrator import Compensation, Context, Plan, Retry, Saga, Task
from unacked.orchestrator.task import draw


async def nothing(_context: Context) -> JSON:
    return None


def test_waits_double_up_to_a_cap() -> None:
    retry = Retry(6, base_s=1, factor=2, cap_s=5)
    assert [retry.delay_s(failures, 0.7) for failures in range(1, 6)] == [1, 2, 4, 5, 5]


def test_jitter_leaves_out_a_share_of_the_wait() -> None:
    retry = Retry(3, jitter=0.5)
    assert [retry.delay_s(1, share) for share in (0.0, 0.5, 1.0)] == [1.0, 0.75, 0.5]


def test_however_often_something_failed_the_wait_is_a_number() -> None:
    assert Retry(9, cap_s=60).delay_s(100_000, 0.5) == 60


def test_draws_depend_on_their_names_alone_and_spread() -> None:
    draws = [draw("seed", "task", number) for number in range(1000)]
    assert draws == [draw("seed", "task", number) for number in range(1000)]
    assert len(set(draws)) == 1000
    assert all(0 <= share < 1 for share in draws)
    assert math.isclose(sum(draws) / 1000, 0.5, abs_tol=0.03)


def test_all_that_is_wrong_with_a_retry_is_told_at_once() -> None:
    with pytest.raises(SpecificationError) as told:
        Retry(0, base_s=-1, factor=0.5, cap_s=math.inf, jitter=2)
    assert len(told.value.problems) == 5


def test_a_cycle_is_refused_and_its_way_is_told() -> None:
    tasks = [Task("a", nothing, after=["c"]), Task("b", nothing, after=["a"]), Task("c", nothing, after=["b"])]
    with pytest.raises(SpecificationError, match=r"wait for each other: '[abc]' -> '[abc]' -> '[abc]' -> '[abc]'"):
        Plan(tasks)


def test_a_task_that_waits_for_itself_is_refused() -> None:
    with pytest.raises(SpecificationError, match="'a' -> 'a'"):
        Plan([Task("a", nothing, after=["a"])])


def test_every_problem_of_a_plan_is_told_at_once() -> None:
    with pytest.raises(SpecificationError) as told:
        Plan(
            [
                Task("fetch", nothing),
                Task("fetch", nothing),
                Task("", nothing),
                Task("sum", nothing, after=["fetsh"], timeout_s=0, input={1, 2}),
                Task("twice", nothing, after=["fetch", "fetch"]),
            ]
        )
    text = str(told.value)
    assert "2 tasks have this name" in text
    assert "a task needs a name" in text
    assert "'fetsh', which is no task of this plan\n    hint: did you mean 'fetch'?" in text
    assert "timeout_s is 0" in text
    assert "its input is not JSON: set is not JSON" in text
    assert "comes after the same task twice" in text


def test_the_digest_says_what_a_plan_does() -> None:
    plan = Plan([Task("a", nothing, input=1), Task("b", nothing, after=["a"])], pins={"prompt": "x"})
    same = Plan([Task("b", nothing, after=["a"]), Task("a", nothing, input=1)], pins={"prompt": "x"})
    assert plan.digest == same.digest
    others = [
        Plan([Task("a", nothing, input=2), Task("b", nothing, after=["a"])], pins={"prompt": "x"}),
        Plan([Task("a", nothing, input=1), Task("b", nothing)], pins={"prompt": "x"}),
        Plan([Task("a", nothing, input=1), Task("b", nothing, after=["a"])], pins={"prompt": "y"}),
        Plan([Task("a", nothing, input=1, version="2"), Task("b", nothing, after=["a"])], pins={"prompt": "x"}),
        Plan([Task("a", nothing, input=1), Task("b", nothing, after=["a"])], pins={"prompt": "x"}, saga=Saga.PLAN),
        Plan(
            [Task("a", nothing, input=1, compensations={"s": Compensation(nothing)}), Task("b", nothing, after=["a"])],
            pins={"prompt": "x"},
        ),
    ]
    assert len({plan.digest, *(other.digest for other in others)}) == 7


def test_patience_and_priority_may_change_between_two_parts_of_a_run() -> None:
    assert Plan([Task("a", nothing)]).digest == (
        Plan([Task("a", nothing, timeout_s=9, retry=Retry(5), priority=2)]).digest
    )
