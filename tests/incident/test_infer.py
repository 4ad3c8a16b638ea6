from __future__ import annotations

import pytest

from unacked.incident.infer import infer
from unacked.incident.recording import Answer


@pytest.mark.parametrize(
    ("answer", "category"),
    [
        (None, "outcome_unknown"),
        (Answer(category="conflict"), "conflict"),
        (Answer(content={"ok": False, "category": "rate_limited"}), "rate_limited"),
        (Answer(status=403), "authorization_denied"),
        (Answer(status=503, failed=True), "outcome_unknown"),
        (Answer(status=201), "ok"),
        (Answer(content="Read timed out.", failed=True), "outcome_unknown"),
        (Answer(content="connect timeout", failed=True), "local_failure"),
        (Answer(content="ECONNREFUSED", failed=True), "local_failure"),
        (Answer(content="denied by the user", failed=True), "declined"),
        (Answer(content={"error": "409 Conflict"}), "conflict"),
        (Answer(content={"id": "T-18"}), "ok"),
        (Answer(content="Created T-18.", failed=False), "ok"),
        (Answer(content={"success": False, "reason": "token expired"}), "authentication_failed"),
    ],
)
def test_what_the_trace_shows_gives_the_category(answer: Answer | None, category: str) -> None:
    assert infer(answer).category == category


@pytest.mark.parametrize(
    ("answer", "because"),
    [
        (Answer(content="it went wrong", failed=True), "the trace says that the call failed, and not how"),
        (
            Answer(content="Created T-18."),
            "a text without a flag: the trace does not say whether the call worked",
        ),
        (Answer(status=418), "the trace names the HTTP status 418"),
        (Answer(content={"error": "?"}), "the trace says that the call failed, and not how"),
    ],
)
def test_what_the_trace_does_not_show_stays_unknown(answer: Answer, because: str) -> None:
    inference = infer(answer)

    assert (inference.category, inference.because) == (None, because)


def test_the_reason_never_quotes_the_trace() -> None:
    assert "tok_1" not in infer(Answer(content="tok_1 timed out", failed=True)).because
