"""What a tool result says is known about the remote effect: categories as data, one envelope.

The table below is the only place where a category is defined. Defaults, lints, documentation and the
graph selectors (``@refusal``, ``@uncertain`` ...) are read from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from unacked.canonical import JSON

__all__ = ["CATEGORIES", "CATEGORY_SETS", "Category", "Envelope", "OutcomeClass", "Retry"]


class OutcomeClass(StrEnum):
    """The kind of knowledge a category stands for."""

    SUCCESS = "success"
    REFUSAL = "refusal"
    FAILURE = "failure"
    UNCERTAIN = "uncertain"
    LOCAL = "local"


class Retry(StrEnum):
    """What the tool tells its caller to do about the same operation."""

    NONE = "none"
    NEVER = "never"
    WITHIN_BUDGET = "within_budget"
    AFTER_WAIT = "after_wait"
    POLL = "poll"
    RECONCILE_FIRST = "reconcile_first"
    ASK_HUMAN = "ask_human"
    CONTINUE_OR_REVIEW = "continue_or_review"


@dataclass(frozen=True, slots=True)
class Category:
    """One row of the table.

    ``effect_known`` says whether the remote effect is known after this result; ``definite`` whether
    that knowledge is final. ``retry_read`` and ``retry_write`` are the defaults that a contract may
    narrow. ``message`` is the pinned wording that agents see; ``evidence`` is what proves the row.
    """

    name: str
    outcome_class: OutcomeClass
    effect_known: bool
    definite: bool
    retry_read: Retry
    retry_write: Retry
    message: str
    evidence: str


def _row(
    name: str,
    outcome_class: str,
    knowledge: str,
    retries: tuple[str, str],
    message: str,
    evidence: str,
) -> Category:
    known, definite = {"definite": (True, True), "unknown": (False, False)}[knowledge]
    retry_read, retry_write = (Retry(word) for word in retries)
    return Category(name, OutcomeClass(outcome_class), known, definite, retry_read, retry_write, message, evidence)


_ROWS = (
    _row(
        "ok",
        "success",
        "definite",
        ("none", "none"),
        "Done.",
        "an answer that holds the contract and echoes our correlation id",
    ),
    _row(
        "approved",
        "success",
        "definite",
        ("none", "none"),
        "A person approved this action.",
        "the approval gate answered; nothing was sent to the service",
    ),
    _row(
        "partial",
        "success",
        "definite",
        ("continue_or_review", "continue_or_review"),
        "The answer is valid but incomplete; absence from it proves nothing.",
        "a valid collection with complete = false",
    ),
    _row(
        "accepted",
        "uncertain",
        "unknown",
        ("poll", "poll"),
        "The service accepted the request and has not finished it.",
        "202 with an identity",
    ),
    _row(
        "not_found",
        "refusal",
        "definite",
        ("never", "never"),
        "The service holds no such object.",
        "404, or a lookup that says so; proof of absence only if the lookup was complete",
    ),
    _row(
        "local_failure",
        "local",
        "definite",
        ("within_budget", "within_budget"),
        "The request never left this side; the service has not seen it.",
        "name resolution, connect, TLS, pool or local protocol error",
    ),
    _row(
        "rate_limited",
        "local",
        "definite",
        ("after_wait", "after_wait"),
        "The service refused the request for now; wait for the stated time before repeating it.",
        "429",
    ),
    _row(
        "invalid_request",
        "refusal",
        "definite",
        ("never", "never"),
        "The service refused the request as invalid; nothing was done.",
        "400, 413 or 422",
    ),
    _row(
        "authentication_failed",
        "refusal",
        "definite",
        ("never", "never"),
        "The credential was not accepted; nothing was done. Only an authorised person can renew it.",
        "401, with or without a challenge",
    ),
    _row(
        "authorization_denied",
        "refusal",
        "definite",
        ("never", "never"),
        "This identity is not permitted to do this; nothing was done. This branch of the work is over.",
        "403, or 404 where the provider declares that it hides the difference",
    ),
    _row(
        "declined",
        "refusal",
        "definite",
        ("never", "never"),
        "A person declined this action; nothing was sent. This branch of the work is over.",
        "the approval gate answered; nothing was sent to the service",
    ),
    _row(
        "locked",
        "refusal",
        "definite",
        ("never", "never"),
        "The gate is locked; nothing was sent. Only a person can unlock it.",
        "the approval gate answered; nothing was sent to the service",
    ),
    _row(
        "evidence_required",
        "refusal",
        "definite",
        ("never", "never"),
        "The tool refused: a destructive call needs evidence from a complete inventory; nothing was sent.",
        "a destructive call without complete evidence",
    ),
    _row(
        "confirmed_failure",
        "failure",
        "definite",
        ("none", "none"),
        "The service reports that the operation was not done.",
        "a documented failure result",
    ),
    _row(
        "conflict",
        "uncertain",
        "unknown",
        ("never", "reconcile_first"),
        "The service reports a conflict; it may be with an earlier attempt of this same request.",
        "409 or 412",
    ),
    _row(
        "malformed_response",
        "uncertain",
        "unknown",
        ("never", "reconcile_first"),
        "An answer came that cannot be used; it proves neither success nor failure.",
        "bad JSON, schema, identity or correlation id, or an answer that broke off after its head",
    ),
    _row(
        "outcome_unknown",
        "uncertain",
        "unknown",
        ("within_budget", "reconcile_first"),
        "No usable answer came after the request was sent; the remote outcome is unknown.",
        "timeout, reset or close after bytes left; 5xx and 408 on a write",
    ),
)

CATEGORIES: Mapping[str, Category] = {row.name: row for row in _ROWS}
"""Every category by name, in the order of the documentation."""

_HTTP_BOTH = (
    "ok",
    "not_found",
    "invalid_request",
    "authentication_failed",
    "authorization_denied",
    "rate_limited",
    "local_failure",
    "malformed_response",
    "outcome_unknown",
)
CATEGORY_SETS: Mapping[str, frozenset[str]] = {
    "http_read": frozenset(_HTTP_BOTH),
    "http_write": frozenset({*_HTTP_BOTH, "accepted", "conflict", "confirmed_failure", "declined", "locked"}),
    "remote": frozenset(
        {
            "ok",
            "confirmed_failure",
            "authentication_failed",
            "authorization_denied",
            "local_failure",
            "malformed_response",
            "outcome_unknown",
            "declined",
            "locked",
        }
    ),
    "control": frozenset({"ok"}),
}
"""Which categories an operation of a given kind may return; any other one in a run is an ERROR.

A contract adds what its own answer can say besides: ``partial`` where it says that it is not complete, and
``evidence_required`` where the tool asks for evidence.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One tool result as the agent sees it: the whole result contract, and nothing of the raw answer.

    ``result`` holds contract-valid fields only. ``reconcile`` names the operation that finds out about the
    effect, or ``"none"``; None where the outcome is known. ``effect_acknowledged`` is None while unknown.
    ``failed_field`` is the JSON pointer of the field that broke the contract. ``refusal`` is the code by which a
    gate says why it let nothing through.
    """

    category: str
    operation: str
    retry: Retry
    correlation_id: str
    message: str
    result: Mapping[str, JSON] = field(default_factory=dict)
    retry_after_s: float | None = None
    reconcile: str | None = None
    effect_acknowledged: bool | None = None
    failed_field: str | None = None
    refusal: str | None = None

    @property
    def ok(self) -> bool:
        """True where the operation did what was asked."""
        return CATEGORIES[self.category].outcome_class is OutcomeClass.SUCCESS

    @property
    def outcome_class(self) -> OutcomeClass:
        """The class of the category."""
        return CATEGORIES[self.category].outcome_class

    def as_json(self) -> dict[str, JSON]:
        """Return the envelope as a JSON object; optional members are left out where they say nothing."""
        row = CATEGORIES[self.category]
        value: dict[str, JSON] = {
            "ok": row.outcome_class is OutcomeClass.SUCCESS,
            "category": self.category,
            "class": row.outcome_class.value,
            "operation": self.operation,
            "retry": self.retry.value,
            "correlation_id": self.correlation_id,
            "message": self.message,
        }
        if self.result:
            value["result"] = dict(self.result)
        if self.retry_after_s is not None:
            value["retry_after_s"] = self.retry_after_s
        if self.reconcile is not None:
            value["reconcile"] = self.reconcile
        if not row.definite:
            value["effect_acknowledged"] = "unknown" if self.effect_acknowledged is None else self.effect_acknowledged
        if self.failed_field is not None:
            value["failed_field"] = self.failed_field
        if self.refusal is not None:
            value["refusal"] = self.refusal
        return value
