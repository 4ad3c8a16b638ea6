"""From one exchange to one category: by phase reached, effect class and contract, never by exception class.

Unknown by default: once a byte may have left, whatever is not proven is not claimed. The raw answer stays
on this side; the agent gets the envelope, whose wording is ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.completeness import BrokenPage, Page, read_page
from unacked.contract import Operation
from unacked.outcome import CATEGORIES, Envelope, Retry
from unacked.rpc import BrokenReply, Meant, read_reply
from unacked.tools.client import Exchange, Phase
from unacked.tools.endpoint import Endpoint, field_problem

__all__ = ["Finding", "classify", "envelope", "of_page"]

_REFUSALS: Mapping[int, str] = {
    400: "invalid_request",
    401: "authentication_failed",
    403: "authorization_denied",
    404: "not_found",
    409: "conflict",
    412: "conflict",
    413: "invalid_request",
    422: "invalid_request",
    429: "rate_limited",
}
"""Statuses that mean the same for every operation; 5xx and 408 prove nothing, 3xx is never followed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What an exchange proves.

    ``expected`` says in words what the failed field should have been; ``page`` is the collection, where it is one.
    ``message`` and ``retry`` stand in place of the category's own where the contract knows better.
    """

    category: str
    result: Mapping[str, JSON] = field(default_factory=dict)
    retry_after_s: float | None = None
    effect_acknowledged: bool | None = None
    failed_field: str | None = None
    expected: str | None = None
    page: Page | None = None
    message: str | None = None
    retry: Retry | None = None


def classify(
    exchange: Exchange, operation: Operation, endpoint: Endpoint, correlation_id: str, target: JSON = None
) -> Finding:
    """Return what ``exchange`` proves about the effect of ``operation`` on ``target``, the object that was named."""
    if exchange.phase is Phase.NOTHING_SENT:
        return Finding("local_failure")
    status = exchange.status
    if status is None or status >= 500 or status == 408:
        return Finding("outcome_unknown")
    finding = _by_answer(exchange, _Asked(operation, endpoint, correlation_id, target))
    if finding.category not in operation.categories:
        finding = _malformed("status", str(endpoint.success))
    if finding.category == "malformed_response" and operation.writes and 200 <= status < 300:
        return replace(finding, effect_acknowledged=True if _acknowledges(finding, endpoint) else None)
    return finding


def _acknowledges(finding: Finding, endpoint: Endpoint) -> bool:
    """Whether an answer with a status of success that cannot be used says all the same that the effect is there.

    An answer to somebody else's request acknowledges nothing of ours; nor does the HTTP status of a JSON-RPC reply,
    which may hold an error: only what stands in its result.
    """
    within, pointer = _way(endpoint, ""), finding.failed_field or ""
    return pointer.startswith(within) and pointer not in ("x-correlation-id", f"{within}/correlation_id", within)


class _Asked(NamedTuple):
    """What an answer is held against."""

    operation: Operation
    endpoint: Endpoint
    correlation_id: str
    target: JSON


def _by_answer(exchange: Exchange, asked: _Asked) -> Finding:
    headers, status = exchange.headers or {}, exchange.status
    if headers.get("x-correlation-id") != asked.correlation_id:
        return _malformed("x-correlation-id", "the id that was sent")
    if status is None or exchange.body is None:
        return _malformed("/", "complete")
    try:
        body = loads(exchange.body)
    except InvalidJSON:
        body = None
    if not isinstance(body, dict):
        return _malformed("/", "a JSON object")
    meant = Meant.of(asked.endpoint.path)
    if meant is not None and 200 <= status < 300:
        return _by_reply(meant, status, body, asked)
    return _by_status(status, headers, body, asked)


def _by_reply(meant: Meant, status: int, message: Mapping[str, JSON], asked: _Asked) -> Finding:
    """What a JSON-RPC message proves. One that answers another request is no answer to this one."""
    try:
        reply = read_reply(meant, asked.correlation_id, message)
    except BrokenReply as broken:
        category = "outcome_unknown" if broken.unmatched else "malformed_response"
        return Finding(category, failed_field=broken.pointer, expected=broken.expected)
    if reply.status is not None:
        unknown = reply.status >= 500 or reply.status == 408
        return Finding("outcome_unknown") if unknown else _by_status(reply.status, {}, reply.body, asked)
    finding = _by_status(status, {}, reply.body, asked)
    pointer = finding.failed_field or ""
    return replace(finding, failed_field=_way(asked.endpoint, pointer)) if pointer.startswith("/") else finding


def _way(endpoint: Endpoint, pointer: str) -> str:
    """A pointer into what a service says, from the top of its answer."""
    return "".join(f"/{step}" for step in endpoint.within) + pointer


def _by_status(status: int, headers: Mapping[str, str], body: Mapping[str, JSON], asked: _Asked) -> Finding:
    endpoint = asked.endpoint
    # A collection that is not there says nothing of what it should hold.
    if status in _REFUSALS and not (status == 404 and endpoint.lookup):
        return _refusal(403 if status == 404 and endpoint.hides_denial else status, headers, body)
    if status in endpoint.failures:
        return _documented("confirmed_failure", body)
    return _by_content(status, body, asked)


def _by_content(status: int, body: Mapping[str, JSON], asked: _Asked) -> Finding:
    """What an answer proves that is no refusal: only a body that holds the whole contract proves that it is done."""
    operation, endpoint, correlation_id, target = asked
    accepted = status == 202 and operation.writes
    if status != endpoint.success and not accepted:
        return _malformed("status", str(endpoint.success))
    if body.get("correlation_id") != correlation_id:
        return _malformed("/correlation_id", "the id that was sent")
    if body.get("error") is not None and not any(item.name == "error" for item in operation.result):
        return _malformed("/error", "absent where the status says done")
    if endpoint.lookup:
        return _lookup(operation, body)
    if endpoint.collection:
        return _collection(body, target)
    named = operation.target
    if named is not None and named in body and body[named] != target:
        return _malformed(f"/{named}", "the one that was asked for")
    finding = _success(operation, body, "accepted" if accepted else "ok")
    # One object can be incomplete too: a field that could not be read is not a field without a value.
    is_part = finding.category == "ok" and finding.result.get("complete") is False
    return replace(finding, category="partial") if is_part else finding


def _malformed(failed_field: str, expected: str) -> Finding:
    return Finding("malformed_response", failed_field=failed_field, expected=expected)


def _refusal(status: int, headers: Mapping[str, str], body: Mapping[str, JSON]) -> Finding:
    finding = _documented(_REFUSALS[status], body)
    return replace(finding, retry_after_s=_retry_after_s(headers)) if finding.category == "rate_limited" else finding


def _documented(category: str, body: Mapping[str, JSON]) -> Finding:
    """What a status other than success means, if its body is the error that the contract documents."""
    return Finding(category) if isinstance(body.get("error"), str) else _malformed("/error", "a string")


def _retry_after_s(headers: Mapping[str, str]) -> float:
    """The seconds that a 429 asks for; 0 where it says nothing usable.

    A date counts from the answer's own ``Date``: what time it is on this side decides nothing.
    """
    written = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(written):
        return float(written)
    try:
        wait = parsedate_to_datetime(written) - parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, wait.total_seconds())


_SECONDS = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?")


def _success(operation: Operation, body: Mapping[str, JSON], category: str, *, at: str = "") -> Finding:
    for declared in operation.result:
        expected = field_problem(declared, body)
        if expected is None and declared.name == operation.identity and body[declared.name] == "":
            expected = "an identifier"
        if expected is not None:
            return _malformed(f"{at}/{declared.name}", expected)
    return Finding(category, {item.name: body[item.name] for item in operation.result if item.name in body})


def _collection(body: Mapping[str, JSON], asked: JSON) -> Finding:
    """One page: valid or not, complete or not; whether it is enough is not decided here."""
    try:
        page = read_page(body)
    except BrokenPage as broken:
        return _malformed(broken.pointer, broken.expected)
    scope = page.more.get("scope", {})
    if asked is not None and scope.get("name", asked) != asked:
        return _malformed("/scope/name", "the one that was asked for")
    return of_page(page)


def of_page(page: Page) -> Finding:
    """Return what a page proves: everything, or a part from which nothing can be concluded to be absent."""
    return Finding("ok" if page.complete else "partial", page.as_result(), page=page)


def _lookup(operation: Operation, body: Mapping[str, JSON]) -> Finding:
    """A lookup proves presence by one match, and absence only if it says that it was complete."""
    items, complete = body.get("items"), body.get("complete")
    if not isinstance(items, list):
        return _malformed("/items", "an array")
    if not isinstance(complete, bool):
        return _malformed("/complete", "a boolean")
    if not items:
        return Finding("not_found" if complete else "partial", {"complete": complete})
    if len(items) > 1 or not isinstance(items[0], dict):
        return _malformed("/items", "one match for one request id")
    return _success(operation, {**items[0], "complete": complete}, "ok", at="/items/0")


def envelope(finding: Finding, operation: Operation, correlation_id: str, *, settles: str | None) -> Envelope:
    """Put a finding into the words of the contract.

    ``settles`` names the operation among the caller's tools that finds out what became of the effect; where
    there is none, the safe way on is a person.
    """
    row = CATEGORIES[finding.category]
    retry = finding.retry or (row.retry_write if operation.writes else row.retry_read)
    reconcile = None
    if retry in (Retry.RECONCILE_FIRST, Retry.POLL):
        reconcile = settles or "none"
        retry = retry if settles else Retry.ASK_HUMAN
    message = finding.message or row.message
    if finding.failed_field is not None:
        message = f"{message} Field {finding.failed_field!r} should have been {finding.expected}."
    return Envelope(
        category=finding.category,
        operation=operation.name,
        retry=retry,
        correlation_id=correlation_id,
        message=message,
        result=finding.result,
        retry_after_s=finding.retry_after_s,
        reconcile=reconcile,
        effect_acknowledged=finding.effect_acknowledged,
        failed_field=finding.failed_field,
    )
