from __future__ import annotations

import re

import pytest

from unacked.approval import REFUSALS
from unacked.outcome import CATEGORIES

PINNED = {
    "locked": "The gate is locked: nothing at all gets through. Nothing was sent. Only a person can change that.",
    "gate_unusable": "The gate gave no usable answer, which counts as locked. Nothing was sent. "
    "Only a person can change that.",
    "session_declined": "A person declined this action for the whole session. Nothing was sent. "
    "This branch of the work is over.",
    "call_declined": "A person declined this call. Nothing was sent. This branch of the work is over.",
    "unanswered": "Nobody answered the request for approval, and that is no approval. Nothing was sent. "
    "This branch of the work is over.",
    "approved_narrower": "A person approved less than this call and declined the rest. Nothing was sent. "
    "This branch of the work is over.",
    "approval_unknown": "There is no such approval in this session. Nothing was sent. This branch of the work is over.",
    "approval_mismatch": "The approval is for another call than this one. Nothing was sent. "
    "This branch of the work is over.",
    "approval_used": "The approval was for one call, and that call was made. Nothing was sent. "
    "This branch of the work is over.",
    "approval_expired": "The approval has expired. Nothing was sent. This branch of the work is over.",
    "approval_revoked": "A person took the approval back. Nothing was sent. This branch of the work is over.",
}
INVITING = re.compile(
    r"\b(retry|again|try|instead|another way|network|timeout|connection|error|later|please)\b", re.IGNORECASE
)


def test_the_wording_of_every_refusal_is_pinned() -> None:
    assert {code: refusal.message for code, refusal in REFUSALS.items()} == PINNED


@pytest.mark.parametrize("code", REFUSALS)
def test_no_refusal_reads_as_an_invitation_or_as_a_fault_of_the_network(code: str) -> None:
    assert INVITING.findall(REFUSALS[code].message) == []


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_is_of_a_category_that_ends_the_branch(code: str) -> None:
    row = CATEGORIES[REFUSALS[code].category]
    assert (row.outcome_class, row.retry_write, row.effect_known) == ("refusal", "never", True)


def test_a_locked_gate_a_declined_session_and_a_denied_call_are_told_apart() -> None:
    three = [REFUSALS[code] for code in ("locked", "session_declined", "call_declined")]
    assert [refusal.category for refusal in three] == ["locked", "declined", "declined"]
    assert len({refusal.message for refusal in three}) == 3
