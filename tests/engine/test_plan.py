from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.suites import ROOT, SuiteFolder

from unacked.engine import Plan, RunRequest, make_plan
from unacked.errors import SpecificationError
from unacked.suite import Suite, load_suite


@pytest.fixture(scope="module")
def loaded() -> Suite:
    return load_suite(ROOT)


def plan(suite: Suite, *select: str, agents: Sequence[str] = ("careful",), **more: Any) -> Plan:
    return make_plan(suite, RunRequest(select, agents, **more))


def refused(suite: Suite, *select: str, agents: Sequence[str] = ("careful",)) -> str:
    with pytest.raises(SpecificationError) as raised:
        plan(suite, *select, agents=agents)
    return str(raised.value)


def test_a_plan_holds_every_side_of_every_case_for_every_agent_and_repeat(loaded: Suite) -> None:
    names = [trial.name for trial in plan(loaded, "E01", agents=("careful", "reckless"), repeat=2).trials]
    assert names == [
        "E01.careful.1",
        "E01.careful.2",
        "E01.reckless.1",
        "E01.reckless.2",
        "E01.twin.careful.1",
        "E01.twin.careful.2",
        "E01.twin.reckless.1",
        "E01.twin.reckless.2",
    ]


def test_without_agents_the_controls_run(loaded: Suite) -> None:
    controls = plan(loaded, "E01", agents=())
    assert (controls.controls, controls.agents) == (True, ["careful", "culprit", "reckless", "refuser"])


def test_an_agent_that_is_named_twice_runs_once(loaded: Suite) -> None:
    assert len(plan(loaded, "C01", agents=("careful", "careful")).trials) == 1


def test_an_agent_with_nothing_to_do_is_zero_trials_and_refused(loaded: Suite) -> None:
    told = refused(loaded, "C01", agents=("culprit",))
    assert "no trial is left" in told
    assert "one that repeats incidents only cases that hold one" in told


def test_an_unknown_agent_is_refused_with_the_nearest_name(loaded: Suite) -> None:
    assert "did you mean 'reckless'?" in refused(loaded, "C01", agents=("wreckless",))


def test_a_suite_without_controls_needs_an_agent_to_be_named(suite: SuiteFolder) -> None:
    for path in (suite.path / "agents").glob("*/agent.yaml"):
        path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("control:")))
    assert "the suite has no control agents" in refused(load_suite(suite.path), agents=())


def test_a_policy_that_does_not_load_is_refused_before_anything_runs(suite: SuiteFolder) -> None:
    (suite.path / "agents/careful/policy.py").write_text("import nothing_of_this_name\n")
    text = refused(load_suite(suite.path), "C01")
    assert "agents/careful/policy.py:1:1: fails while it is loaded: ModuleNotFoundError" in text


def test_a_policy_without_a_function_act_is_refused(suite: SuiteFolder) -> None:
    (suite.path / "agents/careful/policy.py").write_text("")
    assert "agents/careful/policy.py: defines no policy" in refused(load_suite(suite.path), "C01")


def test_equal_plans_are_the_same_run(loaded: Suite) -> None:
    assert plan(loaded, "E01").run == plan(loaded, "E01").run


@pytest.mark.parametrize("more", [{"seed": "1"}, {"repeat": 2}, {"agents": ("reckless",)}, {"agents": ()}])
def test_another_request_is_another_run(loaded: Suite, more: dict[str, Any]) -> None:
    assert plan(loaded, "E01").run != plan(loaded, "E01", **more).run


def test_another_order_of_agents_is_another_run(loaded: Suite) -> None:
    pairs = (("careful", "reckless"), ("reckless", "careful"))
    assert len({plan(loaded, "E01", agents=pair).run for pair in pairs}) == 2


def test_a_change_elsewhere_in_the_suite_is_the_same_run(suite: SuiteFolder) -> None:
    before = plan(load_suite(suite.path), "C01").run
    (suite.path / "agents/reckless/prompt.md").write_text("something else\n")
    suite.edit("transitions/matrix/E01-create-read-annotate.case.yaml", "trap: true", "trap: false")
    assert plan(load_suite(suite.path), "C01").run == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("agents/prompts/careful.md", "small task", "little task"),
        ("agents/careful/policy.py", "ATTEMPTS = 3", "ATTEMPTS = 4"),
        ("fake_services/forge.py", "TEXT = Field()", "TEXT = Field()  # as it is"),
        ("transitions/plain-read.yaml", "count.tries >= 3", "count.tries >= 4"),
        ("transitions/matrix/C01-read-issue.case.yaml", "Login page", "Front page"),
    ],
)
def test_a_change_in_what_is_used_is_another_run(suite: SuiteFolder, name: str, old: str, new: str) -> None:
    before = plan(load_suite(suite.path), "C01").run
    suite.edit(name, old, new)
    assert plan(load_suite(suite.path), "C01").run != before


def test_what_was_selected_and_cannot_be_run_is_counted_aloud(suite: SuiteFolder) -> None:
    suite.edit("transitions/matrix/E01-create-read-annotate.case.yaml", "trap: true", "pending: not yet")
    loaded = load_suite(suite.path)
    assert "E01" in plan(loaded).pending
    assert plan(loaded, "[CE]01").pending == ["E01"]
    assert plan(loaded, "C01").pending == []
