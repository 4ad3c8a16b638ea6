"""What a run of a million trials, and of a hundred million, takes: measured where possible, simulated where not.

One shard is really run here, for what a trial takes of processor and disk and what a shard takes besides. With these
figures workers that die and leases that expire are simulated, shard by shard. Prices are parameters, not findings.

python benchmarks/shards.py [--usd-core-hour 0.04] [--usd-gb-month 0.023] [--mtbf-hours 24]
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from unacked.engine import RunRequest, make_plan
from unacked.scale.shard import make_order, run_shard
from unacked.suite import load_suite

ROOT = Path(__file__).resolve().parents[1]
LEASE_S = 30.0
MOST_SHARDS = 1000
EVENTS_A_SHARD = 6  # scheduled, started, completed, and a workflow task of three events, often shared
BEAT_SHARE = 0.8  # Temporal's client lets one heartbeat through in this share of the lease


@dataclass(frozen=True)
class Measured:
    """What a trial takes, and what a shard takes besides its trials."""

    trial_s: float
    trial_bytes: float
    shard_s: float
    shard_bytes: float


def measured(trials: int = 400) -> Measured:
    """Run one shard, and one of a single trial, and tell both costs apart."""
    suite = load_suite(ROOT)
    plan = make_plan(suite, RunRequest(("E01", "C05"), ("careful", "reckless"), trials // 8))
    small = make_plan(suite, RunRequest(("E01",), ("careful",), 1))
    with tempfile.TemporaryDirectory() as folder:
        one_s, one_bytes = _run(suite, make_order("one", small, 1), Path(folder))
        all_s, all_bytes = _run(suite, make_order("all", plan, 1), Path(folder))
    more = len(plan.trials) - len(small.trials)
    trial_s, trial_bytes = (all_s - one_s) / more, (all_bytes - one_bytes) / more
    return Measured(
        trial_s, trial_bytes, one_s - trial_s * len(small.trials), one_bytes - trial_bytes * len(small.trials)
    )


def _run(suite, order, out: Path) -> tuple[float, float]:  # noqa: ANN001 - as run_shard takes them
    began = time.process_time()
    run_shard(suite, order, 0, out, lambda _: None)
    took_s = time.process_time() - began
    files = [path for path in (out / order.folder(0)).rglob("*") if path.is_file()]
    return took_s, sum(path.stat().st_size for path in files)


@dataclass
class Simulated:
    """What came of a simulation: hours until the last shard was done, trials run twice, leases that expired."""

    hours: float
    repeated: int
    expired: int
    busy_core_hours: float
    beats: float


def simulated(trials: int, size: int, workers: int, cost: Measured, mtbf_h: float) -> Simulated:
    """Let workers take shards, die at random (once in ``mtbf_h`` hours each) and come back after five minutes.

    A shard whose worker died waits for its lease, then goes on behind its last finished trial.
    """
    chance = random.Random(0)  # noqa: S311 - a simulation
    left = [trials % size or size] + [size] * (math.ceil(trials / size) - 1)
    waiting: list[tuple[float, int]] = []  # when a shard's lease has expired, and what is left of it
    free = [(0.0, worker) for worker in range(workers)]
    heapq.heapify(free)
    dies = [chance.expovariate(1 / (mtbf_h * 3600)) for _ in range(workers)]
    result, end_s, busy_s = Simulated(0, 0, 0, 0, 0), 0.0, 0.0
    while left or waiting:
        now_s, worker = heapq.heappop(free)
        if waiting and (waiting[0][0] <= now_s or not left):
            due_s, todo = heapq.heappop(waiting)
            now_s = max(now_s, due_s)
        else:
            todo = left.pop()
        needs_s = cost.shard_s + todo * cost.trial_s
        if dies[worker] < now_s:  # it died while it was idle
            dies[worker] = now_s + chance.expovariate(1 / (mtbf_h * 3600))
        lives_s = dies[worker] - now_s
        took_s = min(needs_s, lives_s)
        busy_s += took_s
        result.beats += took_s / (BEAT_SHARE * LEASE_S)
        if lives_s >= needs_s:
            end_s = max(end_s, now_s + needs_s)
            heapq.heappush(free, (now_s + needs_s, worker))
            continue
        done = max(0, int((lives_s - cost.shard_s) / cost.trial_s))
        result.repeated += 1
        result.expired += 1
        heapq.heappush(waiting, (now_s + lives_s + LEASE_S, todo - done))
        back_s = now_s + lives_s + 300
        dies[worker] = back_s + chance.expovariate(1 / (mtbf_h * 3600))
        heapq.heappush(free, (back_s, worker))
    result.hours, result.busy_core_hours = end_s / 3600, busy_s / 3600
    return result


def rows(cost: Measured, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """One row for each size of run and number of workers."""
    for trials, size, workers in ((10**6, 1000, 10), (10**6, 1000, 100), (10**8, 10_000, 100), (10**8, 10_000, 1000)):
        shards = math.ceil(trials / size)
        came = simulated(trials, size, workers, cost, options.mtbf_hours)
        gigabytes = (trials * cost.trial_bytes + shards * cost.shard_bytes) / 1e9
        usd = came.busy_core_hours * options.usd_core_hour, gigabytes * options.usd_gb_month
        yield (
            f"{trials:,}",
            f"{size:,}",
            f"{shards:,}",
            f"{math.ceil(shards / MOST_SHARDS)}",
            f"{workers:,}",
            f"{came.hours:.1f}",
            f"{came.busy_core_hours:,.0f}",
            f"{came.expired:,}",
            f"{gigabytes:,.0f}",
            f"{shards * EVENTS_A_SHARD + came.expired:,}",
            f"{came.beats:,.0f}",
            f"{usd[0]:,.2f} + {usd[1]:,.2f} a month",
        )


HEAD = (
    "trials",
    "trials a shard",
    "shards",
    "workflows",
    "cores",
    "hours",
    "core hours",
    "leases that expire",
    "GB",
    "events in Temporal",
    "heartbeats",
    "USD, processor + disk",
)


def main() -> None:
    """Measure, simulate and print a table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--usd-core-hour", type=float, default=0.04)
    parser.add_argument("--usd-gb-month", type=float, default=0.023)
    parser.add_argument("--mtbf-hours", type=float, default=24.0)
    options = parser.parse_args()
    cost = measured()
    print(f"a trial: {1000 * cost.trial_s:.1f} ms of processor, {cost.trial_bytes / 1000:.1f} kB on disk")
    print(f"a shard besides: {cost.shard_s:.1f} s of processor, {cost.shard_bytes / 1e6:.1f} MB on disk\n")
    for cells in (HEAD, ("---",) * len(HEAD), *rows(cost, options)):
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
