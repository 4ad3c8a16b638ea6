"""A tool that follows cursors by itself: one snapshot, a cap on its own work, a deadline, and an honest account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from unacked.canonical import JSON, dumps
from unacked.completeness import REASONS, Inventory, Page
from unacked.tools.classify import Finding, of_page

__all__ = ["Scan"]

_BROKEN_OFF: Mapping[str, str] = {
    "rate_limited": "RATE_BUDGET_EXHAUSTED",
    "authorization_denied": "VISIBILITY_RESTRICTED",
    "outcome_unknown": "SOURCE_UNAVAILABLE",
    "local_failure": "SOURCE_UNAVAILABLE",
    "malformed_response": "SOURCE_UNAVAILABLE",
    "not_found": "SOURCE_UNAVAILABLE",
}
"""What a page that did not come makes of the pages before it; any other failure is the answer of the whole call."""


class Scan:
    """The pages of one call, in their order; ``cursor`` is the next one to follow, None when the scan is over.

    Pages of another snapshot are never merged in, and an expired cursor is never restarted: that is the caller's
    decision. ``cap`` is the most pages of one call; ``deadline_s`` ends it before the next page is asked for.
    """

    def __init__(self, source: str, *, cap: int, deadline_s: float | None) -> None:
        self.cursor: str | None = None
        self.pages = 0
        self.elapsed_s = 0.0
        self._source = source
        self._cap, self._deadline_s = cap, deadline_s
        self._inventory = Inventory()
        self._reasons: dict[str, dict[str, JSON]] = {}
        self._warnings: dict[str, JSON] = {}
        self._way_on: dict[str, JSON] | None = None
        self._failure: Finding | None = None

    @property
    def left_s(self) -> float | None:
        """What is left of the deadline."""
        return None if self._deadline_s is None else max(0.0, self._deadline_s - self.elapsed_s)

    def take(self, finding: Finding, elapsed_s: float) -> None:
        """Take the answer to the page that was asked for."""
        self.pages += 1
        self.elapsed_s += elapsed_s
        asked, self.cursor = self.cursor, None
        if finding.page is None:
            self._break_off(finding, asked)
        elif not self._inventory.add(finding.page):
            self._stop("SNAPSHOT_EXPIRED", {"kind": "restart"})
        else:
            self._go_on(finding.page)

    def _break_off(self, finding: Finding, asked: str | None) -> None:
        code = _BROKEN_OFF.get(finding.category)
        if self._inventory.last is None or code is None:
            self._failure = finding
            return
        way_on: dict[str, JSON] | None = {"kind": "next_cursor", "next_cursor": asked}
        if code == "RATE_BUDGET_EXHAUSTED":
            way_on = {"kind": "retry_after", "seconds": finding.retry_after_s, "next_cursor": asked}
        elif code == "VISIBILITY_RESTRICTED":
            way_on = None
        detail = {"source": self._source} if code == "SOURCE_UNAVAILABLE" else {}
        self._stop(code, way_on, **detail)

    def _go_on(self, page: Page) -> None:
        for reason in page.reasons:
            if reason["code"] != "MORE_PAGES_AVAILABLE":
                self._reasons.setdefault(dumps(reason), dict(reason))
        for warning in page.more.get("warnings", ()):
            self._warnings.setdefault(dumps(warning), warning)
        self._way_on = None if page.continuation is None else dict(page.continuation)
        onward: dict[str, JSON] = {"kind": "next_cursor", "next_cursor": page.next_cursor}
        if page.next_cursor is None or (self._way_on or onward)["kind"] != "next_cursor":
            return
        if self._inventory.flawed and not self._reasons:
            self._stop("COMPLETENESS_UNKNOWN", {"kind": "restart"})
        elif self.pages >= self._cap:
            self._stop("CLIENT_PAGE_CAP", onward, limit=self._cap)
        elif self.left_s == 0:
            self._stop("TIME_BUDGET_EXCEEDED", onward, seconds=self._deadline_s)
        else:
            self.cursor = page.next_cursor

    def _stop(self, code: str, way_on: dict[str, JSON] | None, **detail: JSON) -> None:
        reason = {"code": code, "message": REASONS[code].meaning, **detail}
        self._reasons[dumps(reason)] = reason
        self._way_on = way_on

    def finding(self) -> Finding:
        """Return what the whole call proves; ``coverage`` says how far it got."""
        seen = self._inventory
        if self._failure is not None or seen.last is None:
            return self._failure or Finding("outcome_unknown")
        complete = seen.complete and not self._reasons
        if not complete and not self._reasons:
            self._stop("COMPLETENESS_UNKNOWN", {"kind": "restart"})
        place = {**seen.last.more.get("page", {}), "returned": len(seen.items), "start": seen.origin}
        coverage = {
            "accounted": seen.origin + len(seen.items),
            "of": seen.total,
            "pages": self.pages,
            "elapsed_s": round(self.elapsed_s, 6),
        }
        more: dict[str, JSON] = {**seen.last.more, "page": {**place, "snapshot": seen.snapshot, "total": seen.total}}
        more |= {"warnings": list(self._warnings.values()), "coverage": coverage}
        whole = replace(
            seen.last,
            items=seen.items,
            complete=complete,
            reasons=list(self._reasons.values()),
            truncated=not complete,
            next_cursor=None if complete or self._way_on is None else self._way_on.get("next_cursor"),
            continuation=None if complete else self._way_on,
            snapshot=seen.snapshot,
            start=seen.origin,
            total=seen.total,
            more=more,
        )
        return of_page(whole)
