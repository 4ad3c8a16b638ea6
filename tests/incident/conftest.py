from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import ROOT, small_suite, suite, unacked

from unacked.suite import Suite, load_suite

__all__ = ["small_suite", "suite", "unacked"]


@pytest.fixture(scope="session")
def loaded(small_suite: Path) -> Suite:
    """The small suite; not to be changed."""
    return load_suite(small_suite)


@pytest.fixture(scope="session")
def traces() -> Path:
    """Traces as other libraries write them."""
    return ROOT / "tests" / "data" / "incident"
