"""CPU of one scripted trial, memory over many, and what a second process gives.

The trial is create (outcome unknown), lookup, attach_note, finish: three requests through the real HTTP
client on the simulated wire, recorded in a hash-chained file, and judged. The cost of the bare requests
is measured beside it, since it is most of the whole and differs between machines.

    python benchmarks/trial.py [--trials 10000]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from unacked.clock import VirtualClock
from unacked.engine import Outcome, RunRequest, execute, make_plan, open_run
from unacked.fault import FaultPlan
from unacked.services import Setting, load_service
from unacked.suite import load_suite
from unacked.tools import Timeouts
from unacked.tools.client import ToolClient
from unacked.trial import Bench, TrialPlan
from unacked.wire import SimulatedNetwork

ROOT = Path(__file__).resolve().parents[1]
CASE = "I-planned-again-with-a-new-key"  # create, lookup, attach_note, finish


def memory_mb() -> float:
    """Return the peak resident size of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bare_request_ms(count: int = 3000) -> float:
    """Return the CPU milliseconds of one POST through client, wire and service, with nothing recorded."""

    def ignore(_event: str, **_detail: object) -> None:
        pass

    clock = VirtualClock()
    service = load_service(ROOT / "fake_services" / "records.py")({}, Setting(clock, "token"))
    client = ToolClient(Timeouts())
    client.connect(SimulatedNetwork(clock, {service.host: service}, FaultPlan(()), ignore).backend, clock)
    headers: Mapping[str, str] = {"authorization": "Bearer token", "x-correlation-id": "bench"}
    began = time.process_time()
    for number in range(count):
        client.send("POST", "https://records.test/v1/records", headers=headers, content=b'{"title":"t%d"}' % number)
    return (time.process_time() - began) / count * 1000


def trial_ms(trials: int) -> float:
    """Return the CPU milliseconds of one trial with its record on disk, nothing judged: the median of blocks of 50."""
    suite = load_suite(ROOT)
    bench = Bench(suite)
    blocks: list[float] = []
    with tempfile.TemporaryDirectory(dir=ROOT / "runs") as out:
        for first in range(0, trials, 50):
            began = time.process_time()
            for index in range(first, first + 50):
                bench.run(TrialPlan(index, CASE, False, "careful", index, "0", "bench"), Path(out) / f"{index}.jsonl")
            blocks.append((time.process_time() - began) / 50 * 1000)
    return sorted(blocks)[len(blocks) // 2]


def run(trials: int, jobs: int) -> tuple[float, list[float]]:
    """Run the trials; returns the wall seconds of the whole run, and the CPU seconds of each trial."""
    suite = load_suite(ROOT)
    spent: list[float] = []

    def told(outcome: Outcome) -> None:
        if not outcome.line["twin"]:  # the twin makes a fourth request: its lookup finds nothing
            spent.append(outcome.cpu_s)

    (ROOT / "runs").mkdir(exist_ok=True)  # on the same disk as real runs
    with tempfile.TemporaryDirectory(dir=ROOT / "runs") as out:
        plan = make_plan(suite, RunRequest((CASE,), ("careful",), trials // 2))
        folder = open_run(suite, plan, Path(out), "bench")
        began = time.perf_counter()
        execute(folder, plan, jobs=jobs, told=told)
        return time.perf_counter() - began, spent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    print(f"bare request: {bare_request_ms():.3f} CPU ms; a trial makes three of them")
    print(f"trial and record: {trial_ms(trials):.3f} CPU ms")
    run(100, 1)
    before = memory_mb()
    wall, spent = run(trials, 1)
    print(f"trial, record and verdict: {sum(spent) / len(spent) * 1000:.3f} CPU ms (median {median_ms(spent):.3f})")
    print(f"peak memory: {before:.0f} MB after 100 trials, {memory_mb():.0f} MB after {trials}")
    print(f"one process: {trials / wall:.0f} trials/s, {wall / trials * 1000:.3f} ms a trial, start and seal included")
    wall_of_two, _ = run(trials, 2)
    print(f"two processes: {trials / wall_of_two:.0f} trials/s, {wall / wall_of_two:.2f} times one")


def median_ms(spent: list[float]) -> float:
    """Return the median in milliseconds."""
    return sorted(spent)[len(spent) // 2] * 1000


if __name__ == "__main__":
    main()
