"""Cases against agents: what every table of a run is made of, whatever it is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.claims import side_name
from unacked.graph import Verdict

__all__ = ["Cell", "Matrix", "matrix"]

Line = Mapping[str, JSON]


@dataclass(slots=True)
class Cell:
    """The trials of one agent in one case; there is at least one."""

    lines: list[Line] = field(default_factory=list)

    @property
    def worst(self) -> Line:
        """The first of the trials with the worst verdict."""
        return max(self.lines, key=lambda line: Verdict(line["verdict"]).severity)

    @property
    def passed(self) -> int:
        """How many of the trials passed."""
        return sum(line["verdict"] == Verdict.PASS for line in self.lines)


@dataclass(frozen=True, slots=True)
class Matrix:
    """By case and agent; an agent that a case was not given to has no cell there."""

    agents: Sequence[str]
    rows: Mapping[str, Mapping[str, Cell]]

    @property
    def passed(self) -> set[str]:
        """The cases in which every trial of every agent passed."""
        rows = self.rows.items()
        return {case for case, cells in rows if all(cell.passed == len(cell.lines) for cell in cells.values())}


def matrix(lines: Sequence[Line], *, worst_first: bool = False) -> Matrix:
    """Put the trials of a run together; a sweep is one row, however many places it has.

    Rows are in the order of the plan, or the worst first.
    """
    rows: dict[str, dict[str, Cell]] = {}
    for line in lines:
        side = line["case"] if line["place"] else side_name(line["case"], "", twin=line["twin"])
        rows.setdefault(side, {}).setdefault(line["agent"], Cell()).lines.append(line)
    if worst_first:
        rows = dict(sorted(rows.items(), key=lambda row: -_severity(row[1])))
    return Matrix(list(dict.fromkeys(line["agent"] for line in lines)), rows)


def _severity(cells: Mapping[str, Cell]) -> int:
    return max(Verdict(cell.worst["verdict"]).severity for cell in cells.values())
