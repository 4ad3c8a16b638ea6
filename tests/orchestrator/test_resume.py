from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.orchestrator.conftest import Desk, Diary, states

from unacked.canonical import JSON
from unacked.orchestrator import Context, Locked, Plan, PlanChanged, Reader, Task


class Killed(BaseException):
    """Stands for the end of the process."""


class Five:
    """A task of five steps that is a conversation; ``dies_in`` is where the process ends, once."""

    def __init__(self, diary: Diary, dies_in: tuple[str, ...] = ()) -> None:
        self.diary, self.dies_in = diary, list(dies_in)

    async def step(self, number: int, said: list[JSON]) -> JSON:
        self.die(f"in {number}")
        self.diary.write(f"{number}")
        return {"number": number, "heard": len(said)}

    def die(self, where: str) -> None:
        if self.dies_in and self.dies_in[0] == where:
            self.dies_in.pop(0)
            raise Killed

    async def work(self, context: Context) -> JSON:
        said: list[JSON] = []
        for number in range(1, 6):
            said.append(await context.step("say", self.step, number, list(said)))
            self.die(f"after {number}")
        return said


SAID = [{"number": number, "heard": number - 1} for number in range(1, 6)]


@pytest.mark.parametrize(
    ("dies_in", "executed"),
    [("in 3", "12 345"), ("after 2", "12 345"), ("after 3", "123 45"), ("in 1", " 12345"), ("after 5", "12345 ")],
)
def test_a_resumed_run_executes_exactly_the_steps_that_had_not_ended(
    desk: Desk, diary: Diary, dies_in: str, executed: str
) -> None:
    plan = Plan([Task("a", Five(diary, (dies_in,)).work)])
    with pytest.raises(Killed):
        desk.run(plan)
    diary.lines.append((0, " "))
    report = desk.run(plan)
    assert "".join(diary.names) == executed
    assert report.results == {"a": SAID}


def test_the_conversation_so_far_is_there_again(desk: Desk, diary: Diary) -> None:
    five, restored = Five(diary, ("in 3",)), list[JSON]()

    async def work(context: Context) -> JSON:
        restored.append([step.output for step in context.finished])
        return await five.work(context)

    plan = Plan([Task("a", work)])
    with pytest.raises(Killed):
        desk.run(plan)
    desk.run(plan)
    assert restored == [[], SAID[:2]]


def test_crashes_again_and_again_lose_nothing(desk: Desk, diary: Diary) -> None:
    plan = Plan([Task("a", Five(diary, ("in 1", "after 1", "in 4")).work)])
    for _ in range(3):
        with pytest.raises(Killed):
            desk.run(plan)
    assert desk.run(plan).results == {"a": SAID}
    assert "".join(diary.names) == "12345"


def test_branches_that_ran_at_once_recover_to_their_own_values(desk: Desk, diary: Diary) -> None:
    """Steps that end in another order the second time still find their own result."""
    slow = {"a": 3, "b": 2, "c": 1}
    crash = ["c"]

    async def fetch(name: str, times: int) -> JSON:
        await asyncio.sleep(slow[name])
        diary.write(f"{name}{times}")
        return f"{name}{times}"

    async def branch(context: Context, name: str) -> list[JSON]:
        first = await context.step("fetch", fetch, name, 1)
        if crash == [name]:
            crash.clear()
            raise Killed
        return [first, await context.step("fetch", fetch, name, 2)]

    async def work(context: Context) -> JSON:
        return await asyncio.gather(*(branch(context, name) for name in "abc"))

    plan = Plan([Task("t", work)])
    with pytest.raises(Killed):
        desk.run(plan)
    slow.update(a=1, c=3)
    assert desk.run(plan).results == {"t": [["a1", "a2"], ["b1", "b2"], ["c1", "c2"]]}
    assert diary.names.count("c1") == 1


def test_the_same_step_twice_is_two_steps(desk: Desk, diary: Diary) -> None:
    async def tick() -> JSON:
        diary.write("tick")
        return len(diary.lines)

    async def work(context: Context) -> JSON:
        return [await context.step("tick", tick), await context.step("tick", tick)]

    assert desk.run([Task("a", work)]).results == {"a": [1, 2]}
    with desk.reader() as reader:
        assert [step.key.rpartition("#")[2] for step in reader.steps("a")] == ["1", "2"]


def test_what_a_step_returns_is_the_same_when_it_is_restored(desk: Desk) -> None:
    seen: list[JSON] = []

    async def pair() -> JSON:
        return {"pair": (1, 2)}

    async def work(context: Context) -> JSON:
        seen.append(await context.step("pair", pair))
        if len(seen) == 1:
            raise Killed
        return None

    plan = Plan([Task("a", work)])
    with pytest.raises(Killed):
        desk.run(plan)
    desk.run(plan)
    assert seen == [{"pair": [1, 2]}, {"pair": [1, 2]}]


def test_tasks_that_had_ended_are_not_run_again(desk: Desk, diary: Diary) -> None:
    plan = Plan(
        [Task("a", diary.work(result=1)), Task("b", Five(diary, ("in 1",)).work, after=["a"]), Task("c", diary.work())]
    )
    with pytest.raises(Killed):
        desk.run(plan, parallel=1)
    report = desk.run(plan)
    assert diary.names.count("a begins") == 1
    assert report.results["a"] == 1
    assert desk.run(plan).results == report.results


def test_a_finished_run_does_nothing_when_it_is_run_again(desk: Desk, diary: Diary) -> None:
    plan = Plan([Task("a", diary.work(result=1))])
    first = desk.run(plan)
    diary.lines.clear()
    assert (desk.run(plan).results, first.results, diary.lines) == ({"a": 1}, {"a": 1}, [])


@pytest.mark.parametrize("other", [{"input": 2}, {"version": "2"}])
def test_a_journal_of_another_plan_is_refused(desk: Desk, diary: Diary, other: dict[str, Any]) -> None:
    desk.run([Task("a", diary.work(), input=1, version="1")])
    with pytest.raises(PlanChanged, match="was begun with another plan"):
        desk.run([Task("a", diary.work(), **{"input": 1, "version": "1", **other})])


def test_a_second_resumer_is_locked_out_and_the_first_goes_on(desk: Desk, diary: Diary) -> None:
    plan = Plan([Task("a", diary.work(result=1))])
    with desk.journal(plan):
        with pytest.raises(Locked, match="another process is at work on run 'run'"):
            desk.run(plan)
        assert diary.lines == []
    assert desk.run(plan).results == {"a": 1}


POISON = """
import asyncio, os, signal, sys
from pathlib import Path
from unacked.orchestrator import Plan, Task, run

async def poison(context):
    os.kill(os.getpid(), signal.SIGKILL)

async def good(context):
    return 1

plan = Plan([Task("poison", poison), Task("good", good), Task("after", good, after=["poison"])])
report = asyncio.run(run(plan, Path(sys.argv[1]), "run", parallel=1))
print({name: task.status for name, task in report.tasks.items()})
"""


@pytest.mark.long
def test_what_takes_the_process_with_it_again_and_again_ends_as_a_dead_letter(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    codes, said = [], ""
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", POISON, str(path)], capture_output=True, text=True, check=False, timeout=60
        )
        codes.append(done.returncode)
        said = done.stdout
    assert codes == [-signal.SIGKILL] * 4 + [0]
    assert said.strip() == "{'poison': 'deadletter', 'good': 'succeeded', 'after': 'skipped'}"
    with Reader.at(path, "run") as reader:
        (letter,) = reader.dead_letters()
    assert letter.error == "the process ended 4 times while this was running"


KILLED = """
import asyncio, json, os, signal, sys
from pathlib import Path
from unacked.orchestrator import Compensation, Plan, Task, run

def write(folder, line):
    with (folder / "diary").open("a") as file:
        file.write(line + "\\n")

async def undo(folder, name, number, output):
    write(Path(folder), f"undo {name} {number}")

async def say(folder, name, number):
    write(Path(folder), f"{name} {number}")
    return number

async def work(context):
    name = context.task.id
    said = [await context.step("say", say, context.task.input, name, number) for number in range(3)]
    if name == "bad":
        raise ValueError("no")
    return said

def run_until(folder, entry):
    entries = []
    def told(one):
        entries.append(one)
        if len(entries) == entry:
            os.kill(os.getpid(), signal.SIGKILL)
    here, undone = str(folder), {"say": Compensation(undo)}
    plan = Plan([
        Task("a", work, input=here),
        Task("bad", work, input=here, compensations=undone),
        Task("b", work, input=here, after=["a"]),
    ])
    report = asyncio.run(run(plan, folder / "journal.db", "run", told=told))
    (folder / "said").write_text(" ".join(f"{name}={task.status}" for name, task in report.tasks.items()))

for entry in range(int(sys.argv[2]), int(sys.argv[3])):
    folder = Path(sys.argv[1]) / str(entry)
    folder.mkdir()
    codes = []
    for at in (entry, 0):
        if not (child := os.fork()):
            run_until(folder, at)
            os._exit(0)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(json.dumps([codes, (folder / "said").read_text(), (folder / "diary").read_text().splitlines()]))
"""


def check_killed(folder: Path, first: int, last: int) -> list[int]:
    """Kill a run at each of its journal's entries, run it again, and see what was done; returns how each ended."""
    command = [sys.executable, "-c", KILLED, str(folder), str(first), str(last + 1)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    ended = []
    for text in done.stdout.splitlines():
        codes, said, lines = json.loads(text)
        assert said == "a=succeeded bad=failed b=succeeded"
        assert [line for line in dict.fromkeys(lines) if "undo" in line] == [f"undo bad {n}" for n in (2, 1, 0)]
        assert len(set(lines)) == 12
        assert len(lines) - len(set(lines)) <= 1, "a kill may fall between one effect and the note of it"
        assert codes[1] == 0
        ended.append(codes[0])
    return ended


def test_a_run_that_was_killed_is_resumed_without_loss_and_without_repeats(tmp_path: Path) -> None:
    assert check_killed(tmp_path, 17, 18) == [-signal.SIGKILL] * 2


@pytest.mark.long
def test_killed_at_every_entry_of_its_journal_a_run_still_ends_well(tmp_path: Path) -> None:
    assert check_killed(tmp_path, 1, 25) == [-signal.SIGKILL] * 24 + [0]


def test_an_interrupted_run_is_as_if_what_ran_had_not_been_started(desk: Desk, diary: Diary) -> None:
    async def work(_context: Context) -> JSON:
        if "again" in diary.names:
            return "done"
        await asyncio.sleep(1e6)
        return None

    async def interrupt(runner: Any) -> None:
        await asyncio.sleep(5)
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task() and task.get_name() != "a":
                task.cancel()
        assert runner.running == 1

    plan = Plan([Task("a", work)])
    with pytest.raises(asyncio.CancelledError):
        desk.run(plan, meanwhile=interrupt)
    assert desk.kinds("a") == ["start", "interrupted"]
    diary.lines.append((0, "again"))
    assert states(desk.run(plan)) == {"a": "succeeded"}
