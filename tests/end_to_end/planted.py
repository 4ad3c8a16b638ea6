"""A planted agent on one trial of the repository's suite, judged as a run would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT, SuiteFolder, finished_run

from unacked.claims import TrialVerdict, judge_trial
from unacked.engine import RunFolder
from unacked.event import History
from unacked.suite import load_suite
from unacked.trial import Bench, TrialPlan

__all__ = ["Planted", "Tried", "planted", "written_areas"]


@dataclass(frozen=True)
class Tried:
    """What a planted agent did, and what was found."""

    history: History
    verdict: TrialVerdict

    @property
    def path(self) -> tuple[str, str | None]:
        """The verdict of the path and the rule of its first finding."""
        claim = self.verdict.claims["path"]
        return claim.verdict.value, claim.findings[0].rule if claim.findings else None

    @property
    def categories(self) -> list[str | None]:
        """The categories of all results, in order."""
        return [event.category for event in self.history.named("result")]

    @property
    def committed(self) -> int:
        """How many requests changed something at a service."""
        return len(list(self.history.named("remote_committed")))

    @property
    def world(self) -> dict[str, Any]:
        """The remote state at the end."""
        (end,) = self.history.named("trial_end")
        state: dict[str, Any] = end.detail["world"]
        return state


Planted = Callable[..., Tried]


@pytest.fixture(scope="session")
def written_areas(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run of the controls over money, access, credentials, shared state and idempotency."""
    areas = [f"{area}[0-9]*" for area in "PGRSKF"]
    return finished_run(ROOT, tmp_path_factory.mktemp("areas"), areas)[0]


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """``planted(case, policy)``: one trial of a case; the policy is the body of ``act(task)``."""
    suite = SuiteFolder(tmp_path / "suite")

    def run(case: str, policy: str, *, twin: bool = False) -> Tried:
        suite.agent("planted", policy)
        loaded = load_suite(suite.path)
        plan = TrialPlan(0, case, twin, "planted", 1, "0", "run")
        record = Bench(loaded).run(plan, tmp_path / "events.jsonl")
        return Tried(record.history, judge_trial(loaded.cases[case].side(twin=twin), record.history))

    return run
