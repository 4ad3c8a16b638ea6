"""Worker processes that can be killed one by one, and what becomes of the trials they had.

A worker is given a few trials at a time and answers them in order, so whatever happens to it happens to the first
that it has not answered: nobody else is to blame, and the others go to another worker.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from selectors import EVENT_READ, DefaultSelector

from unacked.engine.folder import RunFolder
from unacked.engine.trials import Outcome, run_bench, run_trial
from unacked.errors import ExitCode, HarnessError, UnackedError
from unacked.guard import guarded
from unacked.suite import load_suite
from unacked.trial import TrialPlan

__all__ = ["Died", "Overdue", "Pool", "Worker"]

_READY = "ready"
_GATHER_S = 0.02
"""How long answers are let gather: to be woken for each one costs as much as to deal with it."""


@dataclass(frozen=True, slots=True)
class Died:
    """A worker process ended by itself in the middle of ``trial``, with this exit code (negative: a signal)."""

    trial: TrialPlan
    code: int | None


@dataclass(frozen=True, slots=True)
class Overdue:
    """A worker was killed because ``trial`` took longer than it may, in seconds of wall-clock time."""

    trial: TrialPlan
    wall_s: float


@dataclass(slots=True, eq=False)
class Worker:
    """One process; ``trials`` are those that it has not answered, ``since`` when the first of them began."""

    process: SpawnProcess
    connection: Connection
    trials: deque[TrialPlan] = field(default_factory=deque)
    since: float = 0.0
    ready: bool = False

    def give(self, trials: Sequence[TrialPlan]) -> None:
        """Give the worker something to do."""
        if not self.trials:
            self.since = time.monotonic()
        self.trials.extend(trials)
        with suppress(OSError):  # it has ended, which is seen when it is read from
            self.connection.send(trials)

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.process.close()


class Pool:
    """So many workers, each replaced when it ends; ``max_trial_s`` is the wall-clock time that a trial may take.

    ``returned`` are trials that a worker was given and never began, because it ended in one before them.
    """

    def __init__(self, folder: RunFolder, jobs: int, *, max_trial_s: float) -> None:
        self._folder, self._max_trial_s = folder, max_trial_s
        self.returned: list[TrialPlan] = []
        self._selector = DefaultSelector()
        self.workers = [self._hired() for _ in range(jobs)]

    def _hired(self) -> Worker:
        resource_tracker.ensure_running()  # the first start would do it, and let Ctrl-C through while it does
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=_work, args=(self._folder, theirs), daemon=True)
        with _interrupts_held_back():
            process.start()
        theirs.close()
        worker = Worker(process, ours)
        self._selector.register(ours, EVENT_READ, worker)
        return worker

    def heard(self, timeout_s: float) -> Iterator[Outcome | Died | Overdue]:
        """Wait for whatever happens next, at most so long, and yield it with what happens just after.

        Raises HarnessError where a worker ends before its first trial, and whatever UnackedError ended a worker.
        """
        answered = self._selector.select(timeout_s)
        if answered:
            time.sleep(_GATHER_S)
        while answered:
            for key, _ in answered:
                yield from self._read(key.data)
            answered = self._selector.select(0)
        now = time.monotonic()
        for worker in [worker for worker in self.workers if worker.ready and worker.trials]:
            if now - worker.since > self._max_trial_s:
                self._replace(worker)
                yield Overdue(worker.trials[0], now - worker.since)

    def _read(self, worker: Worker) -> Iterator[Outcome | Died]:
        """Read one answer, or that there will be none."""
        try:
            answer = worker.connection.recv()
            worker.since = time.monotonic()
            if isinstance(answer, UnackedError):
                raise answer
            if answer == _READY:
                worker.ready = True
            else:
                worker.trials.popleft()
                yield answer
        except (EOFError, ConnectionResetError):
            worker.process.join()
            if not worker.ready:
                raise HarnessError("a worker process ended before its first trial") from None
            code, trials = worker.process.exitcode, worker.trials
            self._replace(worker)
            if trials:
                yield Died(trials[0], code)

    def _replace(self, worker: Worker) -> None:
        """End a worker, hire another, and keep what it had not begun."""
        self._end(worker)
        self.workers[self.workers.index(worker)] = self._hired()
        self.returned.extend(list(worker.trials)[1:])

    def _end(self, worker: Worker) -> None:
        self._selector.unregister(worker.connection)
        worker.end()

    def close(self) -> None:
        """End every worker at once."""
        for worker in self.workers:
            self._end(worker)
        self._selector.close()


def _work(folder: RunFolder, connection: Connection) -> None:
    """The life of a worker process."""
    sys.stdout = sys.stderr  # what a policy prints is none of our results
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with folder.worked_in(), guarded():
        if not _has_parent():
            return
        try:
            bench = run_bench(load_suite(folder.suite))
            connection.send(_READY)
            while True:
                for trial in connection.recv():
                    connection.send(run_trial(bench, folder, trial))
        except EOFError:
            return
        except UnackedError as error:
            connection.send(error)


def _has_parent() -> bool:
    parent = multiprocessing.parent_process()
    return parent is not None and parent.is_alive()


def _end_with_parent() -> None:
    """Wait for the first process to end and end too: one that was killed can tell nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(ExitCode.ERROR)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back; the processes that start meanwhile never hear of it, for it is their parent's business."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
