from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites import small_suite

from unacked.suite import Suite, load_suite

__all__ = ["small_suite"]


@pytest.fixture(scope="session")
def loaded(small_suite: Path) -> Suite:
    """The seed matrix and the flagship."""
    return load_suite(small_suite)
