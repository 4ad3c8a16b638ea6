from __future__ import annotations

import itertools

import pytest

from unacked.orchestrator import Event, IllegalTransition, State, next_state
from unacked.orchestrator.lifecycle import COMMANDS, FINAL, TRANSITIONS

P, R, S, F, C, T, K = (
    State.PENDING,
    State.RUNNING,
    State.SUCCEEDED,
    State.FAILED,
    State.CANCELLED,
    State.TIMED_OUT,
    State.SKIPPED,
)


@pytest.mark.parametrize(
    ("state", "event", "following"),
    [
        (R, Event.SUCCEEDED, S),
        (R, Event.FAILED, F),
        (R, Event.ATTEMPT_FAILED, P),
        (R, Event.TIMED_OUT, T),
        (R, Event.CANCEL, C),
        (P, Event.CANCEL, C),
        (P, Event.START, R),
        (P, Event.CONDITION_UNMET, K),
        (P, Event.CONDITION_FAILED, F),
        (P, Event.SKIPPED_UPSTREAM, K),
        (P, Event.FAILED_UPSTREAM, F),
        (R, Event.INTERRUPTED, P),
        (R, Event.RECOVERED, P),
        (R, Event.GIVEN_UP, F),
        (F, Event.RETRY, P),
        (T, Event.RETRY, P),
        (F, Event.RETRIED_UPSTREAM, P),
        (K, Event.RETRIED_UPSTREAM, P),
    ],
)
def test_what_an_event_leads_to(state: State, event: Event, following: State) -> None:
    assert next_state(state, event) is following


@pytest.mark.parametrize(
    ("state", "event"),
    [(S, Event.RETRY), (C, Event.SUCCEEDED), (R, Event.START), (C, Event.RETRY), (S, Event.CANCEL), (T, Event.FAILED)],
)
def test_what_a_state_does_not_know_is_told_as_illegal(state: State, event: Event) -> None:
    with pytest.raises(IllegalTransition, match=f"{state.value} knows no '{event.value}'"):
        next_state(state, event)


def test_every_pair_outside_of_the_table_is_illegal() -> None:
    refused = 0
    for pair in itertools.product(State, Event):
        if pair not in TRANSITIONS:
            with pytest.raises(IllegalTransition):
                next_state(*pair)
            refused += 1
    assert (len(TRANSITIONS), refused) == (18, 87)


def test_only_a_retry_leads_out_of_an_end() -> None:
    ways = {event for state, event in TRANSITIONS if state in FINAL}
    assert ways == {Event.RETRY, Event.RETRIED_UPSTREAM}
    assert {State.PENDING, State.RUNNING} | FINAL == set(State)
    assert {Event.START, Event.CANCEL, Event.RETRY} == COMMANDS


def test_the_message_says_what_is_possible() -> None:
    with pytest.raises(IllegalTransition, match="possible: cancel, condition_failed"):
        next_state(State.PENDING, Event.SUCCEEDED)
    with pytest.raises(IllegalTransition, match="this state is final"):
        next_state(State.SUCCEEDED, Event.RETRY)
