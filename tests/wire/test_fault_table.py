"""One test for each row of the measured table of what a wire fault looks like to a real client."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

UNSENT = 0
"""What the service saw of the request: nothing whole."""
RECEIVED, COMMITTED = 1, 2

NO_HEAD = "tcp+ tls+ request+ content+ headx"
NO_BODY = "tcp+ tls+ request+ content+ head+ bodyx"
ALL = "tcp+ tls+ request+ content+ head+ body+"


class Row(NamedTuple):
    """A fault and what it looks like; ``answer`` is the status and body where no exception is raised."""

    point: str
    action: Any
    error: str | None
    phases: str
    elapsed_s: float
    service: int
    answer: tuple[int, bytes] | None = None


NOTHING_SENT = {
    "refused": Row("before_connect", "refuse", "ConnectError", "tcpx", 0.001, UNSENT),
    "DNS failure": Row("dns", "fail", "ConnectError", "tcpx", 0.001, UNSENT),
    "DNS stall": Row("dns", "silence", "ConnectTimeout", "tcpx", 5.0, UNSENT),
    "black hole": Row("before_connect", "silence", "ConnectTimeout", "tcpx", 5.0, UNSENT),
    "TLS untrusted": Row("tls", "fail", "ConnectError", "tcp+ tlsx", 0.002, UNSENT),
    "TLS stall": Row("tls", "silence", "ConnectTimeout", "tcp+ tlsx", 5.001, UNSENT),
    "TLS close": Row("tls", "fin", "ConnectError", "tcp+ tlsx", 0.002, UNSENT),
    "TLS reset": Row("tls", "rst", "ConnectError", "tcp+ tlsx", 0.002, UNSENT),
}

OUTCOME_UNKNOWN = {
    "accept then FIN": Row("after_accept", "fin", "ReadError", NO_HEAD, 0.002, UNSENT),
    "accept then RST": Row("after_accept", "rst", "ReadError", NO_HEAD, 0.002, UNSENT),
    "accept then silence": Row("after_accept", "silence", "ReadTimeout", NO_HEAD, 5.002, UNSENT),
    "commit then RST": Row("after_commit", "rst", "ReadError", NO_HEAD, 0.003, COMMITTED),
    "no commit then RST": Row("before_commit", "rst", "ReadError", NO_HEAD, 0.003, RECEIVED),
    "commit then FIN": Row("after_commit", "fin", "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED),
    "no commit then FIN": Row("before_commit", "fin", "RemoteProtocolError", NO_HEAD, 0.003, RECEIVED),
    "garbage status line": Row("in_head", "garbage", "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED),
    "body without a head": Row("in_head", "http09", "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED),
    "bad content-length": Row(
        "in_head", {"wrong_framing": "bad_length"}, "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED
    ),
    "conflicting content-length": Row(
        "in_head", {"wrong_framing": "conflicting_length"}, "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED
    ),
    "partial head then FIN": Row("in_head", {"cut": 40}, "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED),
    "huge head": Row("in_head", "huge_head", "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED),
    "unsolicited 101": Row("in_head", "unsolicited_101", "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED),
    "commit then silence": Row("after_commit", "silence", "ReadTimeout", NO_HEAD, 5.002, COMMITTED),
    "no commit then silence": Row("before_commit", "silence", "ReadTimeout", NO_HEAD, 5.002, RECEIVED),
    "commit then delay": Row("after_commit", {"delay": 60}, "ReadTimeout", NO_HEAD, 5.002, COMMITTED),
    "status line then stall": Row("in_head", "silence", "ReadTimeout", NO_HEAD, 5.003, COMMITTED),
    "status line then RST": Row("in_head", "rst", "ReadError", NO_HEAD, 0.003, COMMITTED),
    "reset while the body is sent": Row(
        "during_request", "rst", "ReadError", "tcp+ tls+ request+ contentx headx", 0.003, UNSENT
    ),
    "stall while the body is sent": Row(
        "during_request", "silence", "WriteTimeout", "tcp+ tls+ request+ contentx", 5.002, UNSENT
    ),
    "close while the body is sent": Row("during_request", "fin", "RemoteProtocolError", NO_HEAD, 0.003, UNSENT),
    "early 413": Row(
        "during_request",
        {"status": {"code": 413, "body": {"error": "too_large"}}},
        None,
        "tcp+ tls+ request+ contentx head+ body+",
        0.003,
        UNSENT,
        (413, b'{"error":"too_large"}'),
    ),
}

MALFORMED_WITH_AN_EXCEPTION = {
    "head then stall": Row("in_body", "silence", "ReadTimeout", NO_BODY, 5.003, COMMITTED),
    "body cut by its length": Row("in_body", {"cut": 10}, "RemoteProtocolError", NO_BODY, 0.003, COMMITTED),
    "half a body then FIN": Row("in_body", "fin", "RemoteProtocolError", NO_BODY, 0.003, COMMITTED),
    "half a body then RST": Row("in_body", "rst", "ReadError", NO_BODY, 0.003, COMMITTED),
    "chunked body cut": Row(
        "in_body", {"wrong_framing": "cut_chunk"}, "RemoteProtocolError", NO_BODY, 0.003, COMMITTED
    ),
    "bad chunk": Row("in_body", {"wrong_framing": "bad_chunk"}, "RemoteProtocolError", NO_BODY, 0.003, COMMITTED),
}

MALFORMED_WITHOUT_AN_EXCEPTION = {
    "EOF-delimited cut": Row(
        "in_body", {"wrong_framing": "eof_delimited"}, None, ALL, 0.003, COMMITTED, (201, b'{"correlation_id":"c')
    ),
    "truncated gzip of the right length": Row(
        "in_body", {"gzip": "truncated"}, None, ALL, 0.003, COMMITTED, (201, b'{"correlation_id"')
    ),
    "second gzip member dropped": Row(
        "in_body", {"gzip": "second_member"}, None, ALL, 0.003, COMMITTED, (201, b'{"correlation_id":"c')
    ),
    "surplus bytes": Row(
        "in_body",
        {"wrong_framing": "surplus"},
        None,
        ALL,
        0.003,
        COMMITTED,
        (201, b'{"correlation_id":"c-0001","id":"rec-1"}\n<!-- proxy -->'),
    ),
    "length shorter than the body": Row(
        "in_body", {"wrong_framing": "short_length"}, None, ALL, 0.003, COMMITTED, (201, b'{"correlation_id":"c')
    ),
    "duplicate JSON keys": Row(
        "in_body",
        "duplicate_keys",
        None,
        ALL,
        0.003,
        COMMITTED,
        (201, b'{"correlation_id":"c-0001","id":"rec-1","id":"somebody-else"}'),
    ),
    "NaN": Row(
        "in_body",
        "nan",
        None,
        ALL,
        0.003,
        COMMITTED,
        (201, b'{"correlation_id":"c-0001","id":"rec-1","amount":NaN}'),
    ),
    "invalid UTF-8": Row(
        "in_body",
        "invalid_utf8",
        None,
        ALL,
        0.003,
        COMMITTED,
        (201, b'{"correlation_id":"c-0001","id":"rec-1","note":"\xff\xfe"}'),
    ),
    "not JSON": Row("in_body", "garbage", None, ALL, 0.003, COMMITTED, (201, b"upstream said: no healthy host\n")),
    "a proxy's page": Row("in_body", "html", None, ALL, 0.003, COMMITTED, (200, b"<html><body>Sign in</body></html>")),
    "a field missing": Row(
        "in_body", {"remove": "id"}, None, ALL, 0.003, COMMITTED, (201, b'{"correlation_id":"c-0001"}')
    ),
    "a field changed": Row(
        "in_body",
        {"replace": {"field": "id", "value": "rec-9"}},
        None,
        ALL,
        0.003,
        COMMITTED,
        (201, b'{"correlation_id":"c-0001","id":"rec-9"}'),
    ),
    "empty body": Row("in_body", {"body": ""}, None, ALL, 0.003, COMMITTED, (201, b"")),
    "answer sent before the request": Row("reuse", "eager_response", None, ALL, 0.002, COMMITTED, (200, b"{}")),
    "a byte every 0.4 s, without a timeout": Row(
        "in_body", "drip", None, ALL, 16.003, COMMITTED, (201, b'{"correlation_id":"c-0001","id":"rec-1"}')
    ),
    "redirect": Row("before_commit", "redirect", None, ALL, 0.003, RECEIVED, (307, b"")),
    "500": Row("after_commit", {"status": 500}, None, ALL, 0.003, COMMITTED, (500, b"{}")),
}

TABLE = {**NOTHING_SENT, **OUTCOME_UNKNOWN, **MALFORMED_WITH_AN_EXCEPTION, **MALFORMED_WITHOUT_AN_EXCEPTION}


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_a_fault_looks_to_the_client_as_measured(wire: Any, fault: Any, row: Row) -> None:
    seen = wire(fault(row.point, row.action)).call()
    assert (seen.error, seen.phases, seen.elapsed_s) == (row.error, row.phases, row.elapsed_s)
    assert row.answer in (None, (seen.status, seen.body))


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_a_fault_leaves_at_the_service_what_its_point_says(wire: Any, fault: Any, row: Row) -> None:
    one = wire(fault(row.point, row.action))
    one.call()
    happened = [event.event for event in one.named("remote_received", "remote_committed")]
    assert happened == ["remote_received", "remote_committed"][: row.service]
    assert one.service.records == (row.service == COMMITTED)


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_a_fault_leaves_one_receipt(wire: Any, fault: Any, row: Row) -> None:
    one = wire(fault(row.point, row.action))
    one.call()
    (receipt,) = one.named("fault_fired")
    name = row.action if isinstance(row.action, str) else next(iter(row.action))
    assert (receipt.id, receipt.operation) == ("c-0001", "create_record")
    assert receipt.detail == {
        "point": row.point,
        "action": name,
        "nth": 1,
        "committed": row.service == COMMITTED,
    }
    assert one.plan.unfired == ()


def test_a_corrupt_gzip_body_is_a_decoding_error(wire: Any, fault: Any) -> None:
    one = wire(fault("in_body", {"gzip": "corrupt"}))
    seen = one.call()
    assert (seen.error, seen.elapsed_s, one.service.records) == ("DecodingError", 0.003, 1)
    # The asynchronous client leaves its generator open: no mark of the phase.
    assert seen.phases in (NO_BODY, "tcp+ tls+ request+ content+ head+")


def test_a_stale_answer_on_a_reused_connection_is_accepted_by_the_client(wire: Any, fault: Any) -> None:
    one = wire(fault("reuse", "stale_response", nth=2))
    one.call(call_id="c-0001")
    seen = one.call(call_id="c-0002")
    assert (seen.status, seen.body) == (201, b'{"correlation_id":"c-0001","id":"rec-1"}')
    assert (seen.phases, seen.elapsed_s) == ("request+ content+ head+ body+", 0.001)
    assert [event.id for event in one.named("remote_committed")] == ["c-0001", "c-0002"]
