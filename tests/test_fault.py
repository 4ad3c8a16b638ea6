"""Faults of requests that a tool makes beside the call's own."""

from __future__ import annotations

from unacked.fault import Action, Fault, FaultPlan, Point

FIRST = Fault("charge", Point.BEFORE_COMMIT, Action("expire_credential"))
SECOND = Fault("charge", Point.AFTER_COMMIT, Action("silence"), 2)
REFRESH = Fault("refresh_token", Point.AFTER_COMMIT, Action("silence"))


def test_a_request_aside_has_its_own_faults_for_as_long_as_it_lasts() -> None:
    plan = FaultPlan([FIRST, SECOND, REFRESH])
    plan.begin_call("charge", "c-1")
    with plan.aside("refresh_token", "c-1.refresh"):
        assert (plan.armed, plan.call_id, plan.nth) == ((REFRESH,), "c-1.refresh", 1)
    assert (plan.armed, plan.call_id) == ((FIRST,), "c-1")


def test_what_is_sent_again_is_the_next_of_its_operation() -> None:
    plan = FaultPlan([FIRST, SECOND])
    plan.begin_call("charge", "c-1")
    plan.fire(FIRST)
    with plan.aside("charge", "c-1.again"):
        assert (plan.armed, plan.nth) == ((SECOND,), 2)
        plan.fire(SECOND)
    assert (plan.armed, plan.unfired) == ((), ())
