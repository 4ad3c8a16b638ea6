"""A comparison, and a gate's nights, as pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from unacked.compare import CaseRow, Comparison, Divergence, Gate, Side, Step, Tally, rows_of_all
from unacked.nightly import CaseHistory, NightEntry
from unacked.report.comparison import SIDES, EdgeRates, by_spread, by_urgency, effort
from unacked.report.page import render_page
from unacked.statistics import upper_bound, wilson

__all__ = ["Parting", "comparison_page", "night_page", "sides_page"]

_MOST_EDGES = 40
_MOST_NIGHTS = 30


@dataclass(frozen=True, slots=True)
class Parting:
    """The transcripts of one case side by side: names of the trials, their steps, and where they part."""

    case: str
    divergence: Divergence
    trials: tuple[str, str]
    steps: tuple[Sequence[Step], Sequence[Step]]


def comparison_page(comparison: Comparison, edges: EdgeRates, partings: Iterable[Parting]) -> str:
    """Return the page of a comparison: what the second side does otherwise comes first, with its transcripts."""
    ranked = by_spread(edges)
    return render_page(
        "comparison.html",
        comparison=comparison,
        sides=_told([comparison]),
        edges=ranked[:_MOST_EDGES],
        more_edges=max(0, len(ranked) - _MOST_EDGES),
        partings=list(partings),
        changed=[row for row in comparison.rows if _changed(row)],
        same=[row for row in comparison.rows if not _changed(row)],
        rate=_rate,
        unsafe=_unsafe,
        effort=effort,
        points=_points,
    )


def sides_page(comparisons: Sequence[Comparison], edges: EdgeRates, partings: Sequence[Sequence[Parting]]) -> str:
    """Return the page of three and more sides: each against the first, and all of them in one matrix.

    ``partings`` are those of each comparison.
    """
    ranked = by_spread(edges)
    return render_page(
        "sides.html",
        comparisons=list(zip(SIDES[1:], comparisons, partings, strict=False)),
        failures=list(
            zip(SIDES, [comparisons[0].failures[0], *(each.failures[1] for each in comparisons)], strict=False)
        ),
        sides=_told(comparisons),
        edges=ranked[:_MOST_EDGES],
        more_edges=max(0, len(ranked) - _MOST_EDGES),
        rows=[(rows, any(map(_changed, rows))) for rows in rows_of_all(comparisons)],
        rate=_rate,
        unsafe=_unsafe,
        effort=effort,
        points=_points,
    )


def _told(comparisons: Sequence[Comparison]) -> list[tuple[str, Side, Tally]]:
    sides = [comparisons[0].first, *(comparison.second for comparison in comparisons)]
    return [(letter, side, side.together) for letter, side in zip(SIDES, sides, strict=False)]


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def _changed(row: CaseRow) -> bool:
    return bool(row.change) or row.first.unsafe != row.second.unsafe


def _rate(tally: Tally) -> str:
    if not tally.decided:
        return "nothing decided"
    low, high = wilson(tally.passes, tally.decided)
    return f"{tally.passes}/{tally.decided} ({low:.2f} to {high:.2f})"


def _unsafe(tally: Tally) -> str:
    return f"{tally.unsafe}; {tally.exposed} exposed (rate below {upper_bound(tally.unsafe, tally.exposed):.1%})"


def night_page(gate: Gate, nights: Sequence[NightEntry], cases: Mapping[str, CaseHistory]) -> str:
    """Return the page of a nightly gate: its last decision, and every case over the last nights.

    ``gate`` is the decision of the night that the page is about, ``cases`` what all nights say of each case.
    """
    shown = list(nights)[-_MOST_NIGHTS:]
    return render_page(
        "night.html",
        gate=gate,
        nights=shown,
        earlier=len(nights) - len(shown),
        cases=by_urgency(cases),
        upper=lambda found: f"{found.unsafe_below:.2%}",
    )
