"""A planted agent on one trial of the repository's suite, judged as a run would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.suites import ROOT, finished_run

from unacked.agents import AgentDefinition
from unacked.case import AgentFile
from unacked.claims import TrialVerdict, judge_trial
from unacked.engine import RunFolder
from unacked.event import History
from unacked.suite import LoadedAgent, Suite, load_suite
from unacked.trial import Bench, TrialPlan

__all__ = ["Planted", "Tried", "planted", "shipped_suite", "written_areas"]


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


@pytest.fixture(scope="session")
def shipped_suite() -> Suite:
    """The repository's suite; not to be changed."""
    return load_suite(ROOT)


@pytest.fixture
def planted(shipped_suite: Suite, tmp_path: Path) -> Planted:
    """``planted(case, policy)``: one trial of a case; the policy is the body of ``act(task)``."""
    file = AgentFile(agent="planted", title="planted", driver="scripted", policy="policy.py")
    agent = LoadedAgent(AgentDefinition(file, "", None), tmp_path)

    def run(case: str, policy: str, *, twin: bool = False) -> Tried:
        body = "\n".join(f"    {line}" for line in policy.strip().splitlines())
        (tmp_path / "policy.py").write_text(f"from unacked.agents import Call\n\n\ndef act(task):\n{body}\n")
        bench = Bench(replace(shipped_suite, agents={"planted": agent}))
        record = bench.run(TrialPlan(0, case, twin, "planted", 1, "0", "run"), tmp_path / "events.jsonl")
        return Tried(record.history, judge_trial(shipped_suite.cases[case].side(twin=twin), record.history))

    return run
