from __future__ import annotations

import pytest
from tests.suites import ROOT

from unacked.incident import held, verify
from unacked.suite import Suite, load_suite


@pytest.fixture(scope="module")
def whole() -> Suite:
    return load_suite(ROOT)


def test_every_incident_of_the_suite_is_verified(whole: Suite) -> None:
    incidents = [case for case in whole.cases.values() if case.file.incident is not None]

    failing = {
        case.name: [check.what for check in done.checks if not check.holds]
        for case in incidents
        if not (done := verify(whole, case.document)).holds
    }

    assert failing == {}
    assert len(incidents) == 53


def test_every_incident_names_its_source(whole: Suite) -> None:
    assert [each.case for each in held(whole) if "(AF" not in each.source and "AF002" not in each.source] == []
