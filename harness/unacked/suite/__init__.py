"""Suites: folders of cases, graphs, fake services and agents."""

from unacked.suite.loader import declared_side, load_case, load_suite
from unacked.suite.starter import begin_suite
from unacked.suite.suite import CONTENT_FOLDERS, LoadedAgent, LoadedCase, Suite, packaged_suite, shipped_suite

__all__ = [
    "CONTENT_FOLDERS",
    "LoadedAgent",
    "LoadedCase",
    "Suite",
    "begin_suite",
    "declared_side",
    "load_case",
    "load_suite",
    "packaged_suite",
    "shipped_suite",
]
