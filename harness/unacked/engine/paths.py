"""The paths of a stored run: every trial's moves, judged by its graphs again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from unacked.canonical import JSON
from unacked.claims import Brief, moves, path_judgement
from unacked.engine.audit import side_of
from unacked.engine.folder import RunFolder
from unacked.engine.verdicts import read_verdicts
from unacked.event import History
from unacked.graph import Event, Judgement
from unacked.suite import Suite
from unacked.trail import TrialName, read_history

__all__ = ["StoredPath", "stored_history", "stored_paths"]


@dataclass(frozen=True, slots=True)
class StoredPath:
    """One trial of a stored run as its graphs see it."""

    trial: str
    agent: str
    brief: Brief
    history: History
    moves: tuple[Event, ...]
    judgement: Judgement


def stored_paths(folder: RunFolder, suite: Suite, trials: Collection[str] | None = None) -> Iterator[StoredPath]:
    """Yield the path of every trial of a run, or of some trials, running nothing; raises RecordError."""
    run = folder.manifest()["run"]
    for line in read_verdicts(folder, run):
        if trials is not None and line["trial"] not in trials:
            continue
        yield _path(line["trial"], line["agent"], side_of(folder, suite, line), stored_history(folder, run, line))


def stored_history(folder: RunFolder, run: str, line: Mapping[str, JSON]) -> History:
    """Read and verify the record of the trial that a line of ``verdicts.jsonl`` is about; raises RecordError."""
    return read_history(folder.events(line["index"], line["trial"]), TrialName(run, line["trial"], line["case"]))


def _path(trial: str, agent: str, brief: Brief, history: History) -> StoredPath:
    return StoredPath(trial, agent, brief, history, tuple(moves(brief, history)), path_judgement(brief, history))
