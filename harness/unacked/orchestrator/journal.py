"""The journal: every state and every step of a run in one SQLite file, before anybody acts on it.

One process at a time writes a run. The kernel's lock on ``<journal>.<digest of run>.lock`` is freed however that
process ends; should a lock ever fail to hold (some network file systems), every transaction also checks that the run
was not opened anew since. A change of state names the state it starts from, and stands in one transaction with the
entry that tells of it.

With ``durability="normal"`` a crash of the process loses nothing; a crash of the machine may lose the last
transactions, never the journal's consistency. ``"full"`` waits for the disk each time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from unacked.canonical import JSON, dumps
from unacked.errors import HarnessError, RecordError
from unacked.orchestrator.lifecycle import COMMANDS, Event, IllegalTransition, State, next_state
from unacked.orchestrator.records import SCHEMA, Entry, Reader, check_layout

__all__ = ["Fenced", "Journal", "Locked", "PlanChanged"]

_LAYOUT = f"""
begin immediate;
create table run(
  id text primary key, plan text not null, epoch integer not null, trace text not null, created_at real not null
) without rowid;
create table task(
  run text not null, id text not null, number integer not null, state text not null, attempt integer not null default 0,
  failures integer not null default 0, recoveries integer not null default 0, dead integer not null default 0,
  result text, error text, reason text, primary key (run, id)
) without rowid;
create table step(
  run text not null, task text not null, key text not null, name text not null, seq integer, state text not null,
  input text not null, output text, error text, attempts integer not null, began_at real not null, ended_at real,
  duration_s real, compensation text, compensation_error text, primary key (run, task, key)
) without rowid;
create table event(
  seq integer primary key, run text not null, task text not null, kind text not null, at real not null,
  data text not null
);
pragma user_version={SCHEMA};
commit;
"""


_NONE: Mapping[str, JSON] = {}


class Locked(HarnessError):
    """Another process is at work on this run."""


class Fenced(HarnessError):
    """The run was opened by somebody else meanwhile; this writer may not go on."""


class PlanChanged(RecordError):
    """The journal is of another plan."""


class Journal:
    """One run's journal, open for writing; ``plan`` is the digest of its plan.

    Raises Locked, PlanChanged, RecordError for a file that is no journal or one of another version, and HarnessError
    where it cannot be written. ``wall`` is the clock whose times are recorded; nothing is decided by them. ``told``
    hears every entry once it is committed.
    """

    def __init__(
        self,
        path: Path,
        run: str,
        plan: str,
        *,
        durability: Literal["normal", "full"] = "normal",
        wall: Callable[[], float] = time.time,
        told: Callable[[Entry], None] | None = None,
    ) -> None:
        self.path, self.run = path, run
        self._wall, self._told = wall, told
        self._entries: list[Entry] = []
        self._open = False
        with ExitStack() as undo:
            lock = _lock(path, run)
            undo.callback(os.close, lock)
            self._db = _connect(path, durability)
            undo.callback(self._db.close)
            self.epoch = 0
            with self.transaction():
                self.epoch, self.trace = self._take_over(plan)
            self._seq = self._last("step")
            self._closing = undo.pop_all()
        self.read = Reader(self._db, run)

    def _take_over(self, plan: str) -> tuple[int, str]:
        row = self._db.execute("select plan, epoch, trace from run where id=?", (self.run,)).fetchone()
        if row is None:
            trace = uuid.uuid4().hex
            self._db.execute("insert into run values(?, ?, 1, ?, ?)", (self.run, plan, trace, self._wall()))
            return 1, trace
        if row[0] != plan:
            raise PlanChanged(
                f"{self.path}: run {self.run!r} was begun with another plan\n"
                "    hint: give this plan a run of its own, or bring the old plan back"
            )
        self._db.execute("update run set epoch=epoch+1 where id=?", (self.run,))
        return row[1] + 1, row[2]

    def _last(self, table: str) -> int:
        row = self._db.execute(f"select coalesce(max(seq), 0) from {table} where run=?", (self.run,))  # noqa: S608 - our own words
        return int(row.fetchone()[0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of it or none; inside another transaction it is a part of that one.

        Raises Fenced, and HarnessError where the disk does not take it.
        """
        if self._open:
            yield
            return
        try:
            self._db.execute("begin immediate")
            self._open = True
            self._check_epoch()
            yield
            self._db.execute("commit")
        except sqlite3.Error as error:
            self._abandon()
            raise HarnessError(f"{self.path}: cannot be written: {error}") from None
        except BaseException:
            self._abandon()
            raise
        self._open = False
        entries, self._entries = self._entries, []
        if self._told is not None:
            for entry in entries:
                self._told(entry)

    def _check_epoch(self) -> None:
        if self.epoch:
            row = self._db.execute("select epoch from run where id=?", (self.run,)).fetchone()
            if row is None or row[0] != self.epoch:
                raise Fenced(f"{self.path}: run {self.run!r} was taken over by another process")

    def _abandon(self) -> None:
        self._open = False
        self._entries.clear()
        if self._db.in_transaction:
            self._db.execute("rollback")

    def note(self, task: str, kind: str, **detail: JSON) -> None:
        """Write one entry of the step log."""
        with self.transaction():
            at = self._wall()
            row = self._db.execute(
                "insert into event(run, task, kind, at, data) values(?, ?, ?, ?, ?)",
                (self.run, task, kind, at, dumps(detail)),
            )
            if self._told is not None:
                self._entries.append(Entry(row.lastrowid or 0, self.run, self.trace, task, kind, at, detail))

    def add_tasks(self, tasks: Iterable[str]) -> None:
        """Enter tasks as PENDING, in the order of the plan; those that are there already stay as they are."""
        with self.transaction():
            self._db.executemany(
                "insert or ignore into task(run, id, number, state) values(?, ?, ?, 'PENDING')",
                ((self.run, task, number) for number, task in enumerate(tasks)),
            )

    def move(
        self, task: str, state: State, event: Event, *, columns: Mapping[str, JSON] = _NONE, **detail: JSON
    ) -> State:
        """Let ``event`` happen to a task that is in ``state``, and return the state it is in then.

        ``columns`` are attempt, failures, recoveries, dead, result, error and reason, where they change; ``detail``
        is told by the step log alone. A late event is noted and changes nothing. Raises IllegalTransition for a
        command that the state does not know, and where the task is no longer in that state.
        """
        try:
            following = next_state(state, event)
        except IllegalTransition:
            if event in COMMANDS:
                raise IllegalTransition(state, event, task) from None
            self.note(task, "late", event=event.value, state=state.value)
            return state
        changed = "".join(f", {name}=?" for name in columns)
        values = [dumps(value) if name == "result" else value for name, value in columns.items()]
        with self.transaction():
            row = self._db.execute(
                f"update task set state=?{changed} where run=? and id=? and state=?",  # noqa: S608 - our own words
                (following.value, *values, self.run, task, state.value),
            )
            if row.rowcount != 1:
                raise IllegalTransition(state, event, task)
            told = {name: value for name, value in columns.items() if name != "result"}
            self.note(task, event.value, state=following.value, **told, **detail)
        return following

    def move_all(self, state: State, event: Event, tasks: Mapping[str, Mapping[str, JSON]]) -> State:
        """Let ``event`` happen to many tasks that are all in ``state``; each with the detail that the step log tells.

        A tenth of the cost of as many moves. Raises IllegalTransition, where any of them is no longer in that state
        too; nothing has changed then.
        """
        following = next_state(state, event)
        with self.transaction():
            rows = self._db.executemany(
                "update task set state=? where run=? and id=? and state=?",
                [(following.value, self.run, task, state.value) for task in tasks],
            )
            if rows.rowcount != len(tasks):
                raise IllegalTransition(state, event)
            self._note_all([(task, event.value, {"state": following.value, **tasks[task]}) for task in tasks])
        return following

    def _note_all(self, entries: Sequence[tuple[str, str, Mapping[str, JSON]]]) -> None:
        if self._told is not None:
            for task, kind, detail in entries:
                self.note(task, kind, **detail)
            return
        at = self._wall()
        self._db.executemany(
            "insert into event(run, task, kind, at, data) values(?, ?, ?, ?, ?)",
            [(self.run, task, kind, at, dumps(detail)) for task, kind, detail in entries],
        )

    def keep(self, task: str, result: JSON) -> None:
        """Keep a result for a task, whatever its state."""
        with self.transaction():
            self._db.execute("update task set result=? where run=? and id=?", (dumps(result), self.run, task))

    def forget(self, task: str, why: str) -> None:
        """Let a task be as if it had never been run; for whoever keeps results elsewhere, and lost this one."""
        with self.transaction():
            self._db.execute(
                "update task set state='PENDING', result=null, error=null, reason=null, dead=0 where run=? and id=?",
                (self.run, task),
            )
            self.note(task, "forgotten", state=State.PENDING.value, why=why)

    def begin_step(self, task: str, key: str, name: str, given: str) -> None:
        """Note that a step which has an effect is about to begin; ``given`` is its arguments as canonical JSON."""
        with self.transaction():
            self._db.execute(
                "insert into step(run, task, key, name, state, input, attempts, began_at)"
                " values(?, ?, ?, ?, 'begun', ?, 0, ?)"
                " on conflict do update set state='begun', began_at=excluded.began_at, error=null",
                (self.run, task, key, name, given, self._wall()),
            )
            self.note(task, "step_begun", key=key)

    def end_step(
        self, task: str, key: str, name: str, given: str, *, output: str, attempts: int, duration_s: float
    ) -> None:
        """Keep what a step returned, as canonical JSON; it is never run again."""
        with self.transaction():
            now = self._wall()
            self._seq += 1
            self._db.execute(
                "insert into step(run, task, key, name, seq, state, input, output, attempts, began_at, ended_at,"
                " duration_s) values(?, ?, ?, ?, ?, 'ended', ?, ?, ?, ?, ?, ?)"
                " on conflict do update set seq=excluded.seq,"
                " state='ended', output=excluded.output, error=null, attempts=attempts+excluded.attempts,"
                " ended_at=excluded.ended_at, duration_s=excluded.duration_s",
                (self.run, task, key, name, self._seq, given, output, attempts, now - duration_s, now, duration_s),
            )
            self.note(task, "step_ended", key=key, attempts=attempts, duration_s=round(duration_s, 6))

    def fail_step(
        self,
        task: str,
        key: str,
        name: str,
        given: str,
        *,
        state: Literal["failed", "unknown"],
        error: str,
        attempt: int,
    ) -> None:
        """Note that a step failed, or was broken off (``unknown``: its effect may have happened)."""
        with self.transaction():
            now = self._wall()
            self._db.execute(
                "insert into step(run, task, key, name, state, input, error, attempts, began_at)"
                " values(?, ?, ?, ?, ?, ?, ?, 1, ?) on conflict do update set state=excluded.state,"
                " error=excluded.error, attempts=attempts+1",
                (self.run, task, key, name, state, given, error, now),
            )
            self.note(task, f"step_{state}", key=key, attempt=attempt, error=error)

    def mark_compensation(
        self, task: str, key: str, mark: Literal["begun", "done", "needs_person"], error: str | None = None
    ) -> None:
        """Note how far the compensation of a step is."""
        with self.transaction():
            self._db.execute(
                "update step set compensation=?, compensation_error=? where run=? and task=? and key=?",
                (mark, error, self.run, task, key),
            )
            self.note(task, f"compensation_{mark}", key=key, **({} if error is None else {"error": error}))

    def forget_compensated(self, task: str) -> None:
        """Let steps that were taken back be run again; the step log still tells of them."""
        with self.transaction():
            self._db.execute("delete from step where run=? and task=? and compensation='done'", (self.run, task))

    def close(self) -> None:
        """Close the file and free the run."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _lock(path: Path, run: str) -> int:
    name = path.with_name(f"{path.name}.{hashlib.sha256(run.encode()).hexdigest()[:16]}.lock")
    try:
        lock = os.open(name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise HarnessError(f"{name}: cannot be locked: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            raise Locked(f"{path}: another process is at work on run {run!r}") from None
        raise HarnessError(f"{name}: cannot be locked: {error.strerror}") from None
    return lock


def _connect(path: Path, durability: str) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=30)
    except sqlite3.Error as error:
        raise HarnessError(f"{path}: cannot be opened: {error}") from None
    try:
        if not _is_empty(db, path):
            check_layout(db, path)
        for setting in ("journal_mode=wal", f"synchronous={durability}"):
            db.execute(f"pragma {setting}")
        if _is_empty(db, path):
            _lay_out(db, path)
    except sqlite3.Error as error:
        db.close()
        raise HarnessError(f"{path}: cannot be written: {error}") from None
    except BaseException:
        db.close()
        raise
    return db


def _is_empty(db: sqlite3.Connection, path: Path) -> bool:
    try:
        return not db.execute("select 1 from sqlite_master limit 1").fetchone()
    except sqlite3.DatabaseError as error:
        raise RecordError(f"{path}: is no journal: {error}") from None


def _lay_out(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables; two runs of one journal may be begun at once, and one of them comes first."""
    try:
        db.executescript(_LAYOUT)
    except sqlite3.OperationalError:
        if db.in_transaction:
            db.execute("rollback")
        check_layout(db, path)
