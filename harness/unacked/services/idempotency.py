"""Idempotency keys: what a service does when it sees one again.

Each mode is a row of ``_RULES``. Three habits are common to all modes that honour a key, because the
providers that document theirs agree on them (Stripe, Square, AWS client tokens, the IETF draft on the
Idempotency-Key header):

*   a saved success is replayed and the effect is not repeated;
*   the same key with another payload is refused, whatever became of the first request;
*   what was refused before execution began (credentials, fields, rate limit) is not saved.

So ``replay_success``, ``reexecute`` and ``mismatch_error`` are one behaviour, seen from three sides: a
case names the side that it is about. A key counts per operation. The payload is what the caller asks
for, without the request id.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from unacked.clock import Clock
from unacked.contract import Idempotency

__all__ = ["IdempotencyStore", "Recall"]

Answer = TypeVar("Answer")


class Recall(Enum):
    """What a service must do with a request that carries a key, where there is nothing to replay."""

    EXECUTE = "execute"
    IN_FLIGHT = "in_flight"
    MISMATCH = "mismatch"


class _Rule(NamedTuple):
    """One mode: is a failed execution's answer saved, does a key wait while in flight, does it expire."""

    saves_failures: bool = False
    waits: bool = False
    expires: bool = False


_RULES: Mapping[Idempotency, _Rule | None] = {
    Idempotency.REPLAY_SUCCESS: _Rule(),
    Idempotency.REPLAY_ERROR: _Rule(saves_failures=True),
    Idempotency.REEXECUTE: _Rule(),
    Idempotency.CONFLICT_IN_FLIGHT: _Rule(waits=True),
    Idempotency.MISMATCH_ERROR: _Rule(),
    Idempotency.EXPIRES: _Rule(expires=True),
    Idempotency.IGNORED: None,
    Idempotency.NONE: None,
}


class _Seen(NamedTuple, Generic[Answer]):
    """The first request with a key; ``answer`` is None where its failure was not saved."""

    at_s: float
    payload: str
    answer: Answer | None


class IdempotencyStore(Generic[Answer]):
    """The keys that one service has seen in one trial.

    Ask ``recall`` before executing, tell ``save`` afterwards. Nothing is kept for operations whose mode
    does not honour keys.
    """

    __slots__ = ("_clock", "_in_flight_s", "_key_lifetime_s", "_modes", "_seen")

    def __init__(
        self,
        clock: Clock,
        modes: Mapping[str, Idempotency],
        *,
        in_flight_s: float,
        key_lifetime_s: float,
    ) -> None:
        self._clock = clock
        self._modes = modes
        self._in_flight_s = in_flight_s
        self._key_lifetime_s = key_lifetime_s
        self._seen: dict[tuple[str, str], _Seen[Answer]] = {}

    def honours(self, operation: str) -> bool:
        """Whether keys have an effect on ``operation``."""
        return self._rule(operation) is not None

    def recall(self, operation: str, key: str, payload: str) -> Answer | Recall:
        """Return the saved answer to replay, or what to do instead; ``payload`` is canonical text."""
        rule, seen = self._rule(operation), self._seen.get((operation, key))
        if rule is None or seen is None:
            return Recall.EXECUTE
        age_s = self._clock.now() - seen.at_s
        if rule.expires and age_s >= self._key_lifetime_s:
            return Recall.EXECUTE
        if seen.payload != payload:
            return Recall.MISMATCH
        if seen.answer is None:
            return Recall.EXECUTE
        if rule.waits and age_s < self._in_flight_s:
            return Recall.IN_FLIGHT
        return seen.answer

    def save(self, operation: str, key: str, payload: str, answer: Answer, *, succeeded: bool) -> None:
        """Keep the answer of an execution, as far as the mode of ``operation`` keeps it."""
        rule = self._rule(operation)
        if rule is not None:
            kept = answer if succeeded or rule.saves_failures else None
            self._seen[operation, key] = _Seen(self._clock.now(), payload, kept)

    def mark(self) -> Mapping[tuple[str, str], _Seen[Answer]]:
        """Return the present moment, for ``restore``."""
        return self._seen.copy()

    def restore(self, mark: Mapping[tuple[str, str], _Seen[Answer]]) -> None:
        """Forget everything since ``mark``."""
        self._seen = dict(mark)

    def _rule(self, operation: str) -> _Rule | None:
        return _RULES[self._modes.get(operation, Idempotency.NONE)]
