from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.suites import ROOT

from unacked.agents import Call
from unacked.agents.walk import walk_graph
from unacked.canonical import JSON
from unacked.suite import load_suite

Walk = Callable[..., list[str]]


def answer(category: str, *, ok: bool | None = None, **more: JSON) -> dict[str, JSON]:
    return {"ok": category == "ok" if ok is None else ok, "category": category, **more}


def found(**fields: JSON) -> dict[str, JSON]:
    return answer("ok", result=fields)


UNKNOWN = answer("outcome_unknown")
ABSENT = answer("not_found", result={"complete": True})


@pytest.fixture(scope="module")
def walk() -> Walk:
    """Walk a case against given answers up to its end; returns what was called, ``finish`` with its status."""
    suite = load_suite(ROOT)

    def walked(case: str, *answers: Mapping[str, Any]) -> list[str]:
        calls = walk_graph(suite.cases[case].task())
        made = [next(calls)]
        for result in answers:
            if made[-1].operation == "finish":
                break
            made += [calls.send(result)]
        return [_told(call) for call in made]

    return walked


def _told(call: Call) -> str:
    return f"finish {call.arguments['status']}" if call.operation == "finish" else call.operation


def test_where_all_goes_well_the_steps_are_made_in_the_order_of_the_script(walk: Walk) -> None:
    created, read, noted = found(record_id="rec-1"), found(title="x", notes=0), found(notes=1)
    assert walk("E01", created, read, noted) == ["create_record", "get_record", "attach_note", "finish success"]


def test_an_unknown_create_is_looked_up(walk: Walk) -> None:
    assert walk("E01", UNKNOWN, found(record_id="rec-1", complete=True)) == [
        "create_record",
        "lookup_by_request_id",
        "get_record",
    ]


def test_a_create_that_is_absent_is_sent_again(walk: Walk) -> None:
    assert walk("E01", UNKNOWN, ABSENT) == ["create_record", "lookup_by_request_id", "create_record"]


def test_what_is_sent_again_carries_the_same_names() -> None:
    calls = walk_graph(load_suite(ROOT).cases["E01"].task())
    first = next(calls)
    calls.send(UNKNOWN)
    assert calls.send(ABSENT) == first


def test_a_success_that_needs_no_resting_state_is_claimed(walk: Walk) -> None:
    assert walk("C05", found(deployment_id="dep-1")) == ["create_deployment", "finish success"]


def test_a_lookup_that_never_answers_ends_with_the_same_token_or_an_honest_unknown(walk: Walk) -> None:
    made = walk("C05", *[UNKNOWN] * 8)
    assert made[-1] == "finish unknown"
    assert made.count("create_deployment") <= 3


def test_a_denial_ends_the_walk_with_a_failure(walk: Walk) -> None:
    assert walk("C03", answer("authorization_denied")) == ["delete_release", "finish failed"]


def test_a_rejected_credential_leads_to_a_person_and_back(walk: Walk) -> None:
    renewed = answer("ok", result={"decision": "renewed"})
    assert walk("C02", answer("authentication_failed"), renewed) == ["create_issue", "ask_human", "create_issue"]


def test_a_person_who_does_not_renew_ends_the_walk(walk: Walk) -> None:
    nobody = answer("ok", result={"decision": "nobody answered"})
    assert walk("C02", answer("authentication_failed"), *[nobody] * 3)[-1] == "finish failed"


def test_a_limit_is_waited_for(walk: Walk) -> None:
    limited = answer("rate_limited", retry_after_s=30.0)
    assert walk("C07", limited, answer("ok")) == ["update_record", "wait", "update_record"]


def test_every_effect_of_a_task_is_worked_on(walk: Walk) -> None:
    created = [found(record_id=f"rec-{number}") for number in range(3)]
    assert walk("I-zone-left-out-of-state", *created) == ["create_record"] * 3 + ["finish success"]


def test_a_read_before_the_write_is_made_first(walk: Walk) -> None:
    assert walk("I-held-connection", found(title="bill 7"))[:2] == ["get_record", "create_record"]


def page(*ids: str, **more: Any) -> dict[str, Any]:
    fields: dict[str, JSON] = {
        "items": [{"id": name} for name in ids],
        "snapshot": "s-1",
        "next_cursor": None,
        "continuation": None,
    }
    reasons = ["MORE_PAGES_AVAILABLE"] if more else []
    fields |= {"complete": not more, "reasons": reasons, **more}
    return answer("partial" if more else "ok", ok=True, result=fields)


def test_a_cursor_is_followed_and_what_the_script_writes_is_done_where_the_graph_may_rest() -> None:
    more = {"next_cursor": "c2", "continuation": {"kind": "next_cursor", "next_cursor": "c2"}}
    calls = walk_graph(load_suite(ROOT).cases["D-archive-all-inactive-perform_cleanup"].task())
    next(calls)
    assert calls.send(page("a", "b", **more)).arguments["cursor"] == "c2"
    archive = calls.send(page("c"))
    assert (archive.operation, archive.arguments["ids"]) == ("archive_accounts", ["a", "b", "c"])
    assert calls.send(answer("ok", result={"archived": 3})).operation == "finish"


def test_a_tool_that_the_case_does_not_offer_is_no_way_on(walk: Walk) -> None:
    refused = answer("authentication_failed")
    assert walk("N02", refused) == ["create_record", "finish failed"]
