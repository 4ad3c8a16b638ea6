from __future__ import annotations

import pytest
from tests.suites import SuiteFolder

CASE = """\
title: the answer to the create is lost
task: Create one record titled "alpha".
services: {records: {}}
tools: [create_record, lookup_by_request_id, finish]
graphs: [{create-outcome-unknown: {annotate: null, read: null}}]
effects: {create_record: [{title: alpha}]}
faults: [{operation: create_record, point: after_commit, action: silence}]
twins: true
expect: {world: {records: 1}}
trap: true
script: [{create_record: {title: alpha}}]
"""


@pytest.fixture
def case_text() -> str:
    return CASE


@pytest.fixture
def suite(pytester: pytest.Pytester) -> SuiteFolder:
    """A suite with one case below the folder that the inner pytest is started in."""
    folder = SuiteFolder(pytester.path / "suite")
    folder.keep()
    folder.case("W1", CASE)
    return folder
