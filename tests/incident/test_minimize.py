from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.incident.spans import forty_calls

from unacked.document import read_yaml
from unacked.errors import SpecificationError
from unacked.incident import Minimized, Redactor, bring_in, minimize, propose, read_recording, verify
from unacked.incident.rehearse import case_document
from unacked.suite import Suite


@pytest.fixture(scope="module")
def whole(loaded: Suite, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    trace = forty_calls().write(tmp_path_factory.mktemp("trace") / "a.json")
    found = bring_in(read_recording(trace), Redactor("salt"))
    return propose(found, loaded, source="somewhere", digest="0" * 64).value


@pytest.fixture(scope="module")
def small(loaded: Suite, whole: dict[str, Any]) -> Minimized:
    return minimize(loaded, whole, "a")


def test_forty_calls_become_two_that_the_same_rule_catches(small: Minimized) -> None:
    assert [next(iter(step)) for step in small.value["incident"]["behaviour"]] == ["create_record", "create_record"]
    assert small.value["incident"]["caught"] == "second-create"


def test_a_fault_stays_with_the_call_that_it_struck(whole: dict[str, Any], small: Minimized) -> None:
    assert [fault["nth"] for fault in whole["faults"]] == [9]
    assert [fault["nth"] for fault in small.value["faults"]] == [1]
    assert small.value["expect"]["result"]["nth"] == 1


def test_the_tokens_that_made_it_an_incident_stay(small: Minimized) -> None:
    first, second = small.value["incident"]["behaviour"]

    assert first["create_record"]["idempotency_key"] == "w1"
    assert second["create_record"]["idempotency_key"] == "w2"


def test_what_was_removed_is_said(small: Minimized) -> None:
    assert small.removed == [
        "28 of 30 calls: 11 attach_note, 8 create_record, 1 finish, 8 get_record",
        "2 of 7 tools",
        "19 of 20 careful steps",
        "limits",
        "19 of 20 effects",
    ]


def test_the_small_case_is_verified(loaded: Suite, small: Minimized) -> None:
    verification = verify(loaded, case_document(small.value, "a"))

    assert [check for check in verification.checks if not check.holds] == []


@pytest.mark.long  # the forty calls once more
def test_the_same_case_becomes_the_same_small_one(loaded: Suite, whole: dict[str, Any], small: Minimized) -> None:
    assert minimize(loaded, whole, "a").value == small.value


def test_a_small_case_stays_as_it_is(loaded: Suite, small: Minimized) -> None:
    again = minimize(loaded, small.value, "a")

    assert again.value == small.value
    assert again.removed == []


def test_seeds_and_steps_that_do_not_matter_go(loaded: Suite, small_suite: Path) -> None:
    held = read_yaml(small_suite / "transitions/incidents/2026-03-held-connection.case.yaml").value
    held["services"]["records"]["seed"]["records"].append({"record_id": "rec-9", "title": "bill 9"})

    small = minimize(loaded, held, "a").value

    assert [row["record_id"] for row in small["services"]["records"]["seed"]["records"]] == ["rec-1"]
    assert len(small["incident"]["behaviour"]) == 3


def test_a_case_that_its_rule_does_not_catch_cannot_be_minimized(loaded: Suite, whole: dict[str, Any]) -> None:
    wrong = {**whole, "incident": {**whole["incident"], "caught": "false-claim"}}

    with pytest.raises(SpecificationError, match=r"false-claim does not catch .* \(second-create does\)"):
        minimize(loaded, wrong, "a")
