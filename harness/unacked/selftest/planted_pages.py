"""Adapters that are wrong about collections on purpose, in three layers: the API, a small SDK, and a wrapper.

The SDK gives pages as objects, as SDKs do. What is lost or invented is the doing of the wrapper around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from unacked.adapter import Link
from unacked.canonical import JSON
from unacked.completeness import Page, read_page
from unacked.selftest.planted import Arguments, Planted, Told, right, told
from unacked.tools.directory import PAGE_CAP

__all__ = ["PAGES"]


# The SDK


@dataclass(frozen=True, slots=True)
class Trouble(Exception):
    """A page that did not come; ``claim`` is what is known of it."""

    claim: Told


def get_page(operation: str, arguments: Arguments, link: Link, number: int) -> Page:
    """Get one page, under an id of its own; raises Trouble."""
    own = link if number == 1 else replace(link, correlation_id=f"{link.correlation_id}.{number}")
    claim = right(operation, arguments, own)
    if not claim["ok"]:
        raise Trouble(claim | {"correlation_id": link.correlation_id})
    return read_page(claim["result"])


def get_pages(operation: str, arguments: Arguments, link: Link, *, first: int = 1, most: int = 99) -> Iterator[Page]:
    """Get page after page for as long as there is a cursor."""
    asked = dict(arguments)
    for number in range(first, first + most):
        page = get_page(operation, asked, link, number)
        yield page
        if page.next_cursor is None or (page.continuation or {}).get("kind") != "next_cursor":
            return
        asked["cursor"] = page.next_cursor


# Wrappers


def whole(operation: str, link: Link, pages: list[Page]) -> Told:
    """Say of pages that they are everything."""
    items: list[JSON] = list({str(item["id"]): dict(item) for page in pages for item in page.items}.values())
    result: dict[str, JSON] = {"items": items, "complete": True, "reasons": [], "next_cursor": None}
    return told(operation, link, "ok", result={**result, "snapshot": pages[-1].snapshot})


def drops_complete(operation: str, arguments: Arguments, link: Link) -> Told:
    """Give the items and not a word on whether they are all."""
    try:
        page = get_page(operation, arguments, link, 1)
    except Trouble as trouble:
        return trouble.claim
    return told(operation, link, "ok", result={"items": [dict(item) for item in page.items]})


def flattens(operation: str, arguments: Arguments, link: Link) -> Told:
    """Make a sentence of everything that there was to know."""
    try:
        page = get_page(operation, arguments, link, 1)
    except Trouble as trouble:
        return trouble.claim
    text = f"{len(page.items)} accounts found" + ("" if page.complete else " (the list may be incomplete)")
    return told(operation, link, "ok", result={"text": text})


def caps_silently(operation: str, arguments: Arguments, link: Link) -> Told:
    """Stop after ten pages and take them for everything."""
    try:
        pages = list(get_pages(operation, arguments, link, most=PAGE_CAP))
    except Trouble as trouble:
        return trouble.claim
    return whole(operation, link, pages) if len(pages) == PAGE_CAP else right(operation, arguments, link)


def merges_attempts(operation: str, arguments: Arguments, link: Link) -> Told:
    """Begin again where a scan broke off, and put both together."""
    try:
        pages = list(get_pages(operation, arguments, link))
        if not pages[-1].complete:
            pages += get_pages(operation, arguments, link, first=len(pages) + 1)
    except Trouble as trouble:
        return trouble.claim
    return whole(operation, link, pages)


def restarts(operation: str, arguments: Arguments, link: Link) -> Told:
    """Begin again where the snapshot has expired, as if nothing had been."""
    try:
        pages = list(get_pages(operation, arguments, link))
        if "SNAPSHOT_EXPIRED" in pages[-1].codes:
            pages = list(get_pages(operation, arguments, link, first=len(pages) + 1))
    except Trouble as trouble:
        return trouble.claim
    last = pages[-1]
    if last.complete:
        return whole(operation, link, pages)
    return told(operation, link, "partial", result=replace(last, next_cursor=None).as_result())


def invents_a_cursor(operation: str, arguments: Arguments, link: Link) -> Told:
    """Count pages where the service gives no cursor."""
    claim = right(operation, arguments, link)
    if claim["category"] == "partial":
        claim["result"] |= {"next_cursor": claim["result"]["next_cursor"] or "page-2"}
    return claim


PAGES = (
    Planted(drops_complete, "drops 'complete'", "completeness-dropped", "search_all"),
    Planted(flattens, "flattens a collection to text", "completeness-dropped", "search_all"),
    Planted(caps_silently, "stops at ten pages without a word", "complete-without-account", "search_all"),
    Planted(merges_attempts, "merges two attempts", "merged-attempts", "search_all"),
    Planted(restarts, "restarts an expired cursor", "restarted-scan", "search_all"),
    Planted(invents_a_cursor, "invents a continuation", "invented-continuation", "search_all"),
)
"""Every planted adapter of collections."""
