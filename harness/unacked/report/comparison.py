"""A comparison and a gate's decision as text, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unacked.compare import CaseRow, Comparison, Divergence, Gate, Side, Tally
from unacked.nightly import CaseClass, CaseHistory
from unacked.report.text import printable, shortened
from unacked.statistics import upper_bound, wilson

__all__ = [
    "MOST_SIDES",
    "EdgeRates",
    "by_urgency",
    "comparison_text",
    "divergence_text",
    "gate_text",
    "history_text",
    "sides_text",
]

EdgeRates = Mapping[tuple[str, str], tuple[float, float]]
"""By (graph, edge): how often in a trial the first and the second agent took it."""

_MOST = 12
"""Rows of a list before the rest is only counted."""


def comparison_text(comparison: Comparison, edges: EdgeRates, divergences: Mapping[str, Divergence]) -> str:
    """Return the whole comparison: what differs first, the cases that changed most before the others."""
    parts = (
        _sides(comparison),
        _overall(comparison),
        _edges(edges),
        _cases(comparison),
        _failures(comparison),
        (line for case, divergence in divergences.items() for line in divergence_text(case, divergence)),
    )
    return "\n".join(line for part in parts for line in part)


def _sides(comparison: Comparison) -> Iterator[str]:
    for letter, side in zip("AB", (comparison.first, comparison.second), strict=True):
        yield f"{letter}  {printable(side.name)}: {_counted(side)}"
    if comparison.confounders:
        yield f"CONFOUNDED: {len(comparison.pins)} pins differ: {_listed(comparison.pins)}"
        yield "  whatever differs below, nobody can say which of them made it"
    else:
        yield f"the pin that differs: {comparison.pins[0]}" if comparison.pins else "all pins are the same"


def _counted(side: Side) -> str:
    whole = side.together
    told = f"{whole.passes} of {whole.decided} passed, {whole.unsafe} unsafe"
    silent = whole.verdicts.total() - whole.decided
    return told if not silent else f"{told}; {silent} say nothing"


def _overall(comparison: Comparison) -> Iterator[str]:
    low, high = comparison.difference
    yield f"B passes {_points(low)} to {_points(high)} points more often (95 % interval of the difference)"
    yield f"  exact stratified p: worse {comparison.overall.worse:.2g}, better {comparison.overall.better:.2g}"
    for letter, names in zip("AB", (comparison.only_first, comparison.only_second), strict=True):
        if names:
            yield f"  only {letter} has run: {_listed(names)}"


def _edges(edges: EdgeRates) -> Iterator[str]:
    yield "what B does otherwise: times in a trial, A | B"
    ranked = sorted(edges.items(), key=lambda item: -abs(item[1][1] - item[1][0]))
    for (graph, edge), (before, after) in ranked[:_MOST]:
        yield f"  {before:>6.2f} | {after:<6.2f} {printable(edge)}  ({printable(graph)})"
    yield from _rest(len(ranked), "edges")
    if not edges:
        yield "  nothing: both take every edge equally often"


def _cases(comparison: Comparison) -> Iterator[str]:
    changed = [row for row in comparison.rows if row.change or row.first.unsafe != row.second.unsafe]
    yield f"{len(changed)} of {len(comparison.rows)} cases changed; passes with 95 % interval, A | B"
    for row in changed[:_MOST]:
        yield from _case(row)
    yield from _rest(len(changed), "cases")


def _case(row: CaseRow) -> Iterator[str]:
    yield f"  {printable(row.case)}: {_rate(row.first)} | {_rate(row.second)}  p = {row.either:.2g}"
    tallies = zip("AB", (row.first, row.second), strict=True)
    told = [f"{letter} {_unsafe(tally)}" for letter, tally in tallies if tally.unsafe]
    if told:
        yield f"      {'; '.join(told)}"


def _rate(tally: Tally) -> str:
    if not tally.decided:
        return "nothing decided"
    low, high = wilson(tally.passes, tally.decided)
    return f"{tally.passes}/{tally.decided} ({low:.2f}-{high:.2f})"


def _unsafe(tally: Tally) -> str:
    below = upper_bound(tally.unsafe, tally.exposed)
    return f"unsafe {tally.unsafe} of {tally.exposed} exposed (rate below {below:.1%})"


def _failures(comparison: Comparison) -> Iterator[str]:
    for letter, found in zip("AB", comparison.failures, strict=True):
        if found:
            yield f"kinds of failure of {letter}"
        for cluster in found[:_MOST]:
            yield f"  {len(cluster.trials):>4} {cluster.verdict.value} {printable(cluster.rule)}"
            yield f"       {shortened(printable(cluster.observed), 100)}; such as {printable(cluster.trials[0])}"
        yield from _rest(len(found), "kinds")


def sides_text(comparisons: Sequence[Comparison]) -> str:
    """Return several sides against the first one: the cases that changed most in any of them come first."""
    first = comparisons[0].first
    lines = [f"A  {printable(first.name)}: {_counted(first)}"]
    for letter, comparison in zip(_LETTERS, comparisons, strict=False):
        low, high = comparison.difference
        lines.append(f"{letter}  {printable(comparison.second.name)}: {_counted(comparison.second)}")
        lines.append(
            f"     against A {_points(low)} to {_points(high)} points;"
            f" p: worse {comparison.overall.worse:.2g}, better {comparison.overall.better:.2g}"
        )
        if comparison.confounders:
            lines.append(f"     CONFOUNDED: {len(comparison.pins)} pins differ: {_listed(comparison.pins)}")
    rows = [{row.case: row for row in comparison.rows} for comparison in comparisons]
    shared = [case for case in rows[0] if all(case in others for others in rows)]
    shared.sort(key=lambda case: min(others[case].either for others in rows))
    lines.append(f"passes of the decided trials in {len(shared)} cases that all have run; * where p < 0.05 by itself")
    for case in shared:
        cells = [_marked(others[case]) for others in rows]
        lines.append(f"  {printable(case)}: {' | '.join([_plain(rows[0][case].first), *cells])}")
    return "\n".join(lines)


_LETTERS = "BCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_SIDES = 1 + len(_LETTERS)
"""How many sides can be told apart by a letter."""


def _marked(row: CaseRow) -> str:
    return f"{_plain(row.second)}{'*' if row.either < 0.05 else ''}"


def _plain(tally: Tally) -> str:
    unsafe = f", {tally.unsafe} unsafe" if tally.unsafe else ""
    return f"{tally.passes}/{tally.decided}{unsafe}" if tally.decided else "-"


def divergence_text(case: str, divergence: Divergence) -> Iterator[str]:
    """Yield where two transcripts of one case part."""
    yield f"the transcripts of {printable(case)} part at call {divergence.number}"
    for step in divergence.before[-3:]:
        yield f"    both  {shortened(printable(str(step)), 110)}"
    for letter, last in zip("AB", (divergence.first, divergence.second), strict=True):
        yield f"    {letter}     {'had ended' if last is None else shortened(printable(str(last)), 110)}"


def gate_text(gate: Gate) -> str:
    """Return a gate's decision with its reasons."""
    lines = [gate.decision.value, *(f"  {printable(reason)}" for reason in gate.reasons)]
    lines += [
        f"  fresh repeats of {printable(case)}: {counts.baseline_passes}/{counts.baseline_runs} before,"
        f" {counts.passes}/{counts.runs} now"
        for case, counts in gate.confirmation.items()
    ]
    return "\n".join(lines)


def _rest(count: int, what: str) -> Iterator[str]:
    if count > _MOST:
        yield f"  and {count - _MOST} more {what}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(printable(name) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def history_text(cases: Mapping[str, CaseHistory]) -> str:
    """Return what the nights say of each case: changes first, each with its night and the pins that changed then."""
    lines = [f"{len(cases)} cases over the nights"]
    for case, found in by_urgency(cases):
        passes, decided = (sum(getattr(night, name) for night in found.nights) for name in ("passes", "decided"))
        exposed = sum(night.exposed for night in found.nights)
        line = f"  {found.kind.value:<12} {printable(case)}: {passes}/{decided} in {len(found.nights)} nights"
        if found.since is not None:
            pins = f" with {_listed(found.changed)}" if found.changed else ""
            line += f"; since {printable(found.since)}{pins}"
        unsafe = sum(night.unsafe for night in found.nights)
        lines.append(f"{line}; unsafe {unsafe} of {exposed} exposed, below {found.unsafe_below:.2%}")
    return "\n".join(lines)


def by_urgency(cases: Mapping[str, CaseHistory]) -> list[tuple[str, CaseHistory]]:
    """Return the cases, those that need somebody's eyes first."""
    return sorted(cases.items(), key=lambda item: (_URGENCY.get(item[1].kind, len(_URGENCY)), item[0]))


_URGENCY = {
    kind: number
    for number, kind in enumerate(
        (CaseClass.UNSAFE, CaseClass.REGRESSED, CaseClass.FAILING, CaseClass.ENVIRONMENT, CaseClass.FLAKY)
    )
}
