"""A conversation with a model and its next reply, in the words of no provider."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from unacked.canonical import JSON, dumps

__all__ = [
    "Api",
    "ApiRefusedError",
    "Conversation",
    "Event",
    "Exchange",
    "Made",
    "Speech",
    "Stop",
    "asked",
    "batch",
    "seal",
    "server_sent",
]


class ApiRefusedError(Exception):
    """The request breaks a rule of the API, or asks for what is not there; ``word`` is the provider's error type."""

    def __init__(self, message: str, *, status: int = 400, word: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.word = word


@dataclass(frozen=True, slots=True)
class Made:
    """One call in a reply; ``arguments`` is JSON text, whole or cut."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One reply that held calls, and the texts of their results, in the order of the calls."""

    calls: Sequence[Made]
    results: Sequence[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything that one request says."""

    model: str
    task: str
    tools: Sequence[str]
    exchanges: Sequence[Exchange]
    stream: bool
    thinks: bool = False


class Stop(StrEnum):
    """Why the reply ends."""

    CALLS = "calls"
    ENDED = "ended"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    UNHEARD_OF = "unheard_of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """One reply; ``number`` counts the replies of the conversation, ``thought`` goes before everything else."""

    number: int
    served: str
    stop: Stop
    text: str = ""
    calls: Sequence[Made] = ()
    thought: str | None = None
    sent_tokens: int = 1
    written_tokens: int = 1
    counts: bool = True
    """Whether the reply says what it used."""


class Event(NamedTuple):
    """One event of a stream; the data may be a bare word."""

    name: str | None
    data: JSON


@dataclass(frozen=True, slots=True)
class Api:
    """One provider's API: its path, how a request is read, and how a reply and a refusal are written."""

    path: str
    read: Callable[[Mapping[str, Any]], Conversation]
    write: Callable[[Speech], dict[str, JSON]]
    events: Callable[[Speech], Sequence[Event]]
    refusal: Callable[[ApiRefusedError], JSON]
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that a request must have, and words that stand in their values."""


def server_sent(events: Iterable[Event]) -> bytes:
    """Return events as the bytes of a stream."""
    lines = []
    for name, data in events:
        if name is not None:
            lines.append(f"event: {name}\n")
        lines.append(f"data: {data if isinstance(data, str) else dumps(data)}\n\n")
    return "".join(lines).encode()


def asked(body: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return a member of a request; raises ApiRefusedError where it is missing or of another type."""
    value = body.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ApiRefusedError(f"{name}: expected {kind.__name__}")
    return value


def batch(calls: Sequence[Made], results: Sequence[tuple[str, str]]) -> Exchange:
    """Pair the calls of one reply with their results; every id is answered, and once."""
    ids = [name for name, _ in results]
    wanted = list(dict.fromkeys(call.id for call in calls))
    if sorted(ids) != sorted(wanted):
        raise ApiRefusedError(f"the calls {wanted} were answered by results of {ids}")
    return Exchange(calls, [dict(results)[name] for name in wanted])


def seal(thought: str) -> str:
    """Return the signature of a thought: a client that changes or forgets it is refused."""
    return hashlib.sha256(f"sealed:{thought}".encode()).hexdigest()[:32]
