"""One night: run the candidate, compare, give suspects fresh repeats, decide, remember."""

from __future__ import annotations

import datetime as dt
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unacked.compare import (
    Comparison,
    Decision,
    Gate,
    GateRule,
    Night,
    Side,
    compare,
    decide,
    differing_pins,
    night_of,
    read_side,
)
from unacked.engine import (
    Outcome,
    RunBudget,
    RunCutError,
    RunFolder,
    RunRequest,
    execute,
    make_plan,
    open_run,
    read_verdicts,
)
from unacked.errors import HarnessError, Place, Problem, SpecificationError
from unacked.graph import Verdict
from unacked.nightly.file import NightlyFile
from unacked.nightly.history import CaseNight, History, NightEntry, Promotion
from unacked.statistics import Counts
from unacked.suite import Suite

__all__ = ["NightResult", "promote", "run_night"]


@dataclass(frozen=True, slots=True)
class NightResult:
    """What a night came to. ``comparison`` is None where there is no baseline yet."""

    folder: RunFolder
    candidate: Side
    comparison: Comparison | None
    gate: Gate
    history: History


def run_night(
    file: NightlyFile,
    suite: Suite,
    out: Path,
    *,
    jobs: int = 1,
    today: dt.date | None = None,
    told: Callable[[Outcome], None] = lambda _outcome: None,
) -> NightResult:
    """Run a night and return its result, which is remembered in ``history/<nightly>.jsonl`` under ``out`` too.

    The same plan on the same day resumes; a night that its budget cut short is remembered once it is finished.
    Raises SpecificationError where the file names what is not there, and what running raises.
    """
    night = _day(today)
    work = _Work(file, suite, out, jobs, told)
    folder = work.run([file.candidate], file.select, file.repeat, file.seed, f"{night}-{file.nightly}")
    candidate = read_side(folder, file.candidate)
    baseline = _baseline(file, out)
    comparison = compare(baseline, candidate) if baseline is not None else None
    history = History(out / "history" / f"{file.nightly}.jsonl")
    if work.cut is not None:
        gate = _undecided(candidate, work.rule, work.cut)
    elif comparison is None:
        reason = f"there is no baseline {file.baseline!r} yet; make this run one with --promote, if it is good"
        gate = _undecided(candidate, work.rule, reason)
    else:
        gate = _decided(work, comparison, night)
    if work.cut is None and not any(entry.run == folder.name for entry in history.nights()):
        history.append(_entry(night, folder, candidate, gate))
    return NightResult(folder, candidate, comparison, gate, history)


def _day(today: dt.date | None) -> str:
    return (today or dt.datetime.now(tz=dt.UTC).date()).isoformat()


@dataclass(slots=True)
class _Work:
    """Runs the plans of one night under one budget; ``cut`` says why one of them was not run to its end."""

    file: NightlyFile
    suite: Suite
    out: Path
    jobs: int
    told: Callable[[Outcome], None]
    began_s: float = field(default_factory=time.monotonic)
    usd: float = 0.0
    cut: str | None = None

    @property
    def rule(self) -> GateRule:
        """The rule of the gate."""
        return self.file.rule.gate_rule()

    def run(self, agents: Sequence[str], select: Sequence[str], repeat: int, seed: str, run_id: str) -> RunFolder:
        """Run one plan to its end, or until what is left of the budget is spent."""
        request = RunRequest(tuple(select), tuple(agents), repeat, seed, self.rule.as_json())
        plan = make_plan(self.suite, request)
        folder = open_run(self.suite, plan, self.out, f"{run_id}-{plan.run[:8]}")
        allowed, minutes = self.file.budget, (time.monotonic() - self.began_s) / 60
        budget = RunBudget(
            self.told,
            read_verdicts(folder, plan.run) if folder.verdicts.exists() else (),
            len(plan.trials),
            max_usd=None if allowed.usd is None else allowed.usd - self.usd,
            max_minutes=None if allowed.minutes is None else allowed.minutes - minutes,
        )
        try:
            execute(folder, plan, jobs=self.jobs, told=budget)
        except RunCutError:  # what was finished is kept
            self.cut = "the budget of the night is spent; the same command goes on"
        self.usd += budget.usd
        return folder


def _baseline(file: NightlyFile, out: Path) -> Side | None:
    folder = RunFolder(out / "baselines" / file.baseline)
    return read_side(folder, file.reference) if folder.is_begun else None


def _undecided(candidate: Side, rule: GateRule, reason: str) -> Gate:
    """What can be said without numbers to compare, or with a part of them, which is no look."""
    whole = candidate.together
    errors = whole.verdicts[Verdict.ERROR] / whole.verdicts.total() if candidate.lines else 0.0
    gate = decide(Night({}, candidate.unsafe_trials, errors=errors), rule)
    return gate if gate.decision in (Decision.BLOCK, Decision.ERROR) else Gate(Decision.INCONCLUSIVE, [reason])


def _decided(work: _Work, comparison: Comparison, night: str) -> Gate:
    seen = night_of(comparison)
    first = decide(seen, work.rule)
    if first.decision in (Decision.BLOCK, Decision.ERROR) or not first.suspects:
        return first
    return decide(seen, work.rule, _fresh(work, comparison, first.suspects, night))


def _fresh(work: _Work, comparison: Comparison, suspects: Sequence[str], night: str) -> dict[str, Counts]:
    """Repeat suspects freshly on both sides.

    Empty where the budget does not last for all of it, or the agent of the baseline is no longer what it was.
    """
    file = work.file
    cases = sorted({line["case"] for side in suspects for line in comparison.second.trials_of(side)})
    agents = [file.reference, file.candidate]
    folder = work.run(agents, cases, file.rule.confirm, f"{file.seed}/fresh/{night}", f"{night}-{file.nightly}-fresh")
    if work.cut is not None:
        return {}
    before, after = read_side(folder, file.reference), read_side(folder, file.candidate)
    if any(pin.startswith("agent.") for pin in differing_pins(comparison.first, before)):
        return {}
    rows = {row.case: row.counts for row in compare(before, after).rows}
    return {case: rows[case] for case in suspects if case in rows}


def _entry(night: str, folder: RunFolder, candidate: Side, gate: Gate) -> NightEntry:
    cases = {
        case: CaseNight(
            runs=tally.verdicts.total(),
            decided=tally.decided,
            passes=tally.passes,
            unsafe=tally.unsafe,
            exposed=tally.exposed,
            errors=tally.verdicts[Verdict.ERROR],
        )
        for case, tally in candidate.cases.items()
    }
    return NightEntry(
        night=night,
        run=folder.name,
        agent=candidate.agent,
        pins=dict(candidate.pins),
        decision=gate.decision.value,
        reasons=list(gate.reasons),
        cases=cases,
    )


def promote(file: NightlyFile, run: RunFolder, out: Path, reason: str, *, today: dt.date | None = None) -> Path:
    """Make a run the baseline of a nightly file, and remember why; returns its folder.

    The baseline before it stays beside it under the name of its day. Raises SpecificationError where the run is not
    sealed, HarnessError where it cannot be copied.
    """
    if run.manifest()["seal"] is None:
        raise SpecificationError([Problem(Place(str(run.path)), "the run is not finished", "resume it first")])
    place, night = out / "baselines" / file.baseline, _day(today)
    partial = place.with_name(f".{place.name}")
    try:
        if partial.exists():
            shutil.rmtree(partial)
        shutil.copytree(run.path, partial)
        if place.exists():
            place.rename(_free(place.with_name(f"{place.name}-until-{night}")))
        partial.rename(place)
    except OSError as error:
        raise HarnessError(f"{place}: cannot be written: {error}") from None
    History(out / "history" / f"{file.nightly}.jsonl").append(Promotion(promoted=run.name, night=night, reason=reason))
    return place


def _free(path: Path) -> Path:
    number = 2
    candidate = path
    while candidate.exists():
        candidate = path.with_name(f"{path.name}-{number}")
        number += 1
    return candidate
