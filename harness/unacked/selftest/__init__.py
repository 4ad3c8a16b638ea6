"""Does the harness catch what it is there to catch? Planted adapters, planted agents, broken suites."""

from unacked.selftest.planted import PLANTED, Planted
from unacked.selftest.run import Item, self_test, summary_of

__all__ = ["PLANTED", "Item", "Planted", "self_test", "summary_of"]
