"""Running a plan: over one or more processes, each verdict kept in the order of the plan.

The run folder is the truth. What stands in ``verdicts.jsonl`` is done and is never run again; a trial that was
interrupted is run again in a fresh world, and its partial record is kept beside as aborted. The journal beside it
knows which trials were begun, and keeps the outcomes whose turn has not come.

With one job trials run in this process, and one that takes too long is interrupted by a signal; with more they run in
worker processes, which are killed for it. A worker that ends by itself costs the trial it was in one attempt; after
the last the trial is a dead letter: an ERROR with a record that says so.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from types import FrameType

from unacked.canonical import JSON
from unacked.engine.dispatch import Dispatch, Policy
from unacked.engine.folder import RunFolder
from unacked.engine.journal import TrialJournal
from unacked.engine.leaks import Canaries, clean_summary
from unacked.engine.lines import LineFile, cut_unfinished
from unacked.engine.plan import Plan
from unacked.engine.summary import summarize
from unacked.engine.trials import Outcome, lost_trial, run_bench, run_trial, stored_suite
from unacked.engine.verdicts import Verdicts
from unacked.engine.workers import Died, Overdue, Pool
from unacked.errors import HarnessError, UnackedError
from unacked.guard import guarded
from unacked.orchestrator import Event
from unacked.suite import Suite
from unacked.trial import Bench, TrialPlan

__all__ = ["Drain", "execute"]

_BATCH_S = 0.2
"""How much work is claimed at once: fast trials share a transaction, slow ones are claimed one by one."""

_MOST = 64
_POLL_S = 0.25


class Drain:
    """Asked to stop in good order, a run begins no more trials and ends with those that are under way."""

    def __init__(self) -> None:
        self._asked = False

    def ask(self) -> None:
        """Begin no more trials."""
        self._asked = True

    def asked(self) -> bool:
        """Whether no more trials are to begin."""
        return self._asked


def execute(
    folder: RunFolder,
    plan: Plan,
    *,
    jobs: int,
    told: Callable[[Outcome], None],
    policy: Policy = Policy(),  # noqa: B008 - a frozen value
    drain: Drain | None = None,
) -> dict[str, JSON]:
    """Run what is not done yet, seal the record, and return the summary.

    ``told`` hears of every outcome in the order of the plan. An interruption, a drain (it ends in KeyboardInterrupt
    too) or a HarnessError leave the record as it is, to be resumed by the same call.
    """
    with folder.locked():
        if folder.manifest()["seal"] is None:
            folder.outlive_workers()
            with guarded() as watch, TrialJournal(folder, plan) as journal:
                suite = stored_suite(folder, plan)
                verdicts = Verdicts(folder, plan.run, journal.last_mark())
                with closing(verdicts):
                    journal.take_stock(verdicts)
                    run = _Run(folder, plan, suite, verdicts, journal, policy, drain or Drain())
                    run.keep(told, jobs)
            if watch.refused:
                raise HarnessError(f"outside of any trial, {watch.refused[0].told} was refused")
            summary = summarize(plan.as_json(), suite, verdicts.read())
            folder.write_json(folder.summary, clean_summary(Canaries(plan.trials), summary))
            folder.seal(verdicts.head)
        return folder.read_json(folder.summary)


class _Run:
    """One part of a run: from where it stands to its end, or to where it is interrupted."""

    def __init__(
        self,
        folder: RunFolder,
        plan: Plan,
        suite: Suite,
        verdicts: Verdicts,
        journal: TrialJournal,
        policy: Policy,
        drain: Drain,
    ) -> None:
        self._folder, self._plan, self._suite = folder, plan, suite
        self._verdicts, self._journal, self._policy, self._drain = verdicts, journal, policy, drain
        drivers = {name: str(pins["driver"]) for name, pins in plan.pins["agents"].items()}
        self._dispatch = Dispatch(journal.left, policy, drivers)
        self._mean_s = _BATCH_S

    @cached_property
    def _bench(self) -> Bench:
        return run_bench(self._suite)

    def keep(self, told: Callable[[Outcome], None], jobs: int) -> None:
        """Run the trials that are left, and write every outcome down, in the order of the plan."""
        folder, verdicts = self._folder, self._verdicts
        finished = {trial.name for trial in self._plan.trials[: verdicts.done]}
        for path in (folder.diagnostics, folder.timings):
            cut_unfinished(path, finished)
        steps = self._steps(jobs)
        try:
            with folder.appending(folder.timings) as timings, folder.appending(folder.diagnostics, private=True) as raw:
                for outcome in self._in_order(steps):
                    self._write(outcome, timings, raw)
                    told(outcome)
        except UnackedError:
            self._drain.ask()
            with suppress(UnackedError):  # what went wrong first is told
                for _ in steps:
                    pass
            raise
        finally:
            steps.close()
            with suppress(HarnessError):  # what went wrong is told already
                self._journal.interrupted()
        if verdicts.done < len(self._plan.trials):
            raise KeyboardInterrupt

    def _in_order(self, steps: Iterator[None]) -> Iterator[Outcome]:
        """Yield every outcome when its turn has come."""
        ready, verdicts = self._journal.ready, self._verdicts
        while verdicts.done < len(self._plan.trials):
            while verdicts.done not in ready:
                try:
                    next(steps)
                except StopIteration:
                    return
            yield ready.pop(verdicts.done)

    def _write(self, outcome: Outcome, timings: LineFile, raw: LineFile) -> None:
        trial = outcome.line["trial"]
        for entry in outcome.diagnostics:
            raw.write({"trial": trial, **entry})
        self._verdicts.append(outcome.line)
        timings.write({"trial": trial, "wall_s": outcome.wall_s, "cpu_s": outcome.cpu_s})

    def _steps(self, jobs: int) -> Generator[None, None, None]:
        """Run what is left; every step is a trial that ended, and the journal has heard of it."""
        for trial in self._journal.given_up:
            self._give_up(trial, "the run was killed again and again while it was under way")
            yield
        yield from self._here() if jobs == 1 else self._in_workers(jobs)

    def _stride(self) -> int:
        return max(1, min(_MOST, int(_BATCH_S / self._mean_s)))

    def _here(self) -> Iterator[None]:
        """Run trials in this process."""
        while not self._drain.asked():
            trials = self._dispatch.take(self._stride(), time.monotonic())
            if not trials:
                wait_s = self._dispatch.wait_s(time.monotonic())
                if wait_s is None:
                    return
                time.sleep(min(wait_s, _POLL_S))
            self._journal.claim(trials)
            for trial in trials:
                if self._drain.asked():
                    return
                self._run_here(trial)
                yield

    def _run_here(self, trial: TrialPlan) -> None:
        bench, began = self._bench, time.perf_counter()
        try:
            with _alarm(self._policy.max_trial_s):
                outcome = run_trial(bench, self._folder, trial)
        except _OverdueError:
            del self._bench  # it was left in the middle of something
            self._overdue(trial, time.perf_counter() - began)
        else:
            self._succeeded(trial, outcome)

    def _in_workers(self, jobs: int) -> Iterator[None]:
        """Run trials in processes of their own."""
        pool = Pool(self._folder, jobs, max_trial_s=self._policy.max_trial_s)
        try:
            while True:
                if not self._drain.asked():
                    self._hand_out(pool)
                if not any(worker.trials for worker in pool.workers) and (
                    self._drain.asked() or self._dispatch.wait_s(time.monotonic()) is None
                ):
                    return
                for heard in pool.heard(_POLL_S):
                    self._hear(heard)
                    yield
                for trial in pool.returned:
                    self._journal.ended(trial, Event.INTERRUPTED, None)
                self._dispatch.back(reversed(pool.returned))
                pool.returned.clear()
        finally:
            pool.close()

    def _hand_out(self, pool: Pool) -> None:
        """Give every worker that has next to nothing left something to do, in one batch of the journal."""
        now, stride = time.monotonic(), self._stride()
        given = [
            (worker, trials)
            for worker in pool.workers
            if len(worker.trials) < stride / 2 and (trials := self._dispatch.take(stride, now))
        ]
        if given:
            self._journal.claim(trial for _, trials in given for trial in trials)
            for worker, trials in given:
                worker.give(trials)

    def _hear(self, heard: Outcome | Died | Overdue) -> None:
        if isinstance(heard, Outcome):
            self._succeeded(self._plan.trials[heard.line["index"]], heard)
        elif isinstance(heard, Overdue):
            self._overdue(heard.trial, heard.wall_s)
        elif (kills := self._journal.kills(heard.trial)) < self._policy.max_attempts:
            self._journal.ended(heard.trial, Event.RECOVERED, None, recoveries=kills)
            self._dispatch.back([heard.trial])
        else:
            self._give_up(heard.trial, f"its process ended {kills} times in the middle of it")

    def _succeeded(self, trial: TrialPlan, outcome: Outcome) -> None:
        self._mean_s += (outcome.wall_s - self._mean_s) / 8
        self._dispatch.ended(trial)
        self._journal.ended(trial, Event.SUCCEEDED, outcome)

    def _overdue(self, trial: TrialPlan, wall_s: float) -> None:
        told = f"it took more than {self._policy.max_trial_s:g} s of real time and was broken off"
        self._dispatch.ended(trial)
        self._journal.ended(trial, Event.TIMED_OUT, self._lost(trial, told, wall_s), error=told)

    def _give_up(self, trial: TrialPlan, told: str) -> None:
        self._dispatch.ended(trial)
        self._journal.ended(trial, Event.GIVEN_UP, self._lost(trial, told, 0.0), dead=1, error=told)

    def _lost(self, trial: TrialPlan, told: str, wall_s: float) -> Outcome:
        return lost_trial(self._bench, self._folder, trial, told, wall_s)


class _OverdueError(KeyboardInterrupt):
    """Raised in the middle of a trial; what lets a Ctrl-C through lets it through, too."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Break the block off after so many seconds of real time, by a signal; only a main thread can be reached so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _break_off)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _break_off(_number: int, _frame: FrameType | None) -> None:
    raise _OverdueError
