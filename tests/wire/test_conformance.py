"""Both wires, both clients: whatever a fault does, it does it on either, and the caller can conclude the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from httpcore2 import SyncBackend
from tests.wire.fault_rows import ALL, COMMITTED, IMPOSSIBLE, RECEIVED, SMALL, TABLE, UNSENT, Row
from tests.wire.wires import SHORT_S, LoopbackWire, Records, Wire, call_of

from unacked.fault import Action, Fault, Point
from unacked.tools import Timeouts
from unacked.tools.client import Phase, ToolClient
from unacked.wire.loopback import LoopbackServer

WIRES = ("simulated", "loopback")
ROWS = [
    pytest.param(wire, wire, row, id=f"{wire}-{name}")
    for wire in WIRES
    for name, row in TABLE.items()
    if name not in IMPOSSIBLE[wire]
]
UNREAD = (Point.AFTER_ACCEPT, Point.DURING_REQUEST)
"""Points before the service has the whole request, unless it commits."""

TWINS = [
    pytest.param(wire, wire, row, id=f"{wire}-{name}")
    for wire in WIRES
    for name, row in TABLE.items()
    if Fault("create_record", Point(row.point), Action.parse(row.action)).ambiguous
]
on_both_wires = pytest.mark.parametrize("wire", WIRES, indirect=True)
rows_of_both_wires = pytest.mark.parametrize(("wire", "kind", "row"), ROWS, indirect=["wire"])


def declared(fault: Callable[..., Fault], row: Row, kind: str) -> Fault:
    action = row.quick if row.quick is not None and kind == "loopback" else row.action
    return fault(row.point, action, nth=row.nth)


def hasty(row: Row) -> list[str]:
    """Return the phases that may time out in this row."""
    phases = {"ConnectTimeout": "connect", "ReadTimeout": "read", "WriteTimeout": "write"}
    return [phases[error] for error, _ in {(row.error, ""), *row.also} if row.error in phases and error in phases]


def check(one: Wire, row: Row, planned: Fault, service: int) -> None:
    seen, caused = call_of(one, row.nth, content=b"x" * row.size)
    assert (seen.error, seen.phases) in row.legal
    if seen.error is None:
        assert row.answer in (None, (seen.status, seen.body))
    happened = [event.event for event in caused if event.event in ("remote_received", "remote_committed")]
    assert happened == ["remote_received", "remote_committed"][:service]
    assert one.service.records == row.nth - 1 + (service == COMMITTED)
    receipt = {
        "point": row.point,
        "action": planned.action.name,
        "nth": row.nth,
        "committed": planned.commits,
    }
    assert (one.receipts, one.unfired) == ([receipt], ())


@rows_of_both_wires
def test_a_row_has_a_legal_signature_on_either_wire(wire: Any, fault: Any, kind: str, row: Row) -> None:
    planned = declared(fault, row, kind)
    check(wire(planned, hasty=hasty(row)), row, planned, row.service)


@pytest.mark.long
@pytest.mark.parametrize(("wire", "kind", "row"), TWINS, indirect=["wire"])
def test_the_twin_of_a_row_has_the_same_signatures_and_the_other_effect(
    wire: Any, fault: Any, kind: str, row: Row
) -> None:
    twin = declared(fault, row, kind).twin()
    arrived = row.service != UNSENT and twin.point not in UNREAD
    unknowing = RECEIVED if arrived else UNSENT
    row = row._replace(point=twin.point.value, size=SMALL if twin.commits else row.size)  # in flight is what fits
    check(wire(twin, hasty=hasty(row)), row, twin, COMMITTED if twin.commits else unknowing)


@on_both_wires
def test_a_call_that_gave_up_waited_for_its_timeout(wire: Any, fault: Any) -> None:
    seen = wire(fault("after_commit", "silence"), hasty=["read"]).call()
    assert seen.elapsed_s >= SHORT_S


@on_both_wires
def test_a_followed_redirect_to_itself_reaches_the_service_21_times(wire: Any, fault: Any) -> None:
    one = wire(fault("before_commit", "redirect", persistent=True))
    assert one.call(follow_redirects=True).error == "TooManyRedirects"
    assert (len(one.named("remote_received")), len(one.receipts)) == (21, 21)


@on_both_wires
@pytest.mark.parametrize(
    ("options", "error", "phases"),
    [
        ({"headers": {"X-Note": "a\nb"}}, "LocalProtocolError", "tcp+ tls+ requestx"),
        ({"path": "ftp://127.0.0.1/v1/records"}, "UnsupportedProtocol", ""),
    ],
)
def test_what_the_client_itself_refuses_never_reaches_the_service(
    wire: Any, options: Mapping[str, Any], error: str, phases: str
) -> None:
    one = wire()
    seen = one.call(**options)
    assert (seen.error, seen.phases, one.events) == (error, phases, [])


@on_both_wires
def test_a_call_without_a_fault_looks_alike(wire: Any) -> None:
    one = wire()
    seen = one.call()
    assert (seen.error, seen.status, seen.phases) == (None, 201, ALL)
    assert [event.event for event in one.events] == ["remote_received", "remote_committed", "remote_responded"]


def test_interim_answers_without_end_on_real_sockets_end_at_the_total_deadline_of_the_tools(fault: Any) -> None:
    client, service = ToolClient(Timeouts(connect_s=0.25, write_s=0.25, read_s=0.25, total_s=0.5)), Records()
    endless = fault("in_head", {"interim_forever": 0.02})
    with LoopbackServer([service], [endless]) as server:
        client.connect(SyncBackend(), server.clock)
        exchange = client.send("POST", f"{server.url('records')}/v1/records", headers={}, content=b"x")
        client.connect(SyncBackend(), server.clock)
    assert (exchange.phase, exchange.timed_out, service.records) == (Phase.REQUEST_SENT, True, 1)
    assert 0.5 <= exchange.elapsed_s < 5


# What one of the wires cannot have


def test_the_rows_that_a_wire_cannot_have_are_these() -> None:
    nobody_sees = "the kernel refuses a connection without a word to the service, so there could be no receipt"
    no_lookup = "the client is given an address, so no name is ever looked up"
    assert {
        "simulated": {},
        "loopback": {"refused": nobody_sees, "DNS failure": no_lookup, "DNS stall": no_lookup},
    } == IMPOSSIBLE


@pytest.mark.parametrize("name", IMPOSSIBLE["loopback"])
def test_a_row_that_the_loopback_wire_cannot_have_is_refused_by_name(fault: Any, name: str) -> None:
    row = TABLE[name]
    planned = fault(row.point, row.action)
    with pytest.raises(ValueError, match="cannot exist on the loopback wire") as refused:
        LoopbackWire(planned)
    assert str(refused.value) == f"{planned} cannot exist on the loopback wire: {IMPOSSIBLE['loopback'][name]}"
