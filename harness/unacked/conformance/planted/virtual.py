"""An event loop on which nothing waits: where all have gone to sleep, the clock moves to the next moment."""

from __future__ import annotations

import asyncio
from typing import Any

from unacked.errors import HarnessError

__all__ = ["VirtualLoop"]

_TICK_S = 0.000001


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop without sockets and threads; its time begins at 0."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self  # what BaseEventLoop asks for events; see ``select``
        self._now_s = 0.0

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._now_s

    def select(self, timeout: float | None) -> list[Any]:
        """Let time pass; raises HarnessError where nothing would ever happen again."""
        if timeout is None:
            raise HarnessError("everybody waits, and nothing will ever come")
        if timeout > 0:
            self._now_s += max(timeout, _TICK_S)
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        """Do nothing: there are no sockets."""

    def _write_to_self(self) -> None:
        """Do nothing: there are no other threads."""
