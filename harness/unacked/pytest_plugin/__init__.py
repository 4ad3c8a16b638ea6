"""pytest front end: ``*.case.yaml`` files become test items, where that is asked for.

This module is imported by every pytest run on a machine where unacked is installed, so it imports nothing
of the harness; the collector is registered only when it is wanted.
"""

from __future__ import annotations

import pytest

__all__ = ["pytest_addoption", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; all of them carry our prefix."""
    group = parser.getgroup("unacked", "agent behaviour cases")
    group.addoption("--unacked", action="store_true", default=False, help="collect cases and fixtures as tests")
    group.addoption(
        "--unacked-agent",
        action="append",
        default=None,
        metavar="NAME",
        help="agent to run each case with; may be given more than once (default: the controls)",
    )
    group.addoption("--unacked-suite", default=None, metavar="DIR", help="suite folder (default: found from the case)")
    group.addoption("--unacked-seed", default="0", metavar="SEED", help="seed of every trial (default: 0)")
    parser.addini("unacked", "collect cases and fixtures as tests", type="bool", default=False)
    parser.addini("unacked_agents", "agents to run each case with", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Register the collector where cases were asked for."""
    if config.getoption("--unacked") or config.getini("unacked"):
        config.pluginmanager.import_plugin("unacked.pytest_plugin.collect")
