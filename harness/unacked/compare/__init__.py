"""Comparing what two agents did: statistics, kinds of failure, where transcripts part, and the nightly decision."""

from unacked.compare.comparison import CaseRow, Comparison, compare, night_of, rows_of_all
from unacked.compare.divergence import Divergence, Step, first_divergence, steps_of
from unacked.compare.failures import Cluster, clusters
from unacked.compare.gate import Decision, Gate, GateRule, Night, decide
from unacked.compare.side import Side, Tally, differing_pins, read_side

__all__ = [
    "CaseRow",
    "Cluster",
    "Comparison",
    "Decision",
    "Divergence",
    "Gate",
    "GateRule",
    "Night",
    "Side",
    "Step",
    "Tally",
    "clusters",
    "compare",
    "decide",
    "differing_pins",
    "first_divergence",
    "night_of",
    "read_side",
    "rows_of_all",
    "steps_of",
]
