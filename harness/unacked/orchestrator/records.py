"""What a journal holds, as values, and how it is read: by the run itself, and by anybody beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unacked.canonical import JSON, loads
from unacked.errors import RecordError
from unacked.orchestrator.lifecycle import State

__all__ = ["SCHEMA", "Entry", "Reader", "RunRecord", "StepRecord", "TaskRecord", "check_layout"]

SCHEMA = 1
"""Version of the journal's layout; another one is refused."""

_TASK = "select id, state, attempt, failures, recoveries, dead, result, error, reason from task where run=?"
_STEP = (
    "select task, key, name, seq, state, input, output, error, attempts, began_at, ended_at, duration_s,"
    " compensation, compensation_error from step where run=?"
)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a journal; ``epoch`` counts how often it was opened, ``created_at`` is wall-clock seconds."""

    id: str
    plan: str
    epoch: int
    trace: str
    created_at: float


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """Where a task is.

    ``attempt`` counts the starts, ``failures`` those that failed, ``recoveries`` those that took the process along;
    ``dead`` means that it was given up for good after all of its attempts. ``reason`` says who or what ended it.
    """

    id: str
    state: State = State.PENDING
    attempt: int = 0
    failures: int = 0
    recoveries: int = 0
    dead: bool = False
    result: JSON = None
    error: str | None = None
    reason: str | None = None

    @property
    def status(self) -> str:
        """The state in lower case; ``deadletter`` for a task that failed and was given up."""
        return "deadletter" if self.dead else self.state.value.lower()


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step with its input and output.

    ``state`` is begun, ended, failed or unknown (it was broken off: its effect may have happened); ``seq`` is the
    order in which steps ended. ``compensation`` is None, begun, done or needs_person. Times are wall-clock seconds,
    recorded and never consulted.
    """

    task: str
    key: str
    name: str
    seq: int | None
    state: str
    input: Sequence[JSON]
    output: JSON
    error: str | None
    attempts: int
    began_at: float
    ended_at: float | None
    duration_s: float | None
    compensation: str | None
    compensation_error: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the step log: what happened, to which task, when (wall-clock seconds)."""

    seq: int
    run: str
    trace: str
    task: str
    kind: str
    at: float
    detail: Mapping[str, JSON]

    def as_json(self) -> dict[str, JSON]:
        """Return the entry as one object of a JSON-lines log."""
        return {
            "seq": self.seq,
            "run": self.run,
            "trace": self.trace,
            "task": self.task,
            "kind": self.kind,
            "at": self.at,
            **self.detail,
        }


class Reader:
    """Reads one run of a journal through an open connection."""

    def __init__(self, db: sqlite3.Connection, run: str) -> None:
        self._db, self._run = db, run

    @classmethod
    def at(cls, path: Path, run: str) -> closing[Reader]:
        """Open a journal for reading alone, beside whoever writes it; raises RecordError."""
        if not path.is_file():
            raise RecordError(f"{path}: there is no journal here")
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        try:
            check_layout(db, path)
            return closing(cls(db, run))
        except BaseException:
            db.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def run(self) -> RunRecord:
        """Return the run itself; raises RecordError where the journal has none of this name."""
        row = self._db.execute("select id, plan, epoch, trace, created_at from run where id=?", (self._run,)).fetchone()
        if row is None:
            raise RecordError(f"the journal holds no run {self._run!r}")
        return RunRecord(*row)

    def tasks(self) -> dict[str, TaskRecord]:
        """Return every task by name, in the order of the plan."""
        return {row[0]: _task(row) for row in self._db.execute(f"{_TASK} order by number", (self._run,))}

    def states(self) -> dict[str, State]:
        """Return the state of every task by name, in the order of the plan: what is quickly read of very many."""
        rows = self._db.execute("select id, state from task where run=? order by number", (self._run,))
        known = {state.value: state for state in State}
        return {name: known[state] for name, state in rows}

    def recoveries(self) -> dict[str, int]:
        """Return by name how often each task was recovered that ever was."""
        return dict(self._db.execute("select id, recoveries from task where run=? and recoveries", (self._run,)))

    def result(self, task: str) -> JSON:
        """Return the result of one task, None where it has none."""
        row = self._db.execute("select result from task where run=? and id=?", (self._run, task)).fetchone()
        return None if row is None or row[0] is None else loads(row[0])

    def counts(self) -> dict[str, int]:
        """Return how many tasks are in each state."""
        return dict(self._db.execute("select state, count(*) from task where run=? group by state", (self._run,)))

    def ended_badly(self) -> list[TaskRecord]:
        """Return the tasks that failed, timed out or were cancelled, in the order of the plan."""
        bad = f"{_TASK} and state in ('FAILED', 'TIMED_OUT', 'CANCELLED') order by number"
        return [_task(row) for row in self._db.execute(bad, (self._run,))]

    def dead_letters(self) -> list[TaskRecord]:
        """Return the tasks that were given up after all of their attempts, in the order of the plan."""
        return [_task(row) for row in self._db.execute(f"{_TASK} and dead order by number", (self._run,))]

    def steps(self, task: str | None = None) -> list[StepRecord]:
        """Return the steps of one task or of all, in the order in which they ended; those that did not come last."""
        where, names = ("", ()) if task is None else (" and task=?", (task,))
        order = " order by seq is null, seq, began_at, key"
        return [_step(row) for row in self._db.execute(_STEP + where + order, (self._run, *names))]

    def step(self, task: str, key: str) -> StepRecord | None:
        """Return one step, None where it was never begun."""
        row = self._db.execute(f"{_STEP} and task=? and key=?", (self._run, task, key)).fetchone()
        return None if row is None else _step(row)

    def need_a_person(self) -> list[StepRecord]:
        """Return the steps whose effect nobody but a person can settle: unknown ones, and failed compensations."""
        return [step for step in self.steps() if step.state == "unknown" or step.compensation == "needs_person"]

    def log(self, task: str | None = None, *, after: int = 0) -> Iterator[Entry]:
        """Yield what happened, in order, from the entry behind number ``after`` on."""
        where, names = ("", ()) if task is None else (" and task=?", (task,))
        rows = self._db.execute(
            f"select seq, run, task, kind, at, data from event where run=? and seq>?{where} order by seq",  # noqa: S608 - our own words
            (self._run, after, *names),
        )
        trace = self.run().trace
        for row in rows:
            yield _entry(row, trace)

    def last(self, kind: str) -> Entry | None:
        """Return the last entry of a kind, None where there is none."""
        row = self._db.execute(
            "select seq, run, task, kind, at, data from event where run=? and kind=? order by seq desc limit 1",
            (self._run, kind),
        ).fetchone()
        return None if row is None else _entry(row, self.run().trace)


def check_layout(db: sqlite3.Connection, path: Path) -> None:
    """Raise RecordError unless the file is a journal of a layout that this version reads."""
    try:
        version = db.execute("pragma user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise RecordError(f"{path}: is no journal: {error}") from None
    if version != SCHEMA:
        raise RecordError(f"{path}: layout {version} of a journal is not readable by this version (it reads {SCHEMA})")


def _entry(row: Sequence[Any], trace: str) -> Entry:
    seq, run, task, kind, at, data = row
    return Entry(seq, run, trace, task, kind, at, loads(data))


def _task(row: Sequence[Any]) -> TaskRecord:
    name, state, attempt, failures, recoveries, dead, result, error, reason = row
    value = None if result is None else loads(result)
    return TaskRecord(name, State(state), attempt, failures, recoveries, bool(dead), value, error, reason)


def _step(row: Sequence[Any]) -> StepRecord:
    task, key, name, seq, state, given, output, *rest = row
    value = None if output is None else loads(output)
    return StepRecord(task, key, name, seq, state, loads(given), value, *rest)
