"""A tool under the terms that a case declares for it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from unacked.approval import Lasts
from unacked.case import CaseFile
from unacked.contract import Idempotency
from unacked.suite.terms import declared_tool
from unacked.tools import TOOLS


def case(**more: Any) -> CaseFile:
    required = {"case": "T", "title": "t", "task": "t", "services": {"records": {}}, "graphs": ["g"]}
    return CaseFile.model_validate({**required, "tools": ["create_record", "finish"], **more})


def test_a_case_without_terms_has_the_tool_as_it_is() -> None:
    assert declared_tool("create_record", case()) is TOOLS["create_record"]


def test_terms_of_another_operation_change_nothing() -> None:
    file = case(contract={"attach_note": {"idempotency": "none"}})
    assert declared_tool("create_record", file) is TOOLS["create_record"]


def test_the_agent_is_told_what_the_service_does_with_a_key() -> None:
    tool = declared_tool("create_record", case(contract={"create_record": {"idempotency": "ignored"}}))
    assert tool.operation.idempotency_mode is Idempotency.IGNORED
    assert tool.endpoint == TOOLS["create_record"].endpoint


def test_a_provider_may_declare_that_it_hides_denials() -> None:
    tool = declared_tool("create_record", case(contract={"create_record": {"hides_denial": True}}))
    assert tool.endpoint is not None
    assert tool.endpoint.hides_denial
    assert tool.operation == TOOLS["create_record"].operation


def test_a_tool_that_never_leaves_the_harness_hides_nothing() -> None:
    assert declared_tool("finish", case(contract={"finish": {"hides_denial": True}})).endpoint is None


def test_a_person_grants_a_credential_by_its_name() -> None:
    (answer,) = case(answers=[{"decision": "granted", "credential": "deploy-admin"}]).answers
    assert answer.credential == "deploy-admin"


@pytest.mark.parametrize("answer", [{"decision": "granted"}, {"decision": "renewed", "credential": "deploy-admin"}])
def test_a_credential_belongs_to_a_grant_and_to_nothing_else(answer: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="'credential' belongs to the decision 'granted', and to no other"):
        case(answers=[answer])


def test_a_tool_may_have_to_ask_the_gate_and_its_pin_says_so() -> None:
    tool = declared_tool("create_record", case(contract={"create_record": {"approval": "session"}}))
    assert tool.approval is Lasts.SESSION
    assert tool.as_json() == {**TOOLS["create_record"].as_json(), "approval": "session"}


def test_a_question_to_the_gate_stays_one_under_any_terms() -> None:
    assert declared_tool("request_approval", case(contract={"request_approval": {"idempotency": "none"}})).at_gate
