"""``unacked rates``: how often agents did what after which fault."""

from __future__ import annotations

from pathlib import Path

import click

from unacked.canonical import dumps
from unacked.cli.options import console, out_option
from unacked.engine import find_run
from unacked.engine.behaviour import tally
from unacked.errors import ExitCode, Place, Problem, SpecificationError
from unacked.report.rates import rates_json, rates_markdown, rates_table

__all__ = ["command"]


@click.command("rates")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@out_option
@click.option("--md", "as_markdown", is_flag=True, help="Print a table in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(runs: tuple[str, ...], out: Path, *, as_markdown: bool, as_json: bool) -> int:
    """Tell of the trials of some RUNs together how often each agent did what after each category of its first fault.

    Every rate has Wilson's 95 % interval behind it, in percent. Trials that met no fault are not counted.
    """
    tallies = tally([find_run(run, out) for run in dict.fromkeys(runs)])
    if not tallies:
        raise SpecificationError([Problem(Place(", ".join(runs)), "no trial of these met a fault", "")])
    if as_json:
        click.echo(dumps(rates_json(tallies)))
    elif as_markdown:
        click.echo(rates_markdown(tallies))
    else:
        console().print(rates_table(tallies))
    return ExitCode.PASS
