"""Which categories of the contracts the suite can produce: the environment's side of coverage, whatever agents do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.suites import ROOT

from unacked.claims import Brief, moves, path_judgement
from unacked.graph import Call, Result
from unacked.graph.coverage import Observation, cover
from unacked.suite import LoadedCase, Suite, load_suite
from unacked.tools import TOOLS
from unacked.trial import Bench, TrialPlan

GRAPHS = frozenset(
    {"create-outcome-unknown", "auth-vs-denial", "rate-limit", "partial-list-cleanup", "approval-decline"}
)


def swept_operations(suite: Suite) -> set[str]:
    return {case.file.sweep.operation for case in chosen(suite) if case.file.sweep is not None}


def chosen(suite: Suite) -> Iterator[LoadedCase]:
    """The cases of the matrix and the incidents, and the sweeps under the graphs that are to be covered."""
    for case in suite.cases.values():
        bound = {graph.name for graph in case.task().graphs}
        if case.declared is not None and (case.file.sweep is None or bound & GRAPHS):
            yield case


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(ROOT)


@pytest.fixture(scope="module")
def seen(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Sequence[Observation]:
    """What each trial of the careful agent showed."""
    bench, events = Bench(suite), tmp_path_factory.mktemp("coverage") / "events.jsonl"
    return [_observed(bench, events, case, side) for case in chosen(suite) for side in case.sides]


def _observed(bench: Bench, events: Path, case: LoadedCase, side: Brief) -> Observation:
    events.unlink(missing_ok=True)
    history = bench.run(TrialPlan(0, case.name, side.twin, "careful", 1, "0", "run", side.place), events).history
    return Observation(
        case=case.name,
        fixture=side.name,
        agent="careful",
        graphs=side.graphs,
        tools=side.tools.keys(),
        events=tuple(moves(side, history)),
        judgement=path_judgement(side, history),
    )


@pytest.fixture(scope="module")
def produced(seen: Sequence[Observation]) -> Mapping[str, set[str]]:
    """The categories of all results, by operation."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for observation in seen:
        calls = {event.id: event.operation for event in observation.events if isinstance(event, Call)}
        for event in observation.events:
            if isinstance(event, Result):
                found[calls[event.call]].add(event.category)
    return found


@pytest.mark.long
def test_every_declared_category_of_a_swept_operation_is_produced(
    suite: Suite, produced: Mapping[str, set[str]]
) -> None:
    missing = {name: TOOLS[name].operation.categories - produced[name] for name in swept_operations(suite)}
    assert {name: left for name, left in missing.items() if left} == {}


@pytest.mark.long
def test_everything_that_the_five_graphs_lead_on_from_is_produced_under_them(seen: Sequence[Observation]) -> None:
    together, _ = cover(seen)
    assert {graph: left for graph, left in together.missing_pairs().items() if graph in GRAPHS} == {}


@pytest.mark.long
def test_no_category_is_produced_that_a_contract_does_not_declare(produced: Mapping[str, set[str]]) -> None:
    of_tools = {
        name: categories for name, categories in produced.items() if name in TOOLS
    }  # not what ends a member's part
    surplus = {name: categories - TOOLS[name].operation.categories for name, categories in of_tools.items()}
    assert {name: found for name, found in surplus.items() if found} == {}


def test_the_sweeps_of_the_five_graphs_are_those_of_twenty_four_operations(suite: Suite) -> None:
    assert len(swept_operations(suite)) == 24
