"""CPU of one trial with a remote command, or with a directory: python benchmarks/remote.py [--trials 500]."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from unacked.engine import Outcome, RunRequest, execute, make_plan, open_run
from unacked.suite import load_suite
from unacked.trial import Bench, TrialPlan

ROOT = Path(__file__).resolve().parents[1]
CASES = {
    "C06": "one order, the link dies, markers read twice",
    "H14": "one order, refused by the host",
    "D-complete-list-populated-perform_cleanup": "one page, one cleanup",
    "D-more-pages-populated-continue_search": "two pages, one cleanup",
    "D-page-cap-populated-continue_search": "search_all up to its cap, and on",
}


def trial_ms(case: str, trials: int) -> float:
    """Return the CPU milliseconds of one trial with its record on disk, nothing judged: the median of all."""
    bench, spent = Bench(load_suite(ROOT)), []
    with tempfile.TemporaryDirectory() as out:
        for index in range(trials):
            began = time.process_time()
            bench.run(TrialPlan(index, case, False, "careful", index, "0", "bench"), Path(out) / f"{index}.jsonl")
            spent.append((time.process_time() - began) * 1000)
    return sorted(spent)[trials // 2]


def judged_ms(case: str, trials: int) -> float:
    """Return the mean CPU milliseconds of one trial with record and verdict, as a run does them."""
    suite, spent = load_suite(ROOT), []

    def told(outcome: Outcome) -> None:
        spent.append(outcome.cpu_s)

    with tempfile.TemporaryDirectory() as out:
        plan = make_plan(suite, RunRequest((case,), ("careful",), trials))
        execute(open_run(suite, plan, Path(out), "bench"), plan, jobs=1, told=told)
    return sum(spent) / len(spent) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=500)
    trials = parser.parse_args().trials
    for case, does in CASES.items():
        recorded, judged = trial_ms(case, trials), judged_ms(case, trials)
        print(f"{case} ({does}): {recorded:.2f} CPU ms with its record, {judged:.2f} judged")


if __name__ == "__main__":
    main()
