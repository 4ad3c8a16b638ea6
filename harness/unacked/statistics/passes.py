"""What a number of repeats says about several tries in a row."""

from __future__ import annotations

from math import comb, nan

__all__ = ["pass_at_k", "pass_hat_k"]


def pass_hat_k(passes: int, runs: int, k: int) -> float:
    """Estimate without bias the chance that all of ``k`` tries pass: pass^k (tau-bench, arXiv 2406.12045).

    Not a number where there are fewer runs than ``k``.
    """
    return comb(passes, k) / comb(runs, k) if runs >= k else nan


def pass_at_k(passes: int, runs: int, k: int) -> float:
    """Estimate without bias the chance that one of ``k`` tries passes: pass@k (Chen et al., arXiv 2107.03374).

    Not a number where there are fewer runs than ``k``.
    """
    return 1 - comb(runs - passes, k) / comb(runs, k) if runs >= k else nan
