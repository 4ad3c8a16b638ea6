"""pass^k and pass@k."""

from __future__ import annotations

from fractions import Fraction
from math import comb, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.statistics import pass_at_k, pass_hat_k


def test_two_of_four_passes_give_two_in_a_row_once_in_six() -> None:
    assert pass_hat_k(2, 4, 2) == pytest.approx(1 / 6)
    assert pass_at_k(2, 4, 2) == pytest.approx(5 / 6)


@given(st.integers(1, 6), st.integers(1, 6), st.fractions(0, 1))
def test_the_estimate_of_all_of_k_passing_has_no_bias(runs: int, k: int, rate: Fraction) -> None:
    if k > runs:
        assert isnan(pass_hat_k(0, runs, k))
        return
    odds = [comb(runs, passes) * rate**passes * (1 - rate) ** (runs - passes) for passes in range(runs + 1)]
    expected = sum(float(chance) * pass_hat_k(passes, runs, k) for passes, chance in enumerate(odds))
    assert expected == pytest.approx(float(rate**k))


def test_too_few_runs_say_nothing() -> None:
    assert isnan(pass_at_k(1, 2, 3))
