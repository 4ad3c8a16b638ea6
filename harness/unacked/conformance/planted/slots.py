"""Slots for steps, given to whoever waits with the highest priority, which grows with waiting."""

from __future__ import annotations

import asyncio
import heapq
import itertools

__all__ = ["Slots"]

_BOOST_S = 0.2
"""How much earlier a step seems to have come for each point of its priority."""


class Slots:
    """So many slots; ``batches`` and no ``ageing`` are faults."""

    def __init__(self, count: int, *, batches: bool, ageing: bool) -> None:
        self._free = self._count = count
        self._batches, self._ageing = batches, ageing
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._turns = itertools.count()

    async def acquire(self, priority: int, *, again: bool) -> None:
        """Wait for a slot; whoever comes ``again`` is no part of a batch."""
        if again and self._free:
            self._free -= 1
            return
        loop = asyncio.get_running_loop()
        came_s = loop.time() if self._ageing else 0.0
        turn: asyncio.Future[None] = loop.create_future()
        heapq.heappush(self._waiting, (came_s - priority * _BOOST_S, next(self._turns), turn))
        loop.call_soon(self._give)  # when all that come in this moment have come
        await turn

    def release(self) -> None:
        """Give a slot back."""
        self._free += 1
        asyncio.get_running_loop().call_soon(self._give)

    def _give(self) -> None:
        if self._batches and self._free < self._count:
            return
        while self._free and self._waiting:
            turn = heapq.heappop(self._waiting)[-1]
            if not turn.cancelled():
                self._free -= 1
                turn.set_result(None)
