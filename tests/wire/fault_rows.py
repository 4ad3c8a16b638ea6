"""The measured table of what a wire fault looks like to a real client, and what both wires make of it.

``error`` and ``phases`` are what the simulated wire shows, always. A kernel has more freedom: ``also`` lists
the other pairs that are as legal, because they mean the same to a caller. ``IMPOSSIBLE`` names the rows that
cannot exist on one of the wires.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

UNSENT = 0
"""What the service saw of the request: nothing whole."""
RECEIVED, COMMITTED = 1, 2

NO_HEAD = "tcp+ tls+ request+ content+ headx"
NO_BODY = "tcp+ tls+ request+ content+ head+ bodyx"
ALL = "tcp+ tls+ request+ content+ head+ body+"
HALF_SENT = "tcp+ tls+ request+ contentx headx"
KEPT_NO_HEAD = "request+ content+ headx"
KEPT_ALL = "request+ content+ head+ body+"
FIRST = b'{"correlation_id":"c-0001","id":"rec-1"}'
DISTURBED = (429, b'{"error":"slow_down"}')
STALLED = "tcp+ tls+ request+ contentx"
SMALL, LARGE = 13, 6_000_000
"""The latter is more than two sockets hold, so that a client cannot be done with sending before anybody has read."""

Look = tuple[str | None, str]


class Row(NamedTuple):
    """A fault and what it looks like; ``answer`` is the status and body where no exception is raised.

    ``quick`` is the same action where time is real, ``size`` the length of the request's body, and
    ``nth`` the call that the fault is for, after others on the same connection.
    """

    point: str
    action: Any
    error: str | None
    phases: str
    elapsed_s: float
    service: int
    answer: tuple[int, bytes] | None = None
    also: tuple[Look, ...] = ()
    quick: Any = None
    size: int = SMALL
    nth: int = 1

    @property
    def legal(self) -> set[Look]:
        """Every pair of exception and phases that is legal on either wire."""
        return {(self.error, self.phases), *self.also}


# Python before 3.12.3 takes a reset under TLS for the end of the stream; so does whoever has already met the
# reset while writing. All of these leave the outcome unknown.
RESET: tuple[Look, ...] = (("ReadError", NO_HEAD), ("RemoteProtocolError", NO_HEAD))
RESET_WHILE_SENDING: tuple[Look, ...] = (
    *RESET,
    ("ReadError", HALF_SENT),
    ("RemoteProtocolError", HALF_SENT),
)
RESET_WHEN_KEPT: tuple[Look, ...] = tuple(
    (error, phases)
    for error in ("ReadError", "RemoteProtocolError")
    for phases in (KEPT_NO_HEAD, "request+ contentx headx", "requestx headx")
)
RESET_IN_BODY: tuple[Look, ...] = (("ReadError", NO_BODY), ("RemoteProtocolError", NO_BODY))

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
    "accept then FIN": Row("after_accept", "fin", "ReadError", NO_HEAD, 0.002, UNSENT, also=RESET_WHILE_SENDING),
    "accept then RST": Row("after_accept", "rst", "ReadError", NO_HEAD, 0.002, UNSENT, also=RESET_WHILE_SENDING),
    "accept then silence": Row("after_accept", "silence", "ReadTimeout", NO_HEAD, 5.002, UNSENT),
    "commit then RST": Row("after_commit", "rst", "ReadError", NO_HEAD, 0.003, COMMITTED, also=RESET),
    "no commit then RST": Row("before_commit", "rst", "ReadError", NO_HEAD, 0.003, RECEIVED, also=RESET),
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
    "status line then RST": Row("in_head", "rst", "ReadError", NO_HEAD, 0.003, COMMITTED, also=RESET),
    "reset while the body is sent": Row(
        "during_request", "rst", "ReadError", HALF_SENT, 0.003, UNSENT, also=RESET_WHILE_SENDING, size=LARGE
    ),
    "stall while the body is sent": Row(
        "during_request",
        "silence",
        "WriteTimeout",
        STALLED,
        5.002,
        UNSENT,
        also=(("ReadTimeout", NO_HEAD),),
        size=LARGE,
    ),
    "close while the body is sent": Row(
        "during_request", "fin", "RemoteProtocolError", NO_HEAD, 0.003, UNSENT, also=RESET_WHILE_SENDING, size=LARGE
    ),
    "commit after the deadline": Row("before_commit", {"delay": 60}, "ReadTimeout", NO_HEAD, 5.002, RECEIVED),
    "status line then FIN": Row("in_head", "fin", "RemoteProtocolError", NO_HEAD, 0.003, COMMITTED),
    "status line then delay": Row("in_head", {"delay": 60}, "ReadTimeout", NO_HEAD, 5.003, COMMITTED),
    "kept connection closed": Row(
        "reuse", "fin", "RemoteProtocolError", KEPT_NO_HEAD, 0.001, UNSENT, also=RESET_WHEN_KEPT, nth=2
    ),
    "kept connection reset": Row("reuse", "rst", "ReadError", KEPT_NO_HEAD, 0.001, UNSENT, also=RESET_WHEN_KEPT, nth=2),
    "kept connection silent": Row("reuse", "silence", "ReadTimeout", KEPT_NO_HEAD, 5.0, UNSENT, nth=2),
    "early 413": Row(
        "during_request",
        {"status": {"code": 413, "body": {"error": "too_large"}}},
        None,
        "tcp+ tls+ request+ contentx head+ body+",
        0.003,
        UNSENT,
        (413, b'{"error":"too_large"}'),
        also=((None, ALL), *RESET_WHILE_SENDING),
        size=LARGE,
    ),
}

MALFORMED_WITH_AN_EXCEPTION = {
    "head then stall": Row("in_body", "silence", "ReadTimeout", NO_BODY, 5.003, COMMITTED),
    "body cut by its length": Row("in_body", {"cut": 10}, "RemoteProtocolError", NO_BODY, 0.003, COMMITTED),
    "half a body then FIN": Row("in_body", "fin", "RemoteProtocolError", NO_BODY, 0.003, COMMITTED),
    "half a body then RST": Row("in_body", "rst", "ReadError", NO_BODY, 0.003, COMMITTED, also=RESET_IN_BODY),
    "chunked body cut": Row(
        "in_body", {"wrong_framing": "cut_chunk"}, "RemoteProtocolError", NO_BODY, 0.003, COMMITTED
    ),
    "corrupt gzip": Row(
        "in_body",
        {"gzip": "corrupt"},
        "DecodingError",
        NO_BODY,
        0.003,
        COMMITTED,
        also=(("DecodingError", "tcp+ tls+ request+ content+ head+"),),  # the asynchronous client leaves no mark
    ),
    "half a body then delay": Row("in_body", {"delay": 60}, "ReadTimeout", NO_BODY, 5.003, COMMITTED),
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
        "in_body",
        "drip",
        None,
        ALL,
        16.003,
        COMMITTED,
        (201, b'{"correlation_id":"c-0001","id":"rec-1"}'),
        quick={"drip": 0.01},
    ),
    "stale answer": Row("reuse", "stale_response", None, KEPT_ALL, 0.001, COMMITTED, (201, FIRST), nth=2),
    "eager answer on a kept connection": Row(
        "reuse", "eager_response", None, KEPT_ALL, 0.0, COMMITTED, (201, FIRST), nth=2
    ),
    "an answer, then FIN": Row("after_response", "fin", None, ALL, 0.003, COMMITTED, (201, FIRST)),
    "an answer, then RST": Row("after_response", "rst", None, ALL, 0.003, COMMITTED, (201, FIRST)),
    "accepted": Row("after_commit", "accept", None, ALL, 0.003, COMMITTED, (202, FIRST)),
    "redirect": Row("before_commit", "redirect", None, ALL, 0.003, RECEIVED, (307, b"")),
    "500": Row("after_commit", {"status": 500}, None, ALL, 0.003, COMMITTED, (500, b"{}")),
    "503": Row("before_commit", {"status": 503}, None, ALL, 0.003, RECEIVED, (503, b"{}")),
    "commit then redirect": Row("after_commit", "redirect", None, ALL, 0.003, COMMITTED, (307, b"")),
}

BY_THE_SERVICE = {
    "rate limited": Row("before_commit", {"rate_limit": 30}, None, ALL, 0.003, RECEIVED, DISTURBED),
    "credential expires": Row("before_commit", "expire_credential", None, ALL, 0.003, RECEIVED, DISTURBED),
    "credential revoked": Row("before_commit", "revoke_credential", None, ALL, 0.003, RECEIVED, DISTURBED),
    "credential never valid": Row("before_commit", "never_valid", None, ALL, 0.003, RECEIVED, DISTURBED),
    "execution fails": Row("before_commit", "failure", None, ALL, 0.003, RECEIVED, DISTURBED),
    "permission taken away": Row("before_commit", "deny", None, ALL, 0.003, RECEIVED, DISTURBED),
}

TABLE: Mapping[str, Row] = {
    **NOTHING_SENT,
    **OUTCOME_UNKNOWN,
    **MALFORMED_WITH_AN_EXCEPTION,
    **MALFORMED_WITHOUT_AN_EXCEPTION,
    **BY_THE_SERVICE,
}

IMPOSSIBLE: Mapping[str, Mapping[str, str]] = {
    "simulated": {},
    "loopback": {
        "refused": "the kernel refuses a connection without a word to the service, so there could be no receipt",
        "DNS failure": "the client is given an address, so no name is ever looked up",
        "DNS stall": "the client is given an address, so no name is ever looked up",
    },
}
"""For each wire the rows that it cannot have, and why."""
