"""How many repeats an answer needs."""

from __future__ import annotations

import pytest

from unacked.statistics import repeats_for_bound, repeats_for_drop

# Most cases nearly always pass, some often, some by luck; in these proportions in a suite of any size.
THIRTY = [0.98] * 25 + [0.85] * 3 + [0.6] * 2
TWENTY = [0.98] * 17 + [0.85] * 2 + [0.6]


@pytest.mark.parametrize(
    ("suite", "repeats"), [(THIRTY, [56, 27, 11, 4, 2]), (TWENTY, [78, 38, 16, 6, 3])], ids=["30", "20"]
)
def test_a_smaller_drop_needs_more_repeats(suite: list[float], repeats: list[int]) -> None:
    assert [repeats_for_drop(suite, drop) for drop in (0.02, 0.03, 0.05, 0.10, 0.15)] == repeats


def test_a_perfect_suite_is_bounded_when_its_runs_are_enough_for_newcombe() -> None:
    assert [repeats_for_bound([1.0], margin) for margin in (0.01, 0.02, 0.05, 0.10)] == [268, 133, 52, 25]
    assert repeats_for_bound([1.0] * 30, 0.05) == 2


def test_a_margin_that_no_number_of_repeats_reaches_is_said_to_be_so() -> None:
    assert repeats_for_bound([0.5], 0.01, most=100) is None


@pytest.mark.parametrize(("suite", "drop"), [([], 0.1), ([0.9], 0.0), ([0.9], 1.0)])
def test_a_plan_without_cases_or_with_no_drop_is_refused(suite: list[float], drop: float) -> None:
    with pytest.raises(ValueError, match="needs cases"):
        repeats_for_drop(suite, drop)
