"""A comparison and a gate's decision as text, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unacked.compare import CaseRow, Comparison, Divergence, Gate, Side, Step, Tally, rows_of_all
from unacked.nightly import CaseClass, CaseHistory
from unacked.report.text import printable, shortened
from unacked.statistics import upper_bound, wilson

__all__ = [
    "SIDES",
    "EdgeRates",
    "by_spread",
    "by_urgency",
    "comparison_text",
    "divergence_text",
    "effort",
    "gate_text",
    "history_text",
    "sides_text",
]

EdgeRates = Mapping[tuple[str, str], tuple[float, ...]]
"""By (graph, edge): how often in a trial each agent took it."""

_STEP = 70
"""Characters of a step in one line: with what stands before them, a terminal shows 80."""
_MOST = 12
"""Rows of a list before the rest is only counted."""


def comparison_text(comparison: Comparison, edges: EdgeRates, divergences: Mapping[str, Divergence]) -> str:
    """Return the whole comparison: what differs first, the cases that changed most before the others."""
    parts = (
        _sides(comparison),
        _overall(comparison),
        ("what B does otherwise: times in a trial, A | B",),
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


def effort(tally: Tally) -> tuple[str, str]:
    """Return how many turns a trial took and what it cost, in US dollars; what is not known is said to be unknown."""
    turns, usd = tally.turns_each, tally.usd_each
    return "unknown" if turns is None else f"{turns:.1f}", "unknown" if usd is None else f"{usd:.4g}"


def _effort(first: Tally, second: Tally) -> str:
    turns, usd = zip(effort(first), effort(second), strict=True)
    return f"turns {' | '.join(turns)}, US dollars {' | '.join(usd)}"


def _overall(comparison: Comparison) -> Iterator[str]:
    low, high = comparison.difference
    yield f"B passes {_points(low)} to {_points(high)} points more often (95 % interval of the difference)"
    if comparison.on_new_cases is not None:
        low, high = comparison.on_new_cases
        yield f"  on new cases like these: {_points(low)} to {_points(high)} points (by case; not gated)"
    yield f"  a trial of A | B: {_effort(comparison.first.together, comparison.second.together)}"
    yield f"  exact stratified p: worse {comparison.overall.worse:.2g}, better {comparison.overall.better:.2g}"
    for letter, names in zip("AB", (comparison.only_first, comparison.only_second), strict=True):
        if names:
            yield f"  only {letter} has run: {_listed(names)}"


def _edges(edges: EdgeRates) -> Iterator[str]:
    ranked = by_spread(edges)
    for (graph, edge), (before, *after) in ranked[:_MOST]:
        others = " | ".join(f"{rate:<6.2f}" for rate in after)
        yield f"  {before:>6.2f} | {others} {printable(edge)}  ({printable(graph)})"
    yield from _rest(len(ranked), "edges")
    if not edges:
        yield "  nothing: every edge is taken equally often"


def by_spread(edges: EdgeRates) -> list[tuple[tuple[str, str], tuple[float, ...]]]:
    """Return the edges with their rates, the largest difference first; of those alike, the one that was taken first."""
    return sorted(edges.items(), key=lambda item: min(item[1]) - max(item[1]))


def _cases(comparison: Comparison) -> Iterator[str]:
    changed = [row for row in comparison.rows if row.change or row.first.unsafe != row.second.unsafe]
    yield f"{len(changed)} of {len(comparison.rows)} cases changed; passes with 95 % interval, A | B"
    for row in changed[:_MOST]:
        yield from _case(row)
    yield from _rest(len(changed), "cases")
    same = [row for row in comparison.rows if row not in changed and effort(row.first) != effort(row.second)]
    if same:
        yield "as often passed, in other turns or at another cost, A | B"
    for row in sorted(same, key=_more_effort)[:_MOST]:
        yield f"  {printable(row.case)}: {_effort(row.first, row.second)}"
    yield from _rest(len(same), "such cases")


def _more_effort(row: CaseRow) -> tuple[float, float]:
    """The largest difference of cost first, then of turns; what is not known comes last."""
    pairs = ((row.first.usd_each, row.second.usd_each), (row.first.turns_each, row.second.turns_each))
    usd, turns = (0.0 if one is None or two is None else abs(two - one) for one, two in pairs)
    return -usd, -turns


def _case(row: CaseRow) -> Iterator[str]:
    yield f"  {printable(row.case)}: {_rate(row.first)} | {_rate(row.second)}  p = {row.either:.2g}"
    tallies = zip("AB", (row.first, row.second), strict=True)
    told = [f"{letter} {_unsafe(tally)}" for letter, tally in tallies if tally.unsafe]
    if told:
        yield f"      {'; '.join(told)}"
    yield f"      {_effort(row.first, row.second)}"


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


def sides_text(comparisons: Sequence[Comparison], edges: EdgeRates) -> str:
    """Return several sides against the first one: the cases that changed most in any of them come first."""
    return "\n".join([*_against_first(comparisons), *_of_all(comparisons, edges)])


def _against_first(comparisons: Sequence[Comparison]) -> list[str]:
    first = comparisons[0].first
    lines = [f"A  {printable(first.name)}: {_counted(first)}", _each(first.together)]
    for letter, comparison in zip(SIDES[1:], comparisons, strict=False):
        low, high = comparison.difference
        lines.append(f"{letter}  {printable(comparison.second.name)}: {_counted(comparison.second)}")
        lines.append(_each(comparison.second.together))
        lines.append(
            f"     against A {_points(low)} to {_points(high)} points;"
            f" p: worse {comparison.overall.worse:.2g}, better {comparison.overall.better:.2g}"
        )
        if comparison.confounders:
            lines.append(f"     CONFOUNDED: {len(comparison.pins)} pins differ: {_listed(comparison.pins)}")
    return lines


def _each(tally: Tally) -> str:
    turns, usd = effort(tally)
    return f"     a trial: turns {turns}, US dollars {usd}"


def _of_all(comparisons: Sequence[Comparison], edges: EdgeRates) -> Iterator[str]:
    letters = " | ".join(SIDES[: len(comparisons) + 1])
    yield f"what they do otherwise: times in a trial, {letters}"
    yield from _edges(edges)
    shared = rows_of_all(comparisons)
    yield f"passes of the decided trials in {len(shared)} cases that all have run; * where p < 0.05 by itself"
    for rows in shared:
        tallies = [rows[0].first, *(row.second for row in rows)]
        yield f"  {printable(rows[0].case)}: {' | '.join([_plain(tallies[0]), *map(_marked, rows)])}"
        turns, usd = zip(*map(effort, tallies), strict=True)
        if len({*turns}) > 1 or len({*usd}) > 1:
            yield f"      turns {' | '.join(turns)}, US dollars {' | '.join(usd)}"


SIDES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The letters by which sides are told apart: there can be no more of them."""


def _marked(row: CaseRow) -> str:
    return f"{_plain(row.second)}{'*' if row.either < 0.05 else ''}"


def _plain(tally: Tally) -> str:
    unsafe = f", {tally.unsafe} unsafe" if tally.unsafe else ""
    return f"{tally.passes}/{tally.decided}{unsafe}" if tally.decided else "-"


def divergence_text(case: str, divergence: Divergence) -> Iterator[str]:
    """Yield where two transcripts of one case part."""
    yield f"the transcripts of {printable(case)} part at call {divergence.number}"
    for step in divergence.before[-3:]:
        yield from _step("both", step)
    for letter, last in zip("AB", (divergence.first, divergence.second), strict=True):
        yield from _step(letter, last)


def _step(who: str, step: Step | None) -> list[str]:
    told = "had ended" if step is None else shortened(printable(str(step)), 200)
    parts = (told[start : start + _STEP] for start in range(0, len(told), _STEP))
    return [f"{'' if number else f'    {who}':<10}{part}" for number, part in enumerate(parts)]


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
