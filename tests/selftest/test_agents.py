"""Agents that are wrong in one known way each: caught by their claim, and never mistaken for the careful one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.claims import TrialVerdict, judge_trial
from unacked.graph import Verdict
from unacked.selftest.agents import AGENTS, PlantedAgent, try_agents
from unacked.selftest.run import agent_item
from unacked.suite import Suite, load_suite
from unacked.trial import Bench, TrialPlan


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load_suite(ROOT)


@pytest.fixture(scope="module")
def verdicts(shipped: Suite, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, TrialVerdict]:
    return {agent.name: verdict for agent, verdict in try_agents(shipped, tmp_path_factory.mktemp("agents"))}


@pytest.mark.parametrize("planted", AGENTS, ids=lambda agent: agent.name)
def test_a_planted_agent_is_caught_under_its_own_rule(
    planted: PlantedAgent, verdicts: Mapping[str, TrialVerdict]
) -> None:
    item = agent_item(planted, verdicts[planted.name])
    assert (item.caught, item.rules[0], item.gap) == (1, planted.rule, None)


@pytest.mark.parametrize("planted", AGENTS, ids=lambda agent: agent.name)
def test_the_careful_agent_is_not_caught_where_the_planted_one_is(
    planted: PlantedAgent, shipped: Suite, tmp_path: Path
) -> None:
    plan = TrialPlan(0, planted.case, twin=False, agent="careful", repeat=1, seed="0", run="run")
    record = Bench(shipped).run(plan, tmp_path / "events.jsonl")
    verdict = judge_trial(shipped.cases[planted.case].side(twin=False), record.history)
    item = agent_item(planted, verdict)
    assert verdict.verdict is Verdict.PASS
    assert item.gap == f"not caught under {planted.rule} by the claim {planted.claim!r} in {planted.case}"


def test_every_rule_of_the_final_claim_and_of_the_world_has_an_agent_that_breaks_it() -> None:
    rules = {"no-final-claim", "wrong-final-claim", "unnamed-reason", "cut-short", "wrong-world", "surplus-effect"}
    assert rules <= {planted.rule for planted in AGENTS}


def test_names_of_planted_agents_are_unique() -> None:
    assert len({planted.name for planted in AGENTS}) == len(AGENTS)
