"""Which call a request is, where nobody announces calls."""

from __future__ import annotations

from collections.abc import Sequence

from unacked.fault import Action, Fault, Point
from unacked.wire.arrival import Arrival, Arrivals

CREATE = ("create_record",)


def closing(nth: int = 1, *, persistent: bool = False) -> Fault:
    return Fault("create_record", Point.AFTER_COMMIT, Action.parse("fin"), nth, persistent=persistent)


def distrusted(nth: int = 1, *, persistent: bool = False) -> Fault:
    return Fault("create_record", Point.TLS, Action.parse("fail"), nth, persistent=persistent)


def arriving(plan: Arrivals, *operations: str | None) -> list[Sequence[Fault]]:
    """Let requests arrive on one connection; return what is armed at each."""
    armed: list[Sequence[Fault]] = []
    connection = Arrival(plan)
    for operation in operations:
        connection.begin(operation, "c-1")
        armed.append(tuple(connection.armed))
    return armed


def test_requests_count_by_operation() -> None:
    fault = closing(2)
    assert arriving(Arrivals([fault]), "create_record", "get_record", "create_record", "create_record") == [
        (),
        (),
        (fault,),
        (),
    ]


def test_requests_count_on_all_connections_together() -> None:
    fault = closing(2)
    plan = Arrivals([fault])
    assert (arriving(plan, "create_record"), arriving(plan, "create_record")) == ([()], [(fault,)])


def test_a_request_without_an_operation_counts_nowhere() -> None:
    plan = Arrivals([closing()])
    assert arriving(plan, None) == [()]
    assert plan.calls == {}


def test_a_transient_fault_is_armed_until_it_has_fired() -> None:
    fault = closing()
    plan = Arrivals([fault])
    call = Arrival(plan)
    call.begin("create_record", "c-1")
    call.fire(fault)
    assert (call.armed, plan.unfired, plan.waiting) == ((), (), ())


def test_a_persistent_fault_waits_for_ever() -> None:
    fault = closing(2, persistent=True)
    plan = Arrivals([fault])
    assert arriving(plan, *CREATE * 3) == [(), (fault,), (fault,)]
    assert plan.waiting == (fault,)


def test_the_nth_of_a_fault_that_is_armed_later_counts_from_then_on() -> None:
    plan = Arrivals()
    arriving(plan, *CREATE * 5)
    (fault,) = plan.arm([closing(2)])
    assert fault.nth == 7
    assert arriving(plan, *CREATE * 2) == [(), (fault,)]


def test_a_fault_of_connecting_waits_for_its_call_to_be_the_next() -> None:
    plan = Arrivals([distrusted(2)])
    assert plan.coming(CREATE, Point.TLS) is None
    arriving(plan, "create_record")
    assert plan.coming(CREATE, Point.TLS) is not None
    assert plan.coming(("get_record",), Point.TLS) is None


def test_a_connection_that_a_fault_took_counts_as_the_call_that_it_was_meant_for() -> None:
    later = closing(2)
    plan = Arrivals([distrusted(), later])
    call = plan.coming(CREATE, Point.TLS)
    assert call is not None
    call.fire(call.armed[0])
    assert (plan.calls, arriving(plan, "create_record")) == ({"create_record": 1}, [(later,)])


def test_a_fault_in_hand_is_not_given_to_another_connection() -> None:
    fault = distrusted()
    plan = Arrivals([fault])
    plan.reserve(fault)
    assert plan.coming(CREATE, Point.TLS) is None
    plan.give_back(fault)
    assert plan.coming(CREATE, Point.TLS) is not None


def test_forgotten_faults_do_not_act_and_calls_are_still_counted() -> None:
    plan = Arrivals([closing(2)])
    arriving(plan, "create_record")
    plan.disarm()
    assert (arriving(plan, "create_record"), plan.calls) == ([()], {"create_record": 2})


def test_a_restart_forgets_calls_too() -> None:
    fault = closing()
    plan = Arrivals([closing()])
    arriving(plan, "create_record")
    plan.restart([fault])
    assert arriving(plan, "create_record") == [(fault,)]


def test_whoever_watches_hears_of_everything_that_may_change_the_next_fault() -> None:
    heard: list[str] = []
    plan = Arrivals()
    plan.watch(lambda: heard.append("changed"))
    fault = plan.arm([closing()])[0]
    call = Arrival(plan)
    call.begin("create_record", None)
    call.fire(fault)
    plan.disarm()
    assert len(heard) == 4
