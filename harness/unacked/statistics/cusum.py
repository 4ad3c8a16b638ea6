"""Change across nights: one cumulative sum for each case."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import NamedTuple

__all__ = ["Alarm", "Cusum"]


class Alarm(NamedTuple):
    """The night in which an alarm was raised, and the one after which the change began; both count from 0."""

    night: int
    since: int


@dataclass
class Cusum:
    """A binomial CUSUM of passes (Page, Biometrika 41:100, 1954): sums the evidence for ``changed`` over ``usual``.

    Both are pass rates between 0 and 1. The defaults watch a case that nearly always passes for a fall to 0.7; at
    ``threshold`` 7.5 and five runs a night, a case that did not change raises less than one alarm in 10,000 nights.
    To watch for an improvement, ``changed`` is the higher one.
    """

    usual: float = 0.98
    changed: float = 0.7
    threshold: float = 7.5
    total: float = 0.0
    nights: int = 0
    since: int = 0

    def __post_init__(self) -> None:
        if not (0 < self.usual < 1 and 0 < self.changed < 1):
            raise ValueError("pass rates of 0 and 1 make every exception infinitely surprising; stay between them")

    def add(self, passes: int, runs: int) -> Alarm | None:
        """Take in one night; returns an alarm in every night in which the sum stands above the threshold."""
        step = passes * log(self.changed / self.usual)
        step += (runs - passes) * log((1 - self.changed) / (1 - self.usual))
        if self.total == 0:
            self.since = self.nights
        self.total = max(0.0, self.total + step)
        self.nights += 1
        return Alarm(self.nights - 1, self.since) if self.total > self.threshold else None
