"""The statistics of comparing two agents over a fixed set of cases; every function is pure, every number has a source.

Only this package needs scipy (the extra ``compare``), and only the commands that compare import it. The model: the
cases are chosen, not sampled, and the repeats of one case and one agent are exchangeable; repeats of two agents
are not paired with each other.
"""

from unacked.statistics.cusum import Alarm, Cusum
from unacked.statistics.intervals import Interval, n_for_zero, newcombe, over_new_cases, upper_bound, wilson
from unacked.statistics.passes import pass_at_k, pass_hat_k
from unacked.statistics.planner import RateSpread, repeats_for_bound, repeats_for_drop
from unacked.statistics.stratified import LOOKS, Counts, Look, PValues, exact_stratified, holm, suspects

__all__ = [
    "LOOKS",
    "Alarm",
    "Counts",
    "Cusum",
    "Interval",
    "Look",
    "PValues",
    "RateSpread",
    "exact_stratified",
    "holm",
    "n_for_zero",
    "newcombe",
    "over_new_cases",
    "pass_at_k",
    "pass_hat_k",
    "repeats_for_bound",
    "repeats_for_drop",
    "suspects",
    "upper_bound",
    "wilson",
]
