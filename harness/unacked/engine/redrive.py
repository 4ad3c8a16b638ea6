"""Dead letters: the trials of a run that could not be ended, and giving them another chance.

A finished run is opened once more: its other outcomes are kept, its verdicts are chained anew with what comes of the
dead letters, and the old chain and seal stay in the record beside the new ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from unacked.canonical import JSON, InvalidJSON, loads
from unacked.engine.folder import RunFolder
from unacked.engine.journal import TrialJournal
from unacked.engine.plan import Plan
from unacked.engine.trials import Outcome
from unacked.engine.verdicts import Verdicts, read_verdicts
from unacked.errors import HarnessError, RecordError
from unacked.orchestrator import Reader, State, TaskRecord

__all__ = ["dead_letters", "retry_dead"]


def dead_letters(folder: RunFolder) -> list[TaskRecord]:
    """Return the trials that were given up, or broken off because they took too long, in the order of the plan."""
    if not folder.journal.is_file():
        return []
    with Reader.at(folder.journal, folder.manifest()["run"]) as reader:
        return [record for record in reader.ended_badly() if record.dead or record.state is State.TIMED_OUT]


def retry_dead(folder: RunFolder, plan: Plan) -> list[str]:
    """Let the dead letters of a run be run again by the next ``execute``; returns their names.

    Raises HarnessError, RecordError. Where it is interrupted, the same call again completes it.
    """
    with folder.locked():
        again = {letter.id for letter in dead_letters(folder)}
        if folder.manifest()["seal"] is not None:
            again |= _opened_already(folder)
        if again:
            outcomes = list(_outcomes(folder, plan.run)) if folder.verdicts.exists() else []
            with TrialJournal(folder, plan) as journal, closing(Verdicts(folder, plan.run)) as verdicts:
                journal.take_stock(verdicts)
                journal.rewind(outcomes, again)
            _reopen(folder)
    return [trial.name for trial in plan.trials if trial.name in again]


def _opened_already(folder: RunFolder) -> set[str]:
    """The trials that an earlier call, which was interrupted, had made ready to be run again."""
    if not folder.journal.is_file():
        return set()
    with Reader.at(folder.journal, folder.manifest()["run"]) as reader:
        return {record.id for record in reader.tasks().values() if record.state is State.PENDING}


def _outcomes(folder: RunFolder, run: str) -> Iterator[Outcome]:
    """Put the outcomes of a run together again from its files."""
    timings = {entry["trial"]: entry for entry in _lines(folder.timings)}
    raw: dict[str, list[dict[str, JSON]]] = {}
    for entry in _lines(folder.diagnostics):
        raw.setdefault(entry.pop("trial"), []).append(entry)
    for line in read_verdicts(folder, run):
        took = timings.get(line["trial"], {})
        yield Outcome(line, raw.get(line["trial"], []), took.get("wall_s", 0.0), took.get("cpu_s", 0.0))


def _lines(path: Path) -> list[dict[str, JSON]]:
    try:
        return [loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
    except (InvalidJSON, OSError) as error:
        raise RecordError(f"{path}: cannot be read: {error}") from None


def _reopen(folder: RunFolder) -> None:
    """Put the old chain and seal aside; the seal goes last, so a run that looks finished is finished."""
    manifest = folder.manifest()
    try:
        if folder.verdicts.exists():
            aside = next(
                path
                for number in itertools.count(1)
                if not (path := folder.path / f"verdicts.superseded-{number}.jsonl").exists()
            )
            folder.verdicts.rename(aside)
        for path in (folder.timings, folder.diagnostics, folder.summary):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise HarnessError(f"{error.filename}: cannot be set aside: {error.strerror}") from None
    if manifest["seal"] is not None:
        superseded = [*manifest.get("superseded", []), manifest["seal"]]
        folder.write_manifest({**manifest, "superseded": superseded, "seal": None})
