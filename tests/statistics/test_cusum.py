"""A cumulative sum across nights: quiet without a change, quick with one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from unacked.statistics import Alarm, Cusum


def test_a_case_that_fails_altogether_is_found_in_the_first_night() -> None:
    cusum = Cusum()
    assert [cusum.add(5, 5) for _ in range(9)] == [None] * 9
    assert cusum.add(0, 5) == Alarm(night=9, since=9)


def test_an_alarm_says_after_which_night_the_change_began() -> None:
    cusum = Cusum()
    nights = [5, 5, 5, 4, 5, 3, 3, 3, 3]
    assert [cusum.add(passes, 5) for passes in nights][-1] == Alarm(night=8, since=5)


def test_one_failure_in_a_night_raises_no_alarm() -> None:
    cusum = Cusum()
    assert cusum.add(4, 5) is None


def test_a_flaky_case_takes_longer_to_be_found() -> None:
    cusum = Cusum(usual=0.7, changed=0.4, threshold=7.5)
    found = [cusum.add(0, 5) for _ in range(3)]
    assert found == [None, None, Alarm(night=2, since=0)]


def test_an_improvement_is_found_by_the_same_sum() -> None:
    cusum = Cusum(usual=0.5, changed=0.9, threshold=5.0)
    assert [cusum.add(5, 5) is not None for _ in range(3)] == [False, True, True]


def test_a_case_that_did_not_change_raises_less_than_one_alarm_in_ten_thousand_nights() -> None:
    assert nights_until_alarm(Cusum(), runs=5) > 10_000


@pytest.mark.parametrize(("usual", "changed"), [(1, 0.7), (0.98, 0)])
def test_a_rate_of_nought_or_one_is_refused(usual: float, changed: float) -> None:
    with pytest.raises(ValueError, match="stay between them"):
        Cusum(usual, changed)


def nights_until_alarm(cusum: Cusum, runs: int, cells: int = 400) -> float:
    """Expected nights until the first alarm if nothing changes: a Markov chain over a grid of sums."""
    width = cusum.threshold / cells
    moves = np.zeros((cells, cells))
    odds = binom.pmf(np.arange(runs + 1), runs, cusum.usual)
    for cell in range(cells):
        for passes in range(runs + 1):
            there = Cusum(cusum.usual, cusum.changed, cusum.threshold, total=cell * width)
            there.add(passes, runs)
            if (reached := round(there.total / width)) < cells:
                moves[cell, reached] += odds[passes]
    return float(np.linalg.solve(np.eye(cells) - moves, np.ones(cells))[0])
