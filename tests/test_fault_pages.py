"""Faults of one page: the requests of a call that makes several are told apart."""

from __future__ import annotations

import pytest

from unacked.fault import (
    ACTIONS,
    CHANGES,
    KINDS,
    LOOKUP_ACTIONS,
    REMOTE_ACTIONS,
    SPOKEN,
    Action,
    Fault,
    FaultPlan,
    Point,
)
from unacked.wire.loopback import impossible

EXPIRED = Fault("search_all", Point.BEFORE_COMMIT, Action.parse("cursor_expired"), page=2)


def pages_where_it_waits(plan: FaultPlan, pages: int) -> list[int]:
    """The pages of one call at which a fault is at hand; it fires at each of them."""
    plan.begin_call("search_all", "c-1")
    found = []
    for number in range(1, pages + 1):
        plan.begin_page()
        fault = plan.at(Point.BEFORE_COMMIT)
        if fault is not None:
            plan.fire(fault)
            found.append(number)
    plan.end_call()
    return found


def test_a_fault_of_one_page_acts_at_that_page_and_at_no_other() -> None:
    plan = FaultPlan([EXPIRED])
    assert pages_where_it_waits(plan, 4) == [2]
    assert pages_where_it_waits(plan, 4) == []
    assert plan.unfired == ()


def test_a_page_that_is_never_asked_for_leaves_the_fault_unfired() -> None:
    plan = FaultPlan([EXPIRED])
    assert pages_where_it_waits(plan, 1) == []
    assert plan.unfired == (EXPIRED,)


def test_a_persistent_fault_of_one_page_acts_at_that_page_of_every_call() -> None:
    plan = FaultPlan([Fault("search_all", Point.BEFORE_COMMIT, Action.parse("reorder"), page=2, persistent=True)])
    assert [pages_where_it_waits(plan, 3), pages_where_it_waits(plan, 3)] == [[2], [2]]


def test_a_fault_of_any_page_acts_at_the_first() -> None:
    assert pages_where_it_waits(FaultPlan([Fault("search_all", Point.BEFORE_COMMIT, Action.parse("reorder"))]), 3) == [
        1
    ]


def test_on_real_sockets_pages_are_calls_of_their_own() -> None:
    assert (
        impossible(EXPIRED, tls=True) == "here every request is a call of its own: count with 'nth' in place of 'page'"
    )


def test_a_fault_names_its_page() -> None:
    assert str(EXPIRED) == "search_all#1 page 2 before_commit cursor_expired"


def test_changes_of_the_world_are_no_ambiguous_faults() -> None:
    assert {**ACTIONS, **CHANGES, **REMOTE_ACTIONS, **LOOKUP_ACTIONS, **SPOKEN} == KINDS
    assert [kind.name for kind in CHANGES.values() if kind.ambiguous] == []


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"shard_down": 5}, "action 'shard_down': shard is the name of a shard, not 5"),
        ({"touch": {"id": "a", "set": 1}}, "action 'touch': set is an object of fields and values, not 1"),
        ("insert", "action 'insert' needs row"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(written: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Action.parse(written)
