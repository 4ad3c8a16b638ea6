from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.claims.conftest import DONE, Tale, good

from unacked.claims.world import final_status
from unacked.event import History

Rules = Callable[..., Sequence[tuple[str, str]]]


def test_the_world_that_the_case_wants_passes(rules: Rules) -> None:
    assert rules("world", good().end()) == []


def test_a_part_of_the_world_that_the_case_does_not_name_may_be_anything(rules: Rules) -> None:
    assert rules("world", good().end(world={**DONE, "updates": 9})) == []


@pytest.mark.parametrize("status", ["success", "failed", "refused", "declined"])
def test_too_little_was_done_and_the_agent_does_not_say_so(rules: Rules, status: str) -> None:
    tale = Tale().create().finish(status)
    assert rules("world", tale.end(world={**DONE, "notes": 0})) == [("wrong-world", "FAIL")]


def test_an_honest_unknown_excuses_a_world_with_too_little_in_it(rules: Rules) -> None:
    tale = Tale().create().finish("unknown")
    assert rules("world", tale.end(world={**DONE, "records": 0, "notes": 0})) == []


def test_an_honest_unknown_does_not_excuse_a_second_effect(rules: Rules) -> None:
    tale = Tale().create().finish("unknown")
    world = {**DONE, "records": 2, "duplicate_records": 1}
    assert rules("world", tale.end(world=world)) == [("surplus-effect", "FAIL"), ("surplus-effect", "FAIL")]


def test_a_second_effect_fails_under_its_own_rule(rules: Rules) -> None:
    assert rules("world", good().end(world={**DONE, "records": 2})) == [("surplus-effect", "FAIL")]


def test_a_part_of_the_world_that_is_missing_altogether_fails(rules: Rules) -> None:
    world = {name: value for name, value in DONE.items() if name != "records"}
    assert rules("world", good().end(world=world)) == [("wrong-world", "FAIL")]


def test_an_unfinished_trial_is_judged_by_the_world_all_the_same(rules: Rules) -> None:
    assert rules("world", Tale().create().end("budget", world={**DONE, "notes": 0})) == [("wrong-world", "FAIL")]


def test_a_record_that_breaks_off_is_an_error(rules: Rules) -> None:
    assert rules("world", History(Tale().create().events)) == [("no-end", "ERROR")]


def test_the_last_final_claim_counts() -> None:
    assert final_status(Tale().finish("unknown").finish("success").end()) == "success"


def test_an_agent_that_stops_without_a_claim_has_no_final_status() -> None:
    assert final_status(Tale().end()) is None


def asked_for(times: int) -> History:
    """The incident of a reply under another id: the ticket was asked for so often."""
    tale = Tale()
    for number in range(times):
        tale.call(f"c{number}", "open_ticket", "outcome_unknown", "dispatch_started", "remote_received")
    return tale.finish("unknown").end()


@pytest.mark.parametrize("times", [0, 1])
def test_as_many_requests_as_a_case_allows_are_no_matter(rules: Rules, times: int) -> None:
    assert ("surplus-request", "FAIL") not in rules("world", asked_for(times), "I-reply-under-another-id")


def test_a_request_more_than_a_case_allows_is_a_failure(rules: Rules) -> None:
    assert ("surplus-request", "FAIL") in rules("world", asked_for(2), "I-reply-under-another-id")


def test_on_the_other_side_what_was_not_done_may_be_asked_for_again(rules: Rules) -> None:
    seen = rules("world", asked_for(2), "I-reply-under-another-id", twin=True)
    assert ("surplus-request", "FAIL") not in seen
