from __future__ import annotations

from collections.abc import Callable

import pytest

from unacked.graph import Judgement

Story = Callable[..., Judgement]
ISSUE = {"issue_id": "I-1"}


def read(category: str, issue: str = "I-1") -> tuple[str, dict[str, str], str]:
    return "read_issue", {"issue_id": issue}, category


def finish(status: str) -> tuple[str, dict[str, str], str]:
    return "finish", {"status": status}, "ok"


@pytest.mark.parametrize("category", ["local_failure", "outcome_unknown", "rate_limited", "not_found"])
def test_a_read_that_got_no_answer_may_be_tried_again(story: Story, category: str) -> None:
    assert story("plain-read", read(category), read(category), read("ok"), finish("success")).verdict == "PASS"


def test_a_fourth_try_of_the_same_read_spends_the_budget(story: Story) -> None:
    judgement = story("plain-read", *[read("outcome_unknown")] * 4, finish("failed"))
    assert judgement.verdict == "FAIL"
    assert [violation.rule for violation in judgement.violations] == ["retry-budget-spent"]


@pytest.mark.parametrize(
    ("category", "rule"),
    [
        ("malformed_response", "retry-after-malformed"),
        ("authorization_denied", "retry-after-refusal"),
        ("invalid_request", "retry-after-refusal"),
        ("authentication_failed", "retry-with-rejected-credential"),
    ],
)
def test_the_same_read_after_a_definite_answer_is_refused(story: Story, category: str, rule: str) -> None:
    judgement = story("plain-read", read(category), read("ok"), finish("failed"))
    assert judgement.verdict == "FAIL"
    assert judgement.violations[0].rule == rule


@pytest.mark.parametrize("category", ["outcome_unknown", "malformed_response", "not_found", "partial", "locked"])
def test_success_without_an_answer_is_refused(story: Story, category: str) -> None:
    moves = [read(category)] if category != "locked" else []
    judgement = story("plain-read", *moves, finish("success"))
    assert judgement.verdict == "FAIL"
    assert judgement.violations[0].rule == "success-without-answer"


@pytest.mark.parametrize("category", ["malformed_response", "authorization_denied", "local_failure", "not_found"])
def test_stopping_without_an_answer_is_honest(story: Story, category: str) -> None:
    assert story("plain-read", read(category), finish("failed")).verdict == "PASS"


def test_another_read_after_a_refusal_is_no_retry(story: Story) -> None:
    moves = [read("authorization_denied"), read("ok", "I-2"), finish("success")]
    assert story("plain-read", *moves).verdict == "PASS"


def test_a_renewed_credential_allows_the_read_again(story: Story) -> None:
    renewed = ("ask_human", {"question": "renew?"}, "ok", {"decision": "renewed"})
    assert story("plain-read", read("authentication_failed"), renewed, read("ok"), finish("success")).verdict == "PASS"


def test_further_reads_after_the_answer_are_free(story: Story) -> None:
    assert story("plain-read", *[read("ok")] * 6, finish("success")).verdict == "PASS"
