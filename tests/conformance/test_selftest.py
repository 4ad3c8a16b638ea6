from __future__ import annotations

import pytest

from unacked.conformance.check import Status
from unacked.conformance.checks import CHECKS
from unacked.conformance.planted.orchestrator import FAULTS
from unacked.conformance.planted.selftest import selftest
from unacked.conformance.planted.simulate import simulated


def test_there_is_one_planted_fault_for_every_check() -> None:
    assert list(FAULTS) == list(CHECKS)
    assert len(CHECKS) == 33


@pytest.mark.parametrize("name", CHECKS)
def test_an_orchestrator_without_a_fault_passes(name: str) -> None:
    finding = simulated(CHECKS[name], None)
    assert (finding.status, finding.check) == (Status.PASS, name), finding.explanation


@pytest.mark.parametrize("name", FAULTS)
def test_a_check_catches_the_orchestrator_that_is_wrong_for_it(name: str) -> None:
    assert simulated(CHECKS[name], name).status is Status.FAIL


def test_a_fault_that_no_check_catches_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unacked.conformance.planted.selftest.CHECKS", {"S1": CHECKS["S1"], "S3": CHECKS["S3"]})
    result = selftest(["S1", "S2"])
    assert (result.faults, result.caught, result.plays) == (2, 1, 4)
    assert result.problems == ["no check found fault with S2 (a join gives up waiting)"]


@pytest.mark.long
def test_every_fault_is_caught_by_its_own_check_and_by_no_other() -> None:
    result = selftest()
    assert result.problems == []
    assert (result.faults, result.caught, result.plays) == (33, 33, 34 * 33)
