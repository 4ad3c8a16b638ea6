"""How a run stands, live or finished, and what every trial of it did: read beside the run, changing nothing."""

from __future__ import annotations

import fcntl
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.engine.folder import RunFolder
from unacked.errors import Place, Problem, RecordError, SpecificationError, nearest
from unacked.orchestrator import Entry, Metrics, Reader, Sample, State, TaskRecord
from unacked.trail import ChainReader, TrialName

__all__ = ["Call", "RunStatus", "calls", "run_log", "run_status"]

_RECENT = 500
"""Trials over which the throughput is measured."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run in numbers.

    ``stage`` is finished, at_work or interrupted. ``states`` counts trials by state, ``verdicts`` those that ended.
    ``usd`` is what models cost as far as that is known. ``per_s`` is the throughput over the last trials, and
    ``left_s`` how long the rest takes at that; both are None where nothing can be said.
    """

    run: str
    trace: str | None
    stage: str
    trials: int
    states: Mapping[str, int]
    verdicts: Mapping[str, int]
    dead: Sequence[TaskRecord]
    usd: float
    per_s: float | None
    left_s: float | None
    metrics: Metrics

    def as_json(self) -> dict[str, JSON]:
        """Return the status as one JSON object."""
        return {
            "run": self.run,
            "trace": self.trace,
            "stage": self.stage,
            "trials": self.trials,
            "states": dict(self.states),
            "verdicts": dict(self.verdicts),
            "dead": [{"trial": one.id, "status": one.status, "error": one.error} for one in self.dead],
            "attempts": self.metrics.attempts,
            "recoveries": self.metrics.recoveries,
            "usd": self.usd,
            "per_s": self.per_s,
            "left_s": self.left_s,
        }

    def samples(self) -> list[Sample]:
        """Return the status as samples for Prometheus."""
        verdicts = sorted(self.verdicts.items())
        about = "Trials of the run, by state."
        return [
            *(Sample("trials", about, count, {"state": state}) for state, count in self.states.items()),
            *(Sample("verdicts_total", "Trials that ended.", n, {"verdict": name}) for name, n in verdicts),
            Sample("dead_letters", "Trials that could not be ended.", len(self.dead)),
            Sample("cost_usd_total", "What models cost, as far as it is known.", self.usd),
            *(() if self.per_s is None else [Sample("trials_per_second", "Recent throughput.", self.per_s)]),
            *(() if self.left_s is None else [Sample("left_seconds", "How long the rest takes.", self.left_s)]),
            *self.metrics.samples(),
        ]


def run_status(folder: RunFolder) -> RunStatus:
    """Return how a run stands; raises RecordError.

    Of a run without a journal (it was copied without one) only what its summary says is known.
    """
    manifest = folder.manifest()
    trials, sealed = manifest["plan"]["trials"], manifest["seal"] is not None
    stage = "finished" if sealed else "at_work" if _is_held(folder) else "interrupted"
    tally = _Tally()
    states: Counter[str] = Counter()
    dead: list[TaskRecord] = []
    trace = None
    if folder.journal.is_file():
        with Reader.at(folder.journal, manifest["run"]) as reader:
            trace = reader.run().trace
            states.update(reader.counts())
            dead = [one for one in reader.ended_badly() if one.dead or one.state is State.TIMED_OUT]
            for entry in reader.log():
                tally.add(entry)
    if sealed:
        verdicts = {name: count for name, count in folder.read_json(folder.summary)["verdicts"].items() if count}
        states = states or Counter({State.SUCCEEDED.value: trials})
    else:
        verdicts = dict(sorted(tally.verdicts.items()))
    left = trials - sum(count for state, count in states.items() if state not in ("PENDING", "RUNNING"))
    per_s = tally.per_s()
    left_s = round(left / per_s, 1) if left and per_s and stage == "at_work" else None
    return RunStatus(
        run=folder.name,
        trace=trace,
        stage=stage,
        trials=trials,
        states=dict(sorted(states.items())),
        verdicts=verdicts,
        dead=dead,
        usd=round(tally.usd, 6),
        per_s=per_s,
        left_s=left_s,
        metrics=tally.metrics,
    )


class _Tally:
    """Folds the step log. Only the last word on a trial counts: one may be run again."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.usd = 0.0
        self._verdicts: dict[str, str] = {}
        self._ended: list[float] = []

    def add(self, entry: Entry) -> None:
        self.metrics.observe(entry)
        if "verdict" in entry.detail:
            self.usd += entry.detail.get("usd", 0.0)
            self._verdicts[entry.task] = entry.detail["verdict"]
            self._ended.append(entry.at)

    @property
    def verdicts(self) -> Counter[str]:
        return Counter(self._verdicts.values())

    def per_s(self) -> float | None:
        """Trials a second over the last ones; None where the clock, which may be set back, allows no answer."""
        recent = self._ended[-_RECENT:]
        took = recent[-1] - recent[0] if recent else 0.0
        return round((len(recent) - 1) / took, 3) if took > 0 else None


def _is_held(folder: RunFolder) -> bool:
    """Whether a process is at work on the run."""
    try:
        with (folder.path / ".lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def run_log(folder: RunFolder, trial: str | None = None) -> Iterator[Entry]:
    """Yield what happened to the trials of a run, or to one of them, in order; raises RecordError."""
    with Reader.at(folder.journal, folder.manifest()["run"]) as reader:
        yield from (entry for entry in reader.log(trial) if entry.task)


@dataclass(frozen=True, slots=True)
class Call:
    """One step of a trial: a call with its input and its output, and when it began and ended (seconds of the trial).

    No output where the trial ended, or was broken off, before there was one.
    """

    id: str
    operation: str
    began_s: float
    input: Mapping[str, JSON]
    ended_s: float | None = None
    category: str | None = None
    output: Mapping[str, JSON] | None = None

    def as_json(self) -> dict[str, JSON]:
        """Return the call as one JSON object."""
        return {
            "id": self.id,
            "operation": self.operation,
            "began_s": self.began_s,
            "ended_s": self.ended_s,
            "input": dict(self.input),
            "category": self.category,
            "output": None if self.output is None else dict(self.output),
        }


def calls(folder: RunFolder, trial: str) -> tuple[dict[str, JSON], list[Call]]:
    """Return how a trial began, and its calls so far; raises SpecificationError, RecordError.

    The trial may be under way: a last line that is torn was never promised.
    """
    path = _record(folder, trial)
    begin = _beginning(path)
    name = TrialName(folder.manifest()["run"], trial, begin["case"])
    found: dict[str, Call] = {}
    for line in ChainReader(path, name.origin, unfinished=True):
        detail = line.get("detail", {})
        if line["event"] == "agent_next_call":
            found[line["id"]] = Call(line["id"], line["operation"], line["time"], detail["arguments"])
        elif line["event"] == "result" and line["id"] in found:
            call = found[line["id"]]
            found[line["id"]] = replace(
                call, ended_s=line["time"], category=line["category"], output=detail["envelope"]
            )
    return begin, list(found.values())


def _record(folder: RunFolder, trial: str) -> Path:
    records = {path.stem: path for path in folder.files("events", "*.jsonl")}
    if trial not in records:
        raise SpecificationError(
            [Problem(Place(folder.name), f"no trial {trial!r} was begun", nearest(trial, records))]
        )
    return records[trial]


def _beginning(path: Path) -> dict[str, JSON]:
    """How a trial began; nothing of it is believed before the chain is read."""
    with path.open("rb") as file:
        first = file.readline()
    try:
        begin: dict[str, JSON] = loads(first)["detail"]
        return {name: begin[name] for name in ("case", "agent", "repeat")}
    except (InvalidJSON, KeyError, TypeError):
        raise RecordError(f"{path}:1: the record has no beginning") from None
