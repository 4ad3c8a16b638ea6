"""Events: what happened in a trial, in order; the only thing a claim ever sees.

A ``History`` is frozen. Claims are functions of (case, history), so yesterday's run can be judged again
without running anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

from unacked.canonical import JSON
from unacked.errors import RecordError

__all__ = ["EVENTS", "Emit", "Event", "History", "call_of"]

EVENTS: Mapping[str, str] = {
    "trial_begin": "the trial's pins, seed and task",
    "signed_in": "the tools used their credential once before the task began, and the service accepted it",
    "member_begin": "a member of a team starts on its part: its agent, its tools, its task with what was handed over",
    "member_end": "how a member's part ended; skipped where a compensation was not needed",
    "agent_next_call": "the agent asks for a call: operation, arguments, turn",
    "agent_message": "the agent wrote text instead of a call",
    "agent_erred": "what the model got wrong: an unknown tool, unreadable arguments, a truncated reply",
    "model_called": "one attempt of a request to the agent's model: its digest, and what was added to the last one",
    "model_answered": "the model's reply as it came, who served it, what it used and cost",
    "model_retried": "the provider failed for now; the same request is sent again after a wait",
    "model_failed": "the provider failed for good, which is not the agent's doing",
    "provider_seen": "what a fake provider counted: the requests that came, and its faults that never acted",
    "request_constructed": "the tool has built the request; nothing has left yet",
    "gate_asked": "the tool asks the gate whether it may send, under an id of its own",
    "dispatch_started": "the tool hands the request to its client",
    "remote_received": "the service has the whole request",
    "remote_committed": "the service has made the change durable",
    "remote_started": "a command's start marker is durable; nothing has been changed yet",
    "remote_ended": "the command has ended: by its exit status, which its completion marker holds, or by a signal",
    "response_write_delayed": "the service holds its answer back",
    "remote_responded": "the service has written its whole answer",
    "fault_fired": "the receipt of a fault: it really landed",
    "client_timeout": "the tool's own deadline passed",
    "token_refreshed": "the tool asked for a new access token within a call; the category says what came of it",
    "reconciliation_attempted": "a lookup of an effect whose outcome was not known",
    "gate_answered": "what the gate said: the approval and what it covers, or the code of its refusal",
    "approval_requested": "a person is asked",
    "approval_decided": "the person's decision, or that nobody answered",
    "result": "the result as the agent sees it",
    "handed_over": "what a member tells those who come after it: all that they learn of its work",
    "agent_finished": "the agent's final claim",
    "trial_end": "why the trial ended, and the remote state at that moment",
}
"""Every event name and what it means."""


class Event(NamedTuple):
    """One line of the record.

    ``time`` is virtual, in seconds since the trial began. ``id`` is the correlation id of the call that
    the event belongs to. ``detail`` holds what only this kind of event has. ``actor`` is the member of a team
    at whose turn it happened; None where one agent works alone.
    """

    time: float
    event: str
    id: str | None = None
    operation: str | None = None
    target_class: str | None = None
    category: str | None = None
    diagnostics_ref: str | None = None
    detail: Mapping[str, JSON] = MappingProxyType({})
    actor: str | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the event as a JSON object; members that are absent are left out."""
        value: dict[str, JSON] = {"time": self.time, "event": self.event}
        if self.id is not None:
            value["id"] = self.id
        if self.operation is not None:
            value["operation"] = self.operation
        if self.target_class is not None:
            value["target_class"] = self.target_class
        if self.category is not None:
            value["category"] = self.category
        if self.diagnostics_ref is not None:
            value["diagnostics_ref"] = self.diagnostics_ref
        if self.detail:
            value["detail"] = self.detail
        if self.actor is not None:
            value["actor"] = self.actor
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, JSON]) -> Event:
        """Read an event back; raises RecordError on an unknown event and on a member that makes no sense."""
        name = value.get("event")
        if type(name) is not str or name not in EVENTS:
            raise RecordError(f"unknown event {name!r}; this record was written by another version")
        time, detail = value.get("time"), value.get("detail", {})
        if type(time) is not float and type(time) is not int:  # a bool is neither
            raise RecordError(f"event {name!r} has no time")
        if type(detail) is not dict:
            raise RecordError(f"the detail of event {name!r} is not an object")
        words = [*map(value.get, _WORDS)]
        if not _TEXT_OR_ABSENT.issuperset(map(type, words)):
            word = next(word for word in _WORDS if type(value.get(word)) not in _TEXT_OR_ABSENT)
            raise RecordError(f"the {word} of event {name!r} is not a text")
        correlation_id, operation, target_class, category, reference, actor = words
        members = (time, name, correlation_id, operation, target_class, category, reference, detail, actor)
        return tuple.__new__(cls, members)  # a million times: ``cls(*members)`` takes twice as long


_WORDS = ("id", "operation", "target_class", "category", "diagnostics_ref", "actor")
_TEXT_OR_ABSENT = frozenset({str, type(None)})


def call_of(correlation_id: str) -> str:
    """Return the id of the call for which a request was made.

    The call's own request bears the call's id; any other one that the tool makes for it, such as the refresh of
    a token, bears that id and a word of its own: ``cid-1.refresh``.
    """
    return correlation_id.partition(".")[0]


class Emit(Protocol):
    """How tools, wires and agents put an event on the record; time and trial are added by the recorder."""

    def __call__(
        self,
        event: str,
        *,
        id: str | None = None,  # noqa: A002 - the field's name in the record
        operation: str | None = None,
        category: str | None = None,
        diagnostics_ref: str | None = None,
        detail: Mapping[str, JSON] | None = None,
    ) -> None:
        """Record ``event``, which must be a name of ``EVENTS``."""
        ...


class History(Sequence[Event]):
    """The ordered, immutable view of one trial's events."""

    __slots__ = ("_by_name", "_events")

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = tuple(events)
        self._by_name: dict[str, list[Event]] = {}
        for event in self._events:
            self._by_name.setdefault(event.event, []).append(event)

    def __getitem__(self, index: int) -> Event:  # type: ignore[override]
        return self._events[index]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def named(self, name: str, *others: str) -> Iterator[Event]:
        """Yield the events of the given names, in order."""
        if not others:
            return iter(self._by_name.get(name, ()))
        return (event for event in self._events if event.event == name or event.event in others)

    def of(self, correlation_id: str) -> list[Event]:
        """Return the events that carry a correlation id, in order."""
        return [event for event in self._events if event.id == correlation_id]
