"""One night: run the candidate, compare, give suspects fresh repeats, decide, remember."""

from __future__ import annotations

import datetime as dt
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from unacked.compare import Comparison, Decision, Gate, Side, compare, decide, differing_pins, night_of, read_side
from unacked.engine import Outcome, RunFolder, RunRequest, execute, make_plan, open_run
from unacked.errors import HarnessError, Place, Problem, SpecificationError
from unacked.graph import Verdict
from unacked.nightly.file import NightlyFile
from unacked.nightly.history import CaseNight, History, NightEntry, Promotion
from unacked.statistics import Counts
from unacked.suite import Suite

__all__ = ["NightResult", "promote", "run_night"]


class _OutOfTime(Exception):
    """The night's budget is spent."""


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
    work = _Work(file, suite, out, jobs, _until(file, told))
    folder = work.run([file.candidate], file.select, file.repeat, file.seed, f"{night}-{file.nightly}")
    candidate = read_side(folder, file.candidate)
    baseline = _baseline(file, out)
    comparison = compare(baseline, candidate) if baseline is not None else None
    history = History(out / "history" / f"{file.nightly}.jsonl")
    if not _is_finished(folder):
        gate = _cut(comparison, file)
    else:
        gate = _no_baseline(file) if comparison is None else _decided(work, comparison, night)
        if not any(entry.run == folder.name for entry in history.nights()):
            history.append(_entry(night, folder, candidate, gate))
    return NightResult(folder, candidate, comparison, gate, history)


def _day(today: dt.date | None) -> str:
    return (today or dt.datetime.now(tz=dt.UTC).date()).isoformat()


@dataclass(frozen=True, slots=True)
class _Work:
    file: NightlyFile
    suite: Suite
    out: Path
    jobs: int
    told: Callable[[Outcome], None]

    def run(self, agents: Sequence[str], select: Sequence[str], repeat: int, seed: str, run_id: str) -> RunFolder:
        """Run one plan to its end, or until the budget is spent."""
        rule = self.file.rule.gate_rule().as_json()
        plan = make_plan(self.suite, RunRequest(tuple(select), tuple(agents), repeat, seed, rule))
        folder = open_run(self.suite, plan, self.out, f"{run_id}-{plan.run[:8]}")
        with suppress(_OutOfTime):  # what was finished is kept, and the gate hears that something is missing
            execute(folder, plan, jobs=self.jobs, told=self.told)
        return folder


def _until(file: NightlyFile, told: Callable[[Outcome], None]) -> Callable[[Outcome], None]:
    """Wrap ``told`` so that it raises _OutOfTime once the budget of the whole night is spent."""
    if file.budget.minutes is None:
        return told
    deadline = time.monotonic() + file.budget.minutes * 60

    def limited(outcome: Outcome) -> None:
        told(outcome)
        if time.monotonic() > deadline:
            raise _OutOfTime

    return limited


def _baseline(file: NightlyFile, out: Path) -> Side | None:
    folder = RunFolder(out / "baselines" / file.baseline)
    return read_side(folder, file.reference) if folder.is_begun else None


def _no_baseline(file: NightlyFile) -> Gate:
    reason = f"there is no baseline {file.baseline!r} yet; make this run one with --promote, if it is good"
    return Gate(Decision.INCONCLUSIVE, [reason])


def _is_finished(folder: RunFolder) -> bool:
    return folder.manifest()["seal"] is not None


def _cut(comparison: Comparison | None, file: NightlyFile) -> Gate:
    """What can be said of a night that was cut short: that it was unsafe, or nothing."""
    reason = f"the budget of {file.budget.minutes:g} minutes was spent; the same command goes on"
    gate = (
        Gate(Decision.INCONCLUSIVE, [reason])
        if comparison is None
        else decide(night_of(comparison), file.rule.gate_rule())
    )
    return gate if gate.decision is Decision.BLOCK else replace(gate, decision=Decision.INCONCLUSIVE, reasons=[reason])


def _decided(work: _Work, comparison: Comparison, night: str) -> Gate:
    rule = work.file.rule.gate_rule()
    seen = night_of(comparison)
    first = decide(seen, rule)
    if first.decision in (Decision.BLOCK, Decision.ERROR) or not first.suspects:
        return first
    return decide(seen, rule, _fresh(work, comparison, first.suspects, night))


def _fresh(work: _Work, comparison: Comparison, suspects: Sequence[str], night: str) -> dict[str, Counts]:
    """Repeat suspects freshly on both sides; empty where the agent of the baseline is no longer what it was."""
    file = work.file
    cases = sorted({line["case"] for side in suspects for line in comparison.second.trials_of(side)})
    agents = [file.reference, file.candidate]
    folder = work.run(agents, cases, file.rule.confirm, f"{file.seed}/fresh/{night}", f"{night}-{file.nightly}-fresh")
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
    if not _is_finished(run):
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
