"""Does the harness catch what it is there to catch? Planted adapters, planted agents, broken suites."""

from unacked.selftest.planted import Planted
from unacked.selftest.run import PLANTED, Item, graph_items, self_test, summary_of

__all__ = ["PLANTED", "Item", "Planted", "graph_items", "self_test", "summary_of"]
