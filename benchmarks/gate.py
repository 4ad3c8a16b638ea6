"""How often the nightly gate is right: its decisions over simulated nights with a known truth.

The suite has 30 cases: 25 that pass 98 % of the time, three 85 %, two 60 %. Suspects get ten fresh repeats on both
sides, as in a nightly run. Every line is the share of nights with each decision, and the trials that confirming cost.

    python benchmarks/gate.py [--nights 2000]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

import numpy as np

from unacked.compare import Decision, Gate, GateRule, Night, decide
from unacked.statistics import Counts

RATES = np.array([0.98] * 25 + [0.85] * 3 + [0.6] * 2)
RULE = GateRule()


def truths() -> Iterator[tuple[str, np.ndarray]]:
    """Yield what may have happened to the candidate's pass rates."""
    yield "nothing changed", RATES
    for points in (5, 10):
        yield f"-{points} points everywhere", RATES - points / 100
    for falls_to in (0.5, 0.0):
        yield f"one case falls to {falls_to}", np.concatenate(([falls_to], RATES[1:]))
    yield "two cases fall to 0.5", np.concatenate(([0.5, 0.5], RATES[2:]))


def counts(rates: np.ndarray, cases: list[int], repeats: int, chance: np.random.Generator) -> dict[str, Counts]:
    """Run the cases on both sides."""
    return {
        f"C{case:02}": Counts(
            int(chance.binomial(repeats, RATES[case])), repeats, int(chance.binomial(repeats, rates[case])), repeats
        )
        for case in cases
    }


def one_night(rates: np.ndarray, repeats: int, chance: np.random.Generator) -> tuple[Gate, int]:
    """Return the decision of one night, and how many trials confirming its suspects cost."""
    night = Night(counts(rates, list(range(len(RATES))), repeats, chance))
    gate = decide(night, RULE)
    if gate.decision is Decision.BLOCK or not gate.suspects:
        return gate, 0
    suspicious = [int(case[1:]) for case in gate.suspects]
    fresh = counts(rates, suspicious, RULE.confirm, chance)
    return decide(night, RULE, fresh), 2 * RULE.confirm * len(suspicious)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=int, default=500)
    nights = parser.parse_args().nights
    print(f"{nights} nights a line, 30 cases | {'  '.join(decision.value for decision in Decision)} | extra trials")
    for repeats in (5, 10):
        for truth, rates in truths():
            chance = np.random.default_rng(7)
            decisions: Counter[Decision] = Counter()
            extra = 0
            for _ in range(nights):
                gate, cost = one_night(rates, repeats, chance)
                decisions[gate.decision] += 1
                extra += cost
            shares = "  ".join(f"{decisions[decision] / nights:.3f}" for decision in Decision)
            print(f"K = {repeats:<3} {truth:<26} | {shares} | {extra / nights:.1f}")


if __name__ == "__main__":
    main()
