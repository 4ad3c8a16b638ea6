"""Which categories of the contracts the suite can produce: the environment's side of coverage, whatever agents do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.suites import ROOT, start

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
def produced(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, set[str]]:
    """The categories of all results that the careful agent got, by operation."""
    bench, events = Bench(suite), tmp_path_factory.mktemp("coverage") / "events.jsonl"
    found: defaultdict[str, set[str]] = defaultdict(set)
    for case in chosen(suite):
        for side in case.sides:
            for event in _results(bench, events, case.name, side.place, twin=side.twin):
                found[event[0]].add(event[1])
    return found


def _results(bench: Bench, events: Path, case: str, place: str, *, twin: bool) -> Iterator[tuple[str, str]]:
    events.unlink(missing_ok=True)
    record = bench.run(TrialPlan(0, case, twin, "careful", 1, "0", "run", place), events)
    for event in record.history.named("result"):
        yield str(event.operation), str(event.category)


@pytest.mark.long
def test_every_declared_category_of_a_swept_operation_is_produced(
    suite: Suite, produced: Mapping[str, set[str]]
) -> None:
    missing = {name: TOOLS[name].operation.categories - produced[name] for name in swept_operations(suite)}
    assert {name: left for name, left in missing.items() if left} == {}


@pytest.mark.long
def test_everything_that_the_approval_graph_leads_on_from_is_produced(tmp_path: Path) -> None:
    select = (
        "A*",
        "W-approved-delete-release",
        "W-inventory-before-approval",
        "--agent",
        "careful",
        "--agent",
        "reckless",
    )
    start("run", *select, "--out", tmp_path, "--run-id", "approvals", cwd=tmp_path)
    coverage = start("graph", "coverage", tmp_path / "approvals", "--json", cwd=tmp_path).json
    assert coverage["environment"]["graphs"]["approval-decline"]["missing"] == []


@pytest.mark.long
def test_no_category_is_produced_that_a_contract_does_not_declare(produced: Mapping[str, set[str]]) -> None:
    of_tools = {
        name: categories for name, categories in produced.items() if name in TOOLS
    }  # not what ends a member's part
    surplus = {name: categories - TOOLS[name].operation.categories for name, categories in of_tools.items()}
    assert {name: found for name, found in surplus.items() if found} == {}


def test_the_sweeps_of_the_five_graphs_are_those_of_twenty_operations(suite: Suite) -> None:
    assert len(swept_operations(suite)) == 20
