from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
from tests.orchestrator.conftest import Desk, Diary

from unacked.canonical import JSON
from unacked.errors import HarnessError, RecordError
from unacked.orchestrator import (
    Context,
    Entry,
    Event,
    Fenced,
    IllegalTransition,
    Journal,
    Locked,
    Plan,
    Reader,
    State,
    Task,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def journal(path: Path, run: str = "run", **more: object) -> Journal:
    return Journal(path, run, "the plan", **more)  # type: ignore[arg-type]


def test_one_process_at_a_time_writes_a_run(path: Path) -> None:
    with journal(path), pytest.raises(Locked):
        journal(path)
    journal(path).close()


def test_two_runs_share_a_journal(path: Path) -> None:
    with journal(path, "a") as a, journal(path, "b") as b:
        a.add_tasks(["x"])
        b.add_tasks(["y"])
        assert (list(a.read.tasks()), list(b.read.tasks())) == (["x"], ["y"])


def test_whoever_was_overtaken_writes_nothing_more(path: Path) -> None:
    with journal(path) as overtaken:
        overtaken.add_tasks(["x"])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("update run set epoch=epoch+1")
        other.close()
        with pytest.raises(Fenced, match="was taken over by another process"):
            overtaken.move("x", State.PENDING, Event.START)
        assert overtaken.read.tasks()["x"].state is State.PENDING


def test_every_opening_is_an_epoch_and_the_trace_stays(path: Path) -> None:
    with journal(path) as first:
        trace = first.trace
    with journal(path) as second:
        assert (first.epoch, second.epoch, second.trace) == (1, 2, trace)
    assert len(trace) == 32


def test_of_two_changes_from_one_state_one_is_refused(path: Path) -> None:
    with journal(path) as open_journal:
        open_journal.add_tasks(["x"])
        open_journal.move("x", State.PENDING, Event.START)
        with pytest.raises(IllegalTransition):
            open_journal.move("x", State.PENDING, Event.START)
        assert [entry.kind for entry in open_journal.read.log()] == ["start"]


def test_a_duplicate_start_is_refused(path: Path) -> None:
    with journal(path) as open_journal:
        open_journal.add_tasks(["x"])
        with pytest.raises(IllegalTransition, match="task 'x' that is RUNNING knows no 'start'"):
            open_journal.move("x", State.RUNNING, Event.START)


def test_a_state_and_the_entry_that_tells_of_it_are_written_together(path: Path) -> None:
    with journal(path) as open_journal:
        open_journal.add_tasks(["x"])
        open_journal._db.execute("create trigger no before insert on event begin select raise(abort, 'full'); end")
        with pytest.raises(HarnessError, match="cannot be written: full"):
            open_journal.move("x", State.PENDING, Event.START)
        assert open_journal.read.tasks()["x"].state is State.PENDING


def test_a_batch_is_written_whole_or_not_at_all(path: Path) -> None:
    told: list[Entry] = []
    with journal(path, told=told.append) as open_journal:
        open_journal.add_tasks(["x", "y"])
        with suppress(ZeroDivisionError), open_journal.transaction():
            open_journal.move("x", State.PENDING, Event.START)
            raise ZeroDivisionError
        assert open_journal.read.tasks()["x"].state is State.PENDING
        with open_journal.transaction():
            open_journal.move("x", State.PENDING, Event.START)
            open_journal.move("y", State.PENDING, Event.START)
            assert told == []
    assert [entry.task for entry in told] == ["x", "y"]


def test_another_version_is_refused(path: Path) -> None:
    journal(path).close()
    db = sqlite3.connect(path)
    db.execute("pragma user_version=7")
    db.close()
    for attempt in (lambda: journal(path), lambda: Reader.at(path, "run")):
        with pytest.raises(RecordError, match=r"layout 7 .* is not readable by this version \(it reads 1\)"):
            attempt()


def test_a_file_that_is_no_journal_is_told(path: Path) -> None:
    path.write_bytes(b"not a database, and longer than a header has to be" * 50)
    with pytest.raises(RecordError, match="is no journal: file is not a database"):
        journal(path)
    with pytest.raises(RecordError, match="is no journal: file is not a database"):
        Reader.at(path, "run")


def test_a_journal_of_somebody_else_is_not_written_to(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("create table theirs(x)")
    db.close()
    with pytest.raises(RecordError, match="layout 0 of a journal is not readable"):
        journal(path)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="cannot be locked: No such file or directory"):
        journal(tmp_path / "missing/journal.db")


def test_a_journal_that_is_not_there_is_told(path: Path) -> None:
    with pytest.raises(RecordError, match="there is no journal here"):
        Reader.at(path, "run")


def test_a_run_that_is_not_there_is_told(path: Path) -> None:
    journal(path).close()
    with Reader.at(path, "other") as reader, pytest.raises(RecordError, match="the journal holds no run 'other'"):
        reader.run()


def test_a_torn_last_page_of_the_log_costs_at_most_the_last_transactions(path: Path) -> None:
    open_journal = journal(path)
    open_journal.add_tasks(["x"])
    open_journal.move("x", State.PENDING, Event.START)
    files = {name: path.with_name(name).read_bytes() for name in (path.name, f"{path.name}-wal")}
    open_journal.close()
    torn = path.parent / "torn"
    torn.mkdir()
    for name, data in files.items():
        (torn / name).write_bytes(data[:-100] if name.endswith("-wal") else data)
    with journal(torn / path.name) as after:
        assert after.read.tasks()["x"].state is State.PENDING
        after.move("x", State.PENDING, Event.START)


def test_a_clock_that_is_set_back_changes_no_order(path: Path) -> None:
    clock = iter(range(1000, 0, -1))
    with journal(path, wall=lambda: float(next(clock))) as open_journal:
        open_journal.add_tasks(["x"])
        open_journal.move("x", State.PENDING, Event.START)
        open_journal.move("x", State.RUNNING, Event.SUCCEEDED)
        entries = list(open_journal.read.log())
    assert [entry.kind for entry in entries] == ["start", "succeeded"]
    assert entries[0].at > entries[1].at


@pytest.mark.parametrize(("durability", "level"), [("normal", 1), ("full", 2)])
def test_how_long_to_wait_for_the_disk_is_a_choice(path: Path, durability: str, level: int) -> None:
    with journal(path, durability=durability) as open_journal:
        assert open_journal._db.execute("pragma synchronous").fetchone() == (level,)
        assert open_journal._db.execute("pragma journal_mode").fetchone() == ("wal",)


def test_the_lock_does_not_pass_to_programs_that_are_started(path: Path) -> None:
    with journal(path):
        (lock,) = path.parent.glob("*.lock")
        numbers = [int(link.name) for link in Path("/proc/self/fd").iterdir() if link.resolve() == lock.resolve()]
        assert [os.get_inheritable(number) for number in numbers] == [False]


def test_inputs_and_outputs_of_every_step_are_read_by_the_name_of_the_run(desk: Desk, diary: Diary) -> None:
    async def add(a: int, b: int) -> JSON:
        return a + b

    async def work(context: Context) -> JSON:
        return await context.step("add", add, 2, 3)

    desk.run(Plan([Task("a", work), Task("b", diary.work())]))
    with desk.reader() as reader:
        (step,) = reader.steps()
        assert reader.step("a", step.key) == step
        assert reader.step("a", "other") is None
        assert reader.run().id == "run"
    assert (step.task, step.name, step.input, step.output, step.error, step.attempts) == (
        "a",
        "add",
        [2, 3],
        5,
        None,
        1,
    )


def test_an_argument_that_is_no_json_is_refused_by_the_name_of_its_step(desk: Desk) -> None:
    async def take(_value: object) -> JSON:
        return None

    async def work(context: Context) -> JSON:
        return await context.step("take", take, object())

    (task,) = desk.run([Task("a", work)]).tasks.values()
    assert task.error is not None
    assert "an argument of step 'take' is not JSON: object is not JSON" in task.error


def test_many_tasks_change_together_or_not_at_all(path: Path) -> None:
    told: list[Entry] = []
    with journal(path, told=told.append) as open_journal:
        open_journal.add_tasks(["x", "y", "z"])
        open_journal.move("z", State.PENDING, Event.START)
        with pytest.raises(IllegalTransition):
            open_journal.move_all(State.PENDING, Event.START, {"x": {}, "z": {}})
        assert open_journal.read.tasks()["x"].state is State.PENDING
        assert open_journal.move_all(State.PENDING, Event.START, {"x": {"by": 1}, "y": {}}) is State.RUNNING
        assert open_journal.read.counts() == {"RUNNING": 3}
    assert [(entry.task, dict(entry.detail)) for entry in told[1:]] == [
        ("x", {"state": "RUNNING", "by": 1}),
        ("y", {"state": "RUNNING"}),
    ]


def test_of_very_many_tasks_the_states_are_read_alone_and_the_rest_only_where_there_is_any(path: Path) -> None:
    with journal(path) as open_journal:
        open_journal.add_tasks(["z", "a", "m"])
        open_journal.move("z", State.PENDING, Event.START)
        open_journal.move("z", State.RUNNING, Event.RECOVERED, columns={"recoveries": 2})
        open_journal.move("m", State.PENDING, Event.START)
        open_journal.move("m", State.RUNNING, Event.SUCCEEDED, columns={"result": {"verdict": "PASS"}})
        assert list(open_journal.read.states().items()) == [
            ("z", State.PENDING),
            ("a", State.PENDING),
            ("m", State.SUCCEEDED),
        ]
        assert open_journal.read.recoveries() == {"z": 2}
        assert [open_journal.read.result(name) for name in ("z", "m")] == [None, {"verdict": "PASS"}]
