"""What an adapter is accused of, and what not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.adapter.conftest import Check

from unacked.adapter import Link, Report, cases_of, check, reference

JSON = dict[str, Any]


def changed(**members: Any) -> Any:
    """The reference adapter with other members in every envelope."""

    def call(operation: str, arguments: JSON, link: Link) -> JSON:
        return reference.call(operation, arguments, link) | members

    return call


def first(checked: Check, adapter: Any, operation: str = "create_record") -> list[str]:
    """The rules that the call without a fault breaks."""
    return checked(adapter, operation, calls=1).rules


@pytest.mark.parametrize("operation", ["create_record", "lookup_by_request_id"])
def test_the_reference_adapter_is_left_alone(checked: Check, operation: str) -> None:
    report = checked(reference.call, operation)
    assert report.findings == {}
    assert report.calls > 190
    assert report.not_exercised == 0


@pytest.mark.long
@pytest.mark.parametrize("wire", ["simulated", "loopback"])
def test_the_reference_adapter_is_left_alone_on_both_wires(shipped: Any, wire: str) -> None:
    report = Report("reference", wire)
    operations = [] if wire == "simulated" else ["create_record", "get_record"]
    for heard in check(reference.call, shipped, cases_of(shipped, operations), wire=wire):
        report.add(heard)
    assert report.findings == {}


@pytest.mark.parametrize(
    "members",
    [
        {"ok": "yes"},
        {"ok": False},
        {"category": None},
        {"operation": "another"},
        {"message": 7},
        {"correlation_id": "another"},
        {"result": {"record_id": {1}}},
    ],
    ids=str,
)
def test_a_member_that_is_not_what_it_must_be_is_no_envelope(checked: Check, members: JSON) -> None:
    assert first(checked, changed(**members)) == ["not-an-envelope"]


def test_a_value_that_is_no_object_is_no_envelope(checked: Check) -> None:
    assert first(checked, lambda *_: ["ok"]) == ["not-an-envelope"]


def test_a_category_of_another_operation_is_unknown(checked: Check) -> None:
    members = {"category": "conflict", "ok": False}
    assert first(checked, changed(**members), "lookup_by_request_id") == ["unknown-category"]


def test_more_caution_than_the_table_asks_for_is_no_finding(checked: Check) -> None:
    assert first(checked, changed(retry="ask_human")) == []


def test_an_exception_is_told_without_the_credential(checked: Check) -> None:
    def call(operation: str, arguments: JSON, link: Link) -> JSON:
        raise ValueError(f"{operation} {arguments} with {link.token}")

    report = checked(call, "create_record")
    assert report.rules == ["secret-leaked", "raised"]
    assert "[redacted]" in report.findings["raised", "an envelope, whatever happens"]["observed"]


def test_an_exit_from_inside_a_tool_is_an_exception_like_any_other(checked: Check) -> None:
    def call(*_: object) -> JSON:
        raise SystemExit(0)

    assert first(checked, call) == ["raised"]


def test_what_is_printed_is_looked_through(checked: Check, capsys: pytest.CaptureFixture[str]) -> None:
    def call(operation: str, arguments: JSON, link: Link) -> JSON:
        print(f"using {link.token}")  # noqa: T201
        return reference.call(operation, arguments, link)

    report = checked(call, "create_record", calls=1)
    assert [finding["observed"] for finding in report.findings.values()] == [
        "the call's credential stands in the standard output or error"
    ]
    assert capsys.readouterr().out == ""


def test_an_operation_that_fails_without_a_fault_is_not_tried_with_one(checked: Check) -> None:
    report = checked(changed(category="outcome_unknown", ok=False, retry="reconcile_first"), "create_record")
    assert (report.calls, report.rules) == (1, ["baseline-failed"])


def test_equal_findings_are_one_with_a_count_and_the_first_place(checked: Check) -> None:
    report = checked(changed(debug="see the Traceback"), "create_record", calls=5)
    (finding,) = report.as_json()["findings"]
    assert (finding["rule"], finding["count"], finding["first"]) == (
        "raw-error-in-result",
        5,
        "create_record.no-fault",
    )


def test_a_success_after_sending_again_is_no_unproven_one(checked: Check) -> None:
    def call(operation: str, arguments: JSON, link: Link) -> JSON:
        claim = reference.call(operation, arguments, link)
        return reference.call(operation, arguments, link) if claim["category"] == "outcome_unknown" else claim

    assert "unproven-success" not in checked(call, "create_record", calls=60).rules


def token_scenes(shipped: Any, adapter: Any, operation: str = "create_record") -> dict[str, list[str]]:
    """What is found where there is a token that can be refreshed, by place."""
    heard = list(check(adapter, shipped, cases_of(shipped, [operation]), after=f"{operation}.{LAST_PLACE}"))
    return {one.name.partition(".")[2]: [finding.rule for finding in one.findings] for one in heard}


LAST_PLACE = "after-response-rst-persistent"
"""After which the scenes with a token come."""


def test_a_tool_that_refreshes_its_token_rightly_is_left_alone(shipped: Any) -> None:
    assert token_scenes(shipped, reference.call) == {
        "token-refreshed": [],
        "token-refresh-denied": [],
        "token-refused-again": [],
        "token-not-concerned": [],
    }


def test_a_tool_that_refreshes_no_token_at_all_is_left_alone(shipped: Any) -> None:
    def call(operation: str, arguments: JSON, link: Link) -> JSON:
        return reference.call(operation, arguments, replace(link, refresh_token=None))

    assert [rules for rules in token_scenes(shipped, call).values() if rules] == []


def test_a_credential_of_another_identity_is_told_where_it_is_refused_as_well(shipped: Any) -> None:
    def call(operation: str, arguments: JSON, link: Link) -> JSON:
        return reference.call(operation, arguments, replace(link, token=link.stored["deploy-admin"]))

    found = token_scenes(shipped, call)
    assert [rules[0] for rules in found.values()] == ["another-credential"] * 4


def test_a_refresh_token_in_the_envelope_is_a_secret_in_it(shipped: Any) -> None:
    def call(operation: str, arguments: JSON, link: Link) -> JSON:
        return reference.call(operation, arguments, link) | {"debug": str(link.refresh_token)}

    assert token_scenes(shipped, call)["token-refreshed"] == ["secret-in-result"]


def test_a_credential_that_a_tool_puts_into_its_caller_s_arguments_is_told(checked: Check) -> None:
    def adds(operation: str, arguments: JSON, link: Link) -> JSON:
        told = reference.call(operation, dict(arguments), link)
        arguments["authorization"] = link.token
        return told

    report = checked(adds, "read_build", calls=1)
    (finding,) = report.as_json()["findings"]
    assert (finding["rule"], finding["observed"]) == (
        "secret-leaked",
        "the call's credential stands in the caller's own arguments",
    )
