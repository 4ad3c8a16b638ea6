"""Time as a value that somebody advances: nothing in a trial reads a real clock, except on real sockets."""

from __future__ import annotations

import math
import time
from typing import Protocol

__all__ = ["Clock", "MonotonicClock", "VirtualClock"]


class Clock(Protocol):
    """What tools, wires and agents may know about time: seconds since the trial began."""

    def now(self) -> float:
        """Seconds since the trial began."""
        ...


class VirtualClock:
    """Seconds since the trial began, kept in whole microseconds so that sums never drift."""

    __slots__ = ("_microseconds",)

    def __init__(self) -> None:
        self._microseconds = 0

    def now(self) -> float:
        """Seconds since the trial began."""
        return self._microseconds / 1_000_000

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass; raises ValueError if time would run backwards, or for ever."""
        if not 0 <= seconds < math.inf:
            raise ValueError(f"cannot advance by {seconds!r} s: expected a finite number of seconds, 0 or more")
        self._microseconds += round(seconds * 1_000_000)

    def advance_to(self, at_s: float) -> None:
        """Let time pass until ``at_s``; does nothing where that moment is already past."""
        self._microseconds = max(self._microseconds, round(at_s * 1_000_000))


class MonotonicClock:
    """Real seconds since this clock was made, for services on real sockets; it never runs backwards."""

    __slots__ = ("_began_s",)

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def now(self) -> float:
        """Seconds since the clock was made, in whole microseconds."""
        return round(time.monotonic() - self._began_s, 6)
