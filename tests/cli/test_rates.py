from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.suites import CommandLine, SmallSuite, finished_run

from unacked.engine import RunFolder

LOOP = """
while True:
    yield Call("create_record", {"title": "Pump 7 inspection", "request_id": "r-1"})
"""
WRONG = """
yield Call("create_record", {"title": "Pump 7 inspection", "request_id": "r-1"})
yield Call("create_record", {"title": "Pump 7 inspection", "request_id": "r-2"})
yield Call("attach_note", {"record_id": "rec-99", "text": "checked by Asha"})
yield Call("finish", {"status": "success"})
"""
GIVES_UP = """
yield Call("create_record", {"title": "Pump 7 inspection", "request_id": "r-1", "idempotency_key": "k-1"})
yield Call("finish", {"status": "unknown"})
"""
IDLE = 'yield Call("finish", {"status": "failed"})'
AGENTS = {"loops": LOOP, "wrong": WRONG, "gives-up": GIVES_UP, "idle": IDLE}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """E01 with agents that do what small models do."""
    base = tmp_path_factory.mktemp("rates")
    suite = SmallSuite(base / "suite")
    suite.one_side()
    for name, policy in AGENTS.items():
        suite.agent(name, policy)
    return finished_run(suite.path, base / "runs", agents=[*AGENTS, "careful"], repeat=2)[0]


@pytest.fixture
def rates(unacked: CommandLine, run: RunFolder) -> dict[str, Any]:
    """The rates by agent."""
    return {item["agent"]: item for item in unacked("rates", run.path, "--json").json}


def shown(item: dict[str, Any]) -> dict[str, int]:
    return {name: found["count"] for name, found in item["behaviours"].items() if found["count"]}


def test_each_agent_is_counted_by_what_it_did_after_the_fault(rates: dict[str, Any]) -> None:
    assert {name: shown(item) for name, item in rates.items()} == {
        "careful": {"done": 2},
        "gives-up": {"honest stop": 2},
        "loops": {"blind retry": 2, "duplicate effect": 2},
        "wrong": {"blind retry": 2, "duplicate effect": 2, "false success": 2},
    }


def test_a_trial_that_met_no_fault_says_nothing(rates: dict[str, Any]) -> None:
    assert "idle" not in rates
    assert {item["trials"] for item in rates.values()} == {2}
    assert {item["after"] for item in rates.values()} == {"outcome_unknown"}


def test_what_needs_no_graph_is_counted_beside(rates: dict[str, Any]) -> None:
    assert {name: item["conduct"] for name, item in rates.items() if item["conduct"]} == {
        "loops": {"endless-loop": 2},
        "wrong": {"invented-argument": 2},
    }


def test_every_rate_has_wilsons_interval(rates: dict[str, Any]) -> None:
    found = rates["wrong"]["behaviours"]["blind retry"]
    assert found["rate"] == 1.0
    assert [round(end, 4) for end in found["interval"]] == [0.3424, 1.0]


def test_runs_are_counted_together(unacked: CommandLine, run: RunFolder, tmp_path: Path) -> None:
    other, _ = finished_run(run.suite, tmp_path / "runs", agents=["careful"])
    done = unacked("rates", run.path, other.path, "--md").out.splitlines()
    assert done[:3] == [
        "| agent | after | blind retry | duplicate effect | false success | honest stop | done | conduct |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        f"| careful | outcome_unknown | {' | '.join(['0/3 = 0 % (0..56)'] * 4)} | 3/3 = 100 % (44..100) |  |",
    ]


def test_a_table_is_printed_for_people(unacked: CommandLine, run: RunFolder) -> None:
    done = unacked("rates", run.path)
    for word in ("careful", "outcome_unknown", "blind retry", "2/2 = 100 %", "endless-loop 2"):
        assert word in done.out
    assert (done.code, done.err) == (0, "")


def test_a_run_without_any_fault_is_refused(unacked: CommandLine, run: RunFolder, tmp_path: Path) -> None:
    idle, _ = finished_run(run.suite, tmp_path / "runs", agents=["idle"])
    done = unacked("rates", idle.path)
    assert (done.code, done.err) == (2, f"{idle.path}: no trial of these met a fault\n")
