"""Which faults make a service answer with a category: the way from what a graph wants to what the wire does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from unacked.canonical import JSON
from unacked.case import FaultFile
from unacked.outcome import CATEGORIES, OutcomeClass
from unacked.tools import TOOLS, Tool

__all__ = ["decisions", "fault_of", "inventory", "producible", "unproducible", "ways"]

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

_ORDERS: Mapping[str, Sequence[Fault]] = {
    "local_failure": ({"point": "before_connect", "action": "refuse"},),
    "authentication_failed": ({"point": "before_commit", "action": "expire_credential"},),
    "authorization_denied": ({"point": "before_commit", "action": "deny"},),
    "confirmed_failure": ({"point": "before_commit", "action": "no_marker"},),
    "outcome_unknown": (
        {"point": "after_commit", "action": "fin"},
        {"point": "before_commit", "action": "kill"},
        {"point": "before_commit", "action": {"exit": 1}},
        {"point": "during_request", "action": "fin", "committed": False},
    ),
    "malformed_response": (
        {"point": "in_body", "action": "garbage"},
        {"point": "in_body", "action": "garbage", "committed": False},
    ),
}
"""What becomes of a command on a host: where that is open, it is done, killed, failed, or has never started."""

_AT_GATE: Mapping[str, Sequence[Fault]] = {
    "approved": (),
    "declined": (),
    "locked": ({"point": "before_commit", "action": "fin"},),
}
"""A person decides, see ``decisions``; a gate that says nothing is a locked one."""

_REASONS: Mapping[str, str] = {
    "declined": "planted agents ask the gate in advance; no tool of theirs asks it by itself",
    "locked": "planted agents ask the gate in advance; no tool of theirs asks it by itself",
    "evidence_required": "no inventory of theirs is stale, and graphs allow no call without one",
}
"""Why nothing produces a category that a contract declares."""

_NEVER: Mapping[tuple[str, str], str] = {
    ("command_status", "partial"): "their hosts leave no marker unreadable; the case H21 has such a host",
}
"""Why nothing produces a category of one operation, although its kind is answered so."""


@cache
def producible(name: str) -> frozenset[str]:
    """Return the categories of a tool's contract that a fault, or the service by itself, can produce."""
    tool = TOOLS[name]
    possible = (key for key in tool.operation.categories if (name, key) not in _NEVER)
    return frozenset(key for key in possible if next(ways(tool, key), None) is not None)


def unproducible(category: str, operation: str = "") -> str:
    """Return why nothing produces a category that a contract declares."""
    return _NEVER.get((operation, category)) or _REASONS.get(category, "no fault makes a service answer so")


def decisions(tool: Tool, category: str) -> tuple[str, ...]:
    """Return what people at the gate decide, so that a call is answered with a category."""
    return (category,) if tool.at_gate and category in ("approved", "declined") else ()


def ways(
    tool: Tool,
    category: str,
    fields: Mapping[str, JSON] | None = None,
    arguments: Mapping[str, JSON] | None = None,
) -> Iterator[list[Fault]]:
    """Yield the faults of one call that may lead to a category with these result fields, the likeliest first.

    An empty list leaves the service to itself: whether it answers so depends on the world. ``arguments``
    are those of the call; a collection goes by its scope and its cursor.
    """
    for table in (_AT_GATE if tool.at_gate else {}, _ORDERS if tool.shell else {}):
        yield from ([fault] for fault in table.get(category, ()))
    if (tool.at_gate and category in _AT_GATE and not _AT_GATE[category]) or (tool.shell and category == "ok"):
        yield []
    if not (tool.at_gate or tool.shell):
        yield from _over_http(tool, category, fields or {}, arguments or {})


def _over_http(
    tool: Tool, category: str, wanted: Mapping[str, JSON], given: Mapping[str, JSON]
) -> Iterator[list[Fault]]:
    operation, endpoint = tool.operation, tool.endpoint
    if endpoint is None:
        yield from ([[]] if category == "ok" else ())
        return
    if endpoint.collection and category in ("ok", "partial"):
        yield from _pages(tool, category, wanted, given)
        return
    if category == "ok" or (category == "not_found" and not operation.writes):
        yield []
    if category == "partial" and _says_complete(tool) and not endpoint.lookup:
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


def inventory(scope: str, kind: str) -> list[dict[str, JSON]]:
    """Return the rows of a scope: two are there, unless somebody removes one or adds the third."""
    return [{"id": f"{scope}-{kind}-{number}", "scope": scope, "shard": "eu"} for number in (1, 2, 3)]


def _pages(tool: Tool, category: str, wanted: Mapping[str, JSON], given: Mapping[str, JSON]) -> Iterator[list[Fault]]:
    """What others add or remove, so that a collection takes one page, which holds one row, or several."""
    _, second, third = inventory(str(given.get("scope")), tool.operation.target_class or "")
    fewer = _before({"delete": second["id"]})
    follows = given.get("cursor") is not None
    if category == "ok":
        yield [] if follows else [fewer]
    elif tool.endpoint is not None and tool.endpoint.pages > 1:
        # The tool follows the pages by itself, and gives the cursor of the one that it did not get.
        yield [{**_before({"rate_limit": 30}), "page": 2}]
    elif wanted.get("next_cursor", "any") is None:
        unsaid = _replaced(tool, "complete", value=False)
        yield from ([unsaid], [_before("cursor_expired")]) if follows else ([fewer, unsaid], [unsaid])
    else:
        yield []
        yield from ([_before({"insert": {"row": row}})] for row in (third, second))


def _untrue(tool: Tool, category: str, wanted: Mapping[str, JSON]) -> Iterator[Fault]:
    """An answer to a read that is not what the service holds: stale, or cut short on its way."""
    lookup = tool.endpoint is not None and tool.endpoint.lookup
    identity = tool.operation.identity
    if lookup and category == "partial":
        yield _before("index_behind")
    elif lookup and category == "not_found":
        yield _replaced(tool, "items", value=[])
    elif lookup and category == "ok" and wanted.get("complete", True) is not True:
        yield _replaced(tool, "complete", value=wanted["complete"])
    elif lookup and category == "ok" and identity is not None:
        yield _replaced(tool, "items", value=[{identity: wanted.get(identity, f"{identity}-elsewhere")}])
    elif lookup and category == "ok":
        said = {field.name: True for field in tool.operation.result if field.required and field.json_type == "boolean"}
        yield _replaced(tool, "items", value=[{**said, **wanted}])
    elif category == "partial" and _says_complete(tool):
        yield _replaced(tool, "complete", value=False)
    elif category == "ok":
        yield from (_replaced(tool, name, value=value) for name, value in wanted.items())
        if _says_complete(tool):
            yield _replaced(tool, "complete", value=True)


def _says_complete(tool: Tool) -> bool:
    """Whether one object is answered with a word on whether it was seen whole."""
    return any(field.name == "complete" for field in tool.operation.result)


def _replaced(tool: Tool, field: str, *, value: JSON) -> Fault:
    within = () if tool.endpoint is None else tool.endpoint.within
    return {"point": "in_body", "action": {"replace": {"field": ".".join((*within, field)), "value": value}}}


def fault_of(operation: str, nth: int, fault: Fault) -> FaultFile:
    """Return a fault of the nth call of an operation, as a case holds it."""
    return FaultFile.model_validate({"operation": operation, "nth": nth, **fault})
