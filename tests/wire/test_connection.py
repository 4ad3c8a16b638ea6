"""The server's side of one connection, fed with bytes by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.fault import Action, Fault, FaultPlan, Point
from unacked.wire import Request, Response, Segment, ServerConnection, Uplink
from unacked.wire.script import Signal

POST = b"POST /v1/records HTTP/1.1\r\nhost: records.test\r\ncontent-length: 13\r\n\r\n" + b'{"title":"x"}'
ANSWER = b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}"


class Service:
    name = "records"
    operations = ("create_record",)

    def __init__(self) -> None:
        self.handled: list[tuple[bytes, bool]] = []

    def operation_of(self, method: str, path: str) -> str:  # noqa: ARG002 - there is one
        return "create_record"

    def handle(self, request: Request, *, commit: bool = True) -> Response:
        self.handled.append((request.body, commit))
        return Response(201, b"{}", committed=True)

    def disturb(self, action: Action, operation: str) -> None:
        raise AssertionError((action, operation))


class Peer:
    """A connection with one service behind it, and what comes out of it."""

    def __init__(self, *faults: Fault) -> None:
        self.service, self.plan = Service(), FaultPlan(faults)
        self.plan.begin_call("create_record", "c-0001")
        self.events: list[str] = []
        self.connection = ServerConnection(self.service, self.plan, self._emit, self._never, 0.001)

    def _emit(self, event: str, **_: Any) -> None:
        self.events.append(event)

    def _never(self, at_s: float, _: Any) -> None:
        raise AssertionError(at_s)

    def feed(self, *pieces: bytes) -> list[Segment]:
        for piece in pieces:
            self.connection.receive(piece, 1.0)
        return list(self.connection.outbox._segments)


def during(action: str, *, committed: bool) -> Fault:
    return Fault("create_record", Point.DURING_REQUEST, Action.parse(action), committed=committed)


def test_an_answer_comes_one_latency_after_the_last_byte_of_the_request() -> None:
    peer = Peer()
    assert peer.feed(POST[:-1]) == []
    assert peer.feed(POST[-1:]) == [Segment(1.001, Signal.DATA, ANSWER)]


def test_an_empty_write_is_not_the_end_of_the_stream() -> None:
    assert Peer().feed(b"", POST[:50], b"", POST[50:]) == [Segment(1.001, Signal.DATA, ANSWER)]


@given(st.lists(st.integers(0, len(POST)), max_size=8))
def test_it_makes_no_difference_in_which_pieces_a_request_arrives(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(POST)]
    peer = Peer()
    pieces = [POST[start:end] for start, end in pairwise(places)]
    assert peer.feed(*pieces) == [Segment(1.001, Signal.DATA, ANSWER)]
    assert peer.service.handled == [(b'{"title":"x"}', True)]


def test_two_requests_in_one_piece_get_two_answers() -> None:
    assert [segment.data for segment in Peer().feed(POST + POST)] == [ANSWER, ANSWER]


def test_a_chunked_request_is_put_together() -> None:
    peer = Peer()
    peer.feed(
        b"POST / HTTP/1.1\r\nhost: records.test\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    assert peer.service.handled == [(b"abcde", True)]


def test_bytes_that_are_no_request_are_refused_and_the_connection_is_closed() -> None:
    peer = Peer()
    refused = Segment(1.001, Signal.DATA, b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    assert peer.feed(b"what is this\r\n\r\n", POST) == [refused, Segment(1.001, Signal.FIN, b"")]
    assert peer.service.handled == []


def test_a_head_request_gets_the_head_only() -> None:
    (segment,) = Peer().feed(b"HEAD / HTTP/1.1\r\nhost: records.test\r\n\r\n")
    assert segment.data == b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n"


@pytest.mark.parametrize("pieces", [[POST], [POST[:-13], POST[-13:]], [POST[:-5], POST[-5:]]])
@pytest.mark.parametrize(
    ("action", "uplink", "signals"),
    [
        ("rst", Uplink.BROKEN, [Signal.RST]),
        ("fin", Uplink.OPEN, [Signal.FIN]),
        ("silence", Uplink.STALLED, []),
    ],
)
def test_a_fault_during_the_request_acts_before_the_body_is_complete(
    pieces: list[bytes], action: str, uplink: Uplink, signals: list[Signal]
) -> None:
    peer = Peer(during(action, committed=False))
    assert [segment.signal for segment in peer.feed(*pieces)] == signals
    assert (peer.connection.uplink, peer.service.handled, peer.events) == (uplink, [], ["fault_fired"])


@pytest.mark.parametrize("pieces", [[POST], [POST[:-13], POST[-13:]], [POST[:-5], POST[-5:]]])
def test_the_bytes_in_flight_of_a_committed_twin_still_arrive(pieces: list[bytes]) -> None:
    peer = Peer(during("rst", committed=True))
    assert [segment.signal for segment in peer.feed(*pieces)] == [Signal.RST]
    assert peer.service.handled == [(b'{"title":"x"}', True)]
    assert peer.events == ["remote_received", "remote_committed", "fault_fired"]


def test_nothing_arrives_any_more_once_the_peer_has_closed() -> None:
    peer = Peer(Fault("create_record", Point.AFTER_COMMIT, Action.parse("fin")))
    peer.feed(POST, POST)
    assert len(peer.service.handled) == 1


def test_the_service_is_not_asked_where_the_fault_is_before_the_commit() -> None:
    peer = Peer(Fault("create_record", Point.BEFORE_COMMIT, Action.parse("rst")))
    peer.feed(POST)
    assert peer.service.handled == []


def test_an_uncommitted_twin_is_answered_without_a_trace() -> None:
    peer = Peer(Fault("create_record", Point.IN_BODY, Action.parse({"cut": 1}), committed=False))
    peer.feed(POST)
    assert peer.service.handled == [(b'{"title":"x"}', False)]
    assert peer.events == ["remote_received", "fault_fired"]


@pytest.mark.parametrize("point", [Point.BEFORE_COMMIT, Point.AFTER_COMMIT])
@pytest.mark.parametrize(("headers", "echo"), [({}, b"c-7"), ({"X-Correlation-Id": "c-8"}, b"c-8")])
def test_another_status_echoes_the_correlation_id_as_every_answer_of_a_service_does(
    point: Point, headers: dict[str, str], echo: bytes
) -> None:
    status = Action.parse({"status": {"code": 409, "headers": headers, "body": {"error": "conflict"}}})
    peer = Peer(Fault("create_record", point, status))

    (answer,) = peer.feed(POST.replace(b"content-length", b"x-correlation-id: c-7\r\ncontent-length"))

    head = answer.data.lower().split(b"\r\n")
    assert [line for line in head if line.startswith(b"x-correlation-id")] == [b"x-correlation-id: " + echo]


def test_an_answer_can_be_broken_and_its_connection_closed_afterwards() -> None:
    peer = Peer(
        Fault("create_record", Point.IN_BODY, Action.parse({"body": "[]"})),
        Fault("create_record", Point.AFTER_RESPONSE, Action.parse("fin")),
    )
    assert [segment.signal for segment in peer.feed(POST)] == [Signal.DATA, Signal.FIN]
    assert peer.plan.unfired == ()


def test_nothing_can_end_after_an_answer_that_never_ends() -> None:
    peer = Peer(
        Fault("create_record", Point.IN_BODY, Action.parse("silence")),
        Fault("create_record", Point.AFTER_RESPONSE, Action.parse("fin")),
    )
    peer.feed(POST)
    assert [fault.point for fault in peer.plan.unfired] == [Point.AFTER_RESPONSE]
