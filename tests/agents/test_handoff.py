from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from unacked.agents import BudgetSpentError, Call, Reply
from unacked.agents.handoff import Ended, Handoff, TrialOverError

PATIENCE_S = 10.0
OK: Mapping[str, Any] = {"ok": True}


def agent(handoff: Handoff, *calls: Call) -> tuple[threading.Thread, list[Any]]:
    """An agent in a thread of its own: makes the calls one after another; returns what it was told."""
    told: list[Any] = []

    def work() -> None:
        try:
            told.extend(handoff.call(call) for call in calls)
        except TrialOverError as over:
            told.append(str(over))
        handoff.end(Ended("bye"))

    thread = threading.Thread(target=work)
    thread.start()
    return thread, told


def test_calls_and_results_go_to_and_fro_until_the_end() -> None:
    handoff = Handoff()
    thread, told = agent(handoff, Call("a"), Call("b"))
    assert handoff.next((), PATIENCE_S) == Reply((Call("a"),))
    assert handoff.next([OK], PATIENCE_S) == Reply((Call("b"),))
    assert handoff.next([OK], PATIENCE_S) == Reply(text="bye")
    thread.join(PATIENCE_S)
    assert told == [OK, OK]


def test_an_agent_that_does_nothing_in_time_is_cut() -> None:
    with pytest.raises(BudgetSpentError, match=r"the agent did nothing for 0\.01 s"):
        Handoff().next((), 0.01)


def test_what_the_agent_raised_is_raised_again() -> None:
    handoff = Handoff()
    handoff.end(Ended(error=ZeroDivisionError("oh")))
    with pytest.raises(ZeroDivisionError, match="oh"):
        handoff.next((), PATIENCE_S)


def test_after_the_end_no_call_is_taken_and_the_last_result_is_told() -> None:
    handoff = Handoff()
    thread, told = agent(handoff, Call("finish"), Call("more"))
    handoff.next((), PATIENCE_S)
    handoff.close([OK])
    thread.join(PATIENCE_S)
    assert told == [OK, "the trial is over"]


def test_a_call_that_waits_is_let_go_at_the_end() -> None:
    handoff = Handoff()
    thread, told = agent(handoff, Call("a"))
    handoff.next((), PATIENCE_S)
    handoff.close(())
    thread.join(PATIENCE_S)
    assert told == ["the trial is over"]
