"""``verdicts.jsonl``: one chained object a trial, in the order of the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unacked.canonical import JSON, digest
from unacked.engine.folder import RunFolder
from unacked.engine.lines import cut_torn_line
from unacked.errors import RecordError
from unacked.trail import ChainReader, ChainWriter, read_chain
from unacked.trial import TrialPlan

__all__ = ["Verdicts", "read_verdicts", "verdict_chain", "verdict_line"]


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


class Verdicts:
    """The verdicts of a run at work: what is done already, and a place for what comes.

    A last line that was torn by an interruption is cut off; anything else that is wrong raises RecordError.
    """

    def __init__(self, folder: RunFolder, run: str) -> None:
        self._folder = folder
        self._run = run
        self.done = 0
        head = None
        if folder.verdicts.exists():
            cut_torn_line(folder.verdicts)
            for line in read_chain(folder.verdicts, _origin(run)):
                if line["index"] != self.done:
                    raise RecordError(f"{folder.verdicts}:{self.done + 1}: trial {line['index']} is out of order")
                self.done += 1
            head = _last_hash(folder) if self.done else None
        self._writer = ChainWriter(folder.verdicts, _origin(run), head=head)

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._writer.head

    def append(self, line: dict[str, JSON]) -> None:
        """Keep one verdict."""
        self._writer.write(line)
        self._writer.flush()
        self.done += 1

    def read(self) -> Iterator[dict[str, JSON]]:
        """Yield everything that was kept."""
        return read_verdicts(self._folder, self._run)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


def _last_hash(folder: RunFolder) -> str:
    last = folder.verdicts.read_bytes().splitlines()[-1]
    return last[-66:-2].decode()
