"""Tests of "the candidate passes less often than the baseline" over a fixed set of cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

__all__ = ["LOOKS", "Counts", "Look", "PValues", "exact_stratified", "holm", "suspects"]


class Counts(NamedTuple):
    """One case on both sides: how many of the baseline's runs passed, and how many of the candidate's."""

    baseline_passes: int
    baseline_runs: int
    passes: int
    runs: int


class PValues(NamedTuple):
    """Chances of a result at least this extreme if nothing differs in any case.

    ``worse``: that the candidate passes as seldom; ``better``: as often; ``either``: either way.
    """

    worse: float
    better: float
    either: float


class Look(NamedTuple):
    """One declared look at a growing experiment: at so many repeats, stop below this p."""

    repeats: int
    alpha: float


LOOKS = (Look(3, 0.001), Look(6, 0.001), Look(10, 0.05))
"""Haybittle-Peto looks: early ones so strict that the last one keeps its level (Haybittle 1971, Peto et al. 1976)."""


def exact_stratified(cases: Sequence[Counts]) -> PValues:
    """Test exactly whether candidate and baseline pass equally often in every case.

    Given each case's total, the candidate's passes are hypergeometric, and their sum over the cases is the
    convolution of those: the exact form of Cochran, Mantel and Haenszel (Mehta, Patel and Gray, JASA 80:969, 1985).
    With one case it is Fisher's test, with one repeat a side McNemar's. Without runs every p is 1.
    """
    sums, least = np.ones(1), 0
    for case in cases:
        if not case.baseline_runs or not case.runs:
            continue  # nothing to compare with
        total = case.baseline_passes + case.passes
        low, high = max(0, total - case.baseline_runs), min(case.runs, total)
        odds = hypergeom.pmf(np.arange(low, high + 1), case.baseline_runs + case.runs, total, case.runs)
        sums, least = np.convolve(sums, odds), least + low
    seen = sum(case.passes for case in cases if case.baseline_runs and case.runs) - least
    as_unlikely = sums <= sums[seen] * (1 + 1e-9)
    return PValues(*(min(1.0, float(part.sum())) for part in (sums[: seen + 1], sums[seen:], sums[as_unlikely])))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values so that the chance of any false finding keeps its level (Holm, Scand J Stat 6:65, 1979)."""
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def suspects(cases: Mapping[str, Counts], screen: float = 0.10) -> list[str]:
    """Return the cases that by themselves look worse: to be run again, freshly, before anything is said of them."""
    return [name for name, counts in cases.items() if exact_stratified([counts]).worse <= screen]
