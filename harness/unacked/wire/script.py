"""The bytes of one answer and when they come: whole, or broken in the way that a fault asks.

Everything here is a pure function from an answer and an action to a ``Script``. ``None`` in place of a
script says that the action cannot act on this answer, so that no receipt is written for it.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from typing import Any

from unacked.canonical import JSON, InvalidJSON, dumps, loads
from unacked.errors import HarnessError
from unacked.fault import Action, Point
from unacked.wire.message import Request, Response

__all__ = ["Script", "Signal", "Step", "answer_in_place", "broken", "encode"]


class Signal(Enum):
    """What arrives at the client: bytes, an orderly end, or a reset."""

    DATA = "data"
    FIN = "fin"
    RST = "rst"


Step = tuple[float, Signal, bytes]
"""Seconds since the answer began to be written, what arrives then, and its bytes."""


@dataclass(frozen=True, slots=True)
class Script:
    """What is written for one request, step by step.

    ``endless`` goes on after the steps without ever ending. ``whole_after_s`` is when the service has
    written its whole answer of ``status`` and ``size`` bytes; None: it never does.
    """

    steps: tuple[Step, ...]
    whole_after_s: float | None = None
    status: int = 0
    size: int = 0
    endless: Iterator[Step] | None = None


_JSON_TYPE = ("content-type", "application/json")
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_WITHOUT_LENGTH = frozenset({204, 304})
_PATIENCE_S = 3600.0


def encode(response: Response) -> tuple[bytes, bytes]:
    """Return the head, with its content length and the empty line, and the body."""
    if response.status in _WITHOUT_LENGTH:
        return _head(response.status, response.headers), b""
    length = ("content-length", str(len(response.body)))
    return _head(response.status, (*response.headers, length)), response.body


def _head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, '')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def broken(point: Point, action: Action, request: Request, response: Response) -> Script | None:
    """Return the answer as the action at this point leaves it, or None where it cannot act on this answer."""
    if action.name == "accept":
        return _whole(replace(response, status=202)) if 200 <= response.status < 300 else None
    if point is Point.AFTER_COMMIT:
        if action.name != "delay":
            return answer_in_place(action, request)
        return _late(b"", b"".join(encode(response)), action, response)
    table = _IN_HEAD if point is Point.IN_HEAD else _IN_BODY
    return table[action.name](response, action)


def answer_in_place(action: Action, request: Request) -> Script:
    """Return what the client gets where the service's own answer never reaches the wire."""
    if action.name == "status":
        body = dumps(action.parameters["body"]).replace("$credential", _carried(request)).encode()
        return _whole(Response(action.parameters["code"], body, _status_headers(action, request)))
    if action.name == "redirect":
        target = f"{request.path}?{request.query}" if request.query else request.path
        return _whole(Response(action.parameters["code"], b"", (("location", target),)))
    return _ended(b"", action)


def _carried(request: Request) -> str:
    """The credential of a request: services that do not accept one do repeat it."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def _status_headers(action: Action, request: Request) -> tuple[tuple[str, str], ...]:
    """The headers of another status: it comes from the service, which echoes the correlation id in every answer."""
    echo = {} if request.correlation_id is None else {"x-correlation-id": request.correlation_id}
    given = {name.lower(): str(value) for name, value in action.parameters["headers"].items()}
    return tuple({**dict((_JSON_TYPE,)), **echo, **given}.items())


# How an answer can end, or come late


def _whole(response: Response) -> Script:
    return _written(b"".join(encode(response)), response)


def _written(data: bytes, response: Response, *, closed: bool = False) -> Script:
    end: tuple[Step, ...] = ((0.0, Signal.FIN, b""),) if closed else ()
    return Script(((0.0, Signal.DATA, data), *end), 0.0, response.status, len(response.body))


def _ended(sent: bytes, action: Action) -> Script:
    """What was sent so far, and then the end that fin, rst, silence or cut mean."""
    steps: list[Step] = [(0.0, Signal.DATA, sent)] if sent else []
    if action.name == "rst":
        steps.append((0.0, Signal.RST, b""))
    elif action.name != "silence":
        steps.append((0.0, Signal.FIN, b""))
    return Script(tuple(steps))


def _late(first: bytes, rest: bytes, action: Action, response: Response) -> Script:
    seconds: float = action.parameters["seconds"]
    early: tuple[Step, ...] = ((0.0, Signal.DATA, first),) if first else ()
    return Script((*early, (seconds, Signal.DATA, rest)), seconds, response.status, len(response.body))


# In the head


def _stop_in_head(response: Response, action: Action) -> Script:
    status_line = encode(response)[0].partition(b"\r\n")[0] + b"\r\n"
    return _ended(status_line, action)


def _delay_in_head(response: Response, action: Action) -> Script:
    data = b"".join(encode(response))
    after_status_line = data.index(b"\r\n") + 2
    return _late(data[:after_status_line], data[after_status_line:], action, response)


def _cut_head(response: Response, action: Action) -> Script | None:
    head, count = encode(response)[0], action.parameters["bytes"]
    return _ended(head[:count], action) if count < len(head) else None


def _garbage_head(response: Response, _: Action) -> Script:
    return _written(b"\x16\x03\x01 what is this\r\n\r\n", response)


def _http09(response: Response, _: Action) -> Script | None:
    return _written(response.body, response, closed=True) if response.body else None


def _huge_head(response: Response, _: Action) -> Script:
    return _whole(replace(response, headers=(*response.headers, ("x-padding", "a" * 200_000))))


def _unsolicited_101(response: Response, _: Action) -> Script:
    return _written(_head(101, (("upgrade", "other"), ("connection", "upgrade"))), response)


def _interim_forever(_: Response, action: Action) -> Script:
    return Script((), endless=_interims(action.parameters["seconds"]))


def _interims(seconds: float) -> Iterator[Step]:
    interim = _head(102, ())
    for count in range(int(_PATIENCE_S / seconds) + 1):
        yield count * seconds, Signal.DATA, interim
    raise HarnessError(
        f"a client has read interim answers for {_PATIENCE_S:.0f} virtual seconds: it has no total deadline"
    )


# Framing


def _wrong_framing(response: Response, action: Action) -> Script | None:
    framing = _FRAMINGS[action.parameters["kind"]]
    return framing(response) if response.body else None


def _framed(response: Response, *lengths: int | str) -> bytes:
    headers = (*response.headers, *(("content-length", str(length)) for length in lengths))
    return _head(response.status, headers) + response.body


def _short_length(response: Response) -> Script:
    # The bytes beyond the length stay in the client's buffer: closed, so that they poison no later call.
    return _written(_framed(response, len(response.body) // 2), response, closed=True)


def _surplus(response: Response) -> Script:
    return _whole(replace(response, body=response.body + b"\n<!-- proxy -->"))


def _eof_delimited(response: Response) -> Script:
    head = _head(response.status, (*response.headers, ("connection", "close")))
    return Script(((0.0, Signal.DATA, head + _half(response.body)), (0.0, Signal.FIN, b"")))


def _chunked(response: Response, chunks: bytes) -> bytes:
    return _head(response.status, (*response.headers, ("transfer-encoding", "chunked"))) + chunks


def _bad_chunk(response: Response) -> Script:
    return _written(_chunked(response, b"zz\r\n" + response.body + b"\r\n0\r\n\r\n"), response)


def _cut_chunk(response: Response) -> Script:
    sent = _chunked(response, b"%x\r\n" % len(response.body) + _half(response.body))
    return Script(((0.0, Signal.DATA, sent), (0.0, Signal.FIN, b"")))


_FRAMINGS: Mapping[str, Callable[[Response], Script]] = {
    "bad_length": lambda response: _written(_framed(response, "abc"), response),
    "conflicting_length": lambda response: _written(
        _framed(response, len(response.body), len(response.body) + 1), response
    ),
    "short_length": _short_length,
    "surplus": _surplus,
    "eof_delimited": _eof_delimited,
    "bad_chunk": _bad_chunk,
    "cut_chunk": _cut_chunk,
}


# In the body


def _half(body: bytes) -> bytes:
    return body[: len(body) // 2]


def _stop_in_body(response: Response, action: Action) -> Script | None:
    head, body = encode(response)
    return _ended(head + _half(body), action) if body else None


def _delay_in_body(response: Response, action: Action) -> Script | None:
    head, body = encode(response)
    sent = _half(body)
    return _late(head + sent, body[len(sent) :], action, response) if body else None


def _cut_body(response: Response, action: Action) -> Script | None:
    head, body = encode(response)
    count = action.parameters["bytes"]
    return _ended(head + body[:count], action) if count < len(body) else None


def _drip(response: Response, action: Action) -> Script | None:
    head, body = encode(response)
    seconds: float = action.parameters["seconds"]
    steps = [(n * seconds, Signal.DATA, body[n - 1 : n]) for n in range(1, len(body) + 1)]
    if not steps:
        return None
    return Script(((0.0, Signal.DATA, head), *steps), len(body) * seconds, response.status, len(body))


def _gzip(response: Response, action: Action) -> Script | None:
    body = response.body
    if not body:
        return None
    packed = gzip.compress(body, mtime=0)
    match action.parameters["kind"]:
        case "corrupt":
            packed = b"XXXX" + packed[4:]
        case "truncated":
            packed = packed[: len(packed) // 2]
        case _:
            first = _half(body)
            packed = gzip.compress(first, mtime=0) + gzip.compress(body[len(first) :], mtime=0)
    return _whole(replace(response, body=packed, headers=(*response.headers, ("content-encoding", "gzip"))))


def _other_body(response: Response, body: bytes, content_type: str | None = None) -> Script | None:
    headers = response.headers
    if content_type is not None:
        kept = (header for header in headers if header[0].lower() != "content-type")
        headers = (("content-type", content_type), *kept)
    elif body == response.body:
        return None
    return _whole(replace(response, body=body, headers=headers))


def _garbage_body(response: Response, _: Action) -> Script | None:
    return _other_body(response, b"upstream said: no healthy host\n")


def _body(response: Response, action: Action) -> Script | None:
    echo = dict(response.headers).get("x-correlation-id", "")
    body = str(action.parameters["text"]).replace("$correlation_id", echo)
    return _other_body(response, body.encode(), action.parameters["content_type"])


def _html(response: Response, _: Action) -> Script | None:
    return _other_body(replace(response, status=200), b"<html><body>Sign in</body></html>", "text/html")


def _read(body: bytes) -> JSON:
    try:
        return loads(body)
    except InvalidJSON:
        return None


def _replace_field(response: Response, action: Action) -> Script | None:
    document = _read(response.body)
    holder, key = _find(document, action.parameters["field"])
    if holder is None:
        return None
    holder[key] = action.parameters["value"]
    return _other_body(response, dumps(document).encode())


def _remove_field(response: Response, action: Action) -> Script | None:
    document = _read(response.body)
    holder, key = _find(document, action.parameters["field"])
    if holder is None:
        return None
    del holder[key]
    return _other_body(response, dumps(document).encode())


def _find(document: JSON, field: str) -> tuple[Any, str | int]:
    """Return what holds the field ``items.0.id`` and the field's key in it; (None, "") where there is none."""
    way: list[str | int] = [int(step) if step.isdecimal() else step for step in field.split(".")]
    try:
        for step in way[:-1]:
            document = document[step]
        document[way[-1]]
    except (KeyError, IndexError, TypeError):
        return None, ""
    return (document, way[-1]) if isinstance(document, dict | list) else (None, "")


def _with_member(response: Response, member: bytes) -> Script | None:
    """Put one more member, as it is, at the end of the answer's object."""
    document = _read(response.body)
    if not isinstance(document, dict) or not document:
        return None
    return _other_body(response, response.body.rstrip()[:-1] + b"," + member + b"}")


def _duplicate_keys(response: Response, _: Action) -> Script | None:
    document = _read(response.body)
    if not isinstance(document, dict) or not document:
        return None
    key = "id" if "id" in document else min(document)
    return _with_member(response, f'{dumps(key)}:"somebody-else"'.encode())


def _nan(response: Response, _: Action) -> Script | None:
    return _with_member(response, b'"amount":NaN')


def _invalid_utf8(response: Response, _: Action) -> Script | None:
    return _with_member(response, b'"note":"\xff\xfe"')


_Break = Callable[[Response, Action], Script | None]

_IN_HEAD: Mapping[str, _Break] = {
    "fin": _stop_in_head,
    "rst": _stop_in_head,
    "silence": _stop_in_head,
    "delay": _delay_in_head,
    "cut": _cut_head,
    "garbage": _garbage_head,
    "http09": _http09,
    "huge_head": _huge_head,
    "unsolicited_101": _unsolicited_101,
    "interim_forever": _interim_forever,
    "wrong_framing": _wrong_framing,
}

_IN_BODY: Mapping[str, _Break] = {
    "fin": _stop_in_body,
    "rst": _stop_in_body,
    "silence": _stop_in_body,
    "delay": _delay_in_body,
    "cut": _cut_body,
    "drip": _drip,
    "garbage": _garbage_body,
    "wrong_framing": _wrong_framing,
    "gzip": _gzip,
    "replace": _replace_field,
    "remove": _remove_field,
    "body": _body,
    "html": _html,
    "duplicate_keys": _duplicate_keys,
    "nan": _nan,
    "invalid_utf8": _invalid_utf8,
}
