"""How many repeats an answer needs, before anything is spent on it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from scipy.stats import norm

from unacked.statistics.intervals import newcombe

__all__ = ["RateSpread", "repeats_for_bound", "repeats_for_drop"]

RateSpread = Sequence[float]
"""The pass rate of each case of a suite, 0..1."""


def repeats_for_drop(baseline: RateSpread, drop: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Repeats per case and side with which a drop of the mean pass rate is found with chance ``power``.

    One-sided at ``alpha``, cases fixed, the drop spread evenly (no case falls below 0); normal approximation.
    Raises ValueError where ``drop`` is not between 0 and 1, or no case is given.
    """
    if not baseline or not 0 < drop < 1:
        raise ValueError("a plan needs cases, and a drop between 0 and 1")
    variance = sum(p * (1 - p) + q * (1 - q) for p in baseline for q in (max(0.0, p - drop),)) / len(baseline)
    reach = float(norm.ppf(1 - alpha) + norm.ppf(power))
    return max(1, ceil(reach**2 * variance / (len(baseline) * drop**2)))


def repeats_for_bound(baseline: RateSpread, margin: float, *, alpha: float = 0.05, most: int = 1000) -> int | None:
    """Repeats per case and side with which an unchanged candidate is expected to be bounded within ``margin``.

    That is, Newcombe's one-sided lower bound of the difference lies above ``-margin`` when both sides come out at
    the baseline's mean. None where ``most`` repeats are not enough. Raises ValueError without cases.
    """
    if not baseline:
        raise ValueError("a plan needs cases")
    mean = sum(baseline) / len(baseline)
    for repeats in range(1, most + 1):
        runs = repeats * len(baseline)
        passes = round(mean * runs)
        if newcombe((passes, runs), (passes, runs), 1 - 2 * alpha).low > -margin:
            return repeats
    return None
