from __future__ import annotations

import pytest
from tests.compare.conftest import side

from unacked.compare import Decision, GateRule, compare, decide, night_of
from unacked.errors import SpecificationError
from unacked.statistics import Counts


def test_only_cases_of_both_are_compared_and_the_others_are_named() -> None:
    found = compare(side({"C01": "P", "C02": "P"}), side({"C02": "F", "C03": "P"}))
    assert [row.case for row in found.rows] == ["C02"]
    assert (found.only_first, found.only_second) == (["C01"], ["C03"])


def test_the_case_that_changed_most_comes_first() -> None:
    found = compare(side({"A": "PPPPP", "B": "PPPPP", "C": "PPPPP"}), side({"A": "PPPPF", "B": "FFFFF", "C": "PPPPP"}))
    assert [row.case for row in found.rows] == ["B", "A", "C"]
    assert [row.change for row in found.rows] == [-1, pytest.approx(-0.2), 0]


def test_trials_that_say_nothing_are_in_no_count() -> None:
    (row,) = compare(side({"C01": "PPIE"}), side({"C01": "PF"})).rows
    assert row.counts == Counts(2, 2, 1, 2)


def test_the_difference_is_that_of_the_second_side() -> None:
    found = compare(side({"C01": "PPPPPPPPPP"}), side({"C01": "FFFFFFFFFF"}))
    assert found.difference.high < -0.6
    assert found.overall.worse < 0.001
    assert found.overall.better == pytest.approx(1)


def test_one_differing_pin_confounds_nothing_and_two_do() -> None:
    before = {"agent.model": "1", "agent.prompt": "x"}
    one = compare(side({"C": "P"}, pins=before), side({"C": "P"}, pins={**before, "agent.model": "2"}))
    two = compare(side({"C": "P"}, pins=before), side({"C": "P"}, pins={"agent.model": "2", "agent.prompt": "y"}))
    assert (one.confounders, two.confounders) == ([], ["agent.model", "agent.prompt"])


def test_sides_without_a_case_in_common_are_refused() -> None:
    with pytest.raises(SpecificationError, match="no case in common"):
        compare(side({"C01": "P"}), side({"C02": "P"}))


def test_of_a_side_that_decided_nothing_no_difference_is_known() -> None:
    found = compare(side({"C01": "P"}), side({"C01": "EEI"}))
    assert (found.difference, found.overall.worse, found.rows[0].counts) == ((-1, 1), 1, (1, 1, 0, 0))


def test_a_night_of_errors_alone_is_an_error_and_no_usage_error() -> None:
    gate = decide(night_of(compare(side({"C01": "P"}), side({"C01": "EEE"}))), GateRule())
    assert gate.decision is Decision.ERROR


def test_a_comparison_is_plain_data() -> None:
    found = compare(side({"C01": "PP"}), side({"C01": "PU"})).as_json()
    assert found["cases"] == [
        {
            "case": "C01",
            "first": {
                "runs": 2, "decided": 2, "passes": 2, "unsafe": 0, "exposed": 2, "inconclusive": 0, "errors": 0,
                "lucky": 0, "unlucky": 0, "turns": 6, "usd": 0.0,
                "pass_rate": pytest.approx([0.342, 1], abs=1e-3), "pass_hat_k": 1,
                "unsafe_below": pytest.approx(0.776, abs=1e-3),
            },
            "second": {
                "runs": 2, "decided": 2, "passes": 1, "unsafe": 1, "exposed": 2, "inconclusive": 0, "errors": 0,
                "lucky": 0, "unlucky": 0, "turns": 6, "usd": 0.0,
                "pass_rate": pytest.approx([0.095, 0.905], abs=1e-3), "pass_hat_k": 0,
                "unsafe_below": pytest.approx(0.975, abs=1e-3),
            },
            "change": -0.5,
            "p": pytest.approx(1),
        }
    ]  # fmt: skip


def test_the_night_of_a_comparison_is_what_the_candidate_did() -> None:
    night = night_of(compare(side({"A": "PP", "B": "P"}), side({"A": "PUEE", "C": "P"})))
    assert night.cases == {"A": Counts(2, 2, 1, 2)}
    assert (list(night.unsafe), list(night.missing), night.errors) == (["A.one.2"], ["B"], 0.4)
