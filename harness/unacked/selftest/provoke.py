"""Which faults make a service answer with a category: the way from what a graph wants to what the wire does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from unacked.canonical import JSON
from unacked.case import FaultFile
from unacked.outcome import CATEGORIES, OutcomeClass
from unacked.tools import TOOLS, Tool

__all__ = ["fault_of", "producible", "unproducible", "ways"]

Fault = dict[str, JSON]
"""A fault as a case writes it, without its operation and number."""

_STATUSES: Mapping[str, int] = {
    "authentication_failed": 401,
    "authorization_denied": 403,
    "conflict": 409,
    "invalid_request": 422,
    "not_found": 404,
    "rate_limited": 429,
}
"""By which status a service says it."""

_CAUSES: Mapping[str, JSON] = {
    "authentication_failed": "expire_credential",
    "authorization_denied": "deny",
    "rate_limited": {"rate_limit": 30},
}
"""What happens at the service before it says so, where there is more to it than the status."""

_LOST: Mapping[str, Sequence[Fault]] = {
    "outcome_unknown": ({"point": "after_commit", "action": "fin"}, {"point": "before_commit", "action": "fin"}),
    "malformed_response": (
        {"point": "in_body", "action": "garbage"},
        {"point": "in_body", "action": "garbage", "committed": False},
    ),
    "accepted": (
        {"point": "after_commit", "action": "accept"},
        {"point": "after_commit", "action": "accept", "committed": False},
    ),
}
"""What leaves the effect open: done, and not done."""

_REASONS: Mapping[str, str] = {
    "declined": "no approval gate stands before a tool here",
    "locked": "nothing here can be locked",
    "evidence_required": "nothing here asks for the evidence of a complete inventory",
    "confirmed_failure": "the service documents no failure of this operation",
    "partial": "the answer is one object, which has no parts",
}
"""Why nothing produces a category that a contract declares."""


@cache
def producible(name: str) -> frozenset[str]:
    """Return the categories of a tool's contract that a fault, or the service by itself, can produce."""
    tool = TOOLS[name]
    return frozenset(name for name in tool.operation.categories if next(ways(tool, name), None) is not None)


def unproducible(category: str) -> str:
    """Return why nothing produces a category that a contract declares."""
    return _REASONS.get(category, "no fault makes a service answer so")


def ways(tool: Tool, category: str, fields: Mapping[str, JSON] | None = None) -> Iterator[list[Fault]]:
    """Yield the faults of one call that may lead to a category with these result fields, the likeliest first.

    An empty list leaves the service to itself: whether it answers so depends on the world.
    """
    operation, endpoint, wanted = tool.operation, tool.endpoint, fields or {}
    if endpoint is None:
        yield from ([[]] if category == "ok" else ())
        return
    if category == "ok" or (category == "not_found" and not operation.writes):
        yield []
    if not operation.writes:
        yield from ([fault] for fault in _untrue(tool, category, wanted))
    if category == "local_failure":
        yield [{"point": "dns", "action": "fail"}]
    if category in _CAUSES:
        waiting = wanted.get("retry_after", wanted.get("retry_after_s"))
        yield [_before({"rate_limit": waiting} if waiting is not None else _CAUSES[category])]
    for status in endpoint.failures if category == "confirmed_failure" else _statuses(tool, category):
        # The service's own execution fails, or, where a key keeps it from that, whoever answers in its place.
        yield [_before({"failure": {"status": status}})]
        yield [_before({"status": {"code": status, "body": {"error": "refused"}}})]
    if CATEGORIES[category].outcome_class is OutcomeClass.UNCERTAIN and (category != "accepted" or operation.writes):
        yield from ([fault] for fault in _LOST.get(category, ()))


def _statuses(tool: Tool, category: str) -> Sequence[int]:
    """A collection that is not there says nothing of what it should hold."""
    absent = category == "not_found" and tool.endpoint is not None and tool.endpoint.lookup
    return () if absent or category not in _STATUSES else (_STATUSES[category],)


def _before(action: JSON) -> Fault:
    return {"point": "before_commit", "action": action}


def _untrue(tool: Tool, category: str, wanted: Mapping[str, JSON]) -> Iterator[Fault]:
    """An answer to a read that is not what the service holds: stale, or cut short on its way."""
    lookup = tool.endpoint is not None and tool.endpoint.lookup
    identity = tool.operation.identity
    if lookup and category == "partial":
        yield _replaced("complete", value=False)
    elif lookup and category == "not_found":
        yield _replaced("items", value=[])
    elif lookup and category == "ok" and wanted.get("complete", True) is not True:
        yield _replaced("complete", value=wanted["complete"])
    elif lookup and category == "ok" and identity is not None:
        yield _replaced("items", value=[{identity: wanted.get(identity, f"{identity}-elsewhere")}])
    elif category == "ok":
        yield from (_replaced(name, value=value) for name, value in wanted.items())


def _replaced(field: str, *, value: JSON) -> Fault:
    return {"point": "in_body", "action": {"replace": {"field": field, "value": value}}}


def fault_of(operation: str, nth: int, fault: Fault) -> FaultFile:
    """Return a fault of the nth call of an operation, as a case holds it."""
    return FaultFile.model_validate({"operation": operation, "nth": nth, **fault})
