from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.suites import SuiteFolder, controls, copied_run, small_suite, suite, unacked

from unacked.suite import load_suite
from unacked.trial import Bench, TrialPlan, TrialRecord

__all__ = ["controls", "copied_run", "small_suite", "suite", "unacked"]

Tried = Callable[..., TrialRecord]


@pytest.fixture
def tried(suite: SuiteFolder, tmp_path: Path) -> Tried:
    """Run one trial of E01 with a policy, given as the body of ``act(task)``."""

    def run(policy: str, case: str = "E01", *, twin: bool = False) -> TrialRecord:
        suite.agent("test", policy)
        suite.keep(case)
        plan = TrialPlan(0, case, twin, "test", 1, "0", "run")
        return Bench(load_suite(suite.path)).run(plan, tmp_path / "events.jsonl")

    return run
