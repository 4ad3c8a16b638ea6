"""A plan in shards: each shard is a run folder of its own, which whoever holds its lease goes on with.

Nothing but digests and paths goes through a queue: trials stay where they were written. Put together, the shards are
byte for byte the verdicts and events of the same plan that was run in one piece.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import jsonlines

from unacked.canonical import JSON
from unacked.engine import Outcome, Plan, RunFolder, RunRequest, execute, make_plan, open_run, read_verdicts
from unacked.engine.lines import cut_unfinished
from unacked.engine.verdicts import Verdicts
from unacked.errors import HarnessError, Place, Problem, RecordError, SpecificationError
from unacked.suite import Suite

__all__ = ["Order", "ShardResult", "ShardState", "gathered", "make_order", "run_shard", "shard_trials"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be run: a request, the digest of the plan that it must give, and in how many shards.

    ``name`` is the run's name; its shards' folders are named after it.
    """

    name: str
    run: str
    trials: int
    shards: int
    select: Sequence[str]
    agents: Sequence[str]
    repeat: int
    seed: str

    def as_json(self) -> dict[str, JSON]:
        """Return the order as a JSON object."""
        return {**asdict(self), "select": list(self.select), "agents": list(self.agents)}

    @classmethod
    def of(cls, stored: Mapping[str, JSON]) -> Order:
        """Return the order that a JSON object holds."""
        return cls(**{**stored, "select": tuple(stored["select"]), "agents": tuple(stored["agents"])})

    def plan(self, suite: Suite) -> Plan:
        """Return the plan; raises SpecificationError where this suite is not the one that was ordered from."""
        plan = make_plan(suite, RunRequest(self.select, self.agents, self.repeat, self.seed))
        if plan.run != self.run:
            message = f"gives plan {plan.run}, but {self.name!r} was ordered as {self.run}"
            hint = "bring the suite, and unacked, to what they were where the run was submitted"
            raise SpecificationError([Problem(Place(str(suite.root)), message, hint)])
        return plan

    def folder(self, number: int) -> str:
        """Return the name of a shard's run folder."""
        return f"{self.name}.shard-{number:04d}"


def make_order(name: str, plan: Plan, shards: int) -> Order:
    """Return the order for a plan, in so many shards, or as many as it has trials where those are fewer."""
    asked, trials = plan.request, len(plan.trials)
    select, agents = tuple(asked.select), tuple(asked.agents)
    return Order(name, plan.run, trials, min(shards, trials), select, agents, asked.repeat, asked.seed)


def shard_trials(trials: int, shards: int, number: int) -> range:
    """Return which trials of a plan are a shard's: neighbours, and never more than one more than another has."""
    return range(trials * number // shards, trials * (number + 1) // shards)


@dataclass(frozen=True, slots=True)
class ShardState:
    """How far a shard is."""

    number: int
    trials: int
    done: int


@dataclass(frozen=True, slots=True)
class ShardResult:
    """A shard that is done: its folder's name, the last hash of its verdicts, and how many there are of each."""

    number: int
    folder: str
    head: str
    verdicts: dict[str, int]


def run_shard(suite: Suite, order: Order, number: int, out: Path, told: Callable[[Outcome], None]) -> ShardResult:
    """Run what is not done of a shard, in its folder under ``out``, and return what came of it.

    Raises HarnessError where another process is at work on it, which keeps two holders of one lease apart.
    """
    plan = order.plan(suite)
    part = _part(plan, order.shards, number)
    folder = open_run(suite, part, out, order.folder(number))
    execute(folder, part, jobs=1, told=told)
    return _result(folder, order, number)


def _part(plan: Plan, shards: int, number: int) -> Plan:
    """The plan of one shard: its trials are counted from 0, as those of every run."""
    chosen = shard_trials(len(plan.trials), shards, number)
    return replace(plan, trials=[replace(plan.trials[index], index=index - chosen.start) for index in chosen])


def _result(folder: RunFolder, order: Order, number: int) -> ShardResult:
    seal = folder.manifest()["seal"]
    counts = Counter(line["verdict"] for line in read_verdicts(folder, order.run))
    return ShardResult(number, folder.name, seal["verdicts"], dict(sorted(counts.items())))


def gathered(suite: Suite, order: Order, results: Sequence[ShardResult], shards: Path, out: Path) -> RunFolder:
    """Put the shards under ``shards`` together as one sealed run under ``out``; called again, it goes on.

    Raises RecordError where a shard is missing or is not what was reported when it was done.
    """
    plan = order.plan(suite)
    known = {result.number: result for result in results}
    missing = [str(number) for number in range(order.shards) if number not in known]
    if missing:
        raise RecordError(f"{order.name}: shards {', '.join(missing)} are not done")
    whole = open_run(suite, plan, out, order.name)
    if whole.manifest()["seal"] is None:
        with whole.locked():
            _take_in(whole, plan, [(known[number], shards) for number in range(order.shards)])
    execute(whole, plan, jobs=1, told=_unexpected)
    return whole


def _unexpected(outcome: Outcome) -> None:
    raise HarnessError(f"trial {outcome.line['trial']!r} stood in no shard")


def _take_in(whole: RunFolder, plan: Plan, parts: Sequence[tuple[ShardResult, Path]]) -> None:
    """Take in what the shards hold and the whole run does not yet, every trial as if it had been run here."""
    verdicts = Verdicts(whole, plan.run)
    finished = {trial.name for trial in plan.trials[: verdicts.done]}
    try:
        for path in (whole.diagnostics, whole.timings):
            cut_unfinished(path, finished)
        with whole.appending(whole.timings) as timings, whole.appending(whole.diagnostics, private=True) as raw:
            start = 0
            for result, shards in parts:
                shard = RunFolder(shards / result.folder)
                _check(shard, result)
                aside = _by_trial(shard.diagnostics), _by_trial(shard.timings)
                lines = list(read_verdicts(shard, plan.run))
                for line in lines:
                    index, name = start + line["index"], line["trial"]
                    if index < verdicts.done:
                        continue
                    _copy(shard.events(line["index"], name), whole.events(index, name))
                    for entry in aside[0].get(name, ()):
                        raw.write(entry)
                    verdicts.append({**line, "index": index})
                    for entry in aside[1].get(name, ()):
                        timings.write(entry)
                start += len(lines)
    finally:
        verdicts.close()


def _check(shard: RunFolder, result: ShardResult) -> None:
    seal = shard.manifest()["seal"]
    if seal is None or seal["verdicts"] != result.head:
        raise RecordError(f"{shard.path}: the verdicts are not those that were reported when the shard was done")


def _by_trial(path: Path) -> dict[str, list[dict[str, JSON]]]:
    """The lines of one of the files beside the verdicts, by trial."""
    found: dict[str, list[dict[str, JSON]]] = {}
    with jsonlines.open(path) as lines:
        for line in lines.iter(type=dict):
            found.setdefault(line["trial"], []).append(line)
    return found


def _copy(source: Path, target: Path) -> None:
    """Copy a file whole or not at all; where both are on one disk, both names mean the same bytes."""
    partial = target.with_name(f".{target.name}")
    try:
        partial.unlink(missing_ok=True)
        try:
            os.link(source, partial)
        except OSError:
            shutil.copyfile(source, partial)
        partial.replace(target)
    except OSError as error:
        raise HarnessError(f"{target}: cannot be written: {error.strerror}") from None
