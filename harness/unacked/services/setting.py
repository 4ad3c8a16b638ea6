"""What one trial gives to its fake services: time, a credential, idempotency modes and ids."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from unacked.clock import Clock
from unacked.contract import Idempotency
from unacked.secret import mint

__all__ = ["Ids", "Setting"]


class Ids:
    """Hands out ids that are the same in every run of the same trial: ``rec-1``, ``rec-2``."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: Counter[str] = Counter()

    def new(self, prefix: str, taken: Container[str] = ()) -> str:
        """Return the next id of ``prefix`` that is not in ``taken``, where a seed may have put its own."""
        while True:
            self._last[prefix] += 1
            candidate = f"{prefix}-{self._last[prefix]}"
            if candidate not in taken:
                return candidate

    def mark(self) -> Mapping[str, int]:
        """Return the present moment, for ``restore``."""
        return self._last.copy()

    def restore(self, mark: Mapping[str, int]) -> None:
        """Forget every id handed out since ``mark``."""
        self._last = Counter(mark)


def _at_random() -> str:
    return mint("issued", secrets.token_hex(16))


@dataclass(frozen=True, slots=True)
class Setting:
    """The surroundings of a service in one trial.

    ``token`` is the valid credential. ``idempotency`` maps an operation to what the service does with
    keys; an operation that is not named takes none. In the mode ``conflict_in_flight`` a request is in
    flight for ``in_flight_s``; in the mode ``expires`` a key lives for ``key_lifetime_s``; both in
    virtual seconds since the first request with that key. ``mint`` makes every further credential, so that
    whoever looks for leaks knows it.
    """

    clock: Clock
    token: str
    idempotency: Mapping[str, Idempotency] = field(default_factory=dict)
    ids: Ids = field(default_factory=Ids)
    in_flight_s: float = 30.0
    key_lifetime_s: float = 60.0
    mint: Callable[[], str] = _at_random
