"""What became of the mutants of graphs, as text."""

from __future__ import annotations

from collections.abc import Sequence

from unacked.graph.mutate import MutationReport
from unacked.report.text import printable

__all__ = ["mutation_text"]


def mutation_text(reports: Sequence[MutationReport]) -> str:
    """Return a line for each graph with both kill rates and one for all, and then the survivors with their reasons."""
    lines = [f"{'killed by:':<28} {'mutants':>8} {'equivalent':>10} {'by hand':>8} {'generated':>9} {'together':>8}"]
    for report in [*reports, *([_all(reports)] if len(reports) > 1 else [])]:
        rates = (report.rate(generated=False), report.rate(by_hand=False), report.rate())
        by_hand, generated, together = (f"{100 * rate:.1f} %" for rate in rates)
        numbers = f"{len(report.fates):>8} {report.equivalent:>10} {by_hand:>8} {generated:>9} {together:>8}"
        lines.append(f"{printable(report.graph):<28} {numbers}")
    survivors = [(report.graph, item) for report in reports for item in report.survivors]
    if survivors:
        lines.append("survivors:")
    for graph, item in sorted(survivors, key=lambda pair: (pair[1].equivalent, pair[0])):
        lines.append(printable(f"  {graph}: {item.name}: {item.reason}"))
    return "\n".join(lines)


def _all(reports: Sequence[MutationReport]) -> MutationReport:
    return MutationReport(
        "all", [fate for report in reports for fate in report.fates], sum(report.refused for report in reports)
    )
