"""Running a plan: trials in order of the plan, over one or more processes, each verdict kept as it comes.

The run folder is the truth. What stands in ``verdicts.jsonl`` is done and is never run again; a trial
that was interrupted is run again in a fresh world, and its partial record is kept beside as aborted.
"""

from __future__ import annotations

import datetime as dt
import itertools
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from unacked import __version__
from unacked.agents import package_of
from unacked.canonical import JSON
from unacked.claims import judge_trial
from unacked.engine.folder import FORMAT, RunFolder, environment
from unacked.engine.garbage import settle_garbage
from unacked.engine.leaks import Canaries, TrialCanaries, clean_summary, clean_verdict
from unacked.engine.lines import cut_unfinished
from unacked.engine.plan import Plan, identity, make_plan
from unacked.engine.summary import summarize
from unacked.engine.usage import model_use, turns_taken
from unacked.engine.verdicts import Verdicts, verdict_line
from unacked.errors import ExitCode, HarnessError, Place, Problem, RecordError, SpecificationError
from unacked.guard import guarded
from unacked.suite import Suite, load_suite
from unacked.trial import Bench, TrialPlan

__all__ = ["Outcome", "execute", "open_run"]

_CHUNK = 16
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One trial that is done: its line of ``verdicts.jsonl``, its raw errors, and what it cost, in seconds."""

    line: dict[str, JSON]
    diagnostics: Sequence[Mapping[str, JSON]]
    wall_s: float
    cpu_s: float


def open_run(suite: Suite, plan: Plan, out: Path, run_id: str | None) -> RunFolder:
    """Return the folder of a run: a new one, or the one named ``run_id`` if it holds this very plan.

    Raises SpecificationError where the named run is of another plan, or the name is no name for a run.
    """
    folder = _fresh_folder(out, plan) if run_id is None else _named_folder(out, run_id)
    with folder.locked():
        if not folder.is_begun:
            folder.write_manifest(_manifest(plan))
        manifest = folder.manifest()
        if manifest["run"] != plan.run:
            changed = ", ".join(_changes(_identity(manifest), plan.identity))
            raise _refused(folder, f"this run has another plan, so it cannot be resumed (changed: {changed})")
        if manifest["seal"] is None:
            folder.prepare(len(plan.trials))
            folder.keep_suite(suite)
            kept = make_plan(load_suite(folder.suite), plan.request)
            if kept.run != plan.run:
                raise RecordError(f"{folder.suite}: the run's own copy of the suite was changed; it cannot be resumed")
    return folder


def _manifest(plan: Plan) -> dict[str, JSON]:
    return {
        "format": FORMAT,
        "version": __version__,
        "run": plan.run,
        "seed": plan.request.seed,
        "pins": plan.pins,
        "plan": plan.as_json(),
        "environment": environment(_packages(plan)),
        "created": dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds"),
        "seal": None,
    }


def _packages(plan: Plan) -> list[str]:
    """The packages of the agents' drivers."""
    drivers = sorted({pins["driver"] for pins in plan.pins["agents"].values()})
    return list(dict.fromkeys(package for driver in drivers if (package := package_of(driver)) is not None))


def _identity(manifest: Mapping[str, JSON]) -> dict[str, JSON]:
    plan = manifest["plan"]
    return identity(
        manifest["pins"],
        manifest["seed"],
        plan["repeat"],
        plan["agents"],
        controls=plan["controls"],
        rule=plan.get("rule"),
    )


def _named_folder(out: Path, run_id: str) -> RunFolder:
    folder = RunFolder(out / run_id)
    if not _RUN_ID.fullmatch(run_id):
        raise _refused(folder, f"{run_id!r} is no name for a run", "use letters, digits, '.', '_' and '-', at most 100")
    if not folder.claim() and not folder.is_begun and (strangers := folder.strangers()):
        raise _refused(folder, f"this folder is no run: it holds {strangers[0]!r}")
    return folder


def _fresh_folder(out: Path, plan: Plan) -> RunFolder:
    agents = "controls" if plan.controls else "-".join(plan.agents)[:40]
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    base = f"{today}-{agents}-{plan.run[:8]}"
    for number in itertools.count(1):
        folder = RunFolder(out / (base if number == 1 else f"{base}-{number}"))
        if folder.claim():
            return folder
    raise AssertionError("numbers do not end")


def _refused(folder: RunFolder, message: str, hint: str = "choose another --run-id") -> SpecificationError:
    return SpecificationError([Problem(Place(str(folder.path)), message, hint)])


def execute(folder: RunFolder, plan: Plan, *, jobs: int, told: Callable[[Outcome], None]) -> dict[str, JSON]:
    """Run what is not done yet, seal the record, and return the summary.

    ``told`` hears of every outcome in the order of the plan. An interruption or a HarnessError leaves
    the record as it is, to be resumed by the same call.
    """
    with folder.locked():
        if folder.manifest()["seal"] is None:
            verdicts = Verdicts(folder, plan.run)
            try:
                with guarded() as watch:
                    _keep(folder, plan, verdicts, told, jobs=jobs)
            finally:
                verdicts.close()
            if watch.refused:
                raise HarnessError(f"outside of any trial, {watch.refused[0].told} was refused")
            summary = summarize(plan.as_json(), load_suite(folder.suite, run_code=False), verdicts.read())
            folder.write_json(folder.summary, clean_summary(Canaries(plan.trials), summary))
            folder.seal(verdicts.head)
        return folder.read_json(folder.summary)


def _keep(folder: RunFolder, plan: Plan, verdicts: Verdicts, told: Callable[[Outcome], None], *, jobs: int) -> None:
    """Run the trials that are left, and write every outcome down before anybody hears of it."""
    finished, left = plan.trials[: verdicts.done], plan.trials[verdicts.done :]
    for path in (folder.diagnostics, folder.timings):
        cut_unfinished(path, {trial.name for trial in finished})
    with folder.appending(folder.timings) as timings, folder.appending(folder.diagnostics, private=True) as raw:
        for outcome in _outcomes(folder, left, jobs):
            trial = outcome.line["trial"]
            for entry in outcome.diagnostics:
                raw.write({"trial": trial, **entry})
            verdicts.append(outcome.line)
            timings.write({"trial": trial, "wall_s": outcome.wall_s, "cpu_s": outcome.cpu_s})
            told(outcome)


def _outcomes(folder: RunFolder, trials: Sequence[TrialPlan], jobs: int) -> Iterator[Outcome]:
    if jobs == 1:
        bench = _bench(folder)
        for trial in trials:
            yield run_trial(bench, folder, trial)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker, initargs=(folder,))
    try:
        with _interrupts_held_back():
            outcomes = pool.map(_run_in_worker, trials, chunksize=max(1, min(_CHUNK, len(trials) // (jobs * 4))))
        yield from outcomes
    except BrokenProcessPool:
        raise HarnessError("a worker process ended unexpectedly; what was finished is kept") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back; the processes that start meanwhile never hear of it, for it is their parent's business."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_worker: list[Callable[[TrialPlan], Outcome]] = []
_guards = ExitStack()  # of a worker, until its process ends


def _start_worker(folder: RunFolder) -> None:
    sys.stdout = sys.stderr  # what a policy prints is none of our results
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _guards.enter_context(guarded())
    _worker.append(partial(run_trial, _bench(folder), folder))


def _end_with_parent() -> None:
    """Wait for the first process to end and end too: one that was killed can tell nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(ExitCode.ERROR)


def _bench(folder: RunFolder) -> Bench:
    bench = Bench(load_suite(folder.suite))
    settle_garbage()
    return bench


def _run_in_worker(trial: TrialPlan) -> Outcome:
    return _worker[0](trial)


def run_trial(bench: Bench, folder: RunFolder, trial: TrialPlan) -> Outcome:
    """Run and judge one trial into a run folder."""
    wall, cpu = time.perf_counter(), time.process_time()
    events = folder.events(trial.index, trial.name)
    _set_aside(events)
    record = bench.run(trial, events)
    verdict = judge_trial(bench.suite.cases[trial.case].side(twin=trial.twin, place=trial.place), record.history)
    told = clean_verdict(TrialCanaries.of(trial), verdict)
    line = verdict_line(trial, told, record.head, record.diagnostics)
    line["turns"] = turns_taken(record.history)
    use = model_use(record.history)
    if use is not None:
        line["model"] = use
    return Outcome(line, record.diagnostics, round(time.perf_counter() - wall, 6), round(time.process_time() - cpu, 6))


def _set_aside(path: Path) -> None:
    """Keep the partial file of a trial that was interrupted under another name."""
    number = 1
    while path.exists():
        aborted = path.with_suffix(f".aborted-{number}")
        if not aborted.exists():
            path.rename(aborted)
        number += 1


def _changes(stored: Mapping[str, JSON], present: Mapping[str, JSON], way: str = "") -> Iterator[str]:
    """Yield the ways to everything that differs, such as ``agents.careful.prompt``."""
    for key in sorted({*stored, *present}):
        before, after = stored.get(key), present.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _changes(before, after, f"{way}{key}.")
        elif before != after:
            yield f"{way}{key}"
