"""The gate over simulated nights: what its page says of it holds, within what so few nights can tell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.benchmarks.test_judges import ROOT, module

from unacked.compare import Decision

pytestmark = pytest.mark.long

NIGHTS = 200
GATE = module("benchmark_of_the_gate", ROOT / "benchmarks" / "gate.py")


def blocked(truth: str) -> tuple[float, float]:
    """The share of nights at five repeats that are blocked, and the trials that confirming cost on average."""
    (rates,) = [rates for name, rates in GATE.truths() if name == truth]
    chance = np.random.default_rng(11)
    gates = [GATE.one_night(rates, 5, chance) for _ in range(NIGHTS)]
    return sum(gate.decision is Decision.BLOCK for gate, _ in gates) / NIGHTS, sum(cost for _, cost in gates) / NIGHTS


def test_a_night_on_which_nothing_changed_is_seldom_blocked() -> None:
    assert blocked("nothing changed")[0] <= 0.05


def test_one_case_that_breaks_is_found_with_few_more_trials() -> None:
    share, extra = blocked("one case falls to 0.0")
    assert share >= 0.99
    assert extra <= 22


def test_ten_points_less_everywhere_are_found() -> None:
    assert blocked("-10 points everywhere")[0] >= 0.85


def rows() -> Iterator[list[str]]:
    page = (ROOT / "docs" / "nightly.md").read_text()
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in ("5", "10"):
            yield cells


def test_the_page_has_a_row_for_every_truth_whose_shares_make_one() -> None:
    told = list(rows())
    assert [row[1] for row in told] == 2 * [name for name, _ in GATE.truths()]
    assert all(abs(sum(map(float, row[2:5])) - 1) < 0.0016 for row in told)
