"""Whether an adapter accounts for what it says of a collection: its claim against the pages that the service gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unacked.canonical import JSON
from unacked.completeness import Inventory, Page

__all__ = ["account"]


def account(category: str, result: Mapping[str, JSON], pages: Sequence[Page]) -> Iterator[tuple[str, str]]:
    """Yield (rule, what was observed) for a claim of the category ``ok`` or ``partial``."""
    complete, reasons = result.get("complete"), result.get("reasons")
    if not isinstance(complete, bool):
        yield "completeness-dropped", "no field 'complete'"
    elif complete is not (category == "ok"):
        yield "completeness-dropped", f"complete = {str(complete).lower()} with {category}"
    elif not complete and not (isinstance(reasons, list) and reasons):
        yield "completeness-dropped", "an incomplete collection without a reason"
    given = result.get("items")
    items = given if isinstance(given, list) else []
    attempts = _attempts(pages)
    if len(attempts) > 1:
        yield "restarted-scan", f"{len(attempts)} scans in one call"
        if not any(_within(items, attempt) for attempt in attempts):
            yield "merged-attempts", "items that no snapshot has together"
    elif complete and not any(attempt.complete and len(attempt.items) == len(items) for attempt in attempts):
        seen = attempts[-1] if attempts else Inventory()
        yield "complete-without-account", f"complete with {len(items)} items, after {len(seen.items)} of {seen.total}"
    cursor = result.get("next_cursor")
    if cursor is not None and cursor not in {page.next_cursor for page in pages}:
        yield "invented-continuation", f"next_cursor = {str(cursor)[:40]!r}"


def _attempts(pages: Sequence[Page]) -> list[Inventory]:
    """The pages by snapshot; a page without one belongs to the scan that it came in."""
    attempts: list[Inventory] = []
    for page in pages:
        if not attempts or (page.snapshot is not None and page.snapshot != attempts[-1].snapshot):
            attempts.append(Inventory())
        attempts[-1].add(page)
    return attempts


def _within(items: Sequence[JSON], attempt: Inventory) -> bool:
    return all(item in attempt.items for item in items)
