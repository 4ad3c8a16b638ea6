"""Suites: folders of cases, graphs, fake services and agents."""

from unacked.suite.loader import load_suite
from unacked.suite.suite import LoadedAgent, LoadedCase, Suite, packaged_suite

__all__ = ["LoadedAgent", "LoadedCase", "Suite", "load_suite", "packaged_suite"]
