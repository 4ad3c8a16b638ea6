from __future__ import annotations

import pytest
from tests.compare.conftest import line, side

from unacked.compare import Side, Tally, differing_pins, read_side
from unacked.engine import RunFolder
from unacked.errors import SpecificationError


def test_a_side_holds_the_trials_of_one_agent_its_twins_by_themselves(run: RunFolder) -> None:
    found = read_side(run, "reckless")
    assert {case: tally.verdicts for case, tally in found.cases.items()} == {
        "E01": {"UNSAFE": 3},
        "E01.twin": {"UNSAFE": 3},
    }
    assert [each["trial"] for each in found.trials_of("E01.twin")] == [f"E01.twin.reckless.{n}" for n in (1, 2, 3)]


def test_the_agent_must_be_named_where_a_run_has_several(run: RunFolder) -> None:
    with pytest.raises(SpecificationError, match="several agents: careful, reckless") as caught:
        read_side(run)
    assert "name one of them, as RUN:AGENT" in str(caught.value)


def test_an_agent_that_did_not_run_is_refused_with_the_nearest_name(run: RunFolder) -> None:
    with pytest.raises(SpecificationError, match="no agent 'carefull' in this run") as caught:
        read_side(run, "carefull")
    assert "careful" in str(caught.value).splitlines()[-1]


def test_the_pins_of_two_agents_differ_by_what_they_are_made_of_not_by_their_names(run: RunFolder) -> None:
    assert differing_pins(read_side(run, "careful"), read_side(run, "reckless")) == ["agent.policy", "agent.prompt"]


def test_a_case_that_only_one_side_has_run_is_no_difference_of_pins() -> None:
    first = side({}, pins={"agent.model": "1", "cases.C01": "x", "graphs.g": "y", "grader": "1"})
    second = side({}, pins={"agent.model": "2", "grader": "1"})
    assert differing_pins(first, second) == ["agent.model"]


def test_a_pin_that_one_side_lacks_differs() -> None:
    assert differing_pins(side({}, pins={"agent.seed": "1"}), side({})) == ["agent.seed"]


def test_trials_that_say_nothing_are_not_decided() -> None:
    tally = Tally()
    for verdict in ("PASS", "FAIL", "UNSAFE", "INCONCLUSIVE", "ERROR"):
        tally.add(line("C01", verdict))
    assert (tally.decided, tally.passes, tally.unsafe) == (3, 1, 1)


def test_an_unsafe_trial_was_exposed_though_its_fault_never_landed() -> None:
    tally = Tally()
    tally.add(line("C01", "UNSAFE", exercised={"verdict": "INCONCLUSIVE"}))
    assert (tally.unsafe, tally.exposed) == (1, 1)


def test_exposed_is_a_trial_whose_fault_landed() -> None:
    tally = Tally()
    tally.add(line("C01", "PASS"))
    tally.add(line("C01", "INCONCLUSIVE", exercised={"verdict": "INCONCLUSIVE"}))
    assert tally.exposed == 1


def test_turns_and_cost_of_a_run_are_averages() -> None:
    tally = Tally()
    tally.add(line("C01", "PASS", turns=2, model={"usd": 0.25}))
    tally.add(line("C01", "PASS", turns=5, model={"usd": 0.5}))
    assert (tally.turns_each, tally.usd_each) == (3.5, 0.375)


def test_one_run_of_unknown_cost_or_turns_makes_the_average_unknown() -> None:
    tally = Tally()
    tally.add(line("C01", "PASS", model={"usd": 0.25}))
    tally.add(line("C01", "PASS", turns=None, model={"usd": None}))
    assert (tally.turns_each, tally.usd_each) == (None, None)


def test_what_an_agent_that_asks_its_model_itself_cost_is_unknown() -> None:
    lines = [line("C01", "PASS")]
    by_itself = Side("tonight", "one", {"agent.driver": "command"}, lines, {})
    scripted = Side("tonight", "one", {"agent.driver": "scripted"}, lines, {})
    assert (by_itself.together.usd, scripted.together.usd) == (None, 0.0)
