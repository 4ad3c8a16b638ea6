"""What really happened at a service, whatever the caller was told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from unacked.clock import Clock
from unacked.wire.message import Request

__all__ = ["Entry", "Ledger", "Moment"]


class Moment(StrEnum):
    """The three moments of a request at the service, in their order."""

    RECEIVED = "received"
    MUTATION_COMMITTED = "mutation_committed"
    RESPONDED = "responded"


class Entry(NamedTuple):
    """One line of the ledger; it can never be changed.

    ``time`` is virtual, in seconds. ``operation`` is None where no route matched. ``key_digest`` holds
    the first 16 hexadecimal digits of the SHA-256 of the idempotency key; ``request_id`` is the
    X-Request-Id header. ``status`` stands at ``responded`` only: the service's own answer, which a
    wire may still lose.
    """

    time: float
    moment: Moment
    correlation_id: str | None
    operation: str | None
    request_id: str | None
    key_digest: str | None
    status: int | None = None


class Ledger:
    """The entries of one service in one trial, in order; only ever appended to."""

    __slots__ = ("_clock", "_entries")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: list[Entry] = []

    def receive(self, request: Request, operation: str | None) -> Entry:
        """Note that a whole request has come in; the entry identifies it at the later moments."""
        headers = request.headers
        key = headers.get("idempotency-key")
        entry = Entry(
            self._clock.now(),
            Moment.RECEIVED,
            headers.get("x-correlation-id"),
            operation,
            headers.get("x-request-id"),
            None if key is None else hashlib.sha256(key.encode()).hexdigest()[:16],
        )
        self._entries.append(entry)
        return entry

    def commit(self, received: Entry) -> None:
        """Note that the request's change is durable."""
        self._entries.append(received._replace(time=self._clock.now(), moment=Moment.MUTATION_COMMITTED))

    def respond(self, received: Entry, status: int) -> None:
        """Note that the service has answered."""
        self._entries.append(received._replace(time=self._clock.now(), moment=Moment.RESPONDED, status=status))

    def of(self, correlation_id: str) -> tuple[Entry, ...]:
        """Return the entries of one correlation id, in order."""
        return tuple(entry for entry in self._entries if entry.correlation_id == correlation_id)

    def committed(self, correlation_id: str) -> bool:
        """Whether a request with this correlation id changed durable state."""
        return any(entry.moment is Moment.MUTATION_COMMITTED for entry in self.of(correlation_id))

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
