"""Intervals and bounds for rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import beta, binomtest, ttest_1samp

__all__ = ["Interval", "n_for_zero", "newcombe", "over_new_cases", "upper_bound", "wilson"]


class Interval(NamedTuple):
    """Both ends of an interval; rates lie in 0..1, differences of rates in -1..1."""

    low: float
    high: float


def wilson(events: int, runs: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a rate, ``events`` of ``runs`` (Newcombe, Stat Med 17:857, 1998).

    Of no runs nothing is known: 0..1. Raises ValueError where the counts are no counts.
    """
    if runs == 0:
        return Interval(0.0, 1.0)
    found = binomtest(events, runs).proportion_ci(confidence, method="wilson")
    return Interval(float(found.low), float(found.high))


def newcombe(first: tuple[int, int], second: tuple[int, int], confidence: float = 0.95) -> Interval:
    """Interval of the second rate minus the first, each ``(events, runs)``, by Newcombe's hybrid score.

    Method 10 of Newcombe, Stat Med 17:873 (1998). It never shrinks to nothing where both rates are 0 or 1, as
    Wald's does. Raises ValueError without runs.
    """
    (x, n), (y, m) = first, second
    if not n or not m:
        raise ValueError("a difference of rates needs runs on both sides")
    p, q = x / n, y / m
    below, above = wilson(x, n, confidence), wilson(y, m, confidence)
    return Interval(
        q - p - math.hypot(q - above.low, below.high - p),
        q - p + math.hypot(above.high - q, p - below.low),
    )


def over_new_cases(changes: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Interval of the mean change on new cases drawn like these: the two sides paired by case, the cases a sample.

    The standard error clustered by case of Miller, arXiv 2411.00640 (2024), with t for so few clusters. It answers
    another question than ``newcombe``, which is about these very cases. None where all changed alike, or there is
    one only: without any spread a sample does not say how far it is from the rest.
    """
    if len({round(change, 9) for change in changes}) < 2:
        return None
    found = ttest_1samp(changes, 0).confidence_interval(confidence)
    return Interval(max(-1.0, float(found.low)), min(1.0, float(found.high)))


def upper_bound(events: int, runs: int, confidence: float = 0.95) -> float:
    """One-sided exact upper bound of a rate: the rule of three, made exact and for any count (Clopper and Pearson)."""
    return 1.0 if events >= runs else float(beta.ppf(confidence, events + 1, runs - events))


def n_for_zero(rate: float, confidence: float = 0.95) -> int:
    """Runs without any event that bound its rate below ``rate`` (Hanley and Lippman-Hand, JAMA 249:1743, 1983)."""
    if not 0 < rate < 1:
        raise ValueError("a rate to stay below lies between 0 and 1")
    return math.ceil(math.log(1 - confidence) / math.log1p(-rate))
