"""Pages and inventories: what may be believed of a collection, and when it is everything."""

from __future__ import annotations

from typing import Any

import pytest

from unacked.completeness import REASONS, WARNINGS, BrokenPage, Inventory, Page, read_page

ITEMS = [{"id": "a-1"}, {"id": "a-2"}]
WHOLE = {"items": ITEMS, "complete": True, "page": {"start": 0, "total": 2, "snapshot": "s-1"}}


def page(*ids: str, start: int = 0, total: int = 3, snapshot: str | None = "s-1", complete: bool = False) -> Page:
    items = [{"id": name} for name in ids]
    return Page(items, complete, [], snapshot=snapshot, start=start, total=total)


def inventory(*pages: Page) -> Inventory:
    seen = Inventory()
    for one in pages:
        seen.add(one)
    return seen


def test_a_page_that_says_so_is_complete() -> None:
    assert (read_page(WHOLE).complete, read_page(WHOLE).codes) == (True, [])


@pytest.mark.parametrize("items", [[], ITEMS])
@pytest.mark.parametrize("said", [{}, {"complete": None}, {"complete": False}])
def test_a_page_that_nobody_vouches_for_is_incomplete(items: Any, said: dict[str, Any]) -> None:
    read = read_page({"items": items, **said})
    assert (read.complete, read.codes) == (False, ["COMPLETENESS_UNKNOWN"])


def test_reasons_of_a_service_s_own_are_kept() -> None:
    read = read_page({"items": [], "complete": False, "incomplete_reasons": [{"code": "MOON_PHASE"}]})
    assert read.codes == ["MOON_PHASE"]


def test_a_cursor_alone_is_a_way_on() -> None:
    read = read_page({"items": [], "complete": False, "next_cursor": "c"})
    assert read.continuation == {"kind": "next_cursor", "next_cursor": "c"}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({**WHOLE, "incomplete_reasons": [{"code": "SOURCE_UNAVAILABLE"}]}, "/incomplete_reasons"),
        ({**WHOLE, "next_cursor": "c"}, "/next_cursor"),
        ({**WHOLE, "truncated": True}, "/truncated"),
        ({**WHOLE, "page": {"start": 1, "total": 2}}, "/page/total"),
        ({"items": None}, "/items"),
        ({"items": [{"id": "a"}, {"id": "a"}]}, "/items/1/id"),
        ({"items": [], "continuation": {"kind": "next_cursor", "next_cursor": "c"}}, "/next_cursor"),
        ({"items": [], "page": {"total": True}}, "/page/total"),
    ],
)
def test_a_page_that_contradicts_itself_is_broken(body: dict[str, Any], pointer: str) -> None:
    with pytest.raises(BrokenPage) as caught:
        read_page(body)
    assert caught.value.pointer == pointer


def test_the_result_carries_the_codes_beside_the_reasons() -> None:
    told = [{"code": "SOURCE_UNAVAILABLE", "source": "us"}]
    result = read_page({"items": [], "complete": False, "incomplete_reasons": told}).as_result()
    assert (result["incomplete_reasons"], result["reasons"], result["complete"]) == (
        told,
        ["SOURCE_UNAVAILABLE"],
        False,
    )


def test_pages_that_follow_each_other_to_the_end_are_everything() -> None:
    seen = inventory(page("a", "b"), page("c", start=2, complete=True))
    assert (seen.complete, seen.whole, seen.ids) == (True, True, frozenset("abc"))


@pytest.mark.parametrize(
    "pages",
    [
        [page("a", "b")],
        [page("a", "b"), page("c", start=2)],
        [page("a"), page("c", start=2, complete=True)],
        [page("a", "b"), page("b", start=2, complete=True)],
        [page("a", "b"), page("c", start=2, total=4, complete=True)],
        [page("a", "b"), page("c", start=2, snapshot="s-2", complete=True)],
        [page("a", "b", "c", snapshot=None, complete=True)],
        [page("b", "a"), page("a", "b", "c", complete=True)],
    ],
    ids=["cut", "not-said", "gap", "twice", "grown", "other-snapshot", "no-snapshot", "again"],
)
def test_anything_else_is_not(pages: list[Page]) -> None:
    assert not inventory(*pages).complete


def test_a_page_of_another_snapshot_is_left_out() -> None:
    seen = Inventory()
    assert seen.add(page("a"))
    assert not seen.add(page("b", start=1, snapshot="s-2"))
    assert seen.ids == {"a"}


def test_what_was_begun_elsewhere_can_be_complete_and_is_not_whole() -> None:
    seen = inventory(page("c", start=2, complete=True))
    assert (seen.complete, seen.whole, seen.origin) == (True, False, 2)


def test_the_closed_sets_are_those_of_the_contract() -> None:
    assert len(REASONS) == 11
    assert list(WARNINGS) == ["STALE_INDEX", "PARTIAL_FIELD_SET", "DEFAULT_SCOPE_APPLIED", "DEPRECATED_FIELD"]
