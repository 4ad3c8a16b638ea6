"""``verdicts.jsonl``: one chained object a trial, in the order of the plan."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unacked.canonical import JSON, digest
from unacked.engine.folder import RunFolder
from unacked.engine.lines import cut_torn_line
from unacked.errors import RecordError
from unacked.trail import ChainReader, ChainWriter
from unacked.trial import TrialPlan

__all__ = ["Mark", "Verdicts", "read_verdicts", "verdict_chain", "verdict_line"]


def verdict_line(
    trial: TrialPlan, verdict: Mapping[str, JSON], events: str, diagnostics: Sequence[Mapping[str, JSON]]
) -> dict[str, JSON]:
    """Return a trial's line; ``events`` is the last hash of its record. Raw errors are pinned by their digest."""
    return {
        "index": trial.index,
        "trial": trial.name,
        "case": trial.case,
        "twin": trial.twin,
        "place": trial.place,
        "agent": trial.agent,
        "repeat": trial.repeat,
        **verdict,
        "events": events,
        "diagnostics": digest(list(diagnostics)) if diagnostics else None,
    }


def read_verdicts(folder: RunFolder, run: str) -> Iterator[dict[str, JSON]]:
    """Yield the verdicts of a run, verifying the chain; raises RecordError at the first line that fails."""
    return iter(verdict_chain(folder, run))


def verdict_chain(folder: RunFolder, run: str) -> ChainReader:
    """Return the verdicts of a run with the hash of the last one that was read.

    Where the run is not sealed, its writer may have been interrupted in the last line, which was never promised.
    """
    return ChainReader(folder.verdicts, _origin(run), unfinished=folder.manifest()["seal"] is None)


def _origin(run: str) -> str:
    return f"{run}/verdicts"


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a file of verdicts was read and found good: its length in bytes and lines, last hash, and SHA-256."""

    offset: int
    lines: int
    head: str
    digest: str


class Verdicts:
    """The verdicts of a run at work: what is done already, and a place for what comes.

    A last line that was torn by an interruption is cut off; anything else that is wrong raises RecordError. Up to
    ``mark`` the file is only compared with what it was, which is a tenth of the work of reading it.
    """

    def __init__(self, folder: RunFolder, run: str, mark: Mark | None = None) -> None:
        self._folder = folder
        self._run = run
        self.done = 0
        head = None
        self._digest = hashlib.sha256()
        self._offset = 0
        if folder.verdicts.exists():
            cut_torn_line(folder.verdicts)
            head = self._read(mark)
        self._writer = ChainWriter(folder.verdicts, _origin(run), head=head)

    def _read(self, mark: Mark | None) -> str | None:
        """Read what is there; returns the last hash, None where nothing is."""
        data, behind = memoryview(self._folder.verdicts.read_bytes()), None
        known = 0 if mark is None else mark.offset
        self._digest.update(data[:known])
        if mark is not None and self._digest.hexdigest() == mark.digest:
            behind = (mark.offset, mark.lines, mark.head)
            self.done = mark.lines
        chain = ChainReader(self._folder.verdicts, _origin(self._run), behind=behind)
        for line in chain:
            if line["index"] != self.done:
                raise RecordError(f"{self._folder.verdicts}:{self.done + 1}: trial {line['index']} is out of order")
            self.done += 1
        self._digest.update(data[known:])
        self._offset = len(data)
        return chain.head if self.done else None

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._writer.head

    @property
    def mark(self) -> Mark:
        """How far the file is now."""
        return Mark(self._offset, self.done, self.head, self._digest.hexdigest())

    def append(self, line: dict[str, JSON]) -> None:
        """Keep one verdict."""
        written = self._writer.write(line).encode()
        self._writer.flush()
        self._digest.update(written)
        self._offset += len(written)
        self.done += 1

    def read(self) -> Iterator[dict[str, JSON]]:
        """Yield everything that was kept."""
        return read_verdicts(self._folder, self._run)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
