"""The coverage of graphs as text: three numbers, and what each lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unacked.graph.coverage import Coverage, comparable, profile_difference
from unacked.report.text import printable

__all__ = ["coverage_text", "difference_text"]


def coverage_text(together: Coverage, cases: Mapping[str, Coverage]) -> str:
    """Return the coverage of a run: all of it, agent by agent, and case by case."""
    return "\n".join([*_environment(together), *_profiles(together), *_forbids(together), *_cases(cases)])


def _environment(coverage: Coverage) -> Iterator[str]:
    yield f"environment: {coverage.environment} modelled (operation, category) pairs were produced"
    for graph, pairs in coverage.missing_pairs().items():
        by_operation: dict[str, list[str]] = {}
        for operation, category in pairs:
            by_operation.setdefault(operation, []).append(category)
        for operation, categories in by_operation.items():
            yield f"  never in {printable(graph)}: {printable(operation)}: {', '.join(categories)}"


def _profiles(coverage: Coverage) -> Iterator[str]:
    for agent, trials in sorted(coverage.trials.items()):
        yield f"profile of {printable(agent)}: {coverage.profile(agent)} allowed edges were taken in {trials} trials"
        for (graph, edge), times in sorted(coverage.taken[agent].items()):
            yield f"  {times:>6}  {printable(graph)}: {printable(edge)}"


def _forbids(coverage: Coverage) -> Iterator[str]:
    yield f"forbids: {coverage.forbids} named rules were violated"
    for (graph, rule), by in sorted(coverage.fired.items()):
        agents = ", ".join(f"{printable(agent)} {times}" for agent, times in sorted(by.items()))
        yield f"  {by.total():>6}  {printable(graph)}: {printable(rule)} ({agents})"
    for graph, rule in coverage.missing_rules():
        yield f"   never  {printable(graph)}: {printable(rule)}"


def _cases(cases: Mapping[str, Coverage]) -> Iterator[str]:
    yield "by case: environment; edges by each agent; forbids"
    for case, coverage in cases.items():
        profiles = ", ".join(f"{printable(agent)} {coverage.profile(agent).seen}" for agent in sorted(coverage.trials))
        shares = (coverage.environment, coverage.forbids)
        environment, forbids = (f"{share.seen}/{share.of}" for share in shares)
        yield f"  {printable(case)}: {environment}; of {len(coverage.edges)} edges: {profiles}; {forbids}"


def difference_text(first: Coverage, second: Coverage, names: tuple[str, str]) -> str:
    """Return which edges agents took more often in one run than in the other."""
    lines = []
    for one, two in comparable(first, second):
        lines.append(f"{printable(one)} in {names[0]} | {printable(two)} in {names[1]}: times taken in a trial")
        difference = profile_difference(first, second, (one, two))
        lines += [
            f"  {before:>8.2f} | {after:<8.2f} {printable(graph)}: {printable(edge)}"
            for (graph, edge), (before, after) in difference.items()
        ]
        if not difference:
            lines.append("  no difference")
    return "\n".join(lines or ["the runs have no agent in common"])
