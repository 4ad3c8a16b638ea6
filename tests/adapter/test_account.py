"""An adapter's account of a collection, against the pages that the service gave."""

from __future__ import annotations

from typing import Any

import pytest

from unacked.adapter.account import account
from unacked.completeness import Page

A, B, C = ({"id": name} for name in "abc")
FIRST = Page([A, B], complete=False, reasons=[], next_cursor="c2", snapshot="s-1", start=0, total=3)
LAST = Page([C], complete=True, reasons=[], snapshot="s-1", start=2, total=3)
OTHER = Page([B, C], complete=True, reasons=[], snapshot="s-2", start=0, total=2)
PART: dict[str, Any] = {"items": [A, B], "complete": False, "reasons": ["CLIENT_PAGE_CAP"], "next_cursor": "c2"}
WHOLE: dict[str, Any] = {"items": [A, B, C], "complete": True, "reasons": []}


def rules(category: str, result: dict[str, Any], *pages: Page) -> list[str]:
    return [rule for rule, _ in account(category, result, pages)]


def test_a_whole_and_a_part_that_are_accounted_for_are_right() -> None:
    assert rules("ok", WHOLE, FIRST, LAST) == []
    assert rules("partial", PART, FIRST) == []


@pytest.mark.parametrize(
    ("category", "result"),
    [
        ("ok", {"items": [A, B]}),
        ("ok", {"text": "2 accounts found"}),
        ("ok", PART),
        ("partial", {**PART, "complete": True}),
        ("partial", {**PART, "reasons": []}),
    ],
)
def test_what_was_said_of_completeness_must_stay(category: str, result: dict[str, Any]) -> None:
    assert "completeness-dropped" in rules(category, result, FIRST)


def test_complete_needs_every_item_of_the_snapshot() -> None:
    assert rules("ok", {**WHOLE, "items": [A, B]}, FIRST) == ["complete-without-account"]
    assert rules("ok", {**WHOLE, "items": [A, B]}, FIRST, LAST) == ["complete-without-account"]


def test_a_second_scan_is_a_decision_of_the_caller() -> None:
    assert rules("ok", {**WHOLE, "items": [B, C]}, FIRST, OTHER) == ["restarted-scan"]


def test_items_of_two_snapshots_are_no_collection() -> None:
    assert rules("ok", WHOLE, FIRST, OTHER) == ["restarted-scan", "merged-attempts"]


def test_a_cursor_is_one_that_the_service_gave() -> None:
    assert rules("partial", {**PART, "next_cursor": "page-2"}, FIRST) == ["invented-continuation"]
