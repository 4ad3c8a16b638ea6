from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.suites import ROOT, unacked

from unacked.adapter import Adapter, Report, cases_of, check
from unacked.suite import Suite, load_suite

__all__ = ["Check", "checked", "shipped", "unacked"]

Check = Callable[..., Report]


@pytest.fixture(scope="session")
def shipped() -> Suite:
    return load_suite(ROOT)


@pytest.fixture(scope="session")
def checked(shipped: Suite) -> Check:
    """``checked(adapter, operation, until=..., calls=...)``: the report of a check, or of its beginning."""

    def run(adapter: Adapter, operation: str, *, until: str | None = None, calls: int | None = None) -> Report:
        report = Report("adapter", "simulated")
        for heard in check(adapter, shipped, cases_of(shipped, [operation])):
            report.add(heard)
            if until in report.rules or report.calls == calls:
                break
        return report

    return run
