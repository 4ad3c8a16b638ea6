"""Checking an adapter: every operation at every place of the sweep, without any agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from unacked.adapter import reference
from unacked.adapter.link import Adapter
from unacked.adapter.rules import Proof, judge_call, proof_of
from unacked.adapter.stage import LoopbackStage, Scene, SimulatedStage, Stage, scenes, told_scenes
from unacked.canonical import JSON
from unacked.claims import Finding
from unacked.claims.trail import unexercised
from unacked.errors import Place, Problem, SpecificationError, nearest
from unacked.suite import LoadedCase, Suite

__all__ = ["WIRES", "Heard", "Report", "cases_of", "check"]

WIRES = ("simulated", "loopback")


_HOPELESS = frozenset(
    {
        *("raised", "hung", "not-an-envelope", "unknown-category", "baseline-failed"),
        *("prose-for-envelope", "wrong-reply-id", "no-reply"),
    }
)
"""What a call without a fault must not be found to do, if it is to be tried with faults."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One call that was made and judged; ``skipped`` says why it was not."""

    operation: str
    name: str
    findings: Sequence[Finding] = ()
    exercised: bool = True
    skipped: str | None = None


def cases_of(suite: Suite, operations: Sequence[str]) -> list[LoadedCase]:
    """Return the sweeps of ``operations``, all of them where none is named; raises SpecificationError."""
    cases = [case for case in suite.cases.values() if case.file.sweep and case.declared]
    swept = {sweep.operation: case for case in cases if (sweep := case.file.sweep) and sweep.operation in case.offered}
    problems = [
        Problem(Place("adapter"), f"unknown operation {name!r}", nearest(name, swept))
        for name in operations
        if name not in swept
    ]
    if not swept:
        problems.append(Problem(Place(str(suite.root)), "the suite sweeps no operation", "see transitions/sweeps"))
    if problems:
        raise SpecificationError(problems)
    return [swept[name] for name in dict.fromkeys(operations)] or [swept[name] for name in sorted(swept)]


_proven: dict[tuple[str, str], Proof] = {}
"""What our own tools say at each place: the suite's root and the scene's name decide it."""


def check(
    adapter: Adapter,
    suite: Suite,
    cases: Iterable[LoadedCase],
    *,
    wire: str = "simulated",
    after: str | None = None,
    began: Callable[[str], None] = lambda _: None,
) -> Iterator[Heard]:
    """Make every call and yield what was found; with ``after``, begin behind the scene of that name.

    ``began`` hears the name of each scene before its call is made. An operation whose call fails without any
    fault is not tried with one.
    """
    simulated = SimulatedStage(suite)
    with ExitStack() as opened:
        stage: Stage = simulated if wire == "simulated" else opened.enter_context(LoopbackStage(suite))
        for case in cases:
            for scene in _scenes(case, suite):
                if after is not None:
                    after = None if scene.name == after else after
                    continue
                began(scene.name)
                heard = _hear(adapter, stage, simulated, scene)
                yield heard
                if scene.place == "no-fault" and any(finding.rule in _HOPELESS for finding in heard.findings):
                    break


def _scenes(case: LoadedCase, suite: Suite) -> Iterator[Scene]:
    yield from scenes(case)
    if case.file.sweep is not None:
        yield from told_scenes(suite, case.file.sweep.operation)


def _hear(adapter: Adapter, stage: Stage, simulated: SimulatedStage, scene: Scene) -> Heard:
    operation = scene.operation.name
    reason = stage.impossible(scene)
    if reason is not None:
        return Heard(operation, scene.name, skipped=reason)
    played = stage.play(scene, adapter)
    key = (str(simulated.suite.root), scene.name)
    if key not in _proven:
        own = adapter is reference.call and stage is simulated
        _proven[key] = proof_of(scene, played if own else simulated.play(scene, reference.call))
    findings = judge_call(scene, played, _proven[key])
    return Heard(operation, scene.name, findings, not unexercised(scene.brief, played.history).findings)


@dataclass
class Report:
    """What a check found: equal findings are one, with a count and the first place."""

    adapter: str
    wire: str
    calls: int = 0
    not_exercised: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    operations: list[str] = field(default_factory=list)
    findings: dict[tuple[str, str], dict[str, JSON]] = field(default_factory=dict)

    def add(self, heard: Heard) -> None:
        """Count one call."""
        if heard.operation not in self.operations:
            self.operations.append(heard.operation)
        if heard.skipped is not None:
            self.skipped[heard.skipped] += 1
            return
        self.calls += 1
        self.not_exercised += not heard.exercised
        for finding in heard.findings:
            known = self.findings.setdefault(
                (finding.rule, finding.expected), {**finding.as_json(), "count": 0, "first": heard.name}
            )
            known["count"] += 1

    @property
    def rules(self) -> list[str]:
        """The rules that were broken, without repetition."""
        return list(dict.fromkeys(rule for rule, _ in self.findings))

    def as_json(self) -> dict[str, JSON]:
        """Return the report as a JSON object."""
        return {
            "format": 1,
            "adapter": self.adapter,
            "wire": self.wire,
            "operations": self.operations,
            "calls": self.calls,
            "not_exercised": self.not_exercised,
            "skipped": dict(self.skipped),
            "findings": list(self.findings.values()),
        }
