"""What a journalled step costs, beside two other engines on SQLite, and a run of 50,000 trials on one journal.

A task of five steps that do nothing, many of them, one after the other: what is measured is the journal. The other
engines are measured where they are installed (``pip install dbos langgraph langgraph-checkpoint-sqlite``); each in a
process of its own, for they do not like each other's loops.

    python benchmarks/engine.py [--tasks 200] [--trials 50000] [--jobs 2] [--only steps|trials]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unacked.engine import Outcome, RunFolder, RunRequest, execute, make_plan, open_run, run_status
from unacked.orchestrator import Compensation, Context, Plan, Task, run
from unacked.suite import load_suite

ROOT = Path(__file__).resolve().parents[1]
CASE = "I-planned-again-with-a-new-key"
STEPS = 5


async def nothing(number: int) -> dict[str, int]:
    """Return what the next step is given."""
    return {"number": number}


async def undo(_number: int, *, output: object) -> None:
    """Take nothing back."""


async def five(context: Context) -> None:
    """Take five steps."""
    for number in range(STEPS):
        await context.step("step", nothing, number)


def measure_ours(folder: Path, tasks: int, *, with_effect: bool = False) -> None:
    """Run tasks of five steps; a step with an effect is noted before it begins, too."""
    compensations = {"step": Compensation(undo)} if with_effect else {}
    plan = Plan([Task(f"t{number}", five, compensations=compensations) for number in range(tasks)])
    report = asyncio.run(run(plan, folder / "journal.db", "bench", parallel=1))
    if not report.succeeded:
        raise SystemExit("a task did not succeed")


def measure_ours_with_effects(folder: Path, tasks: int) -> None:
    """Run tasks whose steps have an effect."""
    measure_ours(folder, tasks, with_effect=True)


def measure_dbos(folder: Path, tasks: int) -> None:
    """Run the same as DBOS workflows."""
    from dbos import DBOS  # noqa: PLC0415

    @DBOS.step()
    def step(number: int) -> dict[str, int]:
        return {"number": number}

    @DBOS.workflow()
    def work(number: int) -> int:
        for one in range(STEPS):
            step(one)
        return number

    DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{folder}/dbos.sqlite", "log_level": "ERROR"})
    DBOS.launch()
    for number in range(tasks):
        work(number)
    DBOS.destroy()


def measure_langgraph(folder: Path, tasks: int) -> None:
    """Run the same as LangGraph threads, each node a checkpoint in SQLite."""
    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415

    graph: Any = StateGraph(dict)
    names = [f"step{number}" for number in range(STEPS)]
    for name in names:
        graph.add_node(name, lambda state: {**state, "number": 1})
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    with SqliteSaver.from_conn_string(str(folder / "langgraph.sqlite")) as saver:
        compiled = graph.compile(checkpointer=saver)
        for number in range(tasks):
            compiled.invoke({"number": 0}, {"configurable": {"thread_id": str(number)}})


ENGINES: dict[str, Callable[[Path, int], None]] = {
    "ours": measure_ours,
    "ours, with effects": measure_ours_with_effects,
    "DBOS": measure_dbos,
    "LangGraph": measure_langgraph,
}


def one_engine(name: str, tasks: int) -> None:
    """Measure one engine and print its line; the first tasks warm it up."""
    spent: dict[int, tuple[float, float]] = {}
    for count in (10, 10, tasks):
        with tempfile.TemporaryDirectory(dir=ROOT / "runs") as folder:
            wall, cpu = time.perf_counter(), time.process_time()
            ENGINES[name](Path(folder), count)
            spent[count] = time.perf_counter() - wall, time.process_time() - cpu
    steps = (tasks - 10) * STEPS
    wall, cpu = (1000 * (spent[tasks][part] - spent[10][part]) / steps for part in (0, 1))
    print(f"{name:<20} {wall:8.3f} ms a step, {cpu:.3f} of them CPU")


def steps(tasks: int) -> None:
    """Measure every engine that is installed, each in a process of its own."""
    for name in ENGINES:
        command = [sys.executable, __file__, "--engine", name, "--tasks", str(tasks)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this very file
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        print(done.stdout.rstrip() if done.returncode == 0 else f"{name:<20} not measured: {last}", flush=True)


def peak_mb() -> float:
    """Return the peak resident size of this process and of its largest child, in megabytes."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024


def resident_mb() -> float:
    """Return the present resident size of this process, in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


class Watch:
    """Keeps how much memory there is at every tenth of a run, and ends it before the last trials."""

    def __init__(self, trials: int, stop_at: int) -> None:
        self._every, self._stop_at = trials // 10, stop_at
        self.resident: list[float] = []

    def __call__(self, outcome: Outcome) -> None:
        """Hear of one trial."""
        number = outcome.line["index"] + 1
        if number % self._every == 0:
            self.resident.append(resident_mb())
        if number == self._stop_at:
            raise KeyboardInterrupt


def trials(count: int, jobs: int) -> None:
    """Run many scripted trials on one journal, interrupt them before the last hundred, and resume."""
    (ROOT / "runs").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "runs") as out:
        suite = load_suite(ROOT)
        plan = make_plan(suite, RunRequest((CASE,), ("careful",), count // 2))
        watch = Watch(count, count - 100)
        folder = open_run(suite, plan, Path(out), "bench")
        wall, cpu = time.perf_counter(), cpu_s()
        try:
            execute(folder, plan, jobs=jobs, told=watch)
        except KeyboardInterrupt:
            wall, cpu = time.perf_counter() - wall, cpu_s() - cpu
        done = count - 100
        print(f"{done} trials, {jobs} jobs: {wall:.0f} s wall, {cpu:.0f} s CPU, {1000 * cpu / done:.3f} CPU ms a trial")
        print("resident MB at every tenth: " + ", ".join(f"{size:.0f}" for size in watch.resident))
        print(f"peak of any process: {peak_mb():.0f} MB")
        command = [sys.executable, __file__, "--resume", out, "--trials", str(count)]
        subprocess.run(command, check=True)  # noqa: S603 - this very file, anew: so is a run resumed
        sizes(folder, count)
        began = time.perf_counter()
        status = run_status(folder)
        print(f"status: {time.perf_counter() - began:.2f} s ({status.stage}, {status.states})")


def resume(out: Path, count: int) -> None:
    """Measure how long a resumed run takes from its start to its first trial, loading the suite apart.

    The start of Python and of this package, which every command needs, comes besides.
    """
    started_cpu = time.process_time()
    began, cpu = time.perf_counter(), time.process_time()
    suite = load_suite(ROOT)
    loaded, loaded_cpu = time.perf_counter() - began, time.process_time() - cpu
    first: list[tuple[float, float]] = []

    def told(_outcome: Outcome) -> None:
        if not first:
            first.append((time.perf_counter() - began, time.process_time() - cpu))

    plan = make_plan(suite, RunRequest((CASE,), ("careful",), count // 2))
    execute(open_run(suite, plan, out, "bench"), plan, jobs=1, told=told)
    print(
        f"resumed: first trial after {first[0][0]:.2f} s ({first[0][1]:.2f} CPU);"
        f" {loaded:.2f} s ({loaded_cpu:.2f}) of that is reading the suite; before it {started_cpu:.2f} s of imports",
        flush=True,
    )


def cpu_s() -> float:
    """Return the CPU seconds of this process and of the children that have ended."""
    own, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + theirs.ru_utime + theirs.ru_stime


def sizes(folder: RunFolder, count: int) -> None:
    """Print how many bytes a trial leaves."""
    parts = {
        "journal": [folder.journal],
        "verdicts": [folder.verdicts],
        "events": folder.files("events"),
        "timings": [folder.timings],
    }
    told = (f"{name} {sum(path.stat().st_size for path in paths) / count:.0f}" for name, paths in parts.items())
    print("bytes a trial: " + ", ".join(told))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--trials", type=int, default=50_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=("steps", "trials"))
    parser.add_argument("--engine", choices=list(ENGINES), help=argparse.SUPPRESS)
    parser.add_argument("--resume", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    (ROOT / "runs").mkdir(exist_ok=True)
    if given.engine:
        one_engine(given.engine, given.tasks)
        return
    if given.resume:
        resume(given.resume, given.trials)
        return
    if given.only != "trials":
        steps(given.tasks)
    if given.only != "steps":
        trials(given.trials, given.jobs)


if __name__ == "__main__":
    main()
