"""The life of a task: states, what can happen to it, and one table that says what becomes of it then.

A *command* is something somebody asks for (start, cancel, retry): where the table has no answer, it is refused.
An *event* is something that has happened (the work ended, time was up): where the table has no answer, it came
too late, and changes nothing. ``next_state`` tells both as illegal; who calls it decides between refusing and noting.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from unacked.errors import HarnessError

__all__ = ["COMMANDS", "FINAL", "TRANSITIONS", "Event", "IllegalTransition", "State", "next_state"]


class State(StrEnum):
    """Where a task is; those from which nothing but a command leads on are final."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"
    SKIPPED = "SKIPPED"


class Event(StrEnum):
    """What can be asked of a task, and what can happen to it."""

    START = "start"
    CANCEL = "cancel"
    RETRY = "retry"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ATTEMPT_FAILED = "attempt_failed"  # and another attempt is due
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"  # the process is ending in good order
    RECOVERED = "recovered"  # the process had ended without a word
    GIVEN_UP = "given_up"  # it took the process with it too often
    CONDITION_UNMET = "condition_unmet"
    CONDITION_FAILED = "condition_failed"
    SKIPPED_UPSTREAM = "skipped_upstream"  # what it depends on did not succeed
    FAILED_UPSTREAM = "failed_upstream"
    RETRIED_UPSTREAM = "retried_upstream"  # what it depended on gets another chance


COMMANDS = frozenset({Event.START, Event.CANCEL, Event.RETRY})
"""Events that somebody asks for; all others have happened already."""

TRANSITIONS: Mapping[tuple[State, Event], State] = {
    (State.PENDING, Event.START): State.RUNNING,
    (State.PENDING, Event.CANCEL): State.CANCELLED,
    (State.PENDING, Event.CONDITION_UNMET): State.SKIPPED,
    (State.PENDING, Event.CONDITION_FAILED): State.FAILED,
    (State.PENDING, Event.SKIPPED_UPSTREAM): State.SKIPPED,
    (State.PENDING, Event.FAILED_UPSTREAM): State.FAILED,
    (State.RUNNING, Event.SUCCEEDED): State.SUCCEEDED,
    (State.RUNNING, Event.FAILED): State.FAILED,
    (State.RUNNING, Event.ATTEMPT_FAILED): State.PENDING,
    (State.RUNNING, Event.TIMED_OUT): State.TIMED_OUT,
    (State.RUNNING, Event.CANCEL): State.CANCELLED,
    (State.RUNNING, Event.INTERRUPTED): State.PENDING,
    (State.RUNNING, Event.RECOVERED): State.PENDING,
    (State.RUNNING, Event.GIVEN_UP): State.FAILED,
    (State.FAILED, Event.RETRY): State.PENDING,
    (State.TIMED_OUT, Event.RETRY): State.PENDING,
    (State.FAILED, Event.RETRIED_UPSTREAM): State.PENDING,
    (State.SKIPPED, Event.RETRIED_UPSTREAM): State.PENDING,
}
"""What becomes of a task; whatever is not here is illegal."""

FINAL = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.TIMED_OUT, State.SKIPPED})
"""States in which a task has ended."""


class IllegalTransition(HarnessError):
    """A task in this state does not know this event."""

    def __init__(self, state: State, event: Event, task: str = "") -> None:
        self.state, self.event, self.task = state, event, task
        known = sorted(known.value for at, known in TRANSITIONS if at is state)
        subject = f"task {task!r}" if task else "a task"
        super().__init__(
            f"{subject} that is {state.value} knows no {event.value!r}\n"
            f"    hint: {'possible: ' + ', '.join(known) if known else 'this state is final'}"
        )


def next_state(state: State, event: Event) -> State:
    """Return the state that ``event`` leads to from ``state``; raises IllegalTransition."""
    following = TRANSITIONS.get((state, event))
    if following is None:
        raise IllegalTransition(state, event)
    return following
