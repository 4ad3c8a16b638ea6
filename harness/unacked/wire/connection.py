"""The server's side of one connection: bytes in, a schedule of bytes out, faults in between.

Nothing here reads or waits. Whoever owns the connection hands it bytes and the time, takes segments from
its outbox when their moment has come, and calls it back at the times that it asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple, Protocol

import h11

from unacked.errors import HarnessError
from unacked.event import Emit
from unacked.fault import CHANGES, LOOKUP_ACTIONS, Fault, Point
from unacked.wire.message import Handler, Request, Response
from unacked.wire.script import Script, Signal, Step, answer_in_place, broken, encode

__all__ = ["CallFaults", "Outbox", "Segment", "ServerConnection", "Timer", "Uplink", "land"]

Timer = Callable[[float, Callable[[], None]], None]
"""Asks to be called back at a time, in seconds."""

_BY_THE_SERVICE = frozenset(
    {
        "rate_limit",
        "expire_credential",
        "revoke_credential",
        "never_valid",
        "deny",
        "failure",
        *CHANGES,
        *LOOKUP_ACTIONS,
    }
)
_HOLDING = frozenset({Point.BEFORE_COMMIT, Point.AFTER_COMMIT, Point.IN_HEAD, Point.IN_BODY})
_EAGER = Response(200, b"{}", (("content-type", "application/json"),))


class CallFaults(Protocol):
    """The faults of the call whose request is on a connection: a ``FaultPlan``, or whatever stands for one."""

    @property
    def call_id(self) -> str | None:
        """The correlation id of the call, where there is one."""
        ...

    @property
    def nth(self) -> int:
        """Which call of its operation it is, 1-based."""
        ...

    @property
    def armed(self) -> Sequence[Fault]:
        """The faults that may still act in it."""
        ...

    def at(self, *points: Point) -> Fault | None:
        """Return the armed fault at one of ``points``, if there is one."""
        ...

    def begin_page(self) -> None:
        """Note that one more request of the call begins."""
        ...

    def fire(self, fault: Fault) -> None:
        """Note that ``fault`` has acted."""
        ...


def land(plan: CallFaults, emit: Emit, fault: Fault) -> None:
    """Write the receipt of a fault that acts now."""
    nth, call_id = plan.nth, plan.call_id
    plan.fire(fault)
    emit(
        "fault_fired",
        id=call_id,
        operation=fault.operation,
        detail={
            "point": fault.point.value,
            "action": fault.action.name,
            "nth": nth,
            "committed": fault.commits,
        },
    )


class Segment(NamedTuple):
    """What arrives at the client at one moment."""

    at_s: float
    signal: Signal
    data: bytes


class Outbox:
    """The schedule of what arrives at the client; the end of a connection stays in it for good."""

    __slots__ = ("_endless", "_segments")

    def __init__(self) -> None:
        self._segments: deque[Segment] = deque()
        self._endless: Iterator[Segment] | None = None

    def push(self, segment: Segment) -> None:
        """Put a segment after everything that was pushed before."""
        self._segments.append(segment)

    def never_end(self, segments: Iterator[Segment]) -> None:
        """Go on with ``segments`` once everything that was pushed is taken."""
        self._endless = segments

    def peek(self) -> Segment | None:
        """Return the next segment without taking it; None where nothing is scheduled."""
        if self._segments:
            return self._segments[0]
        if self._endless is not None:
            self._segments.append(next(self._endless))
            return self._segments[0]
        return None

    def take(self, max_bytes: int) -> bytes:
        """Take at most ``max_bytes`` of the next segment, which carries data."""
        at_s, signal, data = self._segments.popleft()
        if len(data) > max_bytes:
            self._segments.appendleft(Segment(at_s, signal, data[max_bytes:]))
            return data[:max_bytes]
        return data


class Uplink(Enum):
    """What becomes of the client's writes."""

    OPEN = "open"
    STALLED = "stalled"
    BROKEN = "broken"


class ServerConnection:
    """One connection to one fake service, from its acceptance to its end.

    ``timer`` is asked for a call back when something is to happen later. ``latency_s`` is the time from
    a request's last byte to the first byte of its answer. ``arriving`` is told of each request whose head
    has come, before any fault of it acts: where nobody announces calls, that is how ``plan`` learns of them.
    """

    __slots__ = (
        "_answered",
        "_arriving",
        "_chunks",
        "_doom",
        "_emit",
        "_gone",
        "_handler",
        "_head",
        "_hidden",
        "_last",
        "_latency_s",
        "_left",
        "_parser",
        "_plan",
        "_timer",
        "outbox",
        "uplink",
    )

    def __init__(
        self,
        handler: Handler,
        plan: CallFaults,
        emit: Emit,
        timer: Timer,
        latency_s: float,
        *,
        arriving: Callable[[Request], None] | None = None,
    ) -> None:
        self._handler, self._plan, self._emit, self._timer = handler, plan, emit, timer
        self._latency_s, self._arriving = latency_s, arriving
        self._parser: h11.Connection | None = None
        self._head: Request | None = None
        self._chunks: list[bytes] = []
        self._last: bytes | None = None  # the latest answer on this connection
        self._doom: Fault | None = None  # no request is answered any more
        self._hidden: Fault | None = None  # says whether the current request is committed
        self._gone = False  # no byte of the client arrives any more
        self._left = False
        self._answered = False  # the latest request has its whole answer, as far as it gets one
        self.outbox = Outbox()
        self.uplink = Uplink.OPEN

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the client; what they cause is in ``outbox`` and ``uplink`` afterwards."""
        if not data or self._gone:
            return  # h11 reads an empty string as the end of the stream
        if self._parser is None:
            # One parser a request: answers are written by hand, so that they can be broken in every way.
            self._parser = h11.Connection(h11.SERVER)
            self._chunks.clear()
        self._parser.receive_data(data)
        try:
            self._read_on(self._parser, now)
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint, now)

    def interrupt(self, now: float) -> None:
        """Let a fault during the request act in the middle of a body whose end has not come.

        Only where nothing is committed: of a committed one the bytes in flight still arrive.
        """
        if self._gone or self._parser is None or not self._chunks or self._doom is not None:
            return
        fault = self._plan.at(Point.DURING_REQUEST)
        if fault is not None and not fault.commits:
            self._interrupt(fault, self._whole_request(), now)

    def leave(self) -> None:
        """Note that the client closed the connection."""
        self._left = self._gone = True

    @property
    def at_rest(self) -> bool:
        """Whether every request so far was answered and nothing is on its way, in either direction."""
        return self._answered and self._parser is None and self.outbox.peek() is None

    @property
    def awaits_rest(self) -> bool:
        """Whether bytes of a request that is committed all the same must still arrive before the connection ends."""
        return self._parser is not None and self._doom is not None and self._doom.commits

    # Reading a request

    def _begin(self, now: float) -> None:
        self._hidden = None
        self._answered = False
        self._plan.begin_page()
        if not self._plan.armed:
            return
        if self._last is None and self._doom is None and (fault := self._plan.at(Point.AFTER_ACCEPT)):
            self._fire(fault)
            self._doom = fault
            if fault.action.name != "silence":
                # Bytes that reach a closed socket are answered with a reset: fin and rst look alike here.
                self.outbox.push(Segment(now, Signal.RST, b""))
        elif fault := self._plan.at(Point.REUSE):
            self._reuse(fault, now)

    def _reuse(self, fault: Fault, now: float) -> None:
        action = fault.action.name
        if action == "eager_response":
            answer = self._last or b"".join(encode(_EAGER))
            self.outbox.push(Segment(now, Signal.DATA, answer))
        elif self._last is None:
            return
        elif action == "stale_response":
            self.outbox.push(Segment(self._arrival(now), Signal.DATA, self._last))
        else:
            self._doom = fault
            self._close(self._arrival(now), action)
        self._hidden = fault
        self._fire(fault)

    def _read_on(self, parser: h11.Connection, now: float) -> None:
        while True:
            event = parser.next_event()
            if isinstance(event, h11.Data):
                self._chunks.append(bytes(event.data))
            elif isinstance(event, h11.Request):
                self._head = _head(event)
                if self._arriving is not None:
                    self._arriving(self._head)
                self._begin(now)
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                return
        surplus = parser.trailing_data[0]
        self._parser = None
        self._complete(self._whole_request(), now)
        self.receive(surplus, now)

    def _whole_request(self) -> Request:
        head = self._head
        assert head is not None  # noqa: S101 - its body was read
        return replace(head, body=b"".join(self._chunks)) if self._chunks else head

    def _refuse(self, status: int, now: float) -> None:
        head, _ = encode(Response(status, b"", (("connection", "close"),)))
        self.outbox.push(Segment(self._arrival(now), Signal.DATA, head))
        self._end(self._arrival(now), "fin")

    # Answering it

    def _complete(self, request: Request, now: float) -> None:
        if self._doom is not None:
            if self._doom.commits:
                self._received(request)
                self._handle(request, commit=True)
            return
        if self._plan.armed:
            # Here the last bytes of the request are on their way, and the hidden side says if they arrive.
            fault = self._plan.at(Point.DURING_REQUEST)
            if fault is not None:
                self._interrupt(fault, request, now)
                return
        self._received(request)
        if self._plan.armed:
            fault = self._plan.at(Point.BEFORE_COMMIT)
            if fault is not None and not self._goes_on(fault, request, now):
                return
        self._answer(request, now)

    def _interrupt(self, fault: Fault, request: Request, now: float) -> None:
        if fault.commits:
            self._received(request)
            self._handle(request, commit=True)
        self._fire(fault)
        self._gone = True
        action = fault.action.name
        if action == "silence":
            self.uplink = Uplink.STALLED
            return
        if action != "fin":
            self.uplink = Uplink.BROKEN
        self._play(answer_in_place(fault.action, request), request, now)
        if action == "status":
            self._end(self._arrival(now), "fin")

    def _goes_on(self, fault: Fault, request: Request, now: float) -> bool:
        """Let a fault act before the commit; return whether the request is still to be answered."""
        action = fault.action.name
        if action in _BY_THE_SERVICE:
            self._handler.disturb(fault.action, fault.operation)
            self._fire(fault)
            return True
        if action == "delay":
            self._fire(fault)
            at_s = now + fault.action.parameters["seconds"]
            self._timer(at_s, lambda: self._answer_late(request, at_s, commit=fault.commits))
            return False
        if fault.commits:
            self._handle(request, commit=True)
        self._fire(fault)
        self._play(answer_in_place(fault.action, request), request, now)
        return False

    def _answer_late(self, request: Request, at_s: float, *, commit: bool) -> None:
        # The call may be over by now, so its plan is not consulted.
        response = self._handle(request, commit=commit, at_s=at_s)
        if not self._left:
            self._write(response, request, at_s)

    def _answer(self, request: Request, now: float) -> None:
        if not self._plan.armed and self._hidden is None:
            self._write(self._handle(request, commit=True), request, now)
            return
        fault = self._plan.at(Point.AFTER_COMMIT, Point.IN_HEAD, Point.IN_BODY)
        commit = all(cause.commits for cause in (self._hidden, fault) if cause is not None)
        response = self._handle(request, commit=commit)
        script = broken(fault.point, fault.action, request, response) if fault else None
        ended_s: float | None = 0.0
        if fault is None or script is None:
            if fault is not None and not commit and (self._hidden is None or self._hidden.commits):
                # The fault cannot act on this answer, so the hidden side is not its business either.
                self._handle(request, commit=True)
            self._write(response, request, now)
        else:
            self._fire(fault)
            self._play(script, request, now)
            ended_s = script.whole_after_s
        closing = self._plan.at(Point.AFTER_RESPONSE)
        if closing is not None and ended_s is not None:
            self._fire(closing)
            self._end(self._arrival(now + ended_s), closing.action.name)

    def _received(self, request: Request) -> None:
        self._emit(
            "remote_received",
            id=request.correlation_id,
            operation=self._handler.operation_of(request.method, request.place),
            detail={
                "service": self._handler.name,
                "method": request.method,
                "path": request.path,
                "bytes": len(request.body),
            },
        )

    def _handle(self, request: Request, *, commit: bool, at_s: float | None = None) -> Response:
        try:
            response = self._handler.handle(request, commit=commit)
        except Exception as error:
            trouble = f"the fake service {self._handler.name!r} failed: {type(error).__name__}: {error}"
            raise HarnessError(trouble) from error
        if commit and response.committed:
            detail = {"service": self._handler.name} if at_s is None else {"service": self._handler.name, "at": at_s}
            self._emit("remote_committed", id=request.correlation_id, detail=detail)
        return response

    def _fire(self, fault: Fault) -> None:
        land(self._plan, self._emit, fault)
        if fault.action.name in ("silence", "delay") and fault.point in _HOLDING:
            seconds = fault.action.parameters.get("seconds")
            self._emit("response_write_delayed", id=self._plan.call_id, detail={"seconds": seconds})

    # Writing

    def _write(self, response: Response, request: Request, now: float) -> None:
        self._answered = True
        head, body = encode(response)
        self._last = head if request.method == "HEAD" else head + body
        self.outbox.push(Segment(self._arrival(now), Signal.DATA, self._last))
        self._responded(request, response.status, len(body))
        if request.headers.get("connection", "").lower() == "close":
            self._end(self._arrival(now), "fin")

    def _play(self, script: Script, request: Request, now: float) -> None:
        for step in script.steps:
            self.outbox.push(self._segment(step, now))
        if script.steps and script.steps[-1][1] is not Signal.DATA:
            self._gone = True
        if script.endless is not None:
            self.outbox.never_end(self._segment(step, now) for step in script.endless)
        if script.whole_after_s is None:
            return
        self._answered = True
        if script.whole_after_s == 0:
            self._responded(request, script.status, script.size)
        else:
            self._timer(now + script.whole_after_s, lambda: self._responded_late(request, script.status, script.size))

    def _segment(self, step: Step, now: float) -> Segment:
        after_s, signal, data = step
        return Segment(self._arrival(now + after_s), signal, data)

    def _arrival(self, now: float) -> float:
        return round(now + self._latency_s, 6)

    def _end(self, at_s: float, action: str) -> None:
        self._gone = True
        self._close(at_s, action)

    def _close(self, at_s: float, action: str) -> None:
        if action != "silence":
            self.outbox.push(Segment(at_s, Signal.RST if action == "rst" else Signal.FIN, b""))

    def _responded_late(self, request: Request, status: int, size: int) -> None:
        if not self._left:
            self._responded(request, status, size)

    def _responded(self, request: Request, status: int, size: int) -> None:
        self._emit("remote_responded", id=request.correlation_id, detail={"status": status, "bytes": size})


def _head(event: h11.Request) -> Request:
    path, _, query = event.target.decode("latin-1").partition("?")
    return Request(
        method=event.method.decode("ascii"),
        path=path,
        query=query,
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers},
        body=b"",
    )
