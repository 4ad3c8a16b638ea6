"""Intervals and bounds, against published values and R."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.statistics import Interval, n_for_zero, newcombe, over_new_cases, upper_bound, wilson

COUNTS = st.integers(1, 200).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))


@pytest.mark.parametrize(
    ("events", "runs", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval_is_the_published_one(events: int, runs: int, low: float, high: float) -> None:
    assert wilson(events, runs) == pytest.approx((low, high), abs=5e-5)


def test_of_no_runs_nothing_is_known() -> None:
    assert wilson(0, 0) == Interval(0, 1)


def test_more_events_than_runs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must not be greater than n"):
        wilson(3, 2)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((48, 80), (56, 70), 0.0524, 0.3339), ((3, 10), (9, 10), 0.1705, 0.8090)],
)
def test_newcombes_interval_is_the_published_one(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    assert newcombe(first, second) == pytest.approx((low, high), abs=5e-5)


@given(COUNTS, COUNTS)
def test_newcombes_interval_turns_round_with_its_sides_and_holds_the_difference(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    there, back = newcombe(first, second), newcombe(second, first)
    assert there == pytest.approx((-back.high, -back.low))
    assert there.low - 1e-12 <= second[0] / second[1] - first[0] / first[1] <= there.high + 1e-12


@pytest.mark.parametrize(("runs", "margin"), [(268, 0.01), (133, 0.02), (52, 0.05), (25, 0.10)])
def test_two_perfect_sides_are_bounded_within_a_margin_from_so_many_runs_on(runs: int, margin: float) -> None:
    assert newcombe((runs, runs), (runs, runs), 0.90).low > -margin
    assert newcombe((runs - 1, runs - 1), (runs - 1, runs - 1), 0.90).low <= -margin


def test_a_difference_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="runs on both sides"):
        newcombe((0, 0), (1, 1))


@pytest.mark.parametrize(("rate", "runs"), [(0.10, 29), (0.05, 59), (0.01, 299), (0.005, 598), (0.001, 2995)])
def test_so_many_clean_runs_bound_a_rate(rate: float, runs: int) -> None:
    assert n_for_zero(rate) == runs
    assert upper_bound(0, runs) < rate < upper_bound(0, runs - 1)


@pytest.mark.parametrize(
    ("events", "runs", "bound"), [(1, 93, 0.05), (1, 473, 0.01), (0, 1240, 0.0024), (0, 150, 0.0198)]
)
def test_an_upper_bound_is_exact(events: int, runs: int, bound: float) -> None:
    assert upper_bound(events, runs) == pytest.approx(bound, rel=6e-3)


def test_both_exact_bounds_are_those_of_rs_binom_test() -> None:
    assert upper_bound(15, 148, 0.975) == pytest.approx(0.16165049, abs=5e-9)
    assert 1 - upper_bound(148 - 15, 148, 0.975) == pytest.approx(0.05784401, abs=5e-9)


def test_on_new_cases_the_error_is_clustered_by_case() -> None:
    changes = [0.2, -0.4, 0.0, -0.6]  # mean -0.2; squares about it add up to 0.4
    error = (0.4 / 4**2 * 4 / 3) ** 0.5  # clustered, and corrected for the number of clusters
    assert over_new_cases(changes) == pytest.approx((-0.2 - 3.1824463 * error, -0.2 + 3.1824463 * error))


@pytest.mark.parametrize("changes", [[], [0.5], [0.0, 0.0, 0.0], [1.0 - 0.9, 0.9 - 0.8]])
def test_cases_that_all_change_alike_say_nothing_of_new_ones(changes: list[float]) -> None:
    assert over_new_cases(changes) is None


def test_where_every_run_has_the_event_nothing_bounds_it() -> None:
    assert upper_bound(4, 4) == 1


@pytest.mark.parametrize("rate", [0, 1, -0.1])
def test_a_rate_that_no_run_can_bound_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        n_for_zero(rate)
