"""Agents planted from the graphs: broken end to end, caught by name; and what the self-test says where they are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.claims import path
from unacked.graph import Judgement, judge_events
from unacked.graph.coverage import Coverage
from unacked.selftest.graphs import GraphTest, planted_agents, unproduced_answers
from unacked.selftest.run import graph_item
from unacked.suite import Suite, load_suite

UNREACHED = {
    ("create-outcome-unknown", "not/create/1"),  # no tool sends a create without its request id
    ("spend-unknown", "not/spend/1"),
    ("spend-unknown", "not/undo/2"),
    *(
        ("partial-list-cleanup", f"not/{edge}")  # the service refuses a cursor that it did not give
        for edge in ("first-page/1", "next-page/3", "relist/1", "relook/1")
    ),
    ("remote-command", "not/run/1"),  # no tool sends an order without its operation id
}
"""What cannot be planted through the services that there are."""


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load_suite(ROOT)


def of_one_graph(suite: Suite, name: str, scratch: Path, coverage: Coverage | None = None) -> GraphTest:
    """Plant agents for one graph of a suite."""
    alone = replace(suite, graphs={name: suite.graphs[name]})
    (test,) = planted_agents(alone, scratch, coverage or Coverage())
    return test


@pytest.fixture(scope="module")
def grant(shipped: Suite, tmp_path_factory: pytest.TempPathFactory) -> tuple[GraphTest, Coverage]:
    coverage = Coverage()
    return of_one_graph(shipped, "grant-unknown", tmp_path_factory.mktemp("grant"), coverage), coverage


def test_every_named_rule_of_a_graph_catches_an_agent_under_its_name(
    grant: tuple[GraphTest, Coverage], shipped: Suite
) -> None:
    rules = {edge.id for edge in shipped.graphs["grant-unknown"].edges() if edge.forbid}
    caught = {aim.removeprefix("forbid/"): rule for aim, rule in grant[0].caught.items() if aim.startswith("forbid/")}
    assert caught == {rule: rule for rule in rules}


def test_the_rules_of_the_format_catch_agents_too(grant: tuple[GraphTest, Coverage]) -> None:
    caught = grant[0].caught
    assert caught["unrequested/grant_permission"] == "unrequested_effect"
    assert caught["cross/revoke_permission"] == "cross_thread"
    assert caught["at-once/grant_permission"] == "concurrent_mutation"
    assert caught["unseen/second-grant"] == "second-grant"
    assert caught["in-flight/revoke_permission"] == "second-revoke"
    assert caught["unknown-tool"] == "unknown_tool"


def test_nothing_of_it_escapes_or_raises_a_false_alarm(grant: tuple[GraphTest, Coverage]) -> None:
    test = grant[0]
    assert (test.escaped, test.alarms, test.unplayed, test.unreached) == ({}, {}, {}, {})
    assert graph_item(test).gap is None
    assert test.benign >= len(test.caught)


def test_every_answer_is_given_but_those_that_nothing_produces(grant: tuple[GraphTest, Coverage]) -> None:
    left = {(answer.operation, answer.category) for answer in unproduced_answers(grant[1])}
    writes = ("declined", "locked")
    assert left == {
        *(("grant_permission", category) for category in writes),
        *(("revoke_permission", category) for category in writes),
    }
    assert None not in {answer.reason for answer in unproduced_answers(grant[1])}


def test_nothing_is_left_unreached_where_the_services_lead_everywhere(shipped: Suite, tmp_path: Path) -> None:
    test = of_one_graph(shipped, "auth-vs-denial", tmp_path)
    assert test.unreached == {}
    assert graph_item(test).gap is None


def test_a_judge_that_sees_nothing_lets_everything_escape(
    shipped: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def blind(_: object, *args: object, **keywords: object) -> Judgement:
        return judge_events((), *args, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(path, "judge_events", blind)
    test = of_one_graph(shipped, "rotate-unknown", tmp_path)
    item = graph_item(test)
    assert test.caught == {}
    assert test.escaped["forbid/second-rotate"] == "call 0 is refused by None, not call 2 by 'second-rotate'"
    assert (item.planted, item.caught) == (len(test.escaped), 0)
    assert item.gap is not None
    assert item.gap.startswith(f"{len(test.escaped)} escaped, such as at-once/rotate_credential: ")


def test_a_judge_that_refuses_everything_is_full_of_false_alarms(
    shipped: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def strict(*args: object, tools: object = (), **keywords: object) -> Judgement:  # noqa: ARG001 - it lets none through
        return judge_events(*args, tools=(), **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(path, "judge_events", strict)
    test = of_one_graph(shipped, "rotate-unknown", tmp_path)
    assert len(test.alarms) == test.benign > 0
    assert test.alarms["the twin of forbid/second-rotate"] == "FAIL by unknown_tool"


def test_a_graph_that_no_case_uses_is_a_gap(shipped: Suite, tmp_path: Path) -> None:
    test = of_one_graph(replace(shipped, cases={}), "rate-limit", tmp_path)
    assert test.caught == {}
    assert test.unplayed["forbid/too-early"] == "no case leads there"
    assert graph_item(test).gap == "14 could not be played, such as forbid/blind-update: no case leads there"


@pytest.mark.long
def test_every_rule_of_every_graph_that_can_be_reached_catches_an_agent(shipped: Suite, tmp_path: Path) -> None:
    coverage = Coverage()
    tests = list(planted_agents(shipped, tmp_path, coverage))
    assert {test.graph: graph_item(test).gap for test in tests} == dict.fromkeys(shipped.graphs)
    assert {(test.graph, aim) for test in tests for aim in test.unreached} == UNREACHED
    assert coverage.missing_rules() == []
    assert {answer.reason is None for answer in unproduced_answers(coverage)} == {False}
