"""A collection is called complete only if every item of its declared snapshot was accounted for, whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tools.accounting import Shelf

from unacked.canonical import JSON
from unacked.outcome import Envelope

SHARDS = ("eu", "us", "ap")
LOOKS = 8
"""Calls that one client makes before it gives up."""

rows = st.lists(
    st.fixed_dictionaries(
        {
            "shard": st.sampled_from(SHARDS),
            "status": st.sampled_from(("active", "inactive")),
            "trait": st.sampled_from((*[None] * 30, "hidden", "unindexed")),
            "last_seen_day": st.sampled_from((None, 90, 110)),
        }
    ),
    max_size=40,
)
OBSTACLES = {
    "result_limit": st.integers(0, 40),
    "lookback_day": st.just(100),
    "requests": st.integers(1, 6),
    "empty_pages": st.integers(0, 4),
    "session_pages": st.integers(1, 4),
    "shard_seconds": st.fixed_dictionaries({shard: st.integers(0, 6) for shard in SHARDS}),
    "down": st.lists(st.sampled_from(SHARDS), max_size=1),
    "closed": st.lists(st.sampled_from(SHARDS), max_size=1),
    "index_revision": st.just(41),
}
obstacles = st.one_of([st.fixed_dictionaries({name: given}) for name, given in OBSTACLES.items()])
limits = st.builds(
    lambda page_size, chosen: {
        "page_size": page_size,
        **{name: value for one in chosen for name, value in one.items()},
    },
    st.integers(1, 13),
    st.lists(obstacles, max_size=2),
)
changes = st.dictionaries(
    st.integers(1, 12),
    st.sampled_from(
        (
            ("insert", {"row": {"id": "a-000", "scope": "red"}}),
            ("delete", {"id": "a-001"}),
            ("reorder", {}),
            ("cursor_expired", {}),
            ("shard_down", {"shard": "us"}),
            ("permission_removed", {"shard": "us"}),
        )
    ),
    max_size=1,
)
tampering = st.dictionaries(
    st.integers(1, 8),
    st.sampled_from(("drop-first", "drop-last", "empty", "claim", "silence", "snapshot", "again", "cut")),
    max_size=1,
)
operations = st.sampled_from(("list_accounts", "search_accounts", "search_all", "list_repositories"))


class Tampering:
    """Does to some pages what a bad proxy or a careless layer does; remembers the page before."""

    def __init__(self, plan: Mapping[int, str]) -> None:
        self._plan = plan
        self._before: list[Any] = []

    def __call__(self, number: int, body: dict[str, Any]) -> None:
        items = body.get("items")
        if items is None:
            return
        before, self._before = self._before, list(items)
        match self._plan.get(number):
            case "drop-first":
                del items[:1]
            case "drop-last":
                del items[-1:]
            case "empty":
                items.clear()
            case "claim":
                body.update(complete=True, incomplete_reasons=[], truncated=False, next_cursor=None, continuation=None)
            case "silence":
                body.pop("complete")
            case "snapshot" if body["page"].get("start"):  # of the first page, nobody could tell
                body["page"]["snapshot"] = "snapshot-999"
            case "again":
                body["items"] = before
            case "cut":
                body.update(next_cursor=None, continuation=None)


def collected(shelf: Shelf, operation: str) -> tuple[Envelope, set[str]]:
    """Follow every cursor that is given; returns the last answer and the ids of its unbroken chain of pages."""
    arguments: dict[str, JSON] = {"scope": "red"}
    ids: set[str] = set()
    for _ in range(LOOKS):
        seen = shelf.call(operation, **arguments)
        result = seen.result
        if not seen.ok:
            return seen, ids
        ids |= {item["id"] for item in result["items"]}
        way = result["continuation"] or {}
        if way.get("next_cursor") is None:
            return seen, ids
        shelf.clock.advance(way.get("seconds", 0))
        arguments = {"scope": "red", "cursor": way["next_cursor"]}
    return seen, ids


def check(
    population: list[Any], seed: Mapping[str, Any], plan: Mapping[int, Any], bad: Mapping[int, str], operation: str
) -> None:
    kind = "repositories" if operation == "list_repositories" else "accounts"
    named = [{**row, "id": f"a-{number:03}", "scope": "red"} for number, row in enumerate(population, start=1)]
    standing: list[set[str]] = []

    def change(number: int, service: Any) -> None:
        if number in plan:
            name, given = plan[number]
            service.changes[name](service, given)
        if number == 1:
            standing.append(shelf.standing("red", kind.replace("ies", "y").removesuffix("s")))

    shelf = Shelf({**seed, kind: named}, change=change, tamper=Tampering(bad))
    seen, ids = collected(shelf, operation)
    if not seen.ok or not seen.result["complete"]:
        assert seen.category != "ok"
        return
    snapshot = seen.result["snapshot"]
    whole = shelf.evidence.lacking({"snapshot": snapshot, "scope": "red", "ids": sorted(ids) or None}) is None
    if operation == "search_all" or whole:
        assert ids == shelf.held(snapshot)
        if "claim" not in bad.values():  # whoever strikes out what a service says of itself deceives everybody
            assert ids == standing[0] - undeclared(operation, named)
    if whole:
        assert operation != "search_accounts" or "index_revision" not in seed


def undeclared(operation: str, named: list[Any]) -> set[str]:
    """What a snapshot does not declare to hold: an index holds what was indexed."""
    return {row["id"] for row in named if operation == "search_accounts" and row["trait"] == "unindexed"}


@given(rows, limits, changes, tampering, operations)
@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_complete_means_that_every_item_of_the_snapshot_was_accounted_for(
    population: list[Any], seed: Mapping[str, Any], plan: Mapping[int, Any], bad: Mapping[int, str], operation: str
) -> None:
    check(population, seed, plan, bad, operation)


@pytest.mark.long
@given(rows, limits, changes, tampering, operations)
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_complete_means_that_in_ten_thousand_worlds(
    population: list[Any], seed: Mapping[str, Any], plan: Mapping[int, Any], bad: Mapping[int, str], operation: str
) -> None:
    check(population, seed, plan, bad, operation)


@pytest.mark.parametrize("page_size", [1, 2, 3, 7, 13])
@pytest.mark.parametrize("count", [0, 1, 12, 131])
def test_every_page_size_gives_the_whole_of_every_collection_in_the_end(count: int, page_size: int) -> None:
    shelf = Shelf({"fleet": [{"prefix": "a", "scope": "red", "count": count}], "page_size": page_size})
    ids: set[str] = set()
    arguments: dict[str, JSON] = {"scope": "red"}
    while True:
        result = shelf.call("search_all", **arguments).result
        ids |= {item["id"] for item in result["items"]}
        if result["complete"]:
            break
        assert result["reasons"] == ["CLIENT_PAGE_CAP"]
        arguments["cursor"] = result["next_cursor"]
    assert ids == shelf.standing("red")
    assert shelf.pages == max(1, -(-count // page_size))
