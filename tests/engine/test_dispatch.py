from __future__ import annotations

from unacked.engine import Limit, Policy
from unacked.engine.dispatch import Dispatch
from unacked.trial import TrialPlan

DRIVERS = {"scripted": "scripted", "opus": "anthropic", "sonnet": "anthropic"}


def trials(*agents: str) -> list[TrialPlan]:
    return [TrialPlan(index, f"C{index:02d}", False, agent, 1, "0", "run") for index, agent in enumerate(agents)]


def taken(dispatch: Dispatch, most: int = 9, now_s: float = 0.0) -> list[int]:
    return [trial.index for trial in dispatch.take(most, now_s)]


def test_without_limits_trials_go_in_the_order_of_the_plan() -> None:
    dispatch = Dispatch(trials(*["scripted"] * 5), Policy(), DRIVERS)
    assert [taken(dispatch, 2), taken(dispatch, 2), taken(dispatch, 2), taken(dispatch, 2)] == [[0, 1], [2, 3], [4], []]
    assert dispatch.wait_s(0) is None


def test_a_priority_of_an_agent_or_a_case_goes_first() -> None:
    policy = Policy(priorities={"opus": 1, "C02": 5, "C00": -1})
    dispatch = Dispatch(trials("scripted", "opus", "scripted", "scripted"), policy, DRIVERS)
    assert taken(dispatch) == [2, 1, 3, 0]


def test_a_provider_gets_no_more_at_once_than_it_bears_and_its_agents_take_turns() -> None:
    policy = Policy(limits={"anthropic": Limit(at_once=2)})
    plan = trials("opus", "opus", "opus", "sonnet", "scripted")
    dispatch = Dispatch(plan, policy, DRIVERS)
    assert [taken(dispatch) for _ in range(3)] == [[0], [3], [4]]
    assert (taken(dispatch), dispatch.wait_s(0)) == ([], None)
    dispatch.ended(plan[0])
    assert (dispatch.wait_s(0), taken(dispatch)) == (0, [1])


def test_a_provider_gets_no_more_a_minute_than_it_bears() -> None:
    dispatch = Dispatch(trials("opus", "opus", "opus"), Policy(limits={"anthropic": Limit(per_minute=30)}), DRIVERS)
    assert (taken(dispatch), taken(dispatch), dispatch.wait_s(0.5)) == ([0], [], 1.5)
    assert (taken(dispatch, now_s=1.9), taken(dispatch, now_s=2), taken(dispatch, now_s=2)) == ([], [1], [])


def test_what_comes_back_goes_first_and_frees_its_place() -> None:
    plan = trials("opus", "scripted", "scripted")
    dispatch = Dispatch(plan, Policy(limits={"anthropic": Limit(at_once=1)}), DRIVERS)
    assert (taken(dispatch), taken(dispatch, 1)) == ([0], [1])
    dispatch.back([plan[1], plan[0]])
    assert (taken(dispatch), taken(dispatch)) == ([0], [1, 2])
