"""The exact stratified test, against R and against the tests that it contains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact

from unacked.statistics import LOOKS, Counts, PValues, exact_stratified, holm, suspects

# Admissions at Berkeley in six departments: men admitted, men, women admitted, women.
BERKELEY = [
    Counts(512, 825, 89, 108),
    Counts(353, 560, 17, 25),
    Counts(120, 325, 202, 593),
    Counts(138, 417, 131, 375),
    Counts(53, 191, 94, 393),
    Counts(22, 373, 24, 341),
]
SPARSE = [Counts(5, 5, 3, 5), Counts(5, 5, 5, 5), Counts(4, 5, 1, 5), Counts(5, 5, 4, 5)]


def test_admissions_at_berkeley_give_the_p_of_rs_mantelhaen_test() -> None:
    assert exact_stratified(BERKELEY).either == pytest.approx(0.2277625, abs=5e-8)


def test_a_sparse_table_gives_the_three_p_of_rs_mantelhaen_test() -> None:
    assert exact_stratified(SPARSE) == pytest.approx(PValues(0.01300705, 0.9995591, 0.02601411), rel=1e-6)


def test_without_cases_nothing_is_found() -> None:
    assert exact_stratified([]) == PValues(1, 1, 1)


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_with_one_case_it_is_fishers_test(n: int, m: int, data: st.DataObject) -> None:
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    table = np.array([[y, m - y], [x, n - x]])
    found = exact_stratified([Counts(x, n, y, m)])
    assert found.worse == pytest.approx(fisher_exact(table, alternative="less").pvalue)
    assert found.better == pytest.approx(fisher_exact(table, alternative="greater").pvalue)
    assert found.either == pytest.approx(fisher_exact(table).pvalue)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_with_one_repeat_a_side_it_is_mcnemars_test(lost: int, won: int, same: int) -> None:
    cases = [Counts(1, 1, 0, 1)] * lost + [Counts(0, 1, 1, 1)] * won + [Counts(1, 1, 1, 1)] * same
    expected = binomtest(won, lost + won, alternative="less").pvalue if lost + won else 1
    assert exact_stratified(cases).worse == pytest.approx(expected)


def test_approval_of_a_president_asked_twice_gives_the_p_of_the_exact_mcnemar_test() -> None:
    cases = [Counts(1, 1, 0, 1)] * 150 + [Counts(0, 1, 1, 1)] * 86 + [Counts(1, 1, 1, 1)] * 794
    assert exact_stratified(cases).either == pytest.approx(3.715936e-5, rel=1e-6)


def test_holm_rejects_three_of_the_fifteen_hypotheses_of_benjamini_and_hochberg() -> None:
    values = (0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719)
    p = {str(rank): value for rank, value in enumerate((*values, 0.6528, 0.759, 1.0))}
    assert [name for name, adjusted in holm(p).items() if adjusted <= 0.05] == ["0", "1", "2"]


def test_holm_adjusts_as_rs_p_adjust_does() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({}) == {}


def test_a_case_is_suspect_where_it_looks_worse_by_itself() -> None:
    cases = {"same": Counts(5, 5, 5, 5), "worse": Counts(5, 5, 2, 5), "better": Counts(2, 5, 5, 5)}
    assert suspects(cases) == ["worse"]


def test_the_early_looks_hardly_spend_any_of_the_level() -> None:
    assert [look.repeats for look in LOOKS] == [3, 6, 10]
    assert sum(look.alpha for look in LOOKS[:-1]) == pytest.approx(0.002)
