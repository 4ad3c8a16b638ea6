"""A fake service with a fault of its own: that is no finding about the agent, and never green."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import SuiteFolder, finished_run

from unacked.engine import read_verdicts

CASE = """\
title: the service fails in its own code
task: Create one record titled "alpha".
services: {{records: {{}}}}
tools: [create_record, lookup_by_request_id, finish]
graphs: [{{create-outcome-unknown: {{annotate: null, read: null}}}}]
faults: [{{operation: create_record, point: {point}, action: {action}}}]
effects: {{create_record: [{{title: alpha}}]}}
script: [{{create_record: {{title: alpha}}}}]
"""


@pytest.mark.parametrize(
    ("point", "action"),
    [("after_commit", "silence"), ("before_commit", "{delay: 60}"), ("before_commit", "{delay: 3}")],
)
def test_a_service_that_raises_makes_the_trial_an_error_that_names_it(
    point: str, action: str, suite: SuiteFolder, tmp_path: Path
) -> None:
    suite.keep()
    suite.case("W1", CASE.format(point=point, action=action))
    suite.edit("fake_services/records.py", 'title = call.fields["title"]', 'raise RuntimeError("no title")')
    folder, plan = finished_run(suite.path, tmp_path / "runs", agents=["careful"])
    (line,) = read_verdicts(folder, plan.run)
    assert (line["verdict"], line["rule"]) == ("ERROR", "harness-crash")
    (observed,) = [item["observed"] for item in line["claims"]["trail"]["findings"] if item["rule"] == "harness-crash"]
    assert observed.startswith("the fake service 'records' failed: RuntimeError: no title (diagnostics d")


@pytest.mark.long
@pytest.mark.parametrize(
    "line",
    [
        'parts = [self.state["commands"]',
        'operation = self.state["operations"][order.operation_id]\n        command',
        'self.state["operations"][order.operation_id]["exit_status"]',
    ],
)
@pytest.mark.parametrize("action", ["{delay: 1}", "{delay: 60}"])
def test_a_host_that_raises_makes_the_trial_an_error_that_names_it(line: str, action: str, tmp_path: Path) -> None:
    suite = SuiteFolder(tmp_path / "suite")
    suite.keep("C06")
    suite.edit("fake_services/host.py", line, f'raise RuntimeError("no disk")\n        {line}')
    suite.edit("transitions/matrix/C06-restart-service.case.yaml", "action: rst, committed: true", f"action: {action}")
    folder, plan = finished_run(suite.path, tmp_path / "runs", agents=["careful"])
    verdicts = {(line["verdict"], line["rule"]) for line in read_verdicts(folder, plan.run) if not line["twin"]}
    assert verdicts == {("ERROR", "harness-crash")}
