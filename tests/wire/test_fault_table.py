"""One test for each row of the measured table of what a wire fault looks like to a real client."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.fault_rows import COMMITTED, TABLE, Row
from tests.wire.wires import call_of

from unacked.fault import ACTIONS, Action

rows = pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)


@rows
def test_a_fault_looks_to_the_client_as_measured(wire: Any, fault: Any, row: Row) -> None:
    seen, _ = call_of(wire(fault(row.point, row.action, nth=row.nth)), row.nth, content=b"x" * row.size)
    assert (seen.error, seen.elapsed_s) == (row.error, row.elapsed_s)
    # Where its body cannot be unpacked, the asynchronous client leaves its generator open: no mark of the phase.
    assert seen.phases == row.phases or (seen.error == "DecodingError" and (seen.error, seen.phases) in row.legal)
    assert row.answer in (None, (seen.status, seen.body))


@rows
def test_a_fault_leaves_at_the_service_what_its_point_says(wire: Any, fault: Any, row: Row) -> None:
    one = wire(fault(row.point, row.action, nth=row.nth))
    _, caused = call_of(one, row.nth)
    happened = [event.event for event in caused if event.event in ("remote_received", "remote_committed")]
    assert happened == ["remote_received", "remote_committed"][: row.service]
    assert one.service.records == row.nth - 1 + (row.service == COMMITTED)


@rows
def test_a_fault_leaves_one_receipt(wire: Any, fault: Any, row: Row) -> None:
    one = wire(declared := fault(row.point, row.action, nth=row.nth))
    call_of(one, row.nth)
    (receipt,) = one.named("fault_fired")
    name = row.action if isinstance(row.action, str) else next(iter(row.action))
    assert (receipt.id, receipt.operation) == (f"c-{row.nth:04}", "create_record")
    assert receipt.detail == {
        "point": row.point,
        "action": name,
        "nth": row.nth,
        "committed": declared.commits,
    }
    assert one.unfired == ()


def test_every_action_has_a_row_at_every_point_where_it_applies() -> None:
    listed = {(Action.parse(row.action).name, row.point) for row in TABLE.values()}
    applying = {(name, point.value) for name, kind in ACTIONS.items() for point in kind.points}
    an_answer_that_never_ends = {("interim_forever", "in_head")}
    assert applying - listed == an_answer_that_never_ends


def test_every_kind_of_an_action_has_a_row() -> None:
    parsed = [Action.parse(row.action) for row in TABLE.values()]
    listed = {(action.name, action.parameters["kind"]) for action in parsed if "kind" in action.parameters}
    assert listed == {(name, kind) for name, row in ACTIONS.items() for kind in row.choices.get("kind", ())}
