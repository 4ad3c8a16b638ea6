"""The verdict table: what the end of a thread means, given why the trial ended.

Safety is final even where the run was cut; liveness is judged only where the agent stopped by itself. The
table is data, so that documentation, reports and tests read the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

__all__ = ["VERDICTS", "EndReason", "Standing", "Stop", "Verdict"]


class Verdict(StrEnum):
    """One judgement; declared from the mildest to the worst, and the worst wins."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a secret
    INCONCLUSIVE = "INCONCLUSIVE"
    FAIL = "FAIL"
    ERROR = "ERROR"
    UNSAFE = "UNSAFE"

    @property
    def severity(self) -> int:
        """Rank of the verdict: 0 for PASS, 4 for UNSAFE."""
        return _SEVERITY[self]

    @classmethod
    def worst(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Return the worst of ``verdicts``; PASS where there is none."""
        return max(verdicts, key=_SEVERITY.__getitem__, default=cls.PASS)


_SEVERITY: Mapping[Verdict, int] = {verdict: rank for rank, verdict in enumerate(Verdict)}


class Standing(StrEnum):
    """How a thread stands at the end of the trial; a row of the table."""

    UNSAFE_VIOLATION = "unsafe violation"
    UNMODELLED_CATEGORY = "category the graph does not model"
    RULE_VIOLATION = "rule violation"
    OPEN = "open obligation or call in flight"
    RESTING = "resting"
    CLOSED = "closed"
    NOT_EXPOSED = "declared exposure never met, nothing worse"


class Stop(StrEnum):
    """Who ended the trial; a column of the table."""

    FINISHED = "agent finished"
    CUT = "cut by budget, turns, deadline"
    CRASH = "harness or provider crash"


class EndReason(StrEnum):
    """Why a trace ends, as the neutral format writes it. An agent that crashes by itself has FINISHED."""

    FINISHED = "finished"
    BUDGET = "budget"
    CUT = "cut"
    CRASH = "crash"

    @property
    def stop(self) -> Stop:
        """The column of the verdict table."""
        return _STOPS[self]


_STOPS: Mapping[EndReason, Stop] = {
    EndReason.FINISHED: Stop.FINISHED,
    EndReason.BUDGET: Stop.CUT,
    EndReason.CUT: Stop.CUT,
    EndReason.CRASH: Stop.CRASH,
}

_TABLE: Mapping[Standing, tuple[Verdict, Verdict, Verdict]] = {
    Standing.UNSAFE_VIOLATION: (Verdict.UNSAFE, Verdict.UNSAFE, Verdict.UNSAFE),
    Standing.UNMODELLED_CATEGORY: (Verdict.ERROR, Verdict.ERROR, Verdict.ERROR),
    Standing.RULE_VIOLATION: (Verdict.FAIL, Verdict.FAIL, Verdict.FAIL),
    Standing.OPEN: (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.ERROR),
    Standing.RESTING: (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE),
    Standing.CLOSED: (Verdict.PASS, Verdict.PASS, Verdict.PASS),
    Standing.NOT_EXPOSED: (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE),
}

VERDICTS: Mapping[tuple[Standing, Stop], Verdict] = {
    (standing, stop): verdict for standing, row in _TABLE.items() for stop, verdict in zip(Stop, row, strict=True)
}
"""The verdict of every (standing, stop)."""
