"""Runs one case, in a suite or not yet, with the agent that repeats the incident and with the careful one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unacked.canonical import JSON
from unacked.claims import TrialVerdict, judge_trial
from unacked.document import Document
from unacked.errors import Place, Problem, SpecificationError
from unacked.event import History
from unacked.graph import Verdict
from unacked.suite import LoadedAgent, LoadedCase, Suite, load_case
from unacked.trial import Bench, TrialPlan

__all__ = ["Rehearsal", "Showing", "case_document", "rehearse", "repeating_agent"]

_SEED = "incident"


@dataclass(frozen=True, slots=True)
class Showing:
    """One side of a case with one agent: its verdict and its history."""

    side: str
    verdict: TrialVerdict
    history: History

    @property
    def path_rules(self) -> list[str]:
        """The rules under which the path was refused; empty unless it failed or was unsafe."""
        path = self.verdict.claims["path"]
        if path.verdict not in (Verdict.FAIL, Verdict.UNSAFE):
            return []
        return [finding.rule for finding in path.findings]

    @property
    def world(self) -> Mapping[str, JSON]:
        """What the services held at the end."""
        ends: list[Mapping[str, JSON]] = [event.detail.get("world", {}) for event in self.history.named("trial_end")]
        return ends[-1] if ends else {}


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What both agents made of a case, side by side."""

    repeated: Sequence[Showing]
    careful: Sequence[Showing]

    @property
    def rule(self) -> str | None:
        """The rule that refused the recorded behaviour on every side; None where there is none."""
        common = [
            rule
            for rule in (self.repeated[0].path_rules if self.repeated else ())
            if all(rule in each.path_rules for each in self.repeated)
        ]
        return common[0] if common else None

    @property
    def careful_passes(self) -> bool:
        """Whether the careful agent passes on every side."""
        return all(each.verdict.verdict is Verdict.PASS for each in self.careful)


def rehearse(suite: Suite, document: Document, *, careful: bool = True) -> Rehearsal:
    """Run the case of a document; raises SpecificationError where it is no case of this suite."""
    case = load_case(document, suite)
    if case.file.incident is None or case.declared is None:
        raise SpecificationError([document.problem((), "is no incident", "it needs 'incident' with the behaviour")])
    alone = replace(suite, cases={case.name: case})
    bench = Bench(alone)
    repeating = repeating_agent(suite)
    passing = _agent(suite, lambda agent: agent.definition.file.control == "passes", "passes every case")
    with tempfile.TemporaryDirectory(prefix="unacked-") as folder:
        stage = _Stage(bench, case, Path(folder))
        repeated = stage.show(repeating) if case.file.incident.behaviour else []
        return Rehearsal(repeated, stage.show(passing) if careful else [])


@dataclass(frozen=True, slots=True)
class _Stage:
    bench: Bench
    case: LoadedCase
    folder: Path

    def show(self, agent: LoadedAgent) -> list[Showing]:
        return [self._showing(agent.name, twin=side.twin, place=side.place) for side in self.case.sides]

    def _showing(self, agent: str, *, twin: bool, place: str) -> Showing:
        plan = TrialPlan(0, self.case.name, twin, agent, 1, _SEED, _SEED, place)
        record = self.bench.run(plan, self.folder / f"{plan.name}.jsonl")
        brief = self.case.side(twin=twin, place=place)
        return Showing(brief.name, judge_trial(brief, record.history), record.history)


def case_document(value: Mapping[str, JSON], file: str) -> Document:
    """Return a case that stands in no file yet as a document; its problems name ``file`` and no line."""
    return Document(file, dict(value), {}, {})


def repeating_agent(suite: Suite) -> LoadedAgent:
    """Return the agent that repeats incidents; raises SpecificationError where the suite has none."""
    return _agent(suite, lambda agent: agent.definition.file.driver == "recorded", "repeats what was recorded")


def _agent(suite: Suite, fits: Callable[[LoadedAgent], bool], does: str) -> LoadedAgent:
    for agent in suite.agents.values():
        if fits(agent):
            return agent
    raise SpecificationError([Problem(Place(str(suite.root / "agents")), f"no agent that {does}")])
