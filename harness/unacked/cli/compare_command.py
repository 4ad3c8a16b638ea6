"""``unacked compare``: what one agent does otherwise than another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import click

from unacked.canonical import JSON, dumps
from unacked.cli.options import file_path, out_option, tell_leaks
from unacked.cli.sides import canaries_of, open_side
from unacked.compare import Comparison, Side, Tally, compare, first_divergence, steps_of
from unacked.engine import Canaries, RunFolder, stored_history
from unacked.engine.observations import observations
from unacked.errors import ExitCode, Place, Problem, SpecificationError
from unacked.graph.coverage import cover, profile_difference
from unacked.report import write_report
from unacked.report.comparison import EdgeRates, comparison_text
from unacked.report.comparison_page import Parting, comparison_page
from unacked.report.markdown import fenced
from unacked.report.story import cleaned

__all__ = ["command"]

_SHOWN = 3
"""Cases whose transcripts are looked at."""


@click.command("compare")
@click.argument("first", metavar="RUN_A[:AGENT]")
@click.argument("second", metavar="RUN_B[:AGENT]")
@click.option("--confounded", is_flag=True, help="Go on where more than one pin differs; the output says so.")
@click.option("--html", type=file_path, default=None, help="Write a page that needs no network to this file.")
@click.option("--md", type=file_path, default=None, help="Write Markdown to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@out_option
def command(
    first: str, second: str, out: Path, html: Path | None, md: Path | None, *, confounded: bool, as_json: bool
) -> int:
    """Compare two runs, or two agents of one run, over the cases that both have run.

    Refuses where more than one pin differs: then nobody can say what made the difference.
    """
    (one, before), (two, after) = open_side(first, out), open_side(second, out)
    comparison = compare(before, after)
    if comparison.confounders and not confounded:
        raise _confounded(comparison)
    edges = _edges(one, two, (before.agent, after.agent))
    canaries = canaries_of(one, two)
    partings = {parting.case: parting for parting in _partings(comparison, one, two, canaries)}
    divergences = {case: parting.divergence for case, parting in partings.items()}
    if html is not None:
        write_report(html, canaries.clean("HTML report", comparison_page(comparison, edges, partings.values())))
    text = comparison_text(comparison, edges, divergences)
    if md is not None:
        write_report(md, canaries.clean("Markdown report", fenced("unacked: comparison", text)))
    if as_json:
        profile = [[graph, edge, *rates] for (graph, edge), rates in edges.items()]
        parted = {case: divergence.as_json() for case, divergence in divergences.items()}
        told = dumps({**comparison.as_json(), "profile": profile, "divergences": parted})
        click.echo(canaries.clean("JSON report", told))
    else:
        click.echo(canaries.clean("comparison", text))
    tell_leaks(canaries)
    return ExitCode.FAIL if canaries.found else ExitCode.PASS


def _confounded(comparison: Comparison) -> SpecificationError:
    pins = ", ".join(comparison.pins)
    message = f"{comparison.first.name} and {comparison.second.name} differ in {len(comparison.pins)} pins: {pins}"
    hint = "change one thing at a time, or go on with --confounded"
    return SpecificationError([Problem(Place("unacked"), message, hint)])


def _edges(first: RunFolder, second: RunFolder, agents: tuple[str, str]) -> EdgeRates:
    before, _ = cover(observations(first))
    after, _ = cover(observations(second))
    return profile_difference(before, after, agents)


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
