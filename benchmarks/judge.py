"""Time and memory of `unacked judge`, `check` and `audit verify`, each on one core, over a million events.

The traces are those of a create whose answer is lost; one in five creates again with another token, so that one in
five verdicts comes with its explanation. The run is that of the careful and the reckless agent on every case of the
matrix, each trial recorded once and then written again under the names of further repeats: hash-chained, judged and
sealed like any other. Every command is measured on a tenth of the input as well, for memory must not grow with it.

    python benchmarks/judge.py [--events 1000000]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unacked.canonical import dumps
from unacked.engine import Plan, RunFolder, RunRequest, execute, make_plan, open_run, read_verdicts
from unacked.suite import Suite, load_suite
from unacked.trail import ChainWriter, TrialName, read_chain

ROOT = Path(__file__).resolve().parents[1]
AGENTS = ("careful", "reckless")

Line = dict[str, Any]


def trace(number: int) -> Iterator[Line]:
    """Yield the ten events of one trace; every fifth creates again instead of looking up."""
    asked = {"title": f"T{number}", "idempotency_key": "K1", "request_id": f"R{number}"}
    found = {"record_id": f"rec-{number}"}
    second: tuple[str, Line] = ("lookup_by_request_id", {"request_id": f"R{number}"})
    if number % 5 == 0:
        second = ("create_record", {**asked, "idempotency_key": "K2"})
    moves = [
        ("create_record", asked, "outcome_unknown", {}),
        (*second, "ok", found),
        ("attach_note", {**found, "text": "x"}, "ok", {}),
        ("finish", {"status": "success"}, "ok", {}),
    ]
    yield {"type": "begin", "graph": "create-outcome-unknown"}
    for turn, (operation, args, category, fields) in enumerate(moves):
        call = f"e{turn}"
        yield {"type": "call", "turn": turn, "id": call, "operation": operation, "args": args, "at": turn * 6.0}
        yield {"type": "result", "call": call, "category": category, "fields": fields, "at": turn * 6.0 + 0.5}
    yield {"type": "end", "reason": "finished", "at": 30.0}


def write_traces(path: Path, events: int) -> int:
    """Write about so many lines; returns how many."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(events // 10):
            file.writelines(f"{dumps({'trace': f't{number}', **line})}\n" for line in trace(number))
    return events // 10 * 10


def recorded(suite: Suite, out: Path) -> tuple[Mapping[tuple[str, ...], tuple[Line, list[Line]]], int]:
    """Run every case once with each agent; returns verdict and events by side and agent, and the events' number."""
    plan = make_plan(suite, RunRequest((), AGENTS))
    folder = open_run(suite, plan, out, "once")
    execute(folder, plan, jobs=1, told=lambda _outcome: None)
    known, total = {}, 0
    for line in read_verdicts(folder, plan.run):
        name = TrialName(plan.run, line["trial"], line["case"])
        events = list(read_chain(folder.events(line["index"], line["trial"]), name.origin))
        total += len(events)
        known[(line["case"], str(line["twin"]), line["place"], line["agent"])] = (line, events)
    return known, total


def write_run(suite: Suite, out: Path, name: str, events: int) -> tuple[RunFolder, int]:
    """Write a sealed run of about so many events; returns it with their number."""
    known, once = recorded(suite, out / name)
    repeats = max(1, round(events / once))
    plan = make_plan(suite, RunRequest((), AGENTS, repeats))
    folder = open_run(suite, plan, out, name + "-many")
    with ChainWriter(folder.verdicts, f"{plan.run}/verdicts") as verdicts:
        for line in _copied(folder, plan, known):
            verdicts.write(line)
    folder.seal(verdicts.head)
    return folder, once * repeats


def _copied(folder: RunFolder, plan: Plan, known: Mapping[tuple[str, ...], tuple[Line, list[Line]]]) -> Iterator[Line]:
    for trial in plan.trials:
        line, events = known[(trial.case, str(trial.twin), trial.place, trial.agent)]
        name = TrialName(plan.run, trial.name, trial.case)
        with ChainWriter(folder.events(trial.index, trial.name), name.origin) as chain:
            for event in events:
                chain.write({**event, "run": name.run, "trial": name.trial})
        yield {**line, "index": trial.index, "trial": trial.name, "repeat": trial.repeat, "events": chain.head}


COMMAND = """
import sys
from unacked.cli import main
try:
    main()
finally:
    with open("/proc/self/status") as file:
        sys.stderr.write(next(line for line in file if line.startswith("VmHWM")))
"""
"""A command that tells its peak memory at the end. What the parent is told of a child may be the parent's own peak."""


def measure(label: str, events: int, *arguments: str) -> None:
    """Run one command in a process of its own and print wall, CPU and peak memory."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", COMMAND, *arguments]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # noqa: S603
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak_mb = int(done.stderr.split()[-2]) / 1024
    print(
        f"{label:<13} {events:>9,} events: {wall:6.1f} s wall, {cpu:6.1f} s CPU,"
        f" {cpu / events * 1e6:5.1f} us an event, {peak_mb:4.0f} MB (exit {done.returncode})",
        flush=True,
    )


def main() -> None:
    """Make the input, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    wanted = parser.parse_args().events
    suite = load_suite(ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        for events in (wanted // 10, wanted):
            traces = out / f"{events}.jsonl"
            measure("judge", write_traces(traces, events), "judge", str(traces), "--suite", str(ROOT))
        for events in (wanted // 10, wanted):
            folder, written = write_run(suite, out, str(events), events)
            measure("check", written, "check", str(folder.path))
            measure("audit verify", written, "audit", "verify", str(folder.path))


if __name__ == "__main__":
    main()
