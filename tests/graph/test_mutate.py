"""Slips of the pen in graphs: what they are, which traces show them, and why some cannot be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.contract import Registry
from unacked.graph import Graph, Trace, read_traces
from unacked.graph.generate import generate
from unacked.graph.mutants import mutants
from unacked.graph.mutate import MutationReport, mutate
from unacked.suite import load_suite
from unacked.tools import REGISTRY

Load = Callable[[str], Graph]
SHIPPED = sorted(path.stem for path in Path(ROOT, "transitions").glob("*.yaml"))


@pytest.fixture(scope="module")
def shipped() -> Mapping[str, Graph]:
    return load_suite(ROOT, run_code=False).graphs


@pytest.fixture(scope="module")
def by_hand() -> list[Trace]:
    return read_traces(ROOT / "tests" / "data" / "traces.jsonl")


def swept(graph: Graph, by_hand: list[Trace], every: int, depth: int | None = None) -> MutationReport:
    generated = generate(graph, REGISTRY).traces
    return mutate(graph, REGISTRY, by_hand=by_hand, generated=generated, every=every, depth=depth)


def told(report: MutationReport) -> list[str]:
    return [f"{item.name}: {item.reason}" for item in report.survivors if not item.equivalent]


LARGE = {"partial-list-cleanup", "spend-unknown"}
"""Of these the tests take every fifth slip; `unacked graph mutate` takes all of them, in minutes."""


@pytest.mark.parametrize("name", sorted({*SHIPPED} - LARGE))
def test_generated_traces_show_nearly_every_slip_in_a_sample(
    name: str, shipped: Mapping[str, Graph], by_hand: list[Trace]
) -> None:
    report = swept(shipped[name], by_hand, every=97, depth=4)

    assert report.rate() >= 0.95, told(report)


@pytest.mark.long
@pytest.mark.parametrize("name", SHIPPED)
def test_generated_traces_show_nearly_every_slip(name: str, shipped: Mapping[str, Graph], by_hand: list[Trace]) -> None:
    report = swept(shipped[name], by_hand, every=5 if name in LARGE else 1, depth=6)

    assert report.rate(by_hand=False) >= 0.95, told(report)
    assert report.refused == 0


SMALL = """
graph: small
states:
  s:
    allow:
      - id: make
        call: create_record
        when: [args.title == 'a', count.n < 2]
        count: {n: 1}
        bind: {t: args.title}
        then: {ok: {to: t, reset: [n]}, "@any": s}
      - {id: stop, call: finish, then: {ok: done}}
    forbid:
      - {id: other, call: [create_record, update_record], severity: rule}
  t:
    end: ok
    allow:
      - {id: read, call: get_record, then: {ok: [{to: s, when: [result.notes > 0]}, {to: t}], "@any": t}}
  done: {end: final}
"""


def test_every_kind_of_slip_is_made(load: Load, registry: Registry) -> None:
    kinds = Counter(mutant.kind for mutant in mutants(load(SMALL), registry))

    assert set(kinds) == {
        "allow-call",
        "change-category",
        "change-end",
        "change-limit",
        "change-operator",
        "change-severity",
        "change-unlisted",
        "count-more",
        "drop-allow",
        "drop-alternative",
        "drop-bind",
        "drop-call",
        "drop-conjunct",
        "drop-count",
        "drop-forbid",
        "drop-reset",
        "negate-conjunct",
        "redirect",
        "swap-allow",
        "swap-alternatives",
    }
    assert kinds["change-end"] == 6
    assert kinds["change-limit"] == 4


def test_keys_collections_and_the_order_of_forbids_slip_too(graphs: dict[str, Graph], registry: Registry) -> None:
    kinds = {
        mutant.kind
        for name in ("approval-decline", "partial-list-cleanup")
        for mutant in mutants(graphs[name], registry)
    }

    assert {"drop-key", "drop-collect", "drop-forget", "swap-forbid"} <= kinds


def test_a_mutant_is_a_graph_of_its_own(load: Load, registry: Registry) -> None:
    graph = load(SMALL)
    before = graph.bind({}, registry, {})

    for mutant in mutants(graph, registry):
        assert mutant.graph is not graph
        assert mutant.graph.bind({}, registry, {}) is not before
    assert graph.bind({}, registry, {}) is before


def test_a_mutant_leads_each_category_elsewhere(load: Load, registry: Registry) -> None:
    """A mutant that leads a category to where it leads already would prove nothing."""
    (mutant,) = [item for item in mutants(load(SMALL), registry) if item.name == "change-category make: conflict -> t"]

    assert mutant.graph.states["s"].allow[0].then["conflict"][0].to == "t"


LINES = [
    '{"trace":"good","type":"begin","graph":"small"}',
    '{"trace":"good","type":"call","id":"c0","operation":"create_record","args":{"title":"a"}}',
    '{"trace":"good","type":"result","call":"c0","category":"ok"}',
    '{"trace":"good","type":"end","reason":"finished"}',
    '{"trace":"elsewhere","type":"begin","graph":"another"}',
    '{"trace":"elsewhere","type":"end","reason":"finished"}',
]


def test_traces_by_hand_and_generated_ones_are_counted_apart(load: Load, registry: Registry) -> None:
    graph = load(SMALL)
    generated = generate(graph, registry).traces

    neither = mutate(graph, registry)
    hand = mutate(graph, registry, by_hand=read_traces(LINES))
    both = mutate(graph, registry, by_hand=read_traces(LINES), generated=generated)

    assert neither.rate() == 0.0
    assert 0.0 < hand.rate(generated=False) < both.rate(by_hand=False)
    assert both.rate() >= both.rate(by_hand=False)


def test_a_survivor_that_could_be_shown_comes_with_what_would_show_it(load: Load, registry: Registry) -> None:
    survivors = {item.name: item for item in mutate(load(SMALL), registry).survivors}

    assert not survivors["drop-forbid other"].equivalent
    assert survivors["drop-forbid other"].reason == (
        "not killed: create_record is other by the original and not_in_expected_set by the mutant"
    )


def test_a_survivor_that_nothing_can_show_is_proven_equivalent(load: Load, registry: Registry) -> None:
    survivors = {item.name: item for item in mutate(load(SMALL), registry).survivors}

    assert survivors["swap-allow make, stop"].equivalent
    assert survivors["swap-allow make, stop"].reason == "equivalent: no call and no end tells it"
    assert survivors["drop-bind make: $t"].equivalent


def test_a_bounded_proof_says_how_far_it_goes(load: Load, registry: Registry) -> None:
    survivors = {item.name: item for item in mutate(load(SMALL), registry, depth=1).survivors}

    assert survivors["swap-allow make, stop"].reason == "equivalent: no call and no end tells it within 1 calls"


def test_equivalent_mutants_do_not_count_against_the_traces(load: Load, registry: Registry) -> None:
    graph = load(SMALL)
    report = mutate(graph, registry, generated=generate(graph, registry).traces)

    assert report.equivalent > 0
    assert report.rate() == 1.0 - (len(report.survivors) - report.equivalent) / (len(report.fates) - report.equivalent)


def test_a_report_is_a_json_object_too(load: Load, registry: Registry) -> None:
    value = mutate(load(SMALL), registry, every=10).as_json()

    assert value["graph"] == "small"
    assert value["mutants"] == len(value["survivors"])
    assert value["killed"] == {"by_hand": 0.0, "generated": 0.0, "together": 0.0}
