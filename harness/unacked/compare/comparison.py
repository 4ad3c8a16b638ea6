"""Two agents over the cases that both have run: case by case, all together, and what the second does differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from unacked.canonical import JSON
from unacked.compare.failures import Cluster, clusters
from unacked.compare.gate import Night
from unacked.compare.side import Side, Tally, differing_pins
from unacked.errors import Place, Problem, SpecificationError
from unacked.graph import Verdict
from unacked.statistics import (
    Counts,
    Interval,
    PValues,
    exact_stratified,
    newcombe,
    over_new_cases,
    pass_hat_k,
    upper_bound,
    wilson,
)

__all__ = ["CaseRow", "Comparison", "compare", "night_of", "rows_of_all"]


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case on both sides; ``either`` is the p of "nothing differs here", by itself and not adjusted."""

    case: str
    first: Tally
    second: Tally
    either: float

    @property
    def counts(self) -> Counts:
        """The decided runs, as the tests take them."""
        return Counts(self.first.passes, self.first.decided, self.second.passes, self.second.decided)

    @property
    def change(self) -> float:
        """The second pass rate minus the first; 0 where a side has decided nothing."""
        if not self.first.decided or not self.second.decided:
            return 0.0
        return self.second.passes / self.second.decided - self.first.passes / self.first.decided

    def as_json(self) -> dict[str, JSON]:
        """Return the row as a JSON object."""
        return {
            "case": self.case,
            "first": _told(self.first),
            "second": _told(self.second),
            "change": self.change,
            "p": self.either,
        }


def _told(tally: Tally) -> dict[str, JSON]:
    return {
        **tally.as_json(),
        "pass_rate": list(wilson(tally.passes, tally.decided)),
        "pass_hat_k": pass_hat_k(tally.passes, tally.decided, tally.decided) if tally.decided else None,
        "unsafe_below": upper_bound(tally.unsafe, tally.exposed),
    }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that a comparison says, the cases that changed most first.

    ``confounders`` are the pins that differ beyond the one that is compared: with any, nobody can say what made the
    difference. ``on_new_cases`` takes the cases for a sample and not for all that matters. ``only_first`` and
    ``only_second`` are cases that the other side has not run.
    """

    first: Side
    second: Side
    pins: Sequence[str]
    rows: Sequence[CaseRow]
    overall: PValues
    difference: Interval
    on_new_cases: Interval | None
    only_first: Sequence[str] = ()
    only_second: Sequence[str] = ()
    failures: tuple[Sequence[Cluster], Sequence[Cluster]] = field(default=((), ()))

    @property
    def confounders(self) -> list[str]:
        """The pins that differ, where they are more than one."""
        return list(self.pins) if len(self.pins) > 1 else []

    def as_json(self) -> dict[str, JSON]:
        """Return the comparison as a JSON object."""
        return {
            "format": 1,
            "sides": [_side(self.first), _side(self.second)],
            "pins": list(self.pins),
            "confounded": bool(self.confounders),
            "cases": [row.as_json() for row in self.rows],
            "only": [list(self.only_first), list(self.only_second)],
            "overall": self.overall._asdict(),
            "difference": list(self.difference),
            "on_new_cases": None if self.on_new_cases is None else list(self.on_new_cases),
            "failures": [[cluster.as_json() for cluster in found] for found in self.failures],
        }


def _side(side: Side) -> dict[str, JSON]:
    return {"run": side.run, "agent": side.agent, **side.together.as_json()}


def compare(first: Side, second: Side) -> Comparison:
    """Compare two sides over the cases that both have run.

    Where one of them has decided nothing in those, nothing is known of the difference. Raises SpecificationError
    where they share none.
    """
    shared = [name for name in first.cases if name in second.cases]
    rows = [_row(name, first.cases[name], second.cases[name]) for name in shared]
    whole = Counts(*(sum(row.counts[column] for row in rows) for column in range(4)))
    if not rows:
        message = f"{first.name} and {second.name} have no case in common"
        raise SpecificationError([Problem(Place("unacked"), message, "run both on the same cases")])
    decided = whole.runs and whole.baseline_runs
    return Comparison(
        first,
        second,
        differing_pins(first, second),
        sorted(rows, key=lambda row: (row.either, -abs(row.change), row.case)),
        exact_stratified([row.counts for row in rows]),
        newcombe(whole[:2], whole[2:]) if decided else Interval(-1.0, 1.0),
        over_new_cases([row.change for row in rows if row.first.decided and row.second.decided]),
        [name for name in first.cases if name not in second.cases],
        [name for name in second.cases if name not in first.cases],
        (clusters(first.lines), clusters(second.lines)),
    )


def _row(name: str, first: Tally, second: Tally) -> CaseRow:
    counts = Counts(first.passes, first.decided, second.passes, second.decided)
    return CaseRow(name, first, second, exact_stratified([counts]).either)


def rows_of_all(comparisons: Sequence[Comparison]) -> list[list[CaseRow]]:
    """Return the rows of each case that all sides have run, those of the cases that changed most in any first."""
    by_case = [{row.case: row for row in comparison.rows} for comparison in comparisons]
    shared = [[rows[case] for rows in by_case] for case in by_case[0] if all(case in rows for rows in by_case)]
    return sorted(shared, key=lambda rows: min(row.either for row in rows))


def night_of(comparison: Comparison) -> Night:
    """Return what the gate looks at: the first side is the baseline, the second the candidate."""
    first, second = comparison.first.together, comparison.second.together
    return Night(
        {row.case: row.counts for row in comparison.rows},
        comparison.second.unsafe_trials,
        [case for case, tally in comparison.second.cases.items() if not tally.exposed],
        comparison.only_first,
        max(tally.verdicts[Verdict.ERROR] / tally.verdicts.total() for tally in (first, second)),
    )
