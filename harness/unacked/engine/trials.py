"""One trial of a run: run it, judge it, and what is recorded of one that could not be ended."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unacked.canonical import JSON
from unacked.claims import judge_trial
from unacked.engine.folder import RunFolder
from unacked.engine.garbage import settle_garbage
from unacked.engine.leaks import TrialCanaries, clean_verdict
from unacked.engine.plan import Plan, make_plan
from unacked.engine.usage import model_use, turns_taken
from unacked.engine.verdicts import verdict_line
from unacked.errors import RecordError
from unacked.suite import Suite, load_suite
from unacked.trial import Bench, TrialPlan, TrialRecord

__all__ = ["Outcome", "kept_suite", "lost_trial", "run_bench", "run_trial", "stored_suite"]


class Outcome(NamedTuple):
    """One trial that is done: its line of ``verdicts.jsonl``, its raw errors, and what it cost, in seconds."""

    line: dict[str, JSON]
    diagnostics: Sequence[Mapping[str, JSON]]
    wall_s: float
    cpu_s: float

    def as_json(self) -> dict[str, JSON]:
        """Return the outcome as the journal keeps it where its turn in ``verdicts.jsonl`` has not come."""
        return {
            "line": self.line,
            "diagnostics": [dict(entry) for entry in self.diagnostics],
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
        }


def stored_suite(folder: RunFolder, plan: Plan) -> Suite:
    """Return a run's own copy of its suite; it is read only where it is not what the plan was made from.

    Raises RecordError like ``kept_suite``.
    """
    suite = plan.suite
    return suite.moved_to(folder.suite) if suite.is_copied_to(folder.suite) else kept_suite(folder, plan)


def kept_suite(folder: RunFolder, plan: Plan) -> Suite:
    """Read a run's own copy of its suite; raises RecordError where it makes another plan."""
    suite = load_suite(folder.suite)
    if make_plan(suite, plan.request).run != plan.run:
        raise RecordError(f"{folder.suite}: the run's own copy of the suite was changed; it cannot be resumed")
    return suite


def run_bench(suite: Suite) -> Bench:
    """Return what the trials of one process share, by the run's own copy of its suite."""
    bench = Bench(suite)
    settle_garbage()
    return bench


def run_trial(bench: Bench, folder: RunFolder, trial: TrialPlan) -> Outcome:
    """Run and judge one trial into a run folder."""
    wall, cpu = time.perf_counter(), time.process_time()
    events = folder.events(trial.index, trial.name)
    _set_aside(events)
    record = bench.run(trial, events)
    line = _judged(bench, trial, record)
    return Outcome(line, record.diagnostics, round(time.perf_counter() - wall, 6), round(time.process_time() - cpu, 6))


def lost_trial(bench: Bench, folder: RunFolder, trial: TrialPlan, trouble: str, wall_s: float) -> Outcome:
    """Record a trial that was broken off for good; what it had written is kept beside as aborted."""
    events = folder.events(trial.index, trial.name)
    _set_aside(events)
    record = bench.record_lost(trial, events, trouble)
    return Outcome(_judged(bench, trial, record), record.diagnostics, round(wall_s, 6), 0.0)


def _judged(bench: Bench, trial: TrialPlan, record: TrialRecord) -> dict[str, JSON]:
    verdict = judge_trial(bench.suite.cases[trial.case].side(twin=trial.twin, place=trial.place), record.history)
    line = verdict_line(trial, clean_verdict(TrialCanaries.of(trial), verdict), record.head, record.diagnostics)
    line["turns"] = turns_taken(record.history)
    use = model_use(record.history)
    if use is not None:
        line["model"] = use
    return line


def _set_aside(path: Path) -> None:
    """Keep the partial file of a trial that was interrupted under another name."""
    number = 1
    while path.exists():
        aborted = path.with_suffix(f".aborted-{number}")
        if not aborted.exists():
            path.rename(aborted)
        number += 1
