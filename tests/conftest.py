"""Rules of every test session.

Properties have no deadline, no test reaches another machine, and under CI a skipped test is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from unacked.guard import guarded

# The machine's load must not decide whether a property holds; what CI sets by itself (derandomised) stays.
settings.register_profile("unacked", settings(), deadline=None)
settings.load_profile("unacked")

pytest_plugins = ["pytester"]  # pytest takes this from the topmost conftest only

UNDER_CI = os.environ.get("CI") == "true"


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _stays_on_this_machine() -> Iterator[None]:
    """Refuse every connection to another machine, and fail the test that tried: its library may swallow the error."""
    with guarded(programs=None) as watch:  # tests start the commands that they test
        yield
    assert [str(egress) for egress in watch.refused] == []


def _skipped(config: pytest.Config) -> list[pytest.TestReport | pytest.CollectReport]:
    """What was skipped so far, tests and whole files; empty in the workers of pytest-xdist."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return list(reporter.stats.get("skipped", ())) if reporter else []


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if UNDER_CI and session.exitstatus == pytest.ExitCode.OK and _skipped(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if UNDER_CI and (skipped := _skipped(config)):
        terminalreporter.section("skipped under CI: this fails the session", red=True)
        for report in skipped:
            terminalreporter.line(f"{report.nodeid}: {report.longreprtext}")
