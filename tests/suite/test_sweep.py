"""A sweep is every action at every one of its points, not a sample."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from unacked.fault import ACTIONS, Point
from unacked.suite import Suite, load_suite
from unacked.suite.sweep import sweep
from unacked.tools import REGISTRY, WIRED

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load_suite(ROOT)


def test_every_action_stands_at_every_one_of_its_points() -> None:
    swept = {(fault.action.name, fault.point) for _, fault in sweep(REGISTRY["create_record"])}

    assert swept == {(kind.name, point) for kind in ACTIONS.values() for point in kind.points}


def test_every_place_is_swept_once_and_for_good() -> None:
    faults = dict(sweep(REGISTRY["create_record"]))

    assert faults["after-commit-silence"].persistent is False
    assert faults["after-commit-silence-persistent"].persistent is True


def test_every_kind_of_an_action_is_a_side_of_its_own() -> None:
    names = [name for name, fault in sweep(REGISTRY["create_record"]) if fault.action.name == "gzip"]

    assert [name for name in names if "persistent" not in name] == [
        "in-body-gzip-corrupt",
        "in-body-gzip-truncated",
        "in-body-gzip-second-member",
    ]


def test_a_lookup_is_swept_within_its_items() -> None:
    fields = {
        fault.action.parameters["field"]
        for _, fault in sweep(REGISTRY["lookup_by_request_id"])
        if fault.action.name == "remove"
    }

    assert fields == {"items.0.record_id", "complete", "correlation_id"}


def test_what_is_told_in_a_message_is_swept_within_its_result() -> None:
    fields = {
        fault.action.parameters["field"]
        for _, fault in sweep(REGISTRY["open_ticket"])
        if fault.action.name == "replace"
    }

    said = {"result.structuredContent.ticket_id", "result.structuredContent.correlation_id"}
    assert fields == {"jsonrpc", "id", "result"} | said


def test_the_sides_of_a_sweep_have_names_of_their_own(shipped: Suite) -> None:
    names = [side.name for side in shipped.cases["W-create-record"].sides]

    assert len(set(names)) == len(names)
    assert {"W-create-record.dns-fail", "W-create-record.after-commit-fin.twin"} <= set(names)


def test_only_a_write_has_another_side_of_the_truth(shipped: Suite) -> None:
    assert any(side.twin for side in shipped.cases["W-create-record"].sides)
    assert not any(side.twin for side in shipped.cases["W-get-record"].sides)


def test_every_operation_that_leaves_this_process_is_swept(shipped: Suite) -> None:
    swept = {case.file.sweep.operation for case in shipped.cases.values() if case.file.sweep is not None}

    assert swept == {name for name, tool in WIRED.items() if tool.endpoint is not None}


def test_no_words_select_no_sweep(shipped: Suite) -> None:
    assert not [case.name for case in shipped.select([]) if case.file.sweep is not None]
    assert [case.name for case in shipped.select(["tag:sweep"]) if case.file.sweep is None] == []


def test_dns_is_the_first_point_of_a_sweep() -> None:
    assert next(iter(sweep(REGISTRY["create_record"])))[1].point is Point.DNS


@pytest.mark.long
def test_the_careful_agent_passes_every_fault_at_every_place(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "unacked", "run", "tag:sweep", "--jobs", "2", "--out", str(tmp_path), "--json")
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    summary = json.loads(run.stdout)

    assert run.returncode == 0, run.stderr
    assert summary["trials"] > 6000
    assert {verdict: count for verdict, count in summary["verdicts"].items() if count} == {"PASS": summary["trials"]}
