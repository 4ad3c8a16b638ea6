"""A run that is killed at random instants, over and over, until it is done: what is lost, what is run twice.

Every part of the run is a process of its own that gets SIGKILL after a random time; the last one is left alone. Then
the verdicts are compared with those of a run that nobody disturbed, and the chain is verified.

    python benchmarks/kills.py [--kills 1000] [--trials 2000] [--jobs 1] [--seed 0]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from pathlib import Path

from unacked.engine import RunFolder, RunRequest, execute, make_plan, open_run, run_status, verify
from unacked.suite import load_suite

ROOT = Path(__file__).resolve().parents[1]
CASES = ("I-planned-again-with-a-new-key", "E01")
AGENTS = ("careful", "reckless")


def run(out: Path, repeat: int, jobs: int) -> RunFolder:
    """Run or resume the plan, and return its folder."""
    suite = load_suite(ROOT)
    plan = make_plan(suite, RunRequest(CASES, AGENTS, repeat))
    folder = open_run(suite, plan, out, "run")
    execute(folder, plan, jobs=jobs, told=lambda _outcome: None)
    return folder


def part(out: Path, repeat: int, jobs: int, limit_s: float) -> int:
    """Run in a process of its own, for so many seconds at most; returns how it ended."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        run(out, repeat, jobs)
        os._exit(0)
    ends = time.monotonic() + limit_s
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    """Kill, resume, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", default="0")
    given = parser.parse_args()
    sides = len(make_plan(load_suite(ROOT), RunRequest(CASES, AGENTS)).trials)
    repeat = -(-given.trials // sides)
    chance = random.Random(given.seed)  # noqa: S311 - to be repeated, not to be secret
    (ROOT / "runs").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "runs") as place:
        out = Path(place)
        began = time.perf_counter()
        quiet = run(out / "quiet", repeat, given.jobs)
        took = time.perf_counter() - began
        began, kills, runs = time.perf_counter(), 0, 0
        while kills < given.kills:
            runs += 1
            here = out / f"killed-{runs}"
            killed = kill_to_the_end(here, repeat, given.jobs, chance, took, given.kills - kills)
            kills += killed
            check(RunFolder(here / "run"), quiet, killed)
        took = time.perf_counter() - began
        print(f"{kills} kills over {runs} runs of {sides * repeat} trials in {took:.0f} s; all alike")


def kill_to_the_end(out: Path, repeat: int, jobs: int, chance: random.Random, took_s: float, most: int) -> int:
    """Kill a run at random instants, at most so often, and let it end; returns how often that was."""
    kills = 0
    while kills < most:
        code = part(out, repeat, jobs, chance.uniform(0, took_s / 3))
        if code == 0:
            return kills
        if code != -signal.SIGKILL:
            raise SystemExit(f"a part of the run ended with {code}")
        kills += 1
    if part(out, repeat, jobs, 1e9):
        raise SystemExit("the last part of the run failed")
    return kills


def check(folder: RunFolder, quiet: RunFolder, kills: int) -> None:
    """Compare a run with one that nobody disturbed; ends the program where they differ."""
    trials = verify(folder)
    if folder.verdicts.read_bytes() != quiet.verdicts.read_bytes():
        raise SystemExit(f"{folder.path}: the verdicts differ from those of a quiet run")
    aborted = len(folder.files("events", "*.aborted-*"))
    status = run_status(folder)
    print(
        f"{kills} kills: {trials} trials, {status.metrics.attempts} attempts, {aborted} records set aside,"
        f" {status.metrics.recoveries} trials hit, {len(status.dead)} dead letters"
    )


if __name__ == "__main__":
    main()
