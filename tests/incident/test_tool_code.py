"""Incidents of a tool's code: red with the code as it was, green with ours."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT

from unacked.document import read_yaml
from unacked.errors import SpecificationError
from unacked.incident import verify
from unacked.incident.rehearse import case_document
from unacked.suite import Suite, load_case

FILE = "transitions/incidents/2026-11-30-key-in-the-refusal.case.yaml"


@pytest.fixture
def value() -> dict[str, Any]:
    return copy.deepcopy(dict(read_yaml(Path(ROOT / FILE)).value))


def failing(suite: Suite, value: dict[str, Any]) -> list[str]:
    return [
        f"{check.what}: {check.seen}" for check in verify(suite, case_document(value, "a")).checks if not check.holds
    ]


def test_the_code_as_it_was_lets_the_key_out_and_ours_does_not(loaded: Suite, value: dict[str, Any]) -> None:
    assert failing(loaded, value) == []


def test_code_that_does_nothing_wrong_is_not_caught(loaded: Suite, value: dict[str, Any]) -> None:
    value["faults"][0]["action"]["status"]["body"] = {"error": "invalid_token"}

    assert failing(loaded, value) == [
        "I-key-in-the-refusal: secret-leaked catches the tool as it was: raw-error-in-result does"
    ]


def test_a_fault_that_does_not_strike_the_code_is_told(loaded: Suite, value: dict[str, Any]) -> None:
    value["faults"].append({"operation": "create_release", "nth": 2, "point": "after_commit", "action": "fin"})

    assert "I-key-in-the-refusal: every fault struck the tool as it was: not all" in failing(loaded, value)


def test_code_that_is_not_there_is_told_with_the_nearest(loaded: Suite, value: dict[str, Any]) -> None:
    value["incident"]["adapter"] = "quotes_a_refusal"

    with pytest.raises(SpecificationError, match=r"adapters.py has no 'quotes_a_refusal'") as caught:
        verify(loaded, case_document(value, "a"))
    assert caught.value.problems[0].hint == "did you mean 'quotes_the_refusal'?"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"behaviour": [{"finish": {"status": "success"}}]}, "give either 'behaviour', what an agent did"),
        ({"adapter": None, "operation": None}, "give either 'behaviour', what an agent did"),
        ({"operation": None}, "'adapter' and 'operation' belong together"),
    ],
)
def test_an_incident_is_that_of_an_agent_or_of_a_tool(
    loaded: Suite, value: dict[str, Any], changes: dict[str, Any], told: str
) -> None:
    value["incident"] = {name: item for name, item in {**value["incident"], **changes}.items() if item is not None}

    with pytest.raises(SpecificationError, match=told):
        verify(loaded, case_document(value, "a"))


def test_the_agent_that_repeats_incidents_has_nothing_to_do_where_no_agent_was_wrong(loaded: Suite) -> None:
    case = load_case(read_yaml(ROOT / FILE), loaded)

    assert [name for name, agent in loaded.agents.items() if not agent.takes(case)] == ["culprit"]
