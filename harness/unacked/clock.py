"""Time as a value that somebody advances: nothing in a trial reads the wall clock."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Clock", "VirtualClock"]


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
        """Let ``seconds`` pass; raises ValueError if time would run backwards."""
        if seconds < 0:
            raise ValueError(f"cannot advance by {seconds!r} s: time does not run backwards")
        self._microseconds += round(seconds * 1_000_000)

    def advance_to(self, at_s: float) -> None:
        """Let time pass until ``at_s``; does nothing where that moment is already past."""
        self._microseconds = max(self._microseconds, round(at_s * 1_000_000))
