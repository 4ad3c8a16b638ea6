"""A run that is killed at random instants, over and over, until it is done: what is lost, what is counted twice.

Every part of the run gets SIGKILL after a random time, which is kept so that half of the kills hit a run that is being
opened, and half one at work, whatever else the machine does. Most parts are forks of this process, which has read the
suite, so a kill costs a tenth of a second; every tenth is the command line, started anew with two workers, of which
sometimes only the first process is killed. After every kill the verdicts must be a beginning of those of a run that
nobody disturbed; at the end all of the record must be the same, and the chain must verify.

    python benchmarks/kills.py [--kills 1000] [--trials 2000] [--anew 10] [--seed 0]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from unacked.engine import (
    Drain,
    Outcome,
    Plan,
    RunFolder,
    RunRequest,
    execute,
    make_plan,
    open_run,
    read_verdicts,
    run_status,
    verify,
)
from unacked.suite import load_suite

ROOT = Path(__file__).resolve().parents[1]
CASES = ("I-planned-again-with-a-new-key", "E01")
AGENTS = ("careful", "reckless")


def fork(plan: Plan, out: Path) -> int:
    """Run or resume the plan in a fork of this process; returns its number."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    run(plan, out)
    os._exit(0)


def run(plan: Plan, out: Path, *, first_only: bool = False) -> RunFolder:
    """Run or resume the plan to its end, or to that of one trial, and return its folder."""
    folder, drain = open_run(plan.suite, plan, out, "run"), Drain()

    def told(_outcome: Outcome) -> None:
        if first_only:
            drain.ask()

    try:
        execute(folder, plan, jobs=1, told=told, drain=drain)
    except KeyboardInterrupt:
        if not first_only:
            raise
    return folder


def command_line(plan: Plan, out: Path) -> int:
    """Run or resume the plan as users do, with two workers; returns the number of the first process."""
    agents = [word for name in AGENTS for word in ("--agent", name)]
    place = ["--suite", str(ROOT), "--out", str(out), "--run-id", "run", "--repeat", str(plan.request.repeat)]
    command = [sys.executable, "-m", "unacked", "run", *CASES, *agents, *place, "--jobs", "2"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True).pid  # noqa: S603 - ourselves


Start = Callable[[Plan, Path], int]


def ended(part: int, limit_s: float, until: Callable[[], bool] = lambda: False) -> int | None:
    """Wait for a part of the run at most so long, or until something is true; None where it goes on."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline and not until():
        process, status = os.waitpid(part, os.WNOHANG)
        if process:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def until_first_s(start: Start, plan: Plan, out: Path) -> float:
    """Return what a part of a run that was begun takes until its first trial has ended, in seconds."""
    verdicts = RunFolder(out / "run").verdicts
    before, began = verdicts.stat().st_size, time.monotonic()
    part = start(plan, out)
    if ended(part, 120.0, lambda: verdicts.stat().st_size > before) is not None:
        raise SystemExit("a part of the run ended before its first trial")
    took = time.monotonic() - began
    os.killpg(part, signal.SIGKILL)
    os.waitpid(part, 0)
    return took


@dataclass
class Killing:
    """Kills runs of one plan, and compares what comes of each with a run that nobody disturbed."""

    plan: Plan
    quiet: RunFolder
    chance: random.Random
    longest_s: dict[Start, float]
    anew: int
    kills: Counter[str] = field(default_factory=Counter)
    parts: set[int] = field(default_factory=set)

    def one_run(self, out: Path, most: int) -> None:
        """Kill one run at most so often, and let it end."""
        folder = RunFolder(out / "run")
        while self.kills.total() < most:
            start = command_line if self.chance.randrange(self.anew) == 0 else fork
            before = self.done(folder)
            part = start(self.plan, out)
            self.parts.add(part)
            code = ended(part, self.chance.uniform(0, self.longest_s[start]))
            if code is not None:
                self.is_done(code)
                break
            self.kill(part, alone=start is command_line and self.chance.random() < 0.5)
            moved = self.done(folder) > before
            self.longest_s[start] *= 0.95 if moved else 1.05
            self.kills[f"{start.__name__}, {'at work' if moved else 'before its first trial had ended'}"] += 1
        else:
            part = fork(self.plan, out)
            self.is_done(os.waitstatus_to_exitcode(os.waitpid(part, 0)[1]))
        self.compare(folder)

    def kill(self, part: int, *, alone: bool) -> None:
        """Kill a part with its workers, or its first process alone: its workers must notice."""
        if alone:
            os.kill(part, signal.SIGKILL)
        else:
            os.killpg(part, signal.SIGKILL)
        os.waitpid(part, 0)

    def done(self, folder: RunFolder) -> int:
        """Return how far the verdicts are; ends the program where they are no beginning of the undisturbed ones."""
        stands = folder.verdicts.read_bytes() if folder.verdicts.exists() else b""
        if not self.quiet.verdicts.read_bytes().startswith(stands):
            raise SystemExit(f"{folder.path}: the verdicts differ from those in {self.quiet.path}")
        return stands.count(b"\n")

    def is_done(self, code: int) -> None:
        """End the program unless a part ended as it should: all was run, and reckless was caught."""
        if code not in (0, 1):
            raise SystemExit(f"a part of the run ended with {code}")

    def compare(self, folder: RunFolder) -> None:
        """Compare a finished run with the undisturbed one; ends the program where anything differs."""
        trials = verify(folder)
        names = Counter(line["trial"] for line in read_verdicts(folder, self.plan.run))
        lost = [trial.name for trial in self.plan.trials if trial.name not in names]
        twice = [name for name, count in names.items() if count > 1]
        differ = [
            path.name
            for path in (self.quiet.verdicts, self.quiet.summary, *self.quiet.files("events", "*.jsonl"))
            if path.read_bytes() != (folder.path / path.relative_to(self.quiet.path)).read_bytes()
        ]
        status, aside = run_status(folder), len(folder.files("events", "*.aborted-*"))
        print(
            f"{trials} trials, {len(lost)} lost, {len(twice)} counted twice, {len(differ)} files differ;",
            f"chain verifies; {status.metrics.attempts} attempts, {aside} records set aside,",
            f"{len(status.dead)} dead letters; {self.kills.total()} kills so far",
            flush=True,
        )
        if lost or twice or differ or status.dead:
            raise SystemExit(f"{folder.path}: {[*lost, *twice, *differ][:5]}")

    def nobody_is_left(self) -> None:
        """End the program where a process of a killed part still lives."""
        deadline = time.monotonic() + 10
        while self.parts and time.monotonic() < deadline:
            for part in list(self.parts):
                with suppress(ProcessLookupError):
                    os.killpg(part, 0)
                    continue
                self.parts.discard(part)
        if self.parts:
            raise SystemExit(f"processes of parts that were killed still live: {self.parts}")


def main() -> None:
    """Kill, resume, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--anew", type=int, default=10, help="every so many parts is the command line, on average")
    parser.add_argument("--seed", default="0")
    given = parser.parse_args()
    suite = load_suite(ROOT)
    sides = len(make_plan(suite, RunRequest(CASES, AGENTS)).trials)
    plan = make_plan(suite, RunRequest(CASES, AGENTS, -(-given.trials // sides)))
    chance = random.Random(given.seed)  # noqa: S311 - to be repeated, not to be secret
    (ROOT / "runs").mkdir(exist_ok=True)
    out, began = Path(tempfile.mkdtemp(dir=ROOT / "runs")), time.perf_counter()
    quiet = run(plan, out / "quiet")
    print(f"undisturbed: {len(plan.trials)} trials in {time.perf_counter() - began:.0f} s", flush=True)
    run(plan, out / "begun", first_only=True)
    starts: tuple[Start, ...] = (fork, command_line)
    first_s = {start: until_first_s(start, plan, out / "begun") for start in starts}
    print(", ".join(f"{start.__name__}: first trial after {took:.2f} s" for start, took in first_s.items()), flush=True)
    longest_s = {start: 2 * took for start, took in first_s.items()}
    began, runs = time.perf_counter(), 0
    killing = Killing(plan, quiet, chance, longest_s, given.anew)
    while killing.kills.total() < given.kills:
        runs += 1
        killing.one_run(out / f"killed-{runs}", given.kills)
    killing.nobody_is_left()
    took = time.perf_counter() - began
    print(f"{killing.kills.total()} kills over {runs} runs of {len(plan.trials)} trials in {took:.0f} s")
    for kind, count in sorted(killing.kills.items()):
        print(f"  {count} {kind}")
    shutil.rmtree(out)  # where something is wrong it is left to be looked at


if __name__ == "__main__":
    main()
