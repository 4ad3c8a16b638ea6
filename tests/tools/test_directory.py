"""The tools of the directory: one snapshot, a cap, a deadline, and no destructive call without evidence."""

from __future__ import annotations

from typing import Any

import pytest
from tests.tools.accounting import Shelf

from unacked.canonical import JSON
from unacked.completeness import Page
from unacked.fault import Action
from unacked.tools import REGISTRY, Evidence

RED: dict[str, JSON] = {
    "accounts": [
        {"id": "a-1", "scope": "red", "status": "inactive"},
        {"id": "a-2", "scope": "red", "status": "inactive"},
        {"id": "b-1", "scope": "red", "status": "inactive", "shard": "us"},
    ],
    "page_size": 2,
}


def shelf(**seed: JSON) -> Shelf:
    return Shelf({**RED, **seed})


def result(seen: Any) -> Any:
    return seen.result


def test_a_scan_keeps_one_snapshot_and_says_how_far_it_got() -> None:
    seen = result(shelf().call("search_all", scope="red"))
    assert [item["id"] for item in seen["items"]] == ["a-1", "a-2", "b-1"]
    assert (seen["complete"], seen["snapshot"], seen["reasons"]) == (True, "snapshot-1", [])
    assert seen["coverage"] == {"accounted": 3, "of": 3, "pages": 2, "elapsed_s": 1.0}


def test_each_page_of_a_scan_has_an_id_of_its_own() -> None:
    one = shelf()
    one.call("search_all", scope="red")
    received = [entry.correlation_id for entry in one.service.ledger if entry.moment == "received"]
    assert received == ["c-1", "c-1.2"]
    assert one.events.count("dispatch_started") == 2
    assert one.events.count("result") == 1


def test_a_scan_caps_its_work_and_gives_the_cursor() -> None:
    one = shelf(fleet=[{"prefix": "c", "scope": "red", "count": 30}])
    first = result(one.call("search_all", scope="red"))
    assert (len(first["items"]), first["reasons"], one.pages) == (20, ["CLIENT_PAGE_CAP"], 10)
    rest = result(one.call("search_all", scope="red", cursor=first["next_cursor"]))
    assert (len(rest["items"]), rest["complete"], rest["snapshot"]) == (13, True, first["snapshot"])


def test_a_scan_ends_before_its_deadline_and_can_go_on() -> None:
    one = shelf(page_size=1)
    seen = result(one.call("search_all", scope="red", deadline_s=1))
    assert (seen["reasons"], seen["continuation"]["kind"]) == (["TIME_BUDGET_EXCEEDED"], "next_cursor")
    assert seen["coverage"] == {"accounted": 2, "of": 3, "pages": 2, "elapsed_s": 1.0}


def test_an_expired_cursor_is_not_restarted() -> None:
    def expire(number: int, service: Any) -> None:
        if number == 2:
            service.changes["cursor_expired"](service, {})

    one = Shelf(RED, change=expire)
    seen = result(one.call("search_all", scope="red"))
    assert (seen["complete"], seen["reasons"], seen["continuation"]) == (
        False,
        ["SNAPSHOT_EXPIRED"],
        {"kind": "restart"},
    )
    assert ([item["id"] for item in seen["items"]], one.pages) == (["a-1", "a-2"], 2)


def test_a_page_of_another_snapshot_is_never_merged() -> None:
    def swap(number: int, body: dict[str, Any]) -> None:
        if number == 2:
            body["page"]["snapshot"] = "snapshot-9"

    seen = result(Shelf(RED, tamper=swap).call("search_all", scope="red"))
    assert (len(seen["items"]), seen["complete"], seen["reasons"]) == (2, False, ["SNAPSHOT_EXPIRED"])


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, "RATE_BUDGET_EXHAUSTED", "retry_after"),
        (403, "VISIBILITY_RESTRICTED", None),
        (503, "SOURCE_UNAVAILABLE", "next_cursor"),
    ],
)
def test_a_page_that_does_not_come_leaves_the_pages_before(status: int, code: str, kind: str | None) -> None:
    def fail(number: int, service: Any) -> None:
        if number == 2:
            service.disturb(Action.parse({"failure": {"status": status}}), "search_all")

    one = Shelf(RED, change=fail)
    seen = one.call("search_all", scope="red")
    assert (seen.category, result(seen)["reasons"], len(result(seen)["items"])) == ("partial", [code], 2)
    assert (result(seen)["continuation"] or {}).get("kind") == kind


def test_an_expired_credential_in_the_middle_is_the_answer_of_the_whole_call() -> None:
    def expire(number: int, service: Any) -> None:
        if number == 2:
            service.credentials.expire()

    assert Shelf(RED, change=expire).call("search_all", scope="red").category == "authentication_failed"


def test_archiving_what_a_complete_inventory_holds_is_done() -> None:
    one = shelf()
    seen = result(one.call("search_all", scope="red"))
    done = one.call("archive_accounts", ids=["a-1", "b-1"], snapshot=seen["snapshot"], scope="red")
    assert (done.category, done.result) == ("ok", {"archived": 2})


def lacking(one: Shelf, operation: str = "archive_accounts", **arguments: JSON) -> str | None:
    before = one.pages
    seen = one.call(operation, **arguments)
    assert (seen.category, one.pages) == ("evidence_required", before)
    return seen.failed_field


def test_nothing_is_sent_without_an_inventory() -> None:
    assert lacking(shelf(), ids=["a-1"], snapshot="snapshot-1") == "/snapshot"


def test_nothing_is_sent_upon_an_incomplete_inventory() -> None:
    one = shelf(down=["us"])
    seen = result(one.call("search_all", scope="red"))
    assert lacking(one, ids=["a-1"], snapshot=seen["snapshot"]) == "/snapshot"


def test_nothing_is_sent_upon_a_complete_inventory_of_a_stale_index() -> None:
    one = shelf(index_revision=41, page_size=9)
    seen = one.call("search_accounts", scope="red")
    assert (seen.category, result(seen)["warnings"][0]["code"]) == ("ok", "STALE_INDEX")
    assert lacking(one, "cleanup_absent", scope="red", snapshot=result(seen)["snapshot"]) == "/snapshot"


def test_the_last_page_alone_is_no_evidence_and_all_pages_are() -> None:
    first = Page([{"id": "a-1"}], complete=False, reasons=[], snapshot="s-1", start=0, total=2)
    last = Page([{"id": "b-1"}], complete=True, reasons=[], snapshot="s-1", start=1, total=2)
    late, early = Evidence(), Evidence()
    for evidence, pages in ((late, [last]), (early, [first, last])):
        for page in pages:
            evidence.learn(REGISTRY["list_accounts"], {"scope": "red"}, page)
    wanted = {"ids": ["b-1"], "snapshot": "s-1"}
    refused = late.lacking(wanted)
    assert (refused and refused.category, refused and refused.failed_field) == ("evidence_required", "/snapshot")
    assert early.lacking(wanted) is None


@pytest.mark.parametrize("ids", [[], ["z-9"], ["a-1", "z-9"]])
def test_nothing_is_sent_for_ids_that_the_inventory_does_not_hold(ids: list[str]) -> None:
    one = shelf()
    seen = result(one.call("search_all", scope="red"))
    assert lacking(one, ids=ids, snapshot=seen["snapshot"]) == "/ids"


def test_nothing_is_sent_for_another_scope() -> None:
    one = shelf()
    seen = result(one.call("search_all", scope="red"))
    assert lacking(one, "cleanup_absent", scope="blue", snapshot=seen["snapshot"]) == "/scope"


def test_a_target_that_changed_since_is_found_when_it_is_done() -> None:
    one = shelf()
    seen = result(one.call("search_all", scope="red"))
    one.service.changes["touch"](one.service, {"id": "a-1", "set": {"status": "active"}})
    done = one.call("archive_accounts", ids=["a-1", "a-2"], snapshot=seen["snapshot"])
    assert (done.category, one.service.summary()["archived_accounts"]) == ("confirmed_failure", 0)


@pytest.mark.parametrize(
    ("seed", "category", "state"),
    [
        ({}, "ok", "absent"),
        ({"private": ["owner"]}, "partial", "no_access"),
        ({"down": ["eu"]}, "partial", "source_failed"),
    ],
)
def test_one_account_says_why_a_field_is_missing(seed: dict[str, JSON], category: str, state: str) -> None:
    seen = shelf(**seed).call("get_account", account_id="a-1", fields="owner")
    assert (seen.category, result(seen)["owner_state"]) == (category, state)
    assert result(seen)["last_seen_day_state"] == "not_requested"


def test_pages_by_offset_are_never_complete() -> None:
    one = Shelf({"repositories": [{"id": "r-1", "scope": "red"}], "page_size": 5})
    by_offset = one.call("list_repositories", scope="red", offset=0)
    assert (by_offset.category, result(by_offset)["reasons"]) == ("partial", ["COMPLETENESS_UNKNOWN"])
    assert one.call("list_repositories", scope="red").category == "ok"
