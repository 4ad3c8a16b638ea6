from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from unacked.document import read_yaml
from unacked.errors import SpecificationError
from unacked.incident import verify
from unacked.incident.rehearse import case_document
from unacked.suite import Suite


@pytest.fixture
def value(small_suite: Path) -> dict[str, Any]:
    path = small_suite / "transitions/incidents/2026-01-read-timeout-retried.case.yaml"
    return copy.deepcopy(dict(read_yaml(path).value))


def failing(suite: Suite, value: dict[str, Any]) -> list[str]:
    return [
        f"{check.what}: {check.seen}" for check in verify(suite, case_document(value, "a")).checks if not check.holds
    ]


def test_an_incident_of_the_suite_is_verified_on_both_sides(loaded: Suite, value: dict[str, Any]) -> None:
    verification = verify(loaded, case_document(value, "a"))

    assert verification.holds
    assert len(verification.checks) == 9


def test_another_rule_than_the_one_that_catches_it_fails(loaded: Suite, value: dict[str, Any]) -> None:
    value["incident"]["caught"] = "false-claim"

    assert failing(loaded, value) == [
        "I-read-timeout-retried: false-claim catches the recorded behaviour: second-create does",
        "I-read-timeout-retried.twin: false-claim catches the recorded behaviour: second-create does",
    ]


def test_a_behaviour_that_is_right_fails(loaded: Suite, value: dict[str, Any]) -> None:
    value["incident"]["behaviour"] = [*value["incident"]["behaviour"][:1], {"finish": {"status": "unknown"}}]

    assert "second-create catches the recorded behaviour: nothing does" in failing(loaded, value)[0]


def test_a_fault_that_never_strikes_fails(loaded: Suite, value: dict[str, Any]) -> None:
    value["faults"].append({"operation": "create_record", "nth": 7, "point": "after_commit", "action": "fin"})

    assert len([line for line in failing(loaded, value) if "every fault struck" in line]) == 4


def test_a_case_that_care_cannot_pass_fails(loaded: Suite, value: dict[str, Any]) -> None:
    value["expect"]["world"] = {"records": 5}

    assert any("the careful agent passes: FAIL" in line for line in failing(loaded, value))


def test_an_email_in_the_file_fails(loaded: Suite, value: dict[str, Any]) -> None:
    value["task"] = "write to ada@corp.example.org"

    assert failing(loaded, value) == ["nothing in the file looks like an email or a token: email"]


def test_a_case_without_an_incident_is_none(loaded: Suite, value: dict[str, Any]) -> None:
    del value["incident"]

    with pytest.raises(SpecificationError, match="is no incident"):
        verify(loaded, case_document(value, "a"))


def test_an_incident_of_an_orchestrator_names_the_check_that_catches_it(loaded: Suite, value: dict[str, Any]) -> None:
    value["incident"]["orchestrator"] = "C4"

    told = [check.what for check in verify(loaded, case_document(value, "a")).checks if check.holds]

    assert told[:2] == [
        "C4 catches the orchestrator as it was (a run that was started holds no lock)",
        "C4 finds nothing in one without the fault",
    ]


def test_a_check_of_orchestrators_that_does_not_exist_is_told(loaded: Suite, value: dict[str, Any]) -> None:
    value["incident"]["orchestrator"] = "C44"

    with pytest.raises(SpecificationError, match=r"a: no check of orchestrators .C44.\n    hint: did you mean .C4.\?"):
        verify(loaded, case_document(value, "a"))
