from __future__ import annotations

from typing import Any

import pytest

from unacked.services import SeedError

SEED: dict[str, Any] = {
    "accounts": [
        {"id": "a-1", "scope": "red", "owner": "dana", "last_seen_day": 120},
        {"id": "a-2", "scope": "red", "status": "inactive"},
        {"id": "b-1", "scope": "red", "shard": "us"},
        {"id": "c-1", "scope": "blue"},
    ],
    "keys": [{"id": "k-1", "scope": "red", "account": "a-1"}, {"id": "k-2", "scope": "red", "account": "z-9"}],
    "page_size": 2,
}
LIST = "/v1/accounts?scope=red"


def ids(body: Any) -> list[str]:
    return [item["id"] for item in body["items"]]


def codes(body: Any) -> list[str]:
    return [reason["code"] for reason in body["incomplete_reasons"]]


@pytest.fixture
def directory(start: Any) -> Any:
    return lambda **seed: start("directory", {**SEED, **seed})


def change(one: Any, name: str, **given: Any) -> None:
    one.service.changes[name](one.service, given)


def test_a_page_says_where_it_stands_in_its_snapshot(directory: Any) -> None:
    _, first = directory()("GET", LIST)
    assert (ids(first), first["complete"], codes(first)) == (["a-1", "a-2"], False, ["MORE_PAGES_AVAILABLE"])
    assert first["page"] == {
        "returned": 2,
        "requested_size": 2,
        "ordering": "id ascending",
        "start": 0,
        "total": 3,
        "snapshot": "snapshot-1",
        "snapshot_lifetime_s": 600.0,
    }
    assert first["continuation"] == {"kind": "next_cursor", "next_cursor": first["next_cursor"]}


@pytest.mark.parametrize(
    "moved",
    [("insert", {"row": {"id": "a-0", "scope": "red"}}), ("delete", {"id": "a-1"}), ("reorder", {})],
    ids=lambda moved: moved[0],
)
def test_a_snapshot_does_not_move_with_the_world(directory: Any, moved: tuple[str, dict[str, Any]]) -> None:
    one = directory()
    _, first = one("GET", LIST)
    change(one, moved[0], **moved[1])
    _, last = one("GET", f"{LIST}&cursor={first['next_cursor']}")
    assert (ids(last), last["complete"]) == (["b-1"], True)


@pytest.mark.parametrize(
    ("moved", "shown"),
    [
        (("insert", {"row": {"id": "a-0", "scope": "red"}}), ["a-2", "b-1"]),
        (("delete", {"id": "a-1"}), []),
        (("reorder", {}), ["a-1"]),
    ],
    ids=["twice", "lost", "turned"],
)
def test_an_offset_does(start: Any, moved: tuple[str, dict[str, Any]], shown: list[str]) -> None:
    rows = [{"id": name, "scope": "red"} for name in ("a-1", "a-2", "b-1")]
    one = start("directory", {"repositories": rows, "page_size": 2})
    one("GET", "/v1/repositories?scope=red&offset=0")
    if moved[0] == "insert":
        row = {**one.service.state["rows"]["a-1"], "id": "a-0"}
        one.service.state["rows"]["a-0"] = row
    else:
        change(one, moved[0], **moved[1])
    _, last = one("GET", "/v1/repositories?scope=red&offset=2")
    assert (ids(last), last["complete"], codes(last)) == (shown, False, ["COMPLETENESS_UNKNOWN"])


def test_a_cursor_dies_with_the_permission_it_was_given_under(directory: Any) -> None:
    one = directory()
    _, first = one("GET", LIST)
    change(one, "permission_removed", shard="us")
    _, last = one("GET", f"{LIST}&cursor={first['next_cursor']}")
    assert (ids(last), codes(last), last["continuation"]) == ([], ["SNAPSHOT_EXPIRED"], {"kind": "restart"})
    assert codes(one("GET", LIST)[1]) == ["MORE_PAGES_AVAILABLE", "VISIBILITY_RESTRICTED"]


def test_a_cursor_belongs_to_its_query(directory: Any) -> None:
    one = directory()
    cursor = one("GET", LIST)[1]["next_cursor"]
    for target in (f"{LIST}&status=active&cursor={cursor}", f"{LIST}&cursor={cursor}0", f"{LIST}&cursor=page-2"):
        assert one("GET", target) == (422, {"error": "invalid_cursor", "field": "cursor"})


def test_a_shard_that_fails_later_is_named_on_every_page_from_then_on(directory: Any) -> None:
    one = directory(page_size=1)
    _, first = one("GET", LIST)
    change(one, "shard_down", shard="us")
    _, second = one("GET", f"{LIST}&cursor={first['next_cursor']}")
    _, last = one("GET", f"{LIST}&cursor={second['next_cursor']}")
    assert codes(second) == ["MORE_PAGES_AVAILABLE", "SOURCE_UNAVAILABLE"]
    assert (ids(last), codes(last), last["incomplete_reasons"][0]["source"]) == ([], ["SOURCE_UNAVAILABLE"], "us")


def test_a_hidden_account_is_not_named(directory: Any) -> None:
    hidden = [*SEED["accounts"], {"id": "secret-7", "scope": "red", "trait": "hidden"}]
    status, body = directory(accounts=hidden, page_size=9)("GET", LIST)
    assert (status, codes(body), body["scope"]["visibility"]) == (200, ["VISIBILITY_RESTRICTED"], "restricted")
    assert "secret-7" not in str(body)


@pytest.mark.parametrize(
    ("seed", "deadline", "shown", "reasons"),
    [
        ({"result_limit": 1}, "", ["a-1"], ["RESULT_LIMIT_REACHED"]),
        ({"lookback_day": 100}, "", ["a-1"], ["LOOKBACK_LIMITED"]),
        ({"shard_seconds": {"eu": 4, "us": 40}}, "", ["a-1", "a-2"], ["TIME_BUDGET_EXCEEDED"]),
        ({"shard_seconds": {"eu": 4, "us": 40}}, "&deadline_s=44", ["a-1", "a-2", "b-1"], []),
        ({"requests": 1, "spent": 1}, "", [], ["RATE_BUDGET_EXHAUSTED"]),
        ({"session_pages": 1, "page_size": 1}, "", ["a-1"], ["SEARCH_EXPIRED"]),
        ({"empty_pages": 1}, "", [], ["MORE_PAGES_AVAILABLE"]),
    ],
)
def test_a_search_says_why_it_is_not_everything(
    directory: Any, seed: dict[str, Any], deadline: str, shown: list[str], reasons: list[str]
) -> None:
    _, body = directory(**{"page_size": 9, **seed})("GET", f"/v1/search/accounts?scope=red{deadline}")
    assert (ids(body), codes(body), body["complete"]) == (shown, reasons, not reasons)


def test_warnings_have_an_owner_and_an_expiry_and_take_no_part_in_completeness(directory: Any) -> None:
    told = {"index_revision": 41, "default_status": "active", "left_out": ["owner"], "deprecated": ["status"]}
    _, body = directory(page_size=9, **told)("GET", "/v1/search/accounts?scope=red")
    assert [warning["code"] for warning in body["warnings"]] == [
        "STALE_INDEX",
        "DEFAULT_SCOPE_APPLIED",
        "PARTIAL_FIELD_SET",
        "DEPRECATED_FIELD",
    ]
    assert all({"owner", "expires"} <= warning.keys() for warning in body["warnings"])
    assert (body["complete"], "owner" in body["items"][0]) == (True, False)


def test_a_request_that_is_only_answered_keeps_no_snapshot(directory: Any) -> None:
    one = directory()
    one.raw("GET", LIST, commit=False)
    assert one.service.state["snapshots"] == {}


def archive(one: Any, *names: str, snapshot: str = "snapshot-1") -> Any:
    return one("POST", "/v1/accounts/archive", {"ids": list(names), "snapshot": snapshot, "scope": "red"})


def test_archiving_is_all_or_nothing(directory: Any) -> None:
    one = directory()
    one("GET", LIST)
    change(one, "touch", id="a-2", set={"status": "active"})
    assert archive(one, "a-1", "a-2") == (410, {"error": "changed_since_snapshot"})
    assert archive(one, "a-1", "c-1") == (422, {"error": "not_in_snapshot", "field": "ids"})
    assert archive(one, "a-1", snapshot="snapshot-7") == (410, {"error": "snapshot_expired"})
    assert one.service.summary()["archived_accounts"] == 0
    assert archive(one, "a-1")[1]["archived"] == 1
    assert archive(one, "a-1") == (410, {"error": "changed_since_snapshot"})


def test_a_cleanup_takes_absence_for_a_fact(directory: Any) -> None:
    one = directory(down=["eu"])
    one("GET", LIST)
    one("POST", "/v1/keys/cleanup", {"scope": "red", "snapshot": "snapshot-1"})
    assert one.service.summary() == {
        "accounts": 4,
        "archived_accounts": 0,
        "archived_in_use": 0,
        "repositories": 0,
        "removed_keys": 1,
        "removed_keys_in_use": 0,
    }


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        ({"page_size": 0}, "seed.page_size: expected at least 1, got 0"),
        ({"result_limit": "ten"}, "seed.result_limit: expected a value like None, got 'ten'"),
        ({"accounts": [{"id": "a"}]}, "seed.accounts[0].scope: is missing; expected a non-empty string"),
    ],
)
def test_a_seed_that_does_not_fit_is_refused(start: Any, seed: dict[str, Any], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        start("directory", seed)
    assert str(caught.value) == message
