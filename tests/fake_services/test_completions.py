from __future__ import annotations

from typing import Any

import pytest

from unacked.fault import Action

COMPLETE = ("POST", "/v1/completions", {"model": "summary-1", "prompt": "Pump 7 is back."})
SEED = {"models": [{"model": "summary-1"}]}


@pytest.fixture
def completions(start: Any) -> Any:
    return start("completions", SEED)


def test_a_text_is_completed_from_its_prompt(completions: Any) -> None:
    status, body = completions(*COMPLETE)

    assert (status, body["completion_id"], body["text"]) == (200, "cmp-1", "Pump 7 is back.")


def test_every_completion_counts_and_so_does_every_request(completions: Any) -> None:
    completions(*COMPLETE)
    completions(*COMPLETE)

    assert completions.service.summary() == {"completions": 2, "completion_requests": 2}


def test_a_request_that_is_refused_for_now_came_and_completed_nothing(completions: Any) -> None:
    completions.service.disturb(Action("rate_limit", {"retry_after_s": 1382400}), "complete_text")

    assert completions.raw(*COMPLETE).headers[-2:] == (("retry-after", "1382400"), ("x-correlation-id", "c-1"))
    assert completions.service.summary() == {"completions": 0, "completion_requests": 1}


def test_a_model_that_is_not_there_completes_nothing(completions: Any) -> None:
    answer = completions("POST", "/v1/completions", {"model": "summary-9", "prompt": "x"})

    assert answer == (404, {"error": "no_such_model"})
