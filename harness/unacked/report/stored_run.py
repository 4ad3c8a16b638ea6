"""A run as reports look at it: its numbers, its trials, and which of them are worth telling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unacked.canonical import JSON
from unacked.graph import Verdict
from unacked.report.findings import first_of_each
from unacked.report.matrix import matrix

__all__ = ["StoredRun", "most_telling"]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a report knows of a run: its name, its manifest, its summary, and a line for every trial.

    ``suite`` is the one that must be named to run its trials again, if any.
    """

    name: str
    manifest: Mapping[str, JSON]
    summary: Mapping[str, JSON]
    lines: Sequence[Mapping[str, JSON]]
    suite: Path | None = None

    @property
    def kinds(self) -> list[tuple[Mapping[str, JSON], int]]:
        """The first trial of each kind of failure and how many there are, the gravest first."""
        found = first_of_each(line for line in self.lines if line["verdict"] != Verdict.PASS)
        return sorted(found, key=lambda kind: (-Verdict(kind[0]["verdict"]).severity, -kind[1]))

    @property
    def verdicts(self) -> list[tuple[str, int]]:
        """How many trials have which verdict, the gravest first; those that no trial has are left out."""
        counts = self.summary["verdicts"]
        return [(verdict.value, counts[verdict]) for verdict in reversed(Verdict) if counts.get(verdict)]


def most_telling(run: StoredRun, most: int) -> list[Mapping[str, JSON]]:
    """Return the trials that are worth telling, ``most`` of them at most.

    One of each kind of failure comes first, then the worst of every case and agent.
    """
    cells = [cell.worst for row in matrix(run.lines, worst_first=True).rows.values() for cell in row.values()]
    cells.sort(key=lambda line: -Verdict(line["verdict"]).severity)
    chosen = {line["index"]: line for line in (*(line for line, _ in run.kinds), *cells)}
    return list(chosen.values())[:most]
