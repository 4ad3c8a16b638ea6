"""The two sides of a case are one and the same to the agent, until it asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.canonical import JSON
from unacked.event import History, call_of
from unacked.suite import load_suite
from unacked.trial import Bench, TrialPlan

SUITE = load_suite(ROOT)
TWINS = [case.name for case in SUITE.cases.values() if len(case.sides) == 2]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(SUITE)


def seen(history: History) -> list[JSON]:
    """What the agent saw, up to the result of the first call that met a fault."""
    met = next(call_of(str(event.id)) for event in history.named("fault_fired"))
    whole = [event.as_json() for event in history.named("agent_next_call", "result", "agent_message")]
    last = next(index for index, event in enumerate(whole) if event["event"] == "result" and event["id"] == met)
    return whole[: last + 1]


@pytest.mark.long
@pytest.mark.parametrize("case", TWINS)
@pytest.mark.parametrize("agent", ["careful", "reckless"])
def test_up_to_the_faulted_result_both_sides_look_the_same(bench: Bench, tmp_path: Path, agent: str, case: str) -> None:
    plans = [TrialPlan(0, case, twin, agent, 1, "0", "run") for twin in (False, True)]
    declared, twin = (bench.run(plan, tmp_path / plan.name).history for plan in plans)
    assert seen(declared) == seen(twin)


@pytest.mark.parametrize("case", TWINS)
def test_the_ambiguous_faults_of_the_two_sides_commit_the_opposite(case: str) -> None:
    sides = ([f.commits for f in SUITE.cases[case].side(twin=twin).faults if f.ambiguous] for twin in (False, True))
    declared, twin = sides
    assert declared == [not commits for commits in twin]


def test_there_are_twins() -> None:
    assert len(TWINS) >= 11
