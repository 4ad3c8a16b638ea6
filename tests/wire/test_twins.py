"""Every ambiguous fault has a twin: another hidden side, and nothing that the client could tell them apart by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unacked.fault import ACTIONS, Action, Fault, Point

PARAMETERS: dict[str, Any] = {
    "delay": {"seconds": 60},
    "cut": {"bytes": 10},
    "replace": {"field": "id", "value": "rec-9"},
    "remove": {"field": "id"},
    "body": {"text": "{}"},
    "status": {"code": 500},
    "rate_limit": {"retry_after_s": 30},
}


def every_fault() -> list[Fault]:
    """Every action at every point where it applies, in every kind; a reuse fault at the second call."""
    return [
        Fault("create_record", point, Action.parse({kind.name: {**PARAMETERS.get(kind.name, {}), **word}}), nth)
        for kind in ACTIONS.values()
        for point in Point
        if point in kind.points
        for word in ([{"kind": word} for word in kind.choices["kind"]] if kind.choices else [{}])
        for nth in [2 if point is Point.REUSE else 1]
    ]


EVERY = every_fault()
ENDLESS = "interim_forever"
ENDING = [fault for fault in EVERY if fault.action.name != ENDLESS]
AMBIGUOUS = [fault for fault in ENDING if fault.ambiguous]


def run(build: Callable[..., Any], fault: Fault) -> tuple[Any, Any]:
    one = build(fault)
    seen = [one.call(call_id=f"c-{nth}") for nth in range(fault.nth)]
    one.network.pass_until(1000)
    return one, seen


@pytest.mark.parametrize("fault", EVERY, ids=str)
def test_every_action_fires_and_leaves_a_receipt_at_every_point_where_it_applies(wire: Any, fault: Fault) -> None:
    one = wire(fault)
    if fault.action.name == ENDLESS:
        with pytest.raises(Exception, match="virtual seconds"):
            run(lambda _: one, fault)
    else:
        run(lambda _: one, fault)
    assert one.receipts == [
        {
            "point": fault.point.value,
            "action": fault.action.name,
            "nth": fault.nth,
            "committed": fault.commits,
        }
    ]


@pytest.mark.parametrize("fault", AMBIGUOUS, ids=str)
def test_twins_are_the_same_to_the_client_in_bytes_and_time(wire: Any, fault: Fault) -> None:
    _, seen = run(wire, fault)
    _, seen_by_twin = run(wire, fault.twin())
    assert seen == seen_by_twin


@pytest.mark.parametrize("fault", AMBIGUOUS, ids=str)
def test_of_two_twins_exactly_one_commits(wire: Any, fault: Fault) -> None:
    one, _ = run(wire, fault)
    other, _ = run(wire, fault.twin())
    earlier_calls = fault.nth - 1
    assert sorted([one.service.records - earlier_calls, other.service.records - earlier_calls]) == [0, 1]


@pytest.mark.parametrize("fault", AMBIGUOUS, ids=str)
def test_the_twin_of_the_twin_has_the_hidden_side_of_the_first(fault: Fault) -> None:
    assert fault.twin().twin().commits == fault.commits


@pytest.mark.parametrize("fault", ENDING, ids=str)
def test_two_runs_of_one_fault_leave_the_same_events(wire: Any, fault: Fault) -> None:
    first, _ = run(wire, fault)
    second, _ = run(wire, fault)
    assert first.events == second.events


def test_no_remote_effect_is_possible_before_the_request_has_left() -> None:
    early = [fault for fault in EVERY if fault.point in (Point.DNS, Point.BEFORE_CONNECT, Point.TLS)]
    assert [fault for fault in early if fault.ambiguous or fault.commits] == []
