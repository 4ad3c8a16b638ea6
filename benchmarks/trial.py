"""CPU of one scripted trial, memory over many, and what a second process gives.

The trial is the flagship without its read-back: create (outcome unknown), lookup, attach_note, finish,
through the real HTTP client on the simulated wire, recorded in a hash-chained file.

    python benchmarks/trial.py [--trials 10000]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from unacked.claims import judge_trial
from unacked.engine import RunRequest, execute, make_plan, open_run
from unacked.suite import load_suite
from unacked.trial import Bench, TrialPlan

ROOT = Path(__file__).resolve().parents[1]
CASE = "I-planned-again-with-a-new-key"  # create, lookup, attach_note, finish


def memory_mb() -> float:
    """Return the peak resident size of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cpu_per_trial(trials: int) -> None:
    """Print CPU milliseconds of one trial with its record and verdict, and the memory before and after."""
    suite = load_suite(ROOT)
    bench = Bench(suite)
    brief = suite.cases[CASE].side(twin=False)
    with tempfile.TemporaryDirectory(dir=ROOT / "runs") as folder:
        spent = judged = 0.0
        for index in range(trials + 50):
            plan = TrialPlan(index, CASE, twin=False, agent="careful", repeat=index, seed="0", run="bench")
            events = Path(folder, f"{index}.jsonl")
            began = time.process_time()
            record = bench.run(plan, events)
            ran = time.process_time()
            judge_trial(brief, record.history)
            if index == 50:
                spent = judged = 0.0
                print(f"memory after 50 trials: {memory_mb():.0f} MB")
            spent += ran - began
            judged += time.process_time() - ran
            events.unlink()
        print(f"trial and record: {spent / trials * 1000:.3f} CPU ms; judging: {judged / trials * 1000:.3f} CPU ms")
    print(f"memory after {trials} trials: {memory_mb():.0f} MB")


def whole_run(trials: int, jobs: int) -> float:
    """Return the wall seconds of a run of the flagship with verdicts and seal, by ``jobs`` processes."""
    suite = load_suite(ROOT)
    with tempfile.TemporaryDirectory(dir=ROOT / "runs") as out:
        plan = make_plan(suite, RunRequest((CASE,), ("careful",), trials // 2, "0"))
        folder = open_run(suite, plan, Path(out), "bench")
        began = time.perf_counter()
        execute(folder, plan, jobs=jobs, told=lambda _outcome: None)
        return time.perf_counter() - began


def main() -> None:
    """Run all three measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    cpu_per_trial(trials)
    walls = {jobs: whole_run(trials, jobs) for jobs in (1, 2)}
    for jobs, wall in walls.items():
        print(f"run with {jobs} process(es): {trials / wall:.0f} trials/s, {wall / trials * 1000:.3f} ms a trial")
    print(f"two processes give {walls[1] / walls[2]:.2f} times one")
    print(f"memory of this process: {memory_mb():.0f} MB")


if __name__ == "__main__":
    main()
