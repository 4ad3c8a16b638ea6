"""``unacked compare``: what one agent does otherwise than another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from unacked.canonical import JSON, dumps
from unacked.cli.options import file_path, out_option
from unacked.cli.sides import canaries_of, open_side
from unacked.cli.stored import tell_leaks
from unacked.compare import Comparison, Divergence, Side, Tally, compare, first_divergence, steps_of
from unacked.engine import Canaries, RunFolder, stored_history
from unacked.engine.observations import observations
from unacked.errors import ExitCode, Place, Problem, SpecificationError
from unacked.graph.coverage import cover, differing_rates
from unacked.report import write_report
from unacked.report.comparison import SIDES, EdgeRates, comparison_text, sides_text
from unacked.report.comparison_page import Parting, comparison_page, sides_page
from unacked.report.markdown import fenced
from unacked.report.story import cleaned

__all__ = ["command"]

_SHOWN = 3
"""Cases whose transcripts are looked at."""


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN_A[:AGENT] RUN_B[:AGENT]...")
@click.option("--confounded", is_flag=True, help="Go on where more than one pin differs; the output says so.")
@click.option("--html", type=file_path, default=None, help="Write a page that needs no network to this file.")
@click.option("--md", type=file_path, default=None, help="Write Markdown to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@out_option
def command(
    runs: tuple[str, ...], out: Path, html: Path | None, md: Path | None, *, confounded: bool, as_json: bool
) -> int:
    """Compare two runs, or two agents of one run, over the cases that both have run.

    Refuses where more than one pin differs: then nobody can say what made the difference. With three and more, each
    is compared with the first, in a matrix.
    """
    if not 2 <= len(runs) <= len(SIDES):
        raise click.UsageError(f"a comparison takes 2 to {len(SIDES)} runs")
    sides = [open_side(name, out) for name in runs]
    canaries = canaries_of(*(folder for folder, _ in sides))
    comparisons = [compare(sides[0][1], side) for _, side in sides[1:]]
    for comparison in comparisons:
        if comparison.confounders and not confounded:
            raise _confounded(comparison)
    edges = _edges(sides)
    partings = [
        list(_partings(comparison, sides[0][0], folder, canaries))
        for comparison, (folder, _) in zip(comparisons, sides[1:], strict=True)
    ]
    if html is not None:
        page = (
            comparison_page(comparisons[0], edges, partings[0])
            if len(runs) == 2
            else sides_page(comparisons, edges, partings)
        )
        write_report(html, canaries.clean("HTML report", page))
    divergences = [{parting.case: parting.divergence for parting in found} for found in partings]
    text = comparison_text(comparisons[0], edges, divergences[0]) if len(runs) == 2 else sides_text(comparisons, edges)
    if md is not None:
        write_report(md, canaries.clean("Markdown report", fenced("unacked: comparison", text)))
    told = dumps(_as_json(comparisons, edges, divergences)) if as_json else text
    click.echo(canaries.clean("comparison", told))
    tell_leaks(canaries)
    return ExitCode.FAIL if canaries.found else ExitCode.PASS


def _as_json(
    comparisons: Sequence[Comparison], edges: EdgeRates, divergences: Sequence[Mapping[str, Divergence]]
) -> dict[str, JSON]:
    """One comparison as it is; several with what all of them share beside them."""
    profile = [[graph, edge, *rates] for (graph, edge), rates in edges.items()]
    told = [
        {**comparison.as_json(), "divergences": {case: parted.as_json() for case, parted in found.items()}}
        for comparison, found in zip(comparisons, divergences, strict=True)
    ]
    if len(told) == 1:
        return {**told[0], "profile": profile}
    return {"format": 1, "comparisons": told, "profile": profile}


def _confounded(comparison: Comparison) -> SpecificationError:
    pins = ", ".join(comparison.pins)
    message = f"{comparison.first.name} and {comparison.second.name} differ in {len(comparison.pins)} pins: {pins}"
    hint = "change one thing at a time, or go on with --confounded"
    return SpecificationError([Problem(Place("unacked"), message, hint)])


def _edges(sides: Sequence[tuple[RunFolder, Side]]) -> EdgeRates:
    covered = {
        folder.path: cover(observations(folder))[0] for folder in {folder.path: folder for folder, _ in sides}.values()
    }
    return differing_rates([(covered[folder.path], side.agent) for folder, side in sides])


def _partings(comparison: Comparison, first: RunFolder, second: RunFolder, canaries: Canaries) -> Iterator[Parting]:
    """The transcripts of the cases that changed most."""
    clean = partial(canaries.clean_json, "transcript")
    for row in comparison.rows[:_SHOWN]:
        if not row.change and row.first.unsafe == row.second.unsafe:
            continue
        lines = (
            _usual(comparison.first, row.case, row.first),
            _usual(comparison.second, row.case, row.second),
        )
        one, two = (
            steps_of(cleaned(stored_history(folder, folder.manifest()["run"], line), clean))
            for folder, line in zip((first, second), lines, strict=True)
        )
        divergence = first_divergence(one, two)
        if divergence is not None:
            yield Parting(row.case, divergence, (lines[0]["trial"], lines[1]["trial"]), (one, two))


def _usual(side: Side, case: str, tally: Tally) -> Mapping[str, JSON]:
    """The first trial of a case that ended as most of its trials did."""
    usual = tally.verdicts.most_common(1)[0][0]
    return next(line for line in side.trials_of(case) if line["verdict"] == usual)
