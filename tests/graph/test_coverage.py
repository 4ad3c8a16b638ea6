"""Three numbers: what the environment produced, which edges an agent took, which rules were violated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.graph.conftest import events_of

from unacked.contract import Registry
from unacked.graph import Event, Graph, judge_events
from unacked.graph.coverage import Coverage, Observation, Share, comparable, cover, profile_difference

CREATE = {"title": "alpha", "idempotency_key": "K1", "request_id": "R1"}
LOST = ("create_record", CREATE, "outcome_unknown")
FOUND = ("lookup_by_request_id", {"request_id": "R1"}, "ok", {"record_id": "rec-1"})
STOP = ("finish", {"status": "unknown"}, "ok")
AGAIN = ("create_record", {**CREATE, "idempotency_key": "K2"}, "ok", {"record_id": "rec-2"})
TOOLS = ("create_record", "lookup_by_request_id", "finish")
GRAPH = "create-outcome-unknown"
Observe = Callable[..., Observation]


@pytest.fixture
def observed(graphs: dict[str, Graph], registry: Registry) -> Observe:
    bound = graphs[GRAPH].bind({"annotate": None, "read": None}, registry, dict.fromkeys(registry, True))

    def observation(agent: str, *moves: tuple[Any, ...], case: str = "C1", twin: bool = False) -> Observation:
        events: list[Event] = events_of(list(moves), "finished")
        return Observation(
            case=case,
            fixture=f"{case}.twin" if twin else case,
            agent=agent,
            graphs=[bound],
            tools=TOOLS,
            events=events,
            judgement=judge_events(events, [bound]),
        )

    return observation


def test_the_environment_is_what_was_answered_of_what_is_modelled(observed: Observe) -> None:
    together, _ = cover([observed("a", LOST, STOP), observed("a", LOST, STOP, twin=True)])

    assert together.environment == Share(2, 26)
    assert together.produced[GRAPH] == {
        ("create_record", "outcome_unknown"): {"C1", "C1.twin"},
        ("finish", "ok"): {"C1", "C1.twin"},
    }
    assert ("lookup_by_request_id", "partial") in together.missing_pairs()[GRAPH]
    assert ("finish", "ok") not in together.missing_pairs()[GRAPH]


def test_an_answer_to_a_refused_call_was_produced_all_the_same(observed: Observe) -> None:
    together, _ = cover([observed("a", LOST, AGAIN)])

    assert ("create_record", "ok") in together.produced[GRAPH]


def test_an_operation_that_the_case_does_not_offer_is_not_missed(observed: Observe) -> None:
    together, _ = cover([observed("a", LOST, STOP)])

    assert {operation for operation, _ in together.modelled[GRAPH]} == set(TOOLS)


def test_a_profile_counts_the_edges_that_one_agent_took(observed: Observe) -> None:
    together, _ = cover([observed("one", LOST, FOUND, STOP), observed("two", LOST, STOP), observed("two", LOST, STOP)])

    assert together.taken["one"] == {(GRAPH, "create"): 1, (GRAPH, "reconcile"): 1, (GRAPH, "finish-created"): 1}
    assert together.taken["two"] == {(GRAPH, "create"): 2, (GRAPH, "escalate"): 2}
    assert together.profile("one") == Share(3, 14)
    assert together.profile("nobody") == Share(0, 14)


def test_edges_of_states_that_cannot_be_entered_are_not_missed(observed: Observe) -> None:
    together, _ = cover([observed("a", LOST, STOP)])

    assert (GRAPH, "finish-ok") not in together.edges
    assert (GRAPH, "second-note") not in together.rules
    assert (GRAPH, "finish-halted") in together.edges


def test_forbids_are_counted_by_the_agent_that_violated_them(observed: Observe) -> None:
    together, _ = cover([observed("bad", LOST, AGAIN), observed("good", LOST, STOP)])

    assert together.fired == {(GRAPH, "second-create"): {"bad": 1}}
    assert together.forbids.seen == 1
    assert (GRAPH, "second-create") not in together.missing_rules()
    assert (GRAPH, "dup-create") in together.missing_rules()


def test_a_violation_without_a_rule_of_the_file_is_no_forbid_fired(observed: Observe) -> None:
    together, _ = cover([observed("bad", ("attach_note", {"record_id": "rec-1", "text": "x"}, "ok"))])

    assert together.fired == {}


def test_each_case_has_numbers_of_its_own(observed: Observe) -> None:
    _, cases = cover([observed("a", LOST, STOP, case="C2"), observed("a", LOST, FOUND, STOP, case="C1")])

    assert list(cases) == ["C1", "C2"]
    assert cases["C1"].environment.seen == 3
    assert cases["C2"].environment.seen == 2


def test_profiles_are_compared_by_how_often_per_trial(observed: Observe) -> None:
    first, _ = cover([observed("a", LOST, FOUND, STOP)])
    second, _ = cover([observed("a", LOST, STOP), observed("a", LOST, FOUND, STOP)])

    assert comparable(first, second) == [("a", "a")]
    assert profile_difference(first, second, ("a", "a")) == {
        (GRAPH, "escalate"): (0.0, 0.5),
        (GRAPH, "finish-created"): (1.0, 0.5),
        (GRAPH, "reconcile"): (1.0, 0.5),
    }


def test_two_agents_of_different_names_are_compared_where_there_is_no_other(observed: Observe) -> None:
    one, _ = cover([observed("small", LOST, STOP)])
    two, _ = cover([observed("large", LOST, STOP)])
    both, _ = cover([observed("large", LOST, STOP), observed("huge", LOST, STOP)])

    assert comparable(one, two) == [("small", "large")]
    assert comparable(one, both) == []
    assert profile_difference(one, two, ("small", "large")) == {}


def test_coverage_is_a_json_object_too(observed: Observe) -> None:
    together, _ = cover([observed("bad", LOST, AGAIN)])

    value = together.as_json()

    assert value["environment"]["seen"] == 2
    assert value["environment"]["graphs"][GRAPH]["produced"] == [
        ["create_record", "ok", ["C1"]],
        ["create_record", "outcome_unknown", ["C1"]],
    ]
    assert value["agents"]["bad"] == {"trials": 1, "seen": 1, "of": 14, "edges": {f"{GRAPH}/create": 1}}
    assert value["forbids"]["fired"] == {f"{GRAPH}/second-create": {"bad": 1}}


def test_nothing_of_nothing_is_all_of_it() -> None:
    assert str(Coverage().environment) == "0 of 0 (100 %)"
    assert str(Share(1, 3)) == "1 of 3 (33 %)"
