"""Faults as small values: a place on the wire, an action there, and a receipt that it landed.

A fault is (operation, nth call, point, action). Which actions exist, and at which points they make sense,
is the table ``ACTIONS``. A plan hands a fault to the wire when its moment comes and counts what fired;
a declared fault that never fired makes a trial inconclusive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from unacked.canonical import JSON, dumps
from unacked.errors import nearest

__all__ = [
    "ACTIONS",
    "ALIASES",
    "CHANGES",
    "KINDS",
    "PAGED",
    "REMOTE_ACTIONS",
    "SPOKEN",
    "Action",
    "ActionKind",
    "Fault",
    "FaultPlan",
    "Point",
]


class Point(StrEnum):
    """Where on the way of one request a fault acts, in the order of that way."""

    AS_SAID = "as_said"
    DNS = "dns"
    BEFORE_CONNECT = "before_connect"
    TLS = "tls"
    REUSE = "reuse"
    AFTER_ACCEPT = "after_accept"
    DURING_REQUEST = "during_request"
    BEFORE_COMMIT = "before_commit"
    AFTER_COMMIT = "after_commit"
    IN_HEAD = "in_head"
    IN_BODY = "in_body"
    AFTER_RESPONSE = "after_response"


NOTHING_SENT = frozenset({Point.AS_SAID, Point.DNS, Point.BEFORE_CONNECT, Point.TLS})
"""Points before any byte of the request has left; nothing can have been committed."""

PAGED = frozenset(Point) - NOTHING_SENT - {Point.AFTER_ACCEPT}
"""Points at which the requests of one call are told apart."""

_ANSWERING = frozenset({Point.AFTER_COMMIT, Point.IN_HEAD, Point.IN_BODY, Point.AFTER_RESPONSE})
_ONE_ANSWER = frozenset({Point.AFTER_COMMIT, Point.IN_HEAD, Point.IN_BODY})
"""Points of which only one can act on an answer: each decides how the whole of it is sent."""
_HEAD, _BODY = frozenset({Point.IN_HEAD}), frozenset({Point.IN_BODY})
_BEFORE_COMMIT = frozenset({Point.BEFORE_COMMIT})
_AROUND_COMMIT = frozenset({Point.BEFORE_COMMIT, Point.AFTER_COMMIT})
_CLOSING = frozenset(Point) - NOTHING_SENT
_NOT_A_REFUSAL = frozenset({408, 409, 412})


@dataclass(frozen=True, slots=True)
class ActionKind:
    """One row of the table of actions.

    ``points`` is where the action applies. ``parameters`` maps each parameter to its default (None:
    required); the first one may be written as the bare value. ``choices`` lists the words that a
    parameter may have. ``ambiguous`` says that the caller cannot tell from it whether the effect
    happened, so that a twin exists. ``handled`` says that the request is still carried out, whatever
    the point.
    """

    name: str
    points: frozenset[Point]
    doc: str
    parameters: Mapping[str, JSON]
    choices: Mapping[str, Sequence[str]]
    ambiguous: bool
    handled: bool


def _kind(
    name: str,
    points: Iterable[Point],
    doc: str,
    parameters: Mapping[str, JSON] | None = None,
    *,
    kinds: Sequence[str] = (),
    ambiguous: bool = True,
    handled: bool = False,
) -> ActionKind:
    filled = {**({"kind": kinds[0]} if kinds else {}), **(parameters or {})}
    choices = {"kind": tuple(kinds)} if kinds else {}
    return ActionKind(
        name, frozenset(points), doc, MappingProxyType(filled), MappingProxyType(choices), ambiguous, handled
    )


_KINDS = (
    _kind("fail", {Point.DNS, Point.TLS}, "the name does not resolve; the certificate is not trusted", ambiguous=False),
    _kind("refuse", {Point.BEFORE_CONNECT}, "the connection is refused", ambiguous=False),
    _kind("fin", _CLOSING | {Point.TLS}, "the peer closes the connection in order"),
    _kind("rst", _CLOSING | {Point.TLS}, "the peer resets the connection"),
    _kind(
        "silence",
        frozenset(Point) - {Point.AS_SAID, Point.AFTER_RESPONSE},
        "no byte comes any more, the connection stays open",
    ),
    _kind(
        "delay",
        _AROUND_COMMIT | _HEAD | _BODY,
        "the rest comes later; before the commit the effect itself comes later",
        {"seconds": None},
        handled=True,
    ),
    _kind("drip", _BODY, "one byte at a time", {"seconds": 0.4}),
    _kind("cut", _HEAD | _BODY, "only the first bytes come, then the peer closes", {"bytes": None}),
    _kind("garbage", _HEAD | _BODY, "bytes that are not HTTP, or a body that is not JSON"),
    _kind("http09", _HEAD, "the bare body without a head, then the peer closes"),
    _kind("huge_head", _HEAD, "a header field of 200,000 bytes"),
    _kind("unsolicited_101", _HEAD, "a switch of protocols that nobody asked for"),
    _kind("interim_forever", _HEAD, "interim 102 answers without end", {"seconds": 0.4}),
    _kind(
        "wrong_framing",
        _HEAD | _BODY,
        "a framing that contradicts the body",
        kinds=(
            "bad_length",
            "conflicting_length",
            "short_length",
            "surplus",
            "eof_delimited",
            "bad_chunk",
            "cut_chunk",
        ),
    ),
    _kind("gzip", _BODY, "a compressed body that is broken", kinds=("corrupt", "truncated", "second_member")),
    _kind("replace", _BODY, "one field of the answer has another value", {"field": None, "value": None}),
    _kind("remove", _BODY, "one field of the answer is missing", {"field": None}),
    _kind(
        "body",
        _BODY,
        "another body; `$correlation_id` in it stands for the id that the answer echoes",
        {"text": None, "content_type": "application/json"},
    ),
    _kind("html", _BODY, "a sign-in page with status 200 in place of the answer"),
    _kind("duplicate_keys", _BODY, "one key twice, the second time with another value"),
    _kind("nan", _BODY, "a number that JSON does not have"),
    _kind("invalid_utf8", _BODY, "bytes that are not UTF-8 inside a string"),
    _kind("stale_response", {Point.REUSE}, "the answer to an earlier request comes first", handled=True),
    _kind("eager_response", {Point.REUSE}, "an answer comes before the request was read", handled=True),
    _kind(
        "status",
        _AROUND_COMMIT | {Point.DURING_REQUEST},
        "another status; `$credential` in its body stands for the credential that the request carried",
        {"code": None, "headers": {}, "body": {}},
    ),
    _kind(
        "accept",
        {Point.AFTER_COMMIT},
        "202 in place of done: the answer holds the identity and leaves open what became of the effect",
        handled=True,
    ),
    _kind("redirect", _AROUND_COMMIT, "307 to the same place", {"code": 307}),
    _kind("rate_limit", _BEFORE_COMMIT, "429", {"retry_after_s": None}, ambiguous=False),
    _kind("expire_credential", _BEFORE_COMMIT, "the credential expires at this call", ambiguous=False),
    _kind("revoke_credential", _BEFORE_COMMIT, "the credential is revoked at this call", ambiguous=False),
    _kind("never_valid", _BEFORE_COMMIT, "the service has never known the credential", ambiguous=False),
    _kind(
        "deny",
        _BEFORE_COMMIT,
        "this identity loses the permission at this call; hidden: 404 in place of 403",
        {"hidden": False},
        ambiguous=False,
    ),
    _kind(
        "failure",
        _BEFORE_COMMIT,
        "the service's own execution fails with this status, without an effect; an idempotency key may keep it",
        {"status": 500, "headers": {}, "body": {"error": "failed"}},
        ambiguous=False,
    ),
)

ACTIONS: Mapping[str, ActionKind] = {kind.name: kind for kind in _KINDS}
"""Every action on the wire, or on the rules of any service, by name."""

CHANGES: Mapping[str, ActionKind] = {
    kind.name: kind
    for kind in (
        _kind("insert", _BEFORE_COMMIT, "somebody adds an object meanwhile", {"row": None}, ambiguous=False),
        _kind("delete", _BEFORE_COMMIT, "somebody removes an object meanwhile", {"id": None}, ambiguous=False),
        _kind(
            "touch", _BEFORE_COMMIT, "somebody changes fields of an object", {"id": None, "set": {}}, ambiguous=False
        ),
        _kind("reorder", _BEFORE_COMMIT, "the order of the objects turns round", ambiguous=False),
        _kind("cursor_expired", _BEFORE_COMMIT, "every snapshot behind a cursor is gone", ambiguous=False),
        _kind("shard_down", _BEFORE_COMMIT, "one source does not answer any more", {"shard": None}, ambiguous=False),
        _kind(
            "permission_removed",
            _BEFORE_COMMIT,
            "this identity may not see the objects of one shard any more; every cursor dies",
            {"shard": None},
            ambiguous=False,
        ),
        _kind("redeliver", _BEFORE_COMMIT, "an event comes again, acknowledged or not", {"id": None}, ambiguous=False),
    )
}
"""Changes of the world while somebody looks at it, for the services that have them."""

REMOTE_ACTIONS: Mapping[str, ActionKind] = {
    kind.name: kind
    for kind in (
        _kind(
            "exit",
            _AROUND_COMMIT,
            "a command on a host ends by this exit status: before the commit with nothing done, after it with so many "
            "of its parts done (0: all)",
            {"exit_status": None, "parts": 0},
        ),
        _kind("kill", _AROUND_COMMIT, "a command on a host is killed by a signal", kinds=("KILL", "TERM")),
        _kind("no_marker", _BEFORE_COMMIT, "the host cannot write the start marker", ambiguous=False),
    )
}
"""What only a command on a host can meet, by name; what else it can is ``REMOTE_FAULTS`` of the wire."""

LOOKUP_ACTIONS: Mapping[str, ActionKind] = {
    kind.name: kind
    for kind in (
        _kind(
            "index_behind",
            _BEFORE_COMMIT,
            "the index behind a lookup has not caught up: it finds nothing, and says that it has not seen everything",
            ambiguous=False,
        ),
    )
}
"""What only a lookup can meet, by name."""

SPOKEN: Mapping[str, ActionKind] = {
    kind.name: kind
    for kind in (
        _kind(
            "cut_arguments",
            {Point.AS_SAID},
            "the arguments of the agent's call end after so many characters of their JSON: no tool gets them",
            {"characters": None},
            ambiguous=False,
        ),
    )
}
"""What can happen to a call before any tool gets it: on its way from the model."""

KINDS: Mapping[str, ActionKind] = {**ACTIONS, **CHANGES, **REMOTE_ACTIONS, **LOOKUP_ACTIONS, **SPOKEN}
"""Every action that a case may name."""


@dataclass(frozen=True, slots=True)
class Action:
    """What happens at the point: a name of ``ACTIONS`` and its parameters, all of them filled in."""

    name: str
    parameters: Mapping[str, JSON] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, value: JSON) -> Self:
        """Read ``silence``, ``{delay: 60}`` or ``{status: {code: 500}}``; raises ValueError with a hint."""
        given: JSON = {}
        if isinstance(value, str):
            name = value
        elif isinstance(value, dict) and len(value) == 1:
            name, given = next(iter(value.items()))
        else:
            raise ValueError("an action is a word, or one word with its parameters: {delay: 60}")
        kind = KINDS.get(name)
        if kind is None:
            raise ValueError(f"unknown action {name!r}; {nearest(name, KINDS)}")
        if not isinstance(given, dict):
            if not kind.parameters:
                raise ValueError(f"action {name!r} takes no parameter")
            given = {next(iter(kind.parameters)): given}
        for parameter in given:
            if parameter not in kind.parameters:
                raise ValueError(
                    f"action {name!r} has no parameter {parameter!r}; {nearest(parameter, kind.parameters)}"
                )
        filled = {**kind.parameters, **given}
        missing = [key for key, item in kind.parameters.items() if item is None and key not in given]
        if missing:
            raise ValueError(f"action {name!r} needs {', '.join(missing)}")
        for parameter, item in filled.items():
            _check(kind, parameter, item)
        return cls(name, MappingProxyType(filled))

    def __str__(self) -> str:
        return f"{self.name} {dumps(dict(self.parameters))}" if self.parameters else self.name


def _check(kind: ActionKind, parameter: str, value: JSON) -> None:
    """Raise ValueError where a parameter's value makes no sense."""
    if parameter in kind.choices and value not in kind.choices[parameter]:
        raise ValueError(
            f"action {kind.name!r}: unknown {parameter} {value!r}; {nearest(str(value), kind.choices[parameter])}"
        )
    makes_sense, expected = _SENSE.get(parameter, (_anything, ""))
    if not makes_sense(value):
        raise ValueError(f"action {kind.name!r}: {parameter} is {expected}, not {value!r}")


def _anything(_: JSON) -> bool:
    return True


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: JSON) -> bool:
    return isinstance(value, str)


_SENSE: Mapping[str, tuple[Callable[[JSON], bool], str]] = {
    "seconds": (lambda value: _is_number(value) and value >= 0.001, "a number of seconds of at least 0.001"),
    "retry_after_s": (lambda value: _is_number(value) and value >= 0, "a number of seconds"),
    "bytes": (lambda value: type(value) is int and value >= 0, "a whole number of bytes"),
    "characters": (lambda value: type(value) is int and value >= 0, "a whole number of characters"),
    "code": (lambda value: type(value) is int and 200 <= value <= 599, "an HTTP status from 200 to 599"),
    "status": (lambda value: type(value) is int and 400 <= value <= 599, "an HTTP status from 400 to 599"),
    "headers": (lambda value: isinstance(value, Mapping), "an object of header names and values"),
    "row": (lambda value: isinstance(value, Mapping), "an object as the seed has it"),
    "set": (lambda value: isinstance(value, Mapping), "an object of fields and values"),
    "id": (_is_text, "an object's id"),
    "shard": (_is_text, "the name of a shard"),
    "exit_status": (lambda value: type(value) is int and 1 <= value <= 255, "an exit status from 1 to 255"),
    "parts": (lambda value: type(value) is int and value >= 0, "a whole number of parts"),
    "hidden": (lambda value: isinstance(value, bool), "true or false"),
    "field": (_is_text, "a field's name, or a way to it: items.0.id"),
    "text": (_is_text, "a text"),
    "content_type": (_is_text, "a media type"),
}


ALIASES: Mapping[str, tuple[Point, JSON]] = {
    "timeout_after_commit": (Point.AFTER_COMMIT, "silence"),
    "timeout_before_commit": (Point.BEFORE_COMMIT, "silence"),
    "response_lost": (Point.AFTER_COMMIT, "fin"),
    "rate_limited": (Point.BEFORE_COMMIT, {"rate_limit": 30}),
    "permission_denied": (Point.BEFORE_COMMIT, "deny"),
    "malformed_response": (Point.IN_BODY, "garbage"),
    "missing_field": (Point.IN_BODY, {"remove": "correlation_id"}),
    "empty_result": (Point.IN_BODY, {"body": "{}"}),
}
"""Words that users know from other tools, and the fault each of them means."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One planned fault.

    ``nth`` is 1-based and counts the agent's calls of the operation, and what a tool sends again by itself after
    it has refreshed its token.
    ``committed`` is the hidden side: whether the service makes the change although the caller cannot
    know. ``persistent`` lets it fire at the nth call and at every later one. ``page`` (1-based) lets it act at
    that request of a call which makes several, and at no other.
    """

    operation: str
    point: Point
    action: Action
    nth: int = 1
    committed: bool | None = None
    persistent: bool = False
    page: int | None = None

    @property
    def commits(self) -> bool:
        """Whether the effect happens remotely; follows from the point and the action unless it was said."""
        if self.committed is not None:
            return self.committed
        return self.point in _ANSWERING or KINDS[self.action.name].handled

    @property
    def ambiguous(self) -> bool:
        """Whether the caller cannot tell from this fault if the effect happened."""
        if self.action.name == "status":
            code: int = self.action.parameters["code"]
            return not 400 <= code < 500 or code in _NOT_A_REFUSAL
        return KINDS[self.action.name].ambiguous and self.point not in (*NOTHING_SENT, Point.AFTER_RESPONSE)

    def hides(self, other: Fault) -> bool:
        """Whether ``other``, listed later, can never fire: this one acts at its call, and there in its place."""
        if self.operation != other.operation:
            return False
        same_call = self.nth == other.nth or (self.persistent and self.nth < other.nth)
        same_answer = self.point in _ONE_ANSWER and other.point in _ONE_ANSWER
        return same_call and (self.point is other.point or same_answer or self.point in NOTHING_SENT)

    def twin(self) -> Fault:
        """Return the same fault with the hidden side flipped; to the agent the two are identical."""
        swapped = {Point.BEFORE_COMMIT: Point.AFTER_COMMIT, Point.AFTER_COMMIT: Point.BEFORE_COMMIT}
        if self.committed is None and self.point in swapped and not KINDS[self.action.name].handled:
            return replace(self, point=swapped[self.point])
        return replace(self, committed=not self.commits)

    def __str__(self) -> str:
        page = "" if self.page is None else f" page {self.page}"
        return f"{self.operation}#{self.nth}{page} {self.point.value} {self.action}"


class FaultPlan:
    """Hands out the faults of one trial at their moment, each once unless persistent, and keeps count."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = tuple(faults)
        self._calls: Counter[str] = Counter()
        self._fired: set[int] = set()
        self._armed: tuple[Fault, ...] = ()
        self._operation = ""
        self._page = 0
        self.call_id: str | None = None

    def begin_call(self, operation: str, call_id: str) -> None:
        """Note that the agent's next call of ``operation`` begins; its faults are armed."""
        self._calls[operation] += 1
        self._operation, self._page, self.call_id = operation, 0, call_id
        if self._faults:
            self._armed = tuple(fault for fault in self._faults if _due(fault, operation, self._calls[operation]))

    def begin_page(self) -> None:
        """Note that one more request of the current call begins."""
        self._page += 1

    @property
    def nth(self) -> int:
        """Which call of its operation the current call is, 1-based; 0 where there is none."""
        return self._calls[self._operation] if self._operation else 0

    def end_call(self) -> None:
        """Note that the call is over; nothing is armed any more."""
        self._armed = ()
        self._operation, self.call_id = "", None

    @contextmanager
    def aside(self, operation: str, call_id: str) -> Iterator[None]:
        """Let a tool make a further request within its call: for so long that request's own faults are armed."""
        held = self._armed, self._operation, self._page, self.call_id
        self.begin_call(operation, call_id)
        try:
            yield
        finally:
            self._armed, self._operation, self._page, self.call_id = held

    def on_the_way(self, operation: str) -> Fault | None:
        """Return the fault that acts on the agent's next call of ``operation`` before any tool gets it."""
        nth = self._calls[operation] + 1
        spoken = (fault for fault in self._faults if fault.point is Point.AS_SAID)
        return next((fault for fault in spoken if _due(fault, operation, nth)), None)

    @property
    def armed(self) -> Sequence[Fault]:
        """The faults of the current call that may still act in it."""
        return self._armed

    def at(self, *points: Point) -> Fault | None:
        """Return the armed fault at one of ``points``, if there is one; it stays armed until ``fire``."""
        for fault in self._armed:
            if fault.point in points and fault.page in (None, self._page):
                return fault
        return None

    def fire(self, fault: Fault) -> None:
        """Note that ``fault`` has acted; it fires once a call, a persistent one at each request of it."""
        self._fired.add(id(fault))
        if not fault.persistent:
            self._armed = tuple(armed for armed in self._armed if armed is not fault)

    @property
    def unfired(self) -> Sequence[Fault]:
        """The declared faults that have not fired so far."""
        return tuple(fault for fault in self._faults if id(fault) not in self._fired)


def _due(fault: Fault, operation: str, nth: int) -> bool:
    """Whether a fault is for this call."""
    if fault.operation != operation:
        return False
    return nth >= fault.nth if fault.persistent else nth == fault.nth
