"""What people may decide about a call: how long an approval lasts, and why a gate lets nothing through, as data.

The wording of a refusal is pinned here: it says who decided what, that nothing was sent, and that this is the
end. None of it can be read as an invitation to ask again in other words or to find a way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["PAUSES", "READABLE_TARGETS", "REFUSALS", "WAYS_OUT", "Lasts", "Refusal"]


class Lasts(StrEnum):
    """How much one approval covers: a single call, or every call of the same action in one session."""

    CALL = "call"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the gate did not let a call through: one row of the table."""

    code: str
    category: str
    message: str


_OVER = "Nothing was sent. This branch of the work is over."
_CLOSED = "Nothing was sent. Only a person can change that."

_ROWS = (
    Refusal("locked", "locked", f"The gate is locked: nothing at all gets through. {_CLOSED}"),
    Refusal("gate_unusable", "locked", f"The gate gave no usable answer, which counts as locked. {_CLOSED}"),
    Refusal("session_declined", "declined", f"A person declined this action for the whole session. {_OVER}"),
    Refusal("call_declined", "declined", f"A person declined this call. {_OVER}"),
    Refusal("unanswered", "declined", f"Nobody answered the request for approval, and that is no approval. {_OVER}"),
    Refusal("approved_narrower", "declined", f"A person approved less than this call and declined the rest. {_OVER}"),
    Refusal("approval_unknown", "declined", f"There is no such approval in this session. {_OVER}"),
    Refusal("approval_mismatch", "declined", f"The approval is for another call than this one. {_OVER}"),
    Refusal("approval_used", "declined", f"The approval was for one call, and that call was made. {_OVER}"),
    Refusal("approval_expired", "declined", f"The approval has expired. {_OVER}"),
    Refusal("approval_revoked", "declined", f"A person took the approval back. {_OVER}"),
)

REFUSALS: Mapping[str, Refusal] = {row.code: row for row in _ROWS}
"""Every refusal of a gate by its code; the codes tell a locked gate, a declined session and a denied call apart."""

WAYS_OUT = ("retry_with_longer_deadline", "limit_to_returned_ids", "abandon")
"""What a person must be offered besides yes and no, where the evidence behind a request is incomplete."""

READABLE_TARGETS = 20
"""More targets than these nobody reads before they approve."""

PAUSES: Mapping[str, str] = {
    "SNAPSHOT_EXPIRED": "the snapshot has expired, so that what was collected belongs to no state of the world",
    "VISIBILITY_RESTRICTED": "part of the scope cannot be seen with this credential, however long one looks",
}
"""Reasons of incompleteness at which a person is asked; all others have a way on that asks nobody."""
