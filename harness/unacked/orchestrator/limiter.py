"""A limit that many share fairly: so many at once, so many a second, and each sharer in turn.

``Gate`` is the rule, pure and told the time; ``Limiter`` lets coroutines wait for it on their loop's time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

__all__ = ["Gate", "Limiter"]

T = TypeVar("T")

_NEXT_TO_NOTHING = 1e-9
"""What a sum of floats may lack; to wait for it would be to wait for ever."""


class Gate(Generic[T]):
    """Lets items through: ``at_once`` until released, ``per_s`` a second on average, ``burst`` without a pause.

    Items of one sharer keep their order; sharers take turns, however many items each of them has.
    """

    def __init__(self, *, at_once: int | None = None, per_s: float | None = None, burst: int = 1) -> None:
        if (at_once is not None and at_once < 1) or (per_s is not None and per_s <= 0) or burst < 1:
            raise ValueError(f"at_once={at_once!r}, per_s={per_s!r}, burst={burst!r}: expected numbers above 0")
        self._at_once, self._per_s, self._burst = at_once, per_s, burst
        self._tokens, self._counted_s = float(burst), 0.0
        self._queues: dict[str, deque[T]] = {}
        self._inside = 0

    def enqueue(self, sharer: str, item: T) -> None:
        """Let an item wait behind the others of its sharer."""
        self._queues.setdefault(sharer, deque()).append(item)

    def take(self, now_s: float) -> T | None:
        """Let the next item in, None where nobody waits or nobody may; ``release`` lets it out."""
        if self.wait_s(now_s) != 0:
            return None
        sharer = next(iter(self._queues))
        queue = self._queues.pop(sharer)
        item = queue.popleft()
        if queue:
            self._queues[sharer] = queue  # behind all others
        self._inside += 1
        self._tokens -= 1
        return item

    def wait_s(self, now_s: float) -> float | None:
        """Return how long nobody may go in for want of time, None where nobody waits or somebody has to come out."""
        if not self._queues or (self._at_once is not None and self._inside >= self._at_once):
            return None
        if self._per_s is None:
            return 0.0
        if now_s > self._counted_s:
            self._tokens = min(float(self._burst), self._tokens + (now_s - self._counted_s) * self._per_s)
            self._counted_s = now_s
        lacking = 1 - self._tokens
        return 0.0 if lacking < _NEXT_TO_NOTHING else lacking / self._per_s

    def release(self) -> None:
        """Let one item out."""
        self._inside -= 1


class Limiter:
    """A gate that coroutines wait at; whoever is cancelled while waiting, or inside, frees the place."""

    def __init__(self, *, at_once: int | None = None, per_s: float | None = None, burst: int = 1) -> None:
        self._gate: Gate[asyncio.Future[None]] = Gate(at_once=at_once, per_s=per_s, burst=burst)
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def slot(self, sharer: str) -> AsyncIterator[None]:
        """Hold a place for the length of the block; waits for it in turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._gate.enqueue(sharer, turn)
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        self._gate.release()
        self._serve()

    def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while (turn := self._gate.take(loop.time())) is not None:
            if turn.cancelled():
                self._gate.release()
            else:
                turn.set_result(None)
        wait_s = self._gate.wait_s(loop.time())
        if wait_s and self._timer is None:
            self._timer = loop.call_later(wait_s, self._serve_later)

    def _serve_later(self) -> None:
        self._timer = None
        self._serve()
