"""Partial data is not empty data: why a collection may be incomplete, and when it may be called complete.

``complete`` is the field to decide by; it stands in every collection, full, short or empty. A client may call a
collection complete only if it accounted for every item of one declared snapshot: ``Inventory`` keeps that account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from unacked.canonical import JSON

__all__ = [
    "CONTINUATIONS",
    "FIELD_STATES",
    "REASONS",
    "WARNINGS",
    "BrokenPage",
    "Inventory",
    "Page",
    "Reason",
    "read_page",
]


class Reason(NamedTuple):
    """One way in which a collection can be incomplete, and who may find that out."""

    code: str
    meaning: str
    told_by: str


REASONS: Mapping[str, Reason] = {
    row.code: row
    for row in (
        Reason("MORE_PAGES_AVAILABLE", "more pages follow", "service"),
        Reason("RESULT_LIMIT_REACHED", "the service gives no more results than its limit, and no cursor", "service"),
        Reason("TIME_BUDGET_EXCEEDED", "the search was stopped by its deadline", "service, tool"),
        Reason("SOURCE_UNAVAILABLE", "a source, which is named, did not answer", "service, tool"),
        Reason(
            "VISIBILITY_RESTRICTED", "this identity may not see everything; nothing hidden is named", "service, tool"
        ),
        Reason("RATE_BUDGET_EXHAUSTED", "the requests of this window are used up", "service, tool"),
        Reason(
            "SNAPSHOT_EXPIRED", "the snapshot behind the cursor is gone; pages of another one are other data", "service"
        ),
        Reason("CLIENT_PAGE_CAP", "the tool stopped following pages at its own limit", "tool"),
        Reason("SEARCH_EXPIRED", "the search behind the cursor is gone", "service"),
        Reason("LOOKBACK_LIMITED", "only a stretch of time was looked through", "service"),
        Reason("COMPLETENESS_UNKNOWN", "nobody vouches that this is everything", "service, tool"),
    )
}
"""Every reason by its code; a service may have further ones of its own."""

WARNINGS: Mapping[str, str] = {
    "STALE_INDEX": "an index was read that lags behind its source; `source` and `revision` say which",
    "PARTIAL_FIELD_SET": "the items lack some fields; `fields` names them, `requestable` says whether they can be had",
    "DEFAULT_SCOPE_APPLIED": "a scope was assumed; `scope` says which",
    "DEPRECATED_FIELD": "a field will go away; `fields` names it",
}
"""Every warning by its code: freshness and interpretation, never coverage. Each has an owner and an expiry."""

FIELD_STATES = ("present", "not_requested", "no_access", "source_failed", "absent")
"""What a single resource says of each field that may be missing; only ``absent`` says that there is no value."""

CONTINUATIONS = ("next_cursor", "next_offset", "retry_after", "narrow_query", "retry_with_deadline", "restart")
"""The real ways on. Where there is none, the safe way on is a person."""


class BrokenPage(ValueError):
    """A page that contradicts itself or lacks what a page has; ``pointer`` says where."""

    def __init__(self, pointer: str, expected: str) -> None:
        super().__init__(f"{pointer}: expected {expected}")
        self.pointer, self.expected = pointer, expected


@dataclass(frozen=True, slots=True)
class Page:
    """One answer of a collection, as far as it can be believed.

    ``start`` is the place of its first item in the snapshot (0-based) and ``total`` the number of items there; None
    where the service does not say. ``more`` holds the members that are passed on as they are.
    """

    items: Sequence[Mapping[str, JSON]]
    complete: bool
    reasons: Sequence[Mapping[str, JSON]]
    truncated: bool = False
    next_cursor: str | None = None
    continuation: Mapping[str, JSON] | None = None
    snapshot: str | None = None
    start: int | None = None
    total: int | None = None
    more: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def codes(self) -> list[str]:
        """The codes of the reasons, in order."""
        return [str(reason["code"]) for reason in self.reasons]

    def as_result(self) -> dict[str, JSON]:
        """Return the completeness envelope as result fields; ``reasons`` are the codes of ``incomplete_reasons``."""
        result: dict[str, JSON] = {
            "items": list(self.items),
            "complete": self.complete,
            "truncated": self.truncated,
            "incomplete_reasons": list(self.reasons),
            "reasons": self.codes,
            "next_cursor": self.next_cursor,
            "continuation": None if self.continuation is None else dict(self.continuation),
            "snapshot": self.snapshot,
        }
        return {**result, **self.more}


_UNKNOWN = {"code": "COMPLETENESS_UNKNOWN", "message": REASONS["COMPLETENESS_UNKNOWN"].meaning}
_TYPES: Mapping[str, tuple[type, str]] = {
    "truncated": (bool, "a boolean"),
    "incomplete_reasons": (list, "an array"),
    "next_cursor": (str, "a string"),
    "continuation": (dict, "an object"),
    "page": (dict, "an object"),
    "scope": (dict, "an object"),
    "warnings": (list, "an array"),
}


def read_page(body: Mapping[str, JSON]) -> Page:
    """Read a collection; raises BrokenPage where it cannot be used.

    A page that does not say whether it is complete is not: COMPLETENESS_UNKNOWN.
    """
    complete, reasons = body.get("complete"), body.get("incomplete_reasons") or []
    items = _items(body.get("items"))
    if complete is not None and not isinstance(complete, bool):
        raise BrokenPage("/complete", "a boolean")
    for name, (kind, expected) in _TYPES.items():
        if body.get(name) is not None and not isinstance(body[name], kind):
            raise BrokenPage(f"/{name}", expected)
    for number, reason in enumerate(reasons):
        if not isinstance(reason, dict) or not isinstance(reason.get("code"), str):
            raise BrokenPage(f"/incomplete_reasons/{number}", "an object with a code")
    place: Mapping[str, JSON] = body.get("page") or {}
    start, total = _count(place, "start"), _count(place, "total")
    snapshot = place.get("snapshot")
    if snapshot is not None and not (isinstance(snapshot, str) and snapshot):
        raise BrokenPage("/page/snapshot", "a token")
    cursor, way_on = _way_on(body)
    if complete:
        _check_claim(body, reasons, start, total, len(items))
    elif not reasons:
        reasons = [_UNKNOWN]
    return Page(
        items,
        bool(complete),
        reasons,
        bool(body.get("truncated")),
        cursor,
        way_on,
        snapshot,
        start,
        total,
        {name: body[name] for name in ("page", "scope", "warnings") if body.get(name) is not None},
    )


def _way_on(body: Mapping[str, JSON]) -> tuple[str | None, Mapping[str, JSON] | None]:
    """The cursor and the continuation, which must name the same one; a cursor alone is a continuation."""
    cursor, way_on = body.get("next_cursor") or None, body.get("continuation")
    if way_on is None and cursor is not None:
        way_on = {"kind": "next_cursor", "next_cursor": cursor}
    if way_on is not None and way_on.get("next_cursor") != cursor:
        raise BrokenPage("/next_cursor", "the cursor of the continuation")
    return cursor, way_on


def _items(items: JSON) -> Sequence[Mapping[str, JSON]]:
    if not isinstance(items, list):
        raise BrokenPage("/items", "an array")
    seen: set[str] = set()
    for number, item in enumerate(items):
        identity = item.get("id") if isinstance(item, dict) else None
        if not isinstance(identity, str) or not identity:
            raise BrokenPage(f"/items/{number}/id", "an identifier")
        if identity in seen:
            raise BrokenPage(f"/items/{number}/id", "each item once")
        seen.add(identity)
    return items


def _count(place: Mapping[str, JSON], name: str) -> int | None:
    value = place.get(name)
    if value is None or (type(value) is int and value >= 0):
        return value
    raise BrokenPage(f"/page/{name}", "a count")


def _check_claim(
    body: Mapping[str, JSON], reasons: Sequence[JSON], start: int | None, total: int | None, items: int
) -> None:
    """Refuse a claim to be complete that the same answer contradicts."""
    if reasons:
        raise BrokenPage("/incomplete_reasons", "none where complete is true")
    if body.get("next_cursor"):
        raise BrokenPage("/next_cursor", "null where complete is true")
    if body.get("truncated"):
        raise BrokenPage("/truncated", "false where complete is true")
    if total is not None and (start or 0) + items != total:
        raise BrokenPage("/page/total", "the number of items up to here where complete is true")


class Inventory:
    """What has been accounted for of one snapshot, page by page in their order.

    ``origin`` is how many items of the snapshot somebody else has accounted for: where a cursor of an earlier
    call is followed, the first page says so.
    """

    def __init__(self) -> None:
        self.items: list[Mapping[str, JSON]] = []
        self.snapshot: str | None = None
        self.origin = 0
        self.total: int | None = None
        self.last: Page | None = None
        self.flawed = False
        self._seen: set[JSON] = set()

    def add(self, page: Page) -> bool:
        """Take a page into account; returns False, and leaves its items out, where it is of another snapshot."""
        if self.last is None:
            self.snapshot, self.origin, self.total = page.snapshot, page.start or 0, page.total
        elif page.items and page.snapshot != self.snapshot:
            self.flawed = True
            return False
        at = self.origin + len(self.items)
        ids = {item["id"] for item in page.items}
        follows = page.snapshot is None or (page.snapshot == self.snapshot and page.total == self.total)
        if not follows or (page.items and page.start != at) or self._seen & ids:
            self.flawed = True
        self.items += [item for item in page.items if item["id"] not in self._seen]
        self._seen |= ids
        self.last = page
        return True

    @property
    def ids(self) -> frozenset[JSON]:
        """The ids of all items so far."""
        return frozenset(self._seen)

    @property
    def complete(self) -> bool:
        """Whether every item of the snapshot is accounted for: here, or before ``origin`` by whoever began."""
        last = self.last
        if last is None or not last.complete or self.flawed or self.snapshot is None:
            return False
        return last.snapshot == self.snapshot and self.origin + len(self.items) == self.total

    @property
    def whole(self) -> bool:
        """Whether it is complete and began with the snapshot's first item."""
        return self.complete and self.origin == 0
