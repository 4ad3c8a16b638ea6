"""``unacked compare``: what one agent does otherwise than another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import console, out_option
from unacked.cli.sides import open_side
from unacked.compare import Comparison, Divergence, Side, Step, Tally, compare, first_divergence, steps_of
from unacked.engine import RunFolder, stored_history
from unacked.engine.observations import observations
from unacked.errors import ExitCode, Place, Problem, SpecificationError
from unacked.graph.coverage import cover, profile_difference
from unacked.report.comparison import EdgeRates, comparison_text

__all__ = ["command"]

_SHOWN = 3
"""Cases whose transcripts are looked at."""


@click.command("compare")
@click.argument("first", metavar="RUN_A[:AGENT]")
@click.argument("second", metavar="RUN_B[:AGENT]")
@click.option("--confounded", is_flag=True, help="Go on where more than one pin differs; the output says so.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@out_option
def command(first: str, second: str, out: Path, *, confounded: bool, as_json: bool) -> int:
    """Compare two runs, or two agents of one run, over the cases that both have run.

    Refuses where more than one pin differs: then nobody can say what made the difference.
    """
    (one, before), (two, after) = open_side(first, out), open_side(second, out)
    comparison = compare(before, after)
    if comparison.confounders and not confounded:
        raise _confounded(comparison)
    edges = _edges(one, two, (before.agent, after.agent))
    divergences = dict(_divergences(comparison, one, two))
    if as_json:
        profile = [[graph, edge, *rates] for (graph, edge), rates in edges.items()]
        parted = {case: divergence.as_json() for case, divergence in divergences.items()}
        click.echo(dumps({**comparison.as_json(), "profile": profile, "divergences": parted}))
    else:
        console().print(comparison_text(comparison, edges, divergences), soft_wrap=True)
    return ExitCode.PASS


def _confounded(comparison: Comparison) -> SpecificationError:
    pins = ", ".join(comparison.pins)
    message = f"{comparison.first.name} and {comparison.second.name} differ in {len(comparison.pins)} pins: {pins}"
    hint = "change one thing at a time, or go on with --confounded"
    return SpecificationError([Problem(Place("unacked"), message, hint)])


def _edges(first: RunFolder, second: RunFolder, agents: tuple[str, str]) -> EdgeRates:
    before, _ = cover(observations(first))
    after, _ = cover(observations(second))
    return profile_difference(before, after, agents)


def _divergences(comparison: Comparison, first: RunFolder, second: RunFolder) -> Iterator[tuple[str, Divergence]]:
    for row in comparison.rows[:_SHOWN]:
        if not row.change and row.first.unsafe == row.second.unsafe:
            continue
        divergence = first_divergence(
            _steps(first, comparison.first, row.case, row.first),
            _steps(second, comparison.second, row.case, row.second),
        )
        if divergence is not None:
            yield row.case, divergence


def _steps(folder: RunFolder, side: Side, case: str, tally: Tally) -> list[Step]:
    """The first trial of a case that ended as most of its trials did, step by step."""
    usual = tally.verdicts.most_common(1)[0][0]
    line = next(line for line in side.trials_of(case) if line["verdict"] == usual)
    return steps_of(stored_history(folder, folder.manifest()["run"], line))
